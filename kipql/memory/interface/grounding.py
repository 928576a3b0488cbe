"""What a query is answered with: beliefs, sources, and what holds whether or not it was asked for (§6).

SEARCH grounds, it does not believe: every claim it leads to is judged by BELIEF, and raw material stays `source`.
Constraints and commitments are read exactly, whatever the query is like.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import kipql
from kipql.memory.brief.asking import ENOUGH, Asked, asked
from kipql.memory.brief.constraints import constraint_asks
from kipql.memory.brief.constraints import constraints as everywhere
from kipql.memory.brief.items import called
from kipql.memory.brief.naming import resolve
from kipql.memory.interface.reading import FACET, Reading
from kipql.memory.interface.sources import ref_of
from kipql.memory.interface.targets import result_ref

HITS = 50
FACTS = 40
SOURCES = 10
TEXT = 4000
FLOOR = 0.05
"""A hit below this shares no more than function words with the query (docs/search.md, Ranking)."""

_PROFILE = "kip://profiles/cognitive-memory"
_APART = ("Commitment", "Watch", "SleepTask", "Skill", "SkillRevision", "Experience", "ExperienceStep", "WorkingState",
          "SelfModel", "Insight", "Event")  # fmt: skip


@dataclass(slots=True)
class Found:
    """What was found: items in their order, and what has to be said beside them.

    `background` are claims about somebody whom the query names that do not speak of what it asks: they answer nothing.
    """

    items: list[dict[str, Any]] = field(default_factory=list)
    uncertainties: list[str] = field(default_factory=list)
    unverified: list[str] = field(default_factory=list)
    background: list[dict[str, Any]] = field(default_factory=list)
    answered: bool = False
    more: bool = False


def constraints(reading: Reading, predicates: Sequence[str], limit: int) -> tuple[Found, bool]:
    """Every rule in scope, and whether all of them were read."""
    found, whole = Found(), True
    for predicate in predicates:
        where = f'?p (?s, "{predicate}", ?o)'
        try:
            result = reading.find("?p.id", where, {}, tail=f"ORDER BY ?p.id ASC LIMIT {limit}")
        except kipql.KipError as error:
            if error.code == "SchemaSymbolNotFound":  # nothing can have been said with it
                continue
            raise
        whole = whole and not result.truncated
        for identity in result.rows:
            item = belief(reading, identity, found, role="constraint")
            if item is not None:
                found.items.append(item)
                if item["epistemic_status"] in ("contested", "uncertain"):
                    found.unverified.append(f"whether this rule holds is {item['epistemic_status']}: {item['ref']}")
    return found, whole


def standing(reading: Reading) -> tuple[Found, bool]:
    """The constraints that are no claims of a conversation: rules of a canon, lessons, texts that something must hold.

    They are read as a Brain reads them; whether all of them were read.
    """
    found, at = Found(), reading.brain()
    known = everywhere(at, *at.batch(*constraint_asks(at)))
    for one in known.items:
        if one["source"] == "claim":
            claim = belief(reading, one["ref"], found, role="constraint")
            found.items += [claim | {"text": one["text"][:TEXT]}] if claim is not None else []
        else:
            ref = result_ref(one["ref"], reading.seq)
            found.items.append(_item(ref, one["text"], "constraint", "not_applicable", []))
    for warned in known.warnings:
        found.uncertainties.append(warned.text[:TEXT])
        if warned.severity != "note":
            found.unverified.append(warned.text[:TEXT])
    return found, known.completed and not known.truncated


def commitments(reading: Reading, limit: int) -> tuple[Found, bool]:
    """Every open commitment in scope, the nearest due first, and whether all of them were read."""
    found = Found()
    where = f"""?c {{type: "{_PROFILE}/Commitment"}} FILTER(IN(?c.attributes.status, ["pending", "blocked"]))"""
    columns = f'?c.id, ?c.attributes.summary, ?c.attributes.status, ?c.attributes.due_at, ?c.facets["{FACET}"]'
    result = reading.find(columns, where, {}, tail=f"ORDER BY ?c.attributes.due_at ASC, ?c.id ASC LIMIT {limit}")
    for identity, summary, status, due_at, facet in result.rows:
        if reading.scope.admits(facet):
            text = f"open commitment ({status}{f', due {due_at}' if due_at else ''}): {summary}"
            sources = reading.find("?e.id, ?e.client_key", _MADE_FROM, {"id": identity}).rows
            refs = [ref_of(*row) for row in sources]
            found.items.append(_item(result_ref(identity, reading.seq), text, "warning", "not_applicable", refs))
    return found, not result.truncated


_MADE_FROM = """STRUCTURAL (?x, "outputs", :id) STRUCTURAL (?x, "inputs", ?e) ?e EVIDENCE {}
  FILTER(!STARTS_WITH(?e.evidence_class, "kipql:"))"""


def retained(reading: Reading, kind: str) -> bool:
    """Whether the Space holds anything of a kind that this level does not serve, as far as it may be seen."""
    where = f'?c {{type: "{_PROFILE}/{kind}"}}'
    if kind == "Experience":  # the record of a session's turns is no trajectory to learn from
        where += ' FILTER(IS_NULL(?c.attributes.experience_class) || ?c.attributes.experience_class != "agent_session")'
    return bool(reading.find("?c.id", where, {}, tail="LIMIT 1").rows)


def facts(reading: Reading, query: str, apart: Sequence[str]) -> Found:
    """Beliefs about what a query may mean, best grounded first; those of the predicates `apart` are constraints."""
    found, brain = Found(), reading.brain(query)
    subject = resolve(brain)
    wanting = asked(brain.asked, subject)
    scores: dict[str, float] = {}
    said = reading.find("?p.id, ?p.retrieval.score", f"?p SEARCH PROPOSITION :q LIMIT {HITS}", {"q": query})
    concepts = reading.find(
        "?c.id, ?c.retrieval.score, ?c.schema_ref", f"?c SEARCH CONCEPT :q LIMIT {HITS}", {"q": query}
    )
    found.more = len(said.rows) == HITS or len(concepts.rows) == HITS
    for identity, score in said.rows:
        scores[identity] = scores.get(identity, 0.0) + score
    for identity, score, kind in concepts.rows:
        if kind.rsplit("/", 1)[-1] in _APART:
            continue
        for side in ("?s", "?o"):
            other = {"?s": "(:id, ?r, ?o)", "?o": "(?s, ?r, :id)"}[side]
            about = reading.find("?p.id", f"?p {other}", {"id": identity}, tail=f"ORDER BY ?p.id ASC LIMIT {HITS * 4}")
            found.more = found.more or about.truncated
            for each in about.rows:
                scores[each] = scores.get(each, 0.0) + score
    grounded = [each for each, score in scores.items() if score >= FLOOR]
    for identity in sorted(grounded, key=lambda each: (-scores[each], int(each[2:])))[: FACTS * 2]:
        item = belief(reading, identity, found, apart=apart)
        if item is not None:
            answers = _match(reading, identity, wanting, subject.id) >= ENOUGH
            (found.items if answers else found.background).append(item)
            found.answered = found.answered or (answers and item["epistemic_status"] in ("accepted", "rejected"))
        if len(found.items) + len(found.background) == FACTS:
            found.more = True
            break
    return found


def _match(reading: Reading, proposition: str, wanting: Asked, subject: str | None) -> float:
    """How far a claim speaks of what is asked; the names of whom it is about are no part of that."""
    claim = reading.find("?p", "?p (id: :p)", {"p": proposition}).rows[0]
    ends = [claim["subject"], claim["object"]]
    refs = [each["id"] for each in ends if isinstance(each, Mapping) and "id" in each]
    text = " ".join(_said(reading, each) for each in ends)
    other = next((each for each in refs if each != subject), None)
    return wanting.match(claim["predicate_ref"], text, other)


_CLAIM = """?p (id: :p) ?b BELIEF (id: :p)"""
_SUPPORT = """?a ASSERTION {proposition: :p} STRUCTURAL (?a, "evidence", ?e) FILTER(IN(?a.id, :claims))"""


def belief(
    reading: Reading, proposition: str, found: Found, *, role: str = "fact", apart: Sequence[str] = ()
) -> dict[str, Any] | None:
    """A claim as an item, with its status under the policy; None where nothing that counts here is said of it."""
    rows = reading.find("?p, ?b", _CLAIM, {"p": proposition}).rows
    if not rows:
        return None
    claim, judged = rows[0]
    local = claim["predicate_ref"].rsplit("/", 1)[-1]
    if judged["status"] == "insufficient" or local in apart:
        return None
    ids = [*judged["support"]["assertion_ids"], *judged["opposition"]["assertion_ids"]]
    sources = reading.find("?e.id, ?e.client_key", _SUPPORT, {"p": proposition, "claims": ids}).rows
    text = _text(reading, claim, role)
    ref = result_ref(proposition, reading.seq, reading.valid_at)
    item = _item(ref, text, role, judged["status"], list(dict.fromkeys(ref_of(*row) for row in sources)))
    if judged["status"] == "contested":
        found.uncertainties.append(f"contested: {text}"[:TEXT])
    validity = judged["dependency_validity"]
    if validity["status"] != "current" or not validity["action_eligible"]:
        found.uncertainties.append(f"what this rests on is {validity['status']}: {text}"[:TEXT])
        found.unverified.append(f"what {proposition} rests on is {validity['status']}")
    elif judged["status"] == "accepted":
        item["action_eligible"] = True
    return item


def sources(reading: Reading, query: str) -> Found:
    """Raw material that a query may mean, labelled as such."""
    found = Found()
    where = f"""?e SEARCH EVIDENCE :q LIMIT {HITS} FILTER(!STARTS_WITH(?e.evidence_class, "kipql:"))"""
    columns = f'?e.id, ?e.client_key, ?e.payload, ?e.facets["{FACET}"]'
    tail = "ORDER BY ?e.retrieval.score DESC, ?e.id ASC"
    for identity, key, payload, facet in reading.find(columns, where, {"q": query}, tail=tail).rows:
        if not reading.scope.admits(facet) or not isinstance(payload, Mapping) or payload.get("mode") != "inline":
            continue
        if len(found.items) == SOURCES:
            found.more = True
            break
        ref = result_ref(identity, reading.seq)
        found.items.append(_item(ref, shown(payload["inline"]), "source", "not_applicable", [ref_of(identity, key)]))
    return found


def working_states(reading: Reading) -> Found:
    """Working states of exactly this scope; what is global or another task's is not served as this one's."""
    found = Found()
    columns = f'?w.id, ?w.attributes.summary, ?w.facets["{FACET}"]'
    for identity, summary, facet in reading.find(columns, f'?w {{type: "{_PROFILE}/WorkingState"}}', {}).rows:
        contexts = set(facet.get("context_refs") or ()) if isinstance(facet, Mapping) else set()
        if contexts and contexts == set(reading.scope.contexts):
            text = f"working state: {summary}"
            found.items.append(_item(result_ref(identity, reading.seq), text, "source", "not_applicable", []))
    return found


def shown(content: Any) -> str:
    """The text of a source, cut with a mark where it is long."""
    import json

    inner = content.get("content") if isinstance(content, Mapping) else content
    text = inner if isinstance(inner, str) else json.dumps(content, ensure_ascii=False)
    return (text if len(text) <= TEXT else f"{text[: TEXT - 20]} [cut, expand it]") or "(empty)"


def _item(ref: str, text: str, role: str, status: str, evidence: Sequence[str]) -> dict[str, Any]:
    return {
        "ref": ref,
        "text": text[:4096],
        "role": role,
        "epistemic_status": status,
        "evidence_refs": list(dict.fromkeys(evidence))[:128],
        "action_eligible": False,
    }


def _text(reading: Reading, claim: Mapping[str, Any], role: str) -> str:
    said = _said(reading, claim["object"])
    if role == "constraint":
        return said
    words = claim["predicate_ref"].rsplit("/", 1)[-1].replace("_", " ")
    return f"{_name(reading, claim['subject']['id'])} {words} {said}"[:TEXT]


def _said(reading: Reading, value: Any) -> str:
    return _name(reading, value["id"]) if isinstance(value, Mapping) and "id" in value else shown(value)


def _name(reading: Reading, identity: str) -> str:
    if identity[0] != "C":
        return identity
    rows = reading.find("?c.name, ?c.key, ?c.attributes", "?c CONCEPT {id: :id}", {"id": identity}).rows
    return (
        called({"id": identity, **dict(zip(("name", "key", "attributes"), rows[0], strict=True))}) if rows else identity
    )
