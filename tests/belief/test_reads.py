"""What a query with beliefs discloses, reads once, charges and refuses."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import kipql
from kipql.errors import KipError
from kipql.limits import Limits
from kipql.render import ledger, timeline
from tests.belief.world import PEOPLE, TEXTS

BASIS = {
    "space_id", "snapshot_seq", "schema_environment_version", "identity_version", "policy", "trust_version",
    "authorization_view", "context_refs", "purpose", "risk", "valid_at", "next_invalid_at",
}  # fmt: skip
CANDIDATE = {
    "status", "candidate_status", "slot_status", "leading", "proposition_id", "conflict_refs", "conflict_reasons",
    "support", "opposition", "uncertainty", "precedence", "dependency_validity", "basis", "explanation",
}  # fmt: skip
JULY = ' FOR TIME "2026-07-15T00:00:00.000Z"'
SLOT = 'FIND(?b) WHERE { ?b BELIEF SLOT ("C-2", "lives_in") }' + JULY


class Clock:
    """Counts how often it is read; each reading is a day later."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 9, 1, tzinfo=UTC)
        self.read = 0

    def __call__(self) -> datetime:
        self.read += 1
        self.moment += timedelta(days=1)
        return self.moment


@pytest.fixture
def nexus() -> kipql.Nexus:
    nexus = kipql.open(packages=[PEOPLE])
    for text in TEXTS:
        nexus.execute(text)
    return nexus


def code_of(call: Any, *arguments: object, **options: object) -> str:
    with pytest.raises(KipError) as caught:
        call(*arguments, **options)
    return caught.value.code


# --- shapes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings", ["", ' WITH EPISTEMIC {explanation: "summary"}', ' WITH EPISTEMIC {context_refs: ["C-11"]}']
)
def test_the_shapes_are_closed(nexus: kipql.Nexus, settings: str) -> None:
    result = nexus.query(SLOT + settings)
    slot = result.scalar()
    assert set(slot) == {
        "status", "subject", "predicate_ref", "accepted_values", "candidate_projections", "uncertainty", "basis",
        "explanation",
    }  # fmt: skip
    assert slot["candidate_projections"]
    for belief in slot["candidate_projections"]:
        assert set(belief) == CANDIDATE
        assert belief["basis"] == belief["dependency_validity"]["basis"] == slot["basis"] == result.basis
    assert set(slot["basis"]) == BASIS
    json.dumps(slot)


def test_a_whole_belief_may_be_changed_by_its_reader(nexus: kipql.Nexus) -> None:
    before = nexus.query(SLOT).scalar()
    changed = nexus.query(SLOT).scalar()
    changed["basis"]["policy"]["id"] = "mine"
    changed["candidate_projections"][0]["support"]["assertion_ids"].clear()
    assert changed["candidate_projections"][1]["basis"]["policy"]["id"] == "kip:policy:baseline"
    assert nexus.query(SLOT).scalar() == before


def test_explanations_grow_with_their_level(nexus: kipql.Nexus) -> None:
    none, summary, full = (
        nexus.query(f'{SLOT} WITH EPISTEMIC {{explanation: "{level}"}}').scalar()
        for level in ("none", "summary", "ledger")
    )
    assert none["explanation"] is None
    assert summary["explanation"] == {
        "level": "summary", "considered": 2, "counted": 2, "verdicts": {"support": 2}, "rule": None,
    }  # fmt: skip
    assert full["explanation"]["entries"][0]["assertion_id"] == "A-3"
    strip = ("explanation", "candidate_projections")
    assert all(
        {k: v for k, v in one.items() if k not in strip} == {k: v for k, v in none.items() if k not in strip}
        for one in (summary, full)
    )


def test_the_ledger_tells_why_a_claim_is_out(nexus: kipql.Nexus) -> None:
    nexus.execute('TRANSITION "A-4" TO "retracted"')
    text = f'{SLOT} WITH EPISTEMIC {{explanation: "ledger"}}'
    verdicts = {
        entry["assertion_id"]: entry["verdict"] for entry in nexus.query(text).scalar()["explanation"]["entries"]
    }
    assert verdicts == {"A-3": "support", "A-4": "retracted"}


def test_render_draws_the_ledger(nexus: kipql.Nexus) -> None:
    slot = nexus.query(SLOT.replace('"C-2"', '"C-1"') + ' WITH EPISTEMIC {explanation: "ledger"}').scalar()
    drawn = timeline(slot, {"C-1": "Ann", "C-5": "Rome", "C-6": "Oslo"}.get)  # type: ignore[arg-type]
    assert drawn.splitlines()[0] == "Ann lives_in: accepted Oslo"
    assert "A-2" in ledger(slot)
    assert code_of(timeline, nexus.query(SLOT).scalar()) == "ConstraintViolation"


# --- the result's context -----------------------------------------------------------------------------


def test_a_result_with_beliefs_carries_their_basis(nexus: kipql.Nexus) -> None:
    result = nexus.query(
        'FIND(?s.name, ?b.status) WHERE { ?s {type: "Person"} ?b BELIEF SLOT (?s, "lives_in") }' + JULY
    )
    assert set(result.basis or ()) == BASIS
    assert result.context["epistemic_policy"] == {"id": "kip:policy:baseline", "version": "1"}
    assert result.context["valid_at"] == "2026-07-15T00:00:00.000Z"
    # The earliest change of any of them: Ben's own claim ends in August.
    assert result.basis["next_invalid_at"] == "2026-08-01T00:00:00.000Z"  # type: ignore[index]


def test_a_result_without_rows_still_has_its_basis(nexus: kipql.Nexus) -> None:
    result = nexus.query('FIND(?b) WHERE { ?s {key: "nobody"} ?b BELIEF SLOT (?s, "lives_in") }' + JULY)
    assert result.rows == []
    assert set(result.basis or ()) == BASIS


def test_a_raw_read_has_no_basis(nexus: kipql.Nexus) -> None:
    assert nexus.query('FIND(?s.name) WHERE { ?s {type: "Person"} }' + JULY).basis is None


def test_the_wire_context_has_the_basis_and_the_purpose_of_the_request(nexus: kipql.Nexus) -> None:
    reply = nexus.request(
        {"kip": "2.0", "context": {"purpose": "answer_user", "risk": "low"}, "operations": [{"command": SLOT}]}
    )
    context = reply["results"][0]["context"]
    assert (context["basis"]["purpose"], context["basis"]["risk"]) == ("answer_user", "low")
    assert context["basis"] == reply["results"][0]["result"][0]["basis"]


# --- one reading of the clock -------------------------------------------------------------------------


def test_a_query_reads_the_clock_once_and_only_when_it_must() -> None:
    clock = Clock()
    nexus = kipql.open(packages=[PEOPLE], clock=clock)
    for text in TEXTS:
        nexus.execute(text)

    def readings(text: str) -> int:
        before = clock.read
        _ = nexus.query(text).rows, nexus.query(text).context
        return clock.read - before

    both = """FIND(?a.basis.valid_at, ?b.basis.valid_at)
    WHERE { ?a BELIEF SLOT ("C-1", "lives_in") ?b BELIEF SLOT ("C-2", "lives_in") }"""
    one, other = nexus.query(both).one()
    assert one == other
    assert readings(both) == 2  # two queries
    assert readings(both + JULY) == 0
    assert readings('FIND(?s.name) WHERE { ?s {type: "Person"} }') == 0


def test_pages_go_on_at_the_instant_of_the_first() -> None:
    nexus = kipql.open(packages=[PEOPLE], clock=Clock())
    for text in TEXTS:
        nexus.execute(text)
    text = 'FIND(?s.id, ?b.basis.valid_at) WHERE { ?s {type: "Person"} ?b BELIEF SLOT (?s, "lives_in") } LIMIT 1'
    page = nexus.query(text)
    seen = [*page.rows]
    while page.next_cursor is not None:
        page = nexus.query(f"{text} CURSOR :cursor", {"cursor": page.next_cursor})
        seen += page.rows
    assert len({id_ for id_, _ in seen}) == 4
    assert len({at for _, at in seen}) == 1


# --- transactions, limits, refusals -------------------------------------------------------------------


def test_a_transaction_believes_its_own_writes_on_the_basis_of_the_last_commit(nexus: kipql.Nexus) -> None:
    seq = nexus.space_seq
    with nexus.transaction() as tx:
        tx.execute('TRANSITION "A-4" TO "retracted"')
        inside = tx.query(SLOT)
        assert inside.scalar()["accepted_values"] == [{"id": "C-5"}]
        assert inside.basis["snapshot_seq"] == inside.scalar()["basis"]["snapshot_seq"] == seq  # type: ignore[index]
        assert nexus.query(SLOT).scalar()["status"] == "contested"
        tx.rollback()
    assert nexus.query(SLOT).scalar()["status"] == "contested"


def test_a_query_may_project_so_many_beliefs(nexus: kipql.Nexus) -> None:
    text = 'FIND(?b.status) WHERE { ?s {type: "Person"} ?b BELIEF SLOT (?s, "lives_in") }'
    assert len(nexus.query(text, limits=Limits(projections=4)).rows) == 4
    with pytest.raises(KipError) as caught:
        nexus.query(text, limits=Limits(projections=3))
    assert (caught.value.code, caught.value.details["limit"]) == ("ResourceExhausted", "projections")


@pytest.mark.parametrize(
    "text",
    [
        'UPDATE ?s SET FIELDS {name: "x"} WHERE { ?s {type: "Person"} ?b BELIEF SLOT (?s, "lives_in") }',
        'TRANSITION ?a TO "retracted" WHERE { ?a ASSERTION {} ?b BELIEF SLOT ("C-1", "lives_in") }',
    ],
)
def test_a_belief_selects_no_target_of_a_mutation(nexus: kipql.Nexus, text: str) -> None:
    assert code_of(nexus.execute, text) == "InvalidSyntax"


def test_reading_a_belief_writes_nothing(nexus: kipql.Nexus) -> None:
    before = (nexus.space_seq, nexus.digest())
    nexus.query('FIND(?b) WHERE { ?b BELIEF ("C-4", "likes", "C-8") }')
    assert (nexus.space_seq, nexus.digest()) == before


def test_explain_shows_where_a_belief_runs(nexus: kipql.Nexus) -> None:
    text = 'FIND(?b.status) WHERE { ?b BELIEF SLOT (?s, "lives_in") ?s {key: "ann"} FILTER(?b.status == "accepted") }'
    plan = nexus.explain(text)
    assert plan.index("concept ?s") < plan.index("belief ?b slot (?s, lives_in)") < plan.index("filter ?b.status")
    assert "(starts 1, rows 1)" in nexus.explain(text, {})


# --- lints --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('FIND(?s) WHERE { ?s {type: "Person"} NOT { ?b BELIEF SLOT (?s, "lives_in") } }', "FILTER"),
        ('FIND(?s) WHERE { ?s {type: "Person"} NOT { ?b BELIEF (?s, "lives_in", "C-1") } }', "FILTER"),
        ('FIND(?b.policy.id) WHERE { ?b BELIEF SLOT ("C-1", "lives_in") }', "basis.policy"),
        ('FIND(?b.accepted_value) WHERE { ?b BELIEF SLOT ("C-1", "lives_in") }', "accepted_values"),
    ],
)
def test_check_tells_what_is_hardly_meant(text: str, hint: str) -> None:
    from kipql.plan.lints import lints

    (found,) = lints(kipql.parse(text))
    assert hint in (found.hint or "")
    assert found.span is not None


@pytest.mark.parametrize(
    "text",
    [
        'FIND(?s) WHERE { ?s {key: "a"} NOT { ?b BELIEF SLOT (?s, "lives_in") FILTER(?b.status == "accepted") } }',
        'FIND(?s) WHERE { ?s {type: "Person"} NOT { ?b BELIEF (?s, "lives_in", ?o) } }',
        'FIND(?b.basis.policy.id, ?b.status) WHERE { ?b BELIEF SLOT ("C-1", "lives_in") }',
    ],
)
def test_check_keeps_quiet_about_what_can_be_meant(text: str) -> None:
    from kipql.plan.lints import lints

    assert list(lints(kipql.parse(text))) == []
