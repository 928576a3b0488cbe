"""What a belief on a lake rests on is found there: pins, selections, repairs, trust, removals (§11.5, §57)."""

import random
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import lake
from kipql.errors import KipError
from kipql.lake import closure
from kipql.lake.closure import Closure
from kipql.lake.lower import beliefs
from kipql.lake.records import record_of
from kipql.limits import Limits
from kipql.model import EVIDENCE, PROPOSITION
from kipql.nexus import session_of
from kipql.store.elements import element
from tests.belief import random_memories as memories
from tests.belief.test_dependencies import HOME, JULY, MEMORY, MOVED, NOW, OCTOBER, PINS, RETRACT, Derivations, pin
from tests.belief.world import PEOPLE
from tests.lake.test_beliefs import told
from tests.nexus.test_repair import heard, mend, merged, withdraw

SLOTS = 'FIND(?s.id, ?b) WHERE { ?s CONCEPT {} ?b BELIEF SLOT (?s, "likes") }'
LATER = "2100-01-01T00:00:00.000Z"
LIKED = 'FIND(?b) WHERE { ?b BELIEF ("C-1", "likes", ?o) }'


def agree(nexus: Any, folder: Path, *texts: str, at: datetime = NOW) -> list[Any]:
    """What the lake says to each text, once it is what the memory says."""
    lake.export(nexus, folder)
    with lake.open(folder, clock=lambda: at) as opened:
        found = [told(opened, text) for text in texts]
    assert found == [told(nexus, text) for text in texts]
    return found


def statuses(found: Any) -> list[str]:
    """The statuses in the rows of a told answer, in any order."""
    return sorted(row.split("'status': '")[-1].split("'")[0] for row in found[0])


@pytest.fixture
def derivations() -> Derivations:
    return Derivations()


# --- what derivations rest on -------------------------------------------------------------------------


@pytest.mark.parametrize(("groups", "happens", "expected"), PINS)
def test_pins_and_groups(
    derivations: Derivations, tmp_path: Path, groups: Any, happens: str | None, expected: tuple[str, list[str]]
) -> None:
    derivations.conclude(groups=groups)
    before = derivations.nexus.space_seq
    if happens is not None:
        derivations.nexus.execute(happens)
    status = 'FIND(?b.status, ?b.dependency_validity) WHERE { ?b BELIEF ("C-1", "likes", "C-4") }'
    now, then = agree(derivations.nexus, tmp_path, status, f"{status} AS OF SEQ {before}")
    assert ("accepted" if expected[0] == "current" else "uncertain") in now[0][0]
    assert "accepted" in then[0][0]


def test_a_pinned_claim_that_is_over_and_one_upon_another(derivations: Derivations, tmp_path: Path) -> None:
    first = derivations.conclude(groups=[("all_of", [pin("A-2")])])
    derivations.conclude(groups=[("all_of", [pin(first)])], what="C-3", who="C-2")
    texts = [f"{SLOTS} {time}" for time in ("", f'FOR TIME "{JULY}"', f'FOR TIME "{OCTOBER}"')]
    derivations.nexus.execute('TRANSITION "A-2" TO "archived"')
    agree(derivations.nexus, tmp_path, *texts)


def test_selections_are_made_again_on_the_lake(derivations: Derivations, tmp_path: Path) -> None:
    nexus = derivations.nexus
    blockers = nexus.capture('FIND(?p) WHERE { ?p (?s, "member_of", ?o) }', expectation="empty")
    home = nexus.capture(HOME, expectation="accepted")
    ranked = nexus.capture('FIND(?c.key) WHERE { ?c {type: "Person"} } ORDER BY ?c.key')
    derivations.conclude(queries=[blockers, ranked])
    derivations.conclude(queries=[home], what="C-3", who="C-2")
    before = nexus.space_seq
    assert statuses(agree(nexus, tmp_path / "a", LIKED)[0]) == ["accepted", "accepted"]
    nexus.execute(MOVED)
    nexus.execute('ASSERT ("C-1", "member_of", "C-3") {by: "C-2", mode: "stated"}')
    agree(nexus, tmp_path / "b", SLOTS, f"{SLOTS} AS OF SEQ {before}", f'{SLOTS} FOR TIME "2026-04-01T00:00:00.000Z"')


def test_a_selection_that_leads_to_itself_ends(derivations: Derivations, tmp_path: Path) -> None:
    nexus = derivations.nexus
    likes = nexus.capture('FIND(?b.status) WHERE { ?b BELIEF ("C-1", "likes", ?o) }')
    derivations.conclude(queries=[likes])
    agree(nexus, tmp_path, LIKED, SLOTS)


REFUSED = [
    ('FIND(?c) WHERE { ?c SEARCH CONCEPT "Ann" LIMIT 3 }', "SEARCH is not available on a lake"),
    (
        'FIND(?c.key, ?c.name) WHERE { ?c {type: "Person"} } ORDER BY ?c.retention.retention_class',
        "a selection whose order leaves ties is not available on a lake",
    ),
]


@pytest.mark.parametrize(("selector", "message"), REFUSED)
def test_a_selection_that_a_lake_can_not_make_is_refused_and_never_unverifiable(
    derivations: Derivations, tmp_path: Path, selector: str, message: str
) -> None:
    derivations.conclude(queries=[derivations.nexus.capture(selector)])
    lake.export(derivations.nexus, tmp_path)
    with lake.open(tmp_path, clock=lambda: NOW) as opened, pytest.raises(KipError) as raised:
        opened.query(LIKED)
    assert (raised.value.code, raised.value.message) == ("UnsupportedCapability", message)


# --- repairs, trust, what was taken out ---------------------------------------------------------------


def test_an_identity_repair_puts_claims_up_for_review_from_then_on(tmp_path: Path) -> None:
    nexus = merged()
    withdraw(nexus)
    text = """FIND(?b.status, ?b.dependency_validity.reasons, ?b.basis)
    WHERE { ?b BELIEF (?s, "same_as", ?o) ?s CONCEPT {} }"""
    clauses = [*(f"AS OF SEQ {seq}" for seq in range(1, nexus.space_seq)), ""]
    found = agree(nexus, tmp_path, *(f'{text} {each} FOR TIME "{LATER}"' for each in clauses))
    assert "identity_repaired" in str(found[-1]) and "identity_repaired" not in str(found[-2])


def test_an_invalidated_recording_takes_no_part(tmp_path: Path) -> None:
    nexus = heard()
    mend(nexus)
    text = 'FIND(?b) WHERE { ?b BELIEF ("C-1", "same_as", ?o) }'
    explained = 'WITH EPISTEMIC {explanation: "ledger", include_historical: true}'
    found = agree(
        nexus,
        tmp_path,
        *(f'{text} {each} FOR TIME "{LATER}" {how}' for each in ("AS OF SEQ 1", "") for how in ("", explained)),
    )
    assert "recording_invalidated" in str(found[-1])


TAKEN_OUT = [
    'PURGE "A-1" CONFIRM "PURGE"',
    'PURGE "E-1" REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"',
    'PURGE PAYLOAD "E-1" CONFIRM "PURGE"',
    'TRANSITION "P-1" TO "archived"',
    'TRANSITION "A-1" TO "tombstoned"',
    lambda nexus: nexus.govern.quarantine(["A-1", "E-2"]),
]


@pytest.mark.parametrize("happens", TAKEN_OUT)
def test_what_recall_leaves_out(
    derivations: Derivations, tmp_path: Path, happens: str | Callable[[kipql.Nexus], object]
) -> None:
    nexus, text = derivations.nexus, 'FIND(?b) WHERE { ?s {type: "Person"} ?b BELIEF SLOT (?s, "lives_in") }'
    nexus.execute(happens) if isinstance(happens, str) else happens(nexus)
    explained = 'WITH EPISTEMIC {explanation: "ledger", include_historical: true}'
    agree(nexus, tmp_path, text, f"{text} AS OF SEQ 1", SLOTS, f"{text} {explained}", f"{text} AS OF SEQ 1 {explained}")


def test_trust_weighs_as_it_did_at_the_sequence(derivations: Derivations, tmp_path: Path) -> None:
    nexus = derivations.nexus
    nexus.install_policy(memories._WEIGHTED)
    for value in (0.1, 0.9):
        nexus.govern.trust.set("C-1", value)
    last = nexus.space_seq
    text = 'FIND(?b.support.score, ?b.status, ?b.basis) WHERE { ?b BELIEF ("C-1", "lives_in", ?o) }'
    weighted = 'WITH EPISTEMIC {policy: "test:weighted"}'
    found = agree(
        nexus, tmp_path, f"{text} {weighted}", *(f"{text} AS OF SEQ {last - ago} {weighted}" for ago in (1, 2))
    )
    assert len({answer[0][0] for answer in found}) == 3


# --- errors and limits --------------------------------------------------------------------------------

ERRORS = [
    ('FIND(?b) WHERE { ?s CONCEPT {} OPTIONAL { ?p (?s, "likes", ?o) } ?b BELIEF (?p) }', "ProjectionTargetUnbound"),
    ('FIND(?b) WHERE { ?s CONCEPT {} OPTIONAL { (?s, "likes", ?o) } ?b BELIEF SLOT (?o, "likes") }',
     "ProjectionTargetUnbounded"),
    ('FIND(?b) WHERE { ?s CONCEPT {} OPTIONAL { (?s, ?k, ?o) } ?b BELIEF SLOT (?s, ?k) }', "ProjectionTargetUnbounded"),
    ('FIND(?b) WHERE { ?b BELIEF SLOT (?s, "likes") }', "ProjectionTargetUnbounded"),
    ('FIND(?b) WHERE { ?b BELIEF SLOT ("C-1", "hates") }', "SchemaSymbolNotFound"),
    ('FIND(?b) WHERE { ?b BELIEF SLOT ("C-1", "likes") } WITH EPISTEMIC {policy: "none"}',
     "ProjectionPolicyUnavailable"),
    ('FIND(?b) WHERE { ?b BELIEF SLOT ("C-1", "likes") } WITH EPISTEMIC {context_refs: ["C-99"]}',
     "NotFoundOrNotVisible"),
    ('FIND(?c) WHERE { ?c CONCEPT {} } WITH EPISTEMIC {policy: "none"}', "ProjectionPolicyUnavailable"),
    ('FIND(?b) WHERE { ?b BELIEF SLOT ("C-1", "likes") } ORDER BY ?b', "InvalidSyntax"),
    ('FIND(?b) WHERE { ?b BELIEF SLOT ("C-1", "likes") } ORDER BY ?b.basis', None),
    ('FIND(?b) WHERE { ?s CONCEPT {} ?b BELIEF SLOT (?s, "likes") } ORDER BY ?b.basis', "TypeMismatch"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code"), ERRORS)
def test_errors_are_the_processs(derivations: Derivations, tmp_path: Path, text: str, code: str | None) -> None:
    (found,) = agree(derivations.nexus, tmp_path, text)
    assert (found[0] if len(found) == 3 else None) == code


def test_of_no_rows_nothing_is_said(derivations: Derivations, tmp_path: Path) -> None:
    (found,) = agree(derivations.nexus, tmp_path, f"{SLOTS} LIMIT 0")
    assert found[0] == [] and "basis" not in found[1]


def test_a_lake_projects_each_target_once_and_no_more_than_the_limit(derivations: Derivations, tmp_path: Path) -> None:
    lake.export(derivations.nexus, tmp_path)
    text = 'FIND(?b.status) WHERE { ?s CONCEPT {} ?t CONCEPT {} ?b BELIEF SLOT (?s, "likes") }'
    with lake.open(tmp_path) as opened:
        rows = opened.query(text, limits=Limits(projections=4)).rows
        with pytest.raises(KipError) as raised:
            opened.query(text, limits=Limits(projections=3))
    assert len(rows) == 16
    assert (raised.value.code, raised.value.message) == (
        "ResourceExhausted",
        "the query projects too many beliefs; the limit projections is 3",
    )


def test_a_narrowed_export_has_no_beliefs(tmp_path: Path) -> None:
    nexus = kipql.open()
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ann" }')
    nexus.govern.grant("reader", "discover", "read", "export", "project", types=["Person"])
    lake.export(nexus.as_principal("reader"), tmp_path)
    with lake.open(tmp_path) as opened, pytest.raises(KipError) as raised:
        opened.query('FIND(?b) WHERE { ?b BELIEF SLOT ("C-1", "same_as") }')
    assert raised.value.code == "UnsupportedCapability"


# --- how it is fetched --------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [1, 3, 5_000])
def test_everything_a_chunk_rests_on_is_fetched_at_once(
    derivations: Derivations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    first = derivations.conclude(groups=[("all_of", [pin("A-1"), pin("C-1")])])
    derivations.conclude(groups=[("any_of", [pin(first), pin("E-2")])], what="C-3", who="C-2")
    nexus = derivations.nexus
    nexus.execute(RETRACT)
    lake.export(nexus, tmp_path)
    monkeypatch.setattr(beliefs, "CHUNK", chunk)
    needed = []
    need = Closure.need
    monkeypatch.setattr(Closure, "need", lambda self, *args, **more: needed.append(1) or need(self, *args, **more))
    with lake.open(tmp_path, clock=lambda: NOW) as opened:
        found = told(opened, SLOTS)
    targets = len(nexus.query("FIND(?c) WHERE { ?c CONCEPT {} }").rows)
    assert len(needed) == -(-targets // chunk)
    assert found == told(nexus, SLOTS)


def test_the_statuses_of_plain_slots_need_no_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nexus = kipql.open(packages=[PEOPLE], clock=lambda: NOW)
    nexus.execute(MEMORY)
    nexus.execute(MOVED)
    nexus.execute('ASSERT ("C-2", "likes", "C-3") {by: "C-1", mode: "stated", evidence: "E-1", stance: "reject"}')
    lake.export(nexus, tmp_path)
    text = """FIND(?s.id, ?k, ?o.id, ?b.status, ?b.slot_status, ?b.candidate_status)
    WHERE { (?s, ?k, ?o) ?b BELIEF (?s, ?k, ?o) } FOR TIME :at"""
    slots = """FIND(?s.id, ?b.accepted_values, ?b.status) WHERE { ?s {type: "Person"} ?b BELIEF SLOT (?s, "likes")
    FILTER(?b.status != "contested") } FOR TIME :at"""
    expected = [told(nexus, text, {"at": JULY}), told(nexus, slots, {"at": OCTOBER})]

    def refuse(*anything: object) -> None:
        raise AssertionError("a record was made")

    monkeypatch.setattr(closure, "record_of", refuse)
    with lake.open(tmp_path, clock=lambda: NOW) as opened:
        assert [told(opened, text, {"at": JULY}), told(opened, slots, {"at": OCTOBER})] == expected
    assert len(expected[0][0]) == 4


@pytest.mark.parametrize("seed", range(6))
def test_a_record_comes_back_from_its_wire_element(seed: int) -> None:
    nexus = memories.write(random.Random(seed)).nexus
    view = session_of(nexus).view()
    read = 0
    for kind in range(5):
        for row in view.rows(kind):
            code = row * 8 + kind
            record, wire = view.record(code), element(view, code)
            payload = wire.pop("payload", None)
            made = record_of(
                kind, wire, record.object if kind == PROPOSITION else None, payload if kind == EVIDENCE else None  # type: ignore[union-attr]
            )  # fmt: skip
            assert made == record
            assert (made.version, made.planes, made.seq) == (record.version, record.planes, record.seq)
            read += 1
    assert read > 20
