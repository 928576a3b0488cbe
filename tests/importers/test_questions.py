"""Fifty questions over the imported conversations: what did somebody say about it, and is it still so?

Each is a query (what was said, in which message), a belief, and the ledger that says why. The table is `talks`.
"""

from functools import cache
from typing import Any, NamedTuple

import pytest

import kipql
from kipql.importers.chat import import_chat
from tests.importers.talks import BOOLEAN, CLAIMS, END, FUNCTIONAL, PLAIN, QUESTIONS, Asked, Bound, Said
from tests.shared import shared_path

FOLDER = shared_path("data/locomo")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="shared: absent")
DAY_END = "T23:59:59.999Z"
_PACKAGE = {
    "manifest": {"package_id": "kip://test/talks", "version": "1.0.0"},
    "definitions": {
        "concept_types": {},
        "predicates": {
            **{name: {"description": name} for name in PLAIN},
            **{name: {"description": name, "functional": True} for name in FUNCTIONAL},
            **{name: {"description": name, "functional": True, "boolean_completeness": True} for name in BOOLEAN},
        },
    },
}
ALL = [(stem, asked) for stem, rows in QUESTIONS.items() for asked in rows]
NAMES = [
    f"{stem}-{asked.kind}-{asked.who}-{asked.predicate}-{asked.value}-{asked.at or asked.before or 'now'}"
    for stem, asked in ALL
]


class Talk(NamedTuple):
    """A conversation in a memory, with the sequence before each claim was recorded."""

    nexus: kipql.Nexus
    before: dict[str, int]


def bound(written: Bound) -> Any:
    """A day is any instant of it; a pair is from the first of one day to the end of another."""
    if written is None:
        return None
    first, last = written if isinstance(written, tuple) else (written, written)
    sides = {"earliest": first and f"{first}T00:00:00.000Z", "latest": last and last + DAY_END}
    return {name: side for name, side in sides.items() if side is not None}


def instant(day: str | None) -> str:
    return END + "T00:00:00.000Z" if day is None else day if "T" in day else f"{day}T00:00:00.000Z"


@cache
def talk(stem: str) -> Talk:
    assert FOLDER is not None
    nexus = kipql.open(packages=[_PACKAGE])
    import_chat(nexus, FOLDER / f"{stem}.json")
    before = {}
    for claim in CLAIMS[stem]:
        before[claim.name] = nexus.space_seq
        record(nexus, stem, claim)
    return Talk(nexus, before)


def person(stem: str, name: str) -> dict[str, str]:
    return {"type": "Person", "key": f"chat:{stem}:person:{name}"}


def record(nexus: kipql.Nexus, stem: str, claim: Said) -> None:
    """One claim in the name of who said it, at the time of the session, on the message as its Evidence."""
    message, speaker, said_at = nexus.query(
        """FIND(?m.id, ?who.key, ?session.attributes.started_at) WHERE {
          ?m EVIDENCE {evidence_class: "message", payload: {inline: {dia_id: :dia_id}}}
          STRUCTURAL (?m, "source", ?who)  STRUCTURAL (?session, "has_message", ?m)
          ?who CONCEPT {}  ?session CONCEPT {} }""",
        {"dia_id": claim.dia_id},
    ).one()
    assert speaker == person(stem, claim.who)["key"], f"{claim.dia_id} is not by {claim.who}"
    valid = {"from": bound(claim.since), "until": bound(claim.until)}
    nexus.execute(
        f"""ASSERT (:who, "{claim.predicate}", :value)
        {{by: :who, mode: :mode, stance: :stance, at: :at, evidence: :message, valid: :valid}}""",
        {
            "who": person(stem, claim.who), "value": claim.value, "mode": claim.mode, "stance": claim.stance,
            "at": said_at, "message": message, "valid": valid,
        },
    )  # fmt: skip


def asked_of(talk: Talk, stem: str, asked: Asked) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The slot or the belief with its ledger, and what was said on it as (dia_id, stance)."""
    as_of = "" if asked.before is None else f"AS OF SEQ {talk.before[asked.before]}"
    subject = f'{{type: "Person", key: "chat:{stem}:person:{asked.who}"}}'
    pattern = f'SLOT (?who, "{asked.predicate}")' if asked.value is None else f'(?who, "{asked.predicate}", :value)'
    given = {"at": instant(asked.at), "value": asked.value, "mode": asked.hypothetical}
    found = talk.nexus.query(
        f"""FIND(?b) WHERE {{ ?who {subject} ?b BELIEF {pattern} }} {as_of} FOR TIME :at
        WITH EPISTEMIC {{explanation: "ledger", include_hypothetical: :mode}}""",
        given,
    ).one()
    value = "?value" if asked.value is None else ":value"
    said = talk.nexus.query(
        f"""FIND(?m.payload.inline.dia_id, ?a.stance) WHERE {{ ?who {subject}
        ?p (?who, "{asked.predicate}", {value})  ?a ASSERTION {{proposition: ?p, asserted_by: ?who}}
        STRUCTURAL (?a, "evidence", ?m) ?m EVIDENCE {{}} }} {as_of} ORDER BY ?a.asserted_at, ?a.id""",
        given,
    ).rows
    return found, said


def messages(talk: Talk, claims: list[str]) -> list[str]:
    text = (
        'FIND(?m.payload.inline.dia_id) WHERE { ?a ASSERTION {id: :id} STRUCTURAL (?a, "evidence", ?m) ?m EVIDENCE {} }'
    )
    return sorted(talk.nexus.query(text, {"id": claim}).scalar() for claim in claims)


@pytest.mark.parametrize(("stem", "asked"), ALL, ids=NAMES)
def test_a_question(stem: str, asked: Asked) -> None:
    memory = talk(stem)
    found, said = asked_of(memory, stem, asked)
    entries = found["explanation"]["entries"]
    decide = messages(memory, [one["assertion_id"] for one in entries if one["counts"]])
    over = messages(memory, [one["assertion_id"] for one in entries if one["verdict"] == "expired"])
    assert found["status"] == asked.status
    if asked.value is None:
        assert found["accepted_values"] == list(asked.accepted)
    assert (decide, over) == (sorted(asked.counts), sorted(asked.over))
    if asked.kind == "FIND":
        assert said == list(asked.said)
    else:
        # Whatever decides was said about this, by this person, in a message that can be looked up.
        assert set(asked.counts) | set(asked.over) <= {dia_id for dia_id, _ in said} | _negations(memory, stem, asked)


def _negations(memory: Talk, stem: str, asked: Asked) -> set[str]:
    """What was said of the opposite, where a Predicate makes false the negation of true."""
    if asked.predicate not in BOOLEAN or asked.value is None:
        return set()
    _, said = asked_of(memory, stem, asked._replace(value=not asked.value))
    return {dia_id for dia_id, _ in said}


def test_there_are_fifty_of_all_four_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    kinds = {kind: sum(asked.kind == kind for _, asked in ALL) for kind in ("FIND", "BELIEF", "AS OF SEQ", "FOR TIME")}
    with capsys.disabled():
        print(f"\nquestions over imported conversations: {len(ALL)}, {kinds}")
    assert len(ALL) >= 50 and set(QUESTIONS) == {"26", "30", "41", "42", "43", "44"}
    assert min(kinds.values()) >= 8 and len({*NAMES}) == len(ALL) - 1  # one is asked with its forecast, too
