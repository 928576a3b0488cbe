"""The members that the language itself knows: of elements, of ASSERT and WITH EPISTEMIC, and the words they may hold.

They come from the tables that the engine reads and writes by, so that completion can not offer what it refuses.
"""

from collections.abc import Iterable
from itertools import pairwise

from kipql.belief.output import LEVELS
from kipql.model import (
    ACTIVITY,
    ACTIVITY_STATUSES,
    ASSERTION,
    ASSERTION_STATUSES,
    BELIEF_STATUSES,
    CONCEPT,
    EVIDENCE,
    EVIDENCE_STATUSES,
    KIND_OF_NAME,
    MODES,
    PROPOSITION,
    STANCES,
    STATES,
)
from kipql.mutate.assertion import MEMBERS as ASSERTED
from kipql.schema.core import CORE_FIELDS
from kipql.store.elements import MEMBERS

_COMMON = ("id", "kind", "client_key", "facets", "governance", "retention", "space_id", "_system")
_BELIEF = (
    "status",
    "accepted_values",
    "candidate_projections",
    "support",
    "opposition",
    "uncertainty",
    "explanation",
    "basis",
)
EPISTEMIC = ("policy", "explanation", "include_hypothetical", "include_historical", "purpose", "risk", "context_refs")
STRUCTURAL = tuple(dict.fromkeys(name for _, name in CORE_FIELDS))
TRANSITIONS = ("retracted", "superseded", "corrected", "archived", "tombstoned", "active")
SEARCH_MODES = ("keyword", "semantic", "hybrid")
VALUES: dict[str, tuple[str, ...]] = {
    "stance": STANCES,
    "mode": MODES,
    "state": STATES,
    "explanation": LEVELS,
    "status": tuple(dict.fromkeys((*BELIEF_STATUSES, *ASSERTION_STATUSES, *EVIDENCE_STATUSES, *ACTIVITY_STATUSES))),
}
_BELOW: dict[str, tuple[str, ...]] = {
    "lifecycle": ("status", "supersedes", "superseded_by", "retracted_at", "corrects", "corrected_by"),
    "valid_time": ("from", "until"),
    "_system": (
        "state",
        "version",
        "created_at",
        "updated_at",
        "created_tx",
        "updated_tx",
        "origin",
        "plane_versions",
        "dependency_validity",
    ),
    "payload": ("mode", "inline"),
    "governance": ("classification", "authority_class"),
    "retention": ("retention_class", "expires_at", "legal_hold"),
    "support": ("score", "assertion_ids", "root_groups"),
    "opposition": ("score", "assertion_ids", "root_groups"),
    "uncertainty": ("level", "reasons"),
    "basis": ("snapshot_seq", "valid_at", "next_invalid_at", "policy"),
    "explanation": ("entries", "rule", "verdicts"),
}
_KIND = {"CONCEPT": CONCEPT, "LBRACE": CONCEPT, "ASSERTION": ASSERTION, "EVIDENCE": EVIDENCE, "ACTIVITY": ACTIVITY}
_KIND |= {"PROPOSITION": PROPOSITION, "LPAR": PROPOSITION}
_BELIEVED = -1

Tokens = Iterable[tuple[str, str]]


def kinds(tokens: Tokens, variable: str) -> set[int]:
    """The kinds that the patterns written so far give a variable; all where they say nothing."""
    return known(tokens, variable) or {*KIND_OF_NAME.values(), _BELIEVED}


def known(tokens: Tokens, variable: str) -> set[int]:
    """The kinds that patterns give a variable; a belief is -1."""
    held = list(tokens)
    found = set()
    for (terminal, text), (behind, _) in pairwise(held):
        if terminal == "VAR" and text == variable:
            if behind == "BELIEF":
                found.add(_BELIEVED)
            elif behind in _KIND:
                found.add(_KIND[behind])
    return found


def read(known: set[int]) -> list[str]:
    """The fields that a path may begin with."""
    names: list[str] = []
    for kind in sorted(known, key=lambda each: (each < 0, each)):
        names += _BELIEF if kind == _BELIEVED else (*MEMBERS[kind], *_COMMON)
    return list(dict.fromkeys(names))


def below(path: list[str]) -> tuple[str, ...]:
    """The members below a field."""
    return _BELOW.get(path[-1], ())


def of_object(before: list[tuple[str, str]]) -> tuple[str, ...]:
    """The members of the object whose brace comes next."""
    terminals = [terminal for terminal, _ in before]
    last = terminals[-1] if terminals else ""
    if last == "EPISTEMIC":
        return EPISTEMIC
    if last == "RPAR" and _statement(terminals) == "ASSERT":
        return ASSERTED
    if last == "FIELDS":
        return _fields(terminals)
    if last == "COLON":
        return _BELOW.get(before[-2][1], ()) or _matched(CONCEPT)
    if last in _KIND or last in ("VAR", "LPAR", "COMMA", "MATCH"):
        return _matched(_KIND.get(last, CONCEPT) if last not in ("LPAR",) else CONCEPT)
    return ()


def _matched(kind: int) -> tuple[str, ...]:
    first = ("type", "key", "name") if kind == CONCEPT else ()
    return tuple(dict.fromkeys((*first, "id", *MEMBERS[kind], "state")))


def _statement(terminals: list[str]) -> str:
    """The word that the statement at the end began with, of those that make claims."""
    return next((each for each in reversed(terminals) if each in ("ASSERT", "FIND", "ENSURE", "CREATE", "UPDATE")), "")


def _fields(terminals: list[str]) -> tuple[str, ...]:
    """What SET FIELDS may hold, by the kind that is made; CREATE CONCEPT and UPDATE are of Concepts mostly."""
    for at in range(len(terminals) - 1, -1, -1):
        if terminals[at] in ("CREATE", "UPSERT") and at + 1 < len(terminals):
            return tuple(MEMBERS[_KIND.get(terminals[at + 1], CONCEPT)])
    return tuple(dict.fromkeys(name for kind in (CONCEPT, ASSERTION, EVIDENCE, ACTIVITY) for name in MEMBERS[kind]))
