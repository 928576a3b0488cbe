"""The recall modes: each reads as little as answers it, and says what it could not read.

Every mode has its documented queries in `queries/`; `QUERIES` names them. Before them stand those that say when and
whom a question is about: `basis`, `ground`, `counterparty`, and `entity` for what values are called.
"""

from collections.abc import Callable, Mapping

import kipql
from kipql.memory.brief import about, lived
from kipql.memory.brief.draft import Draft
from kipql.memory.brief.naming import Subject
from kipql.memory.brief.reading import Reading

_VALUES = ("fact_value", "fact_value_incoming")
QUERIES: Mapping[str, tuple[str, ...]] = {
    "entity": ("entity",),
    "fact": (
        *("fact_ids", "fact_incoming_ids", "fact_named", *_VALUES, "fact", "fact_incoming", "relevance"),
        *("source", "source_place", "source_beside", "source_text"),
    ),
    "belief": ("belief", "belief_claim", "relevance", "claims"),
    "event": ("event", "event_of"),
    "experience": ("experience", "steps"),
    "procedure": ("procedure", "procedure_text", "skill", "failure"),
    "failure": ("failure", "procedure", "procedure_text", "skill"),
    "action": (
        *(
            "constraint_rule",
            "constraint_lesson",
            "constraint_claim",
            "constraint_heed",
            "commitment",
            "failure",
            "success",
        ),
        *("procedure", "procedure_text", "skill", "assessment", "relevance"),
        *("fact_ids", "fact_incoming_ids", "fact_named", *_VALUES, "fact", "fact_incoming"),
        *("source", "source_place", "source_beside", "source_text"),
    ),
    "wake": ("wake", "changes", "commitment"),
    "commitments": ("commitment",),
    "preferences": ("preference",),
    "self": ("self", "insight", "fact_ids", "fact_named", *_VALUES, "fact", "relevance"),
    "history": ("history",),
    "existence": ("existence",),
    "domain": (
        *("domain", "fact_ids", "fact_incoming_ids", "fact_named", *_VALUES, "fact", "fact_incoming", "relevance"),
        *("source", "source_place", "source_beside", "source_text"),
    ),
    "audit": ("audit",),
    "document": ("wiki_search", "wiki_versions"),
}
_MISS = "nothing recorded matches; that does not mean that it was not so"


READ: Mapping[str, Callable[[Reading, Subject], Draft]] = {
    "entity": about.entity,
    "fact": about.fact,
    "belief": about.belief,
    "event": lived.event,
    "experience": lived.experience,
    "procedure": lived.procedure,
    "failure": lived.failure,
    "wake": lived.wake,
    "commitments": lived.commitments,
    "preferences": about.preferences,
    "self": lived.own,
    "history": about.history,
    "existence": about.existence,
    "domain": about.domain,
    "audit": about.audit,
}


def read(mode: str, reading: Reading, subject: Subject) -> Draft:
    """One mode. Raises TypeMismatch for one that there is not."""
    if mode not in READ:
        raise kipql.KipError("TypeMismatch", f"there is no mode {mode!r}", hint=f"one of {', '.join(QUERIES)}")
    draft = READ[mode](reading, subject)
    if not draft.found and draft.belief is None:
        draft.gaps.append(_MISS)
    return draft
