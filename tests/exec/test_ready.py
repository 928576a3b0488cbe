"""The ready path answers what the general path answers, or leaves it to it (`kipql.exec.ready`).

Limits of a call, even the widest, are answered by the general path: that is how the two are asked apart.
"""

import json
import random
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest

import kipql
from kipql.errors import KipError
from kipql.exec.prepared import Prepared
from kipql.limits import Limits
from kipql.runtime.result import Result
from kipql.times import format_instant
from tests.belief import random_memories as beliefs
from tests.belief.world import PEOPLE
from tests.exec.generated import Generator
from tests.exec.memories import memory
from tests.exec.test_cases import CASES

WIDE = Limits(seconds=600.0)
STATEMENTS = READY = 0


def told(ask: Any) -> Any:
    """Everything of a result that a caller sees, or everything of an error; what never ran long enough stays out."""
    try:
        result: Result = ask()
    except KipError as error:
        return error.to_dict()
    context = {name: value for name, value in result.context.items() if name not in ("valid_at", "basis")}
    return json.dumps([sorted(map(repr, result.rows)), result.columns, result.truncated, context], default=str)


def warm(nexus: kipql.Nexus, text: str, parameters: dict[str, Any] | None = None) -> kipql.Statement:
    """A statement that has run often enough for a ready path."""
    statement = nexus.prepare(text)
    for _ in range(4):
        statement.query(parameters)
    return statement


def is_ready(statement: Any) -> bool:
    ready = statement._parsed.ready
    return ready is not None and ready.state is not None and ready.state.run is not None


def agrees(nexus: kipql.Nexus, text: str, parameters: dict[str, Any]) -> None:
    global STATEMENTS, READY
    general = told(lambda: nexus.query(text, parameters, limits=WIDE))
    for _ in range(5):
        assert told(lambda: nexus.query(text, parameters)) == general, text
    STATEMENTS += 1
    with suppress(KipError):
        READY += is_ready(nexus.prepare(text))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_reads_the_same_on_both_paths(case: Any) -> None:
    agrees(memory(case.memory), case.text, case.parameters)


@pytest.mark.parametrize("memory_name", ["lab", "merged"])
@pytest.mark.parametrize("seed", range(2_000, 2_060))
def test_generated_queries_read_the_same_on_both_paths(seed: int, memory_name: str) -> None:
    agrees(memory(memory_name), Generator(seed).query(), {})


def test_most_statements_that_run_again_have_a_ready_path() -> None:
    assert STATEMENTS == 0 or READY > STATEMENTS / 2, (READY, STATEMENTS)


# --- beliefs ------------------------------------------------------------------------------------------

SLOT = 'WHERE { ?b BELIEF SLOT (:s, "%s") } AS OF SEQ :k FOR TIME :t'
ITEMS = ("?b", "?b.status", "?b.accepted_values", "?b.status, ?b.accepted_values, ?b", "?b.next_invalid_at")


@pytest.mark.parametrize("seed", range(12))
def test_slots_of_random_memories_read_the_same_on_both_paths(seed: int) -> None:
    draw = random.Random(seed)
    written = beliefs.write(draw)
    nexus = written.nexus
    for predicate in written.predicates:
        for items in ITEMS:
            text = f"FIND({items}) {SLOT % predicate}"
            for _ in range(8):
                at = format_instant(beliefs.FIRST + draw.randint(-1, beliefs.DAYS + 2) * beliefs.DAY)
                subject = draw.choice((*beliefs.SUBJECTS, "C-3", "C-999", "E-1", "nobody"))
                given = {"s": subject, "k": draw.choice((draw.randint(0, nexus.space_seq), nexus.space_seq)), "t": at}
                ready, general = nexus.query(text, given), nexus.query(text, given, limits=WIDE)
                assert ready.rows == general.rows
                assert ready.context == general.context
                assert ready.columns == general.columns


def test_a_slot_without_for_time_reads_the_clock_once() -> None:
    moments = [datetime(2026, 1, 1, tzinfo=UTC)]
    nexus = kipql.open(packages=[PEOPLE], clock=lambda: moments[0])
    nexus.execute(
        """MUTATE {
          CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"} CREATE CONCEPT ?p {TYPE "Place" NAME "Bern"}
          ASSERT (?a, "lives_in", ?p) {by: ?a, mode: "stated", valid: {until: "2026-06-01T00:00:00.000Z"}}
        }"""
    )
    text = 'FIND(?b.accepted_values) WHERE { ?b BELIEF SLOT (:s, "lives_in") }'
    statement = warm(nexus, text, {"s": "C-1"})
    assert is_ready(statement)
    kept = statement.query({"s": "C-1"})
    moments[0] = datetime(2026, 7, 1, tzinfo=UTC)
    assert kept.context["valid_at"] == "2026-01-01T00:00:00.000Z"
    assert kept.context["basis"]["next_invalid_at"] == "2026-06-01T00:00:00.000Z"
    assert (kept.rows, statement.query({"s": "C-1"}).rows) == ([[{"id": "C-2"}]], [[]])


def containers(value: Any) -> Iterator[int]:
    if isinstance(value, dict | list):
        yield id(value)
        for member in value.values() if isinstance(value, dict) else value:
            yield from containers(member)


def test_no_part_of_a_belief_is_shared_with_another_part() -> None:
    nexus = beliefs.write(random.Random(3)).nexus
    text = f"FIND(?b) {SLOT % 'nick'}"
    given = {"s": "C-1", "k": nexus.space_seq, "t": format_instant(beliefs.FIRST + 5 * beliefs.DAY)}
    rows = [warm(nexus, text, given).query(given).rows for _ in range(2)]
    found = list(containers(rows))
    assert len(found) == len(set(found))


# --- what ends it -------------------------------------------------------------------------------------

NAMES = 'FIND(?c.name) WHERE { ?c {type: "Person", key: :key} }'


@pytest.fixture
def nexus() -> kipql.Nexus:
    made = kipql.open(packages=[PEOPLE])
    made.execute(
        """MUTATE {
          CREATE CONCEPT ?a {TYPE "Person" NAME "Ann" SET FIELDS {key: "ann"}}
          CREATE CONCEPT ?b {TYPE "Person" NAME "Bob" SET FIELDS {key: "bob"}}
          CREATE CONCEPT ?p {TYPE "Place" NAME "Bern" SET FIELDS {key: "bern"}}
          ASSERT (?a, "likes", ?b) {by: ?a, mode: "stated"}
          ASSERT (?b, "likes", ?p) {by: ?b, mode: "stated"}
        }"""
    )
    return made


@pytest.mark.parametrize(
    "text",
    [
        NAMES,
        'FIND(?o.name) WHERE { (:s, "likes", ?o) }',
        "FIND(?y.name) WHERE { (:s, :p, ?x) (?x, :p, ?y) } ORDER BY ?y.name LIMIT 20",
        "FIND(?b.accepted_values) WHERE { ?b BELIEF SLOT (:s, :p) } AS OF SEQ :k FOR TIME :t",
        'FIND(COUNT(?c)) WHERE { ?c {type: "Person"} } AS OF SEQ :k',
    ],
)
def test_a_warm_statement_never_reaches_the_general_path(
    text: str, nexus: kipql.Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"key": "ann", "s": "C-1", "p": "likes", "k": nexus.space_seq, "t": "2030-01-01T00:00:00.000Z"}
    statement = nexus.prepare(text)
    before = [statement.query(given).rows for _ in range(4)]
    monkeypatch.setattr(Prepared, "run", None)
    assert statement.query(given).rows == before[0] == nexus.query(text, given).rows


def test_a_revoked_grant_is_gone_at_the_next_call(nexus: kipql.Nexus) -> None:
    granted = nexus.govern.grant("carol", "discover", "read", "search", "project", "read_raw_origin")
    statement = warm(nexus.as_principal("carol"), NAMES, {"key": "ann"})
    assert statement.query({"key": "ann"}).rows == ["Ann"] and is_ready(statement)
    nexus.govern.revoke(granted)
    with pytest.raises(KipError) as caught:
        statement.query({"key": "ann"})
    assert caught.value.code == "NotAuthorized"


def test_what_is_hidden_from_a_caller_stays_hidden_on_a_statement_that_the_owner_made_ready(nexus: kipql.Nexus) -> None:
    nexus.govern.labels("public", "secret")
    nexus.govern.classify("C-1", "secret")
    nexus.govern.grant("carol", "discover", "read", "project", up_to="public")
    assert warm(nexus, NAMES, {"key": "ann"}).query({"key": "ann"}).rows == ["Ann"]
    for _ in range(4):
        assert nexus.as_principal("carol").query(NAMES, {"key": "ann"}).rows == []


def test_a_commit_a_merge_and_a_schema_change_are_seen_at_once(nexus: kipql.Nexus) -> None:
    text = 'FIND(?o.name) WHERE { (:s, "likes", ?o) }'
    statement = warm(nexus, text, {"s": "C-1"})
    nexus.execute('ASSERT ("C-1", "likes", "C-3") {by: "C-1", mode: "stated"}')
    assert sorted(statement.query({"s": "C-1"}).rows) == ["Bern", "Bob"]
    before = nexus.space_seq
    nexus.execute('MERGE CONCEPT "C-2" INTO "C-1"')
    assert sorted(statement.query({"s": "C-1"}).rows) == sorted(statement.query({"s": "C-1"}, limits=WIDE).rows)
    past = warm(nexus, f"{text} AS OF SEQ :k", {"s": "C-1", "k": before})
    assert sorted(past.query({"s": "C-1", "k": before}).rows) == ["Bern", "Bob"]
    nexus.install_package({"manifest": {"package_id": "kip://test/more", "version": "1.0.0"}, "definitions": {}})
    for k in (before, nexus.space_seq):
        assert past.query({"s": "C-1", "k": k}).rows == past.query({"s": "C-1", "k": k}, limits=WIDE).rows


def test_two_spaces_of_a_memory_share_the_text_and_nothing_else(nexus: kipql.Nexus) -> None:
    other = nexus.space("kip:space:other")
    assert [warm(each, NAMES, {"key": "ann"}).query({"key": "ann"}).rows for each in (nexus, other, nexus)] == [
        ["Ann"],
        [],
        ["Ann"],
    ]


@pytest.mark.parametrize(
    ("text", "given"),
    [
        (NAMES, {}),
        (NAMES, None),
        (NAMES, {"kez": "ann"}),
        (NAMES, {"key": "\ud800"}),
        (NAMES, {"key": 2**60}),
        (NAMES, {"key": {1: 2}}),
        (NAMES, {"key": object()}),
        (f"{NAMES} AS OF SEQ :k", {"key": "ann", "k": 99}),
        (f"{NAMES} AS OF SEQ :k", {"key": "ann", "k": -1}),
        (f"{NAMES} AS OF SEQ :k", {"key": "ann", "k": True}),
        (f"{NAMES} AS OF SEQ :k", {"key": "ann", "k": "1"}),
        (f"{NAMES} FOR TIME :t", {"key": "ann", "t": "2026"}),
        (f"{NAMES} FOR TIME :t", {"key": "ann", "t": 7}),
        (f"{NAMES} LIMIT :n", {"key": "ann", "n": -1}),
        (f"{NAMES} LIMIT :n", {"key": "ann", "n": 0}),
        (f"{NAMES} LIMIT :n", {"key": "ann", "n": 1.5}),
        ("FIND(?b.status) WHERE { ?b BELIEF SLOT (:s, :p) }", {"s": "C-1", "p": "unheard"}),
        ("FIND(?b.status) WHERE { ?b BELIEF SLOT (:s, :p) }", {"s": "C-1", "p": ["likes"]}),
        ("FIND(?b.status) WHERE { ?b BELIEF SLOT (:s, :p) }", {"s": "C-01", "p": "likes"}),
        ("FIND(?b.status) WHERE { ?b BELIEF SLOT (:s, :p) }", {"s": {"id": "C-1"}, "p": "likes"}),
    ],
)
def test_what_the_general_path_refuses_is_refused_the_same(text: str, given: Any, nexus: kipql.Nexus) -> None:
    good = {"key": "ann", "k": 1, "t": "2026-01-01T00:00:00.000Z", "n": 5, "s": "C-1", "p": "likes"}
    statement = warm(nexus, text, good)
    assert is_ready(statement)
    assert told(lambda: statement.query(given)) == told(lambda: statement.query(given, limits=WIDE))


@pytest.mark.parametrize("id_text", ["C-4", "C-99", "C-999999999999999"])
@pytest.mark.parametrize(
    "text",
    [
        'FIND(?o.name) WHERE { (:s, "likes"{0,}, ?o) }',
        'FIND(?o.name) WHERE { (:s, "likes"{0,1}, ?o) ?o {} }',
        'FIND(?o.name) WHERE { (?o, "likes"{0,2}, :s) }',
        'FIND(?o.name) WHERE { (:s, "likes"{0} | "likes"{2}, :s) ?o CONCEPT {} }',
        'FIND(?o.name) WHERE { (:s, "likes", ?o) }',
        'FIND(?o.name) WHERE { (?o, "likes", :s) }',
        "FIND(?o.name) WHERE { ?o CONCEPT {id: :s} }",
        'FIND(?o) WHERE { STRUCTURAL (:s, "evidence", ?o) }',
    ],
)
def test_an_id_that_nothing_has_names_nothing(text: str, id_text: str, nexus: kipql.Nexus) -> None:
    """Zero hops are the element itself (§45), where there is one."""
    statement = warm(nexus, text, {"s": "C-1"})
    assert statement.query({"s": id_text}).rows == []
    with nexus.transaction() as tx:  # what is not committed has a row, and no reader sees it
        assert tx.execute('CREATE CONCEPT ?n {TYPE "Person" NAME "New"}').handles == {"n": "C-4"}
        assert statement.query({"s": id_text}).rows == []


def test_limits_and_cancel_of_a_call_hold(nexus: kipql.Nexus) -> None:
    statement = warm(nexus, 'FIND(?c.name) WHERE { ?c {type: "Person"} }')
    with pytest.raises(KipError) as caught:
        statement.query(limits=Limits(rows=1))
    assert caught.value.code == "ResourceExhausted"
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(KipError) as caught:
        statement.query(cancel=cancel)
    assert caught.value.code == "ExecutionTimeout"
    small = kipql.open(packages=[PEOPLE], limits=Limits(rows=1))
    small.load([{"kind": "concept", "type": "Person", "name": name} for name in ("Ann", "Bob")])
    for _ in range(4):
        with pytest.raises(KipError) as caught:
            small.query('FIND(?c.name) WHERE { ?c {type: "Person"} }')
        assert caught.value.code == "ResourceExhausted"


def test_pages_of_a_ready_statement_are_the_whole(nexus: kipql.Nexus) -> None:
    body = "FIND(?c.id) WHERE { ?c CONCEPT {} } ORDER BY ?c.id LIMIT 2"
    first = warm(nexus, body).query()
    assert first.truncated and first.next_cursor == first.next_cursor
    rest = nexus.query(f"{body} CURSOR :c", {"c": first.next_cursor})
    whole = nexus.query("FIND(?c.id) WHERE { ?c CONCEPT {} } ORDER BY ?c.id").rows
    assert (first.rows + rest.rows)[: len(whole)] == whole[:4]


def test_a_closed_memory_answers_nothing(nexus: kipql.Nexus) -> None:
    statement = warm(nexus, NAMES, {"key": "ann"})
    nexus.close()
    with pytest.raises(KipError) as caught:
        statement.query({"key": "ann"})
    assert caught.value.code == "MemoryUnavailable"


def test_a_ready_statement_reads_one_snapshot_beside_a_writer_that_commits_and_rolls_back(nexus: kipql.Nexus) -> None:
    then = nexus.space_seq
    text = 'FIND(?x.name, ?a.stance) WHERE { ?p (:s, "likes", ?x) ?a ASSERTION {proposition: ?p} } AS OF SEQ :k'
    slot = 'FIND(?b.accepted_values) WHERE { ?b BELIEF SLOT (:s, "likes") } AS OF SEQ :k'
    given = {"s": "C-1", "k": then}
    asked = [(warm(nexus, each, given), nexus.query(each, given, limits=WIDE).rows) for each in (text, slot)]
    stop = threading.Event()

    def write() -> None:
        for number in range(120):
            nexus.execute(f'ASSERT ("C-1", "likes", "C-{2 + number % 2}") {{by: "C-1", mode: "stated"}}')
            with suppress(KipError):
                liked = 'ASSERT ("C-1", "likes", "C-1") {by: "C-1", mode: "stated"}'
                nexus.execute(f'MUTATE {{ {liked} TRANSITION "A-999" TO "retracted" }}')
            nexus.execute(f'TRANSITION "A-{number + 3}" TO "retracted"')
        stop.set()

    writer = threading.Thread(target=write)
    writer.start()
    rounds = 0
    while not stop.is_set() or not rounds:
        for statement, expected in asked:
            assert statement.query(given).rows == expected
        rounds += 1
    writer.join()
    assert nexus.space_seq == then + 240
