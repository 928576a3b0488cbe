"""Each limit by every way into the engine: the error names it, its value and how to raise it (docs/limits.md)."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError, Limits
from tests.limits.world import memory

Ask = Callable[[kipql.Nexus, Limits], object]

ALL = "FIND(?c.id) WHERE { ?c CONCEPT {} }"
PAIRS = "FIND(COUNT(?a)) WHERE { ?a CONCEPT {} ?b CONCEPT {} ?c CONCEPT {} }"
SORTED = "FIND(?c.name) WHERE { ?c CONCEPT {} } ORDER BY ?c.name LIMIT 1"
DESCENDING = "FIND(?c.name, ?c.id) WHERE { ?c CONCEPT {} } ORDER BY ?c.name DESC, ?c.id LIMIT 1"
GROUPED = "FIND(?c.name, COUNT(?c)) WHERE { ?c CONCEPT {} } LIMIT 1"
PATH = 'FIND(?b.id) WHERE { ({id: "C-1"}, "prefers"{1,}, ?b) }'
BELIEFS = 'FIND(?b.status) WHERE { ({id: "C-5001"}, "prefers", ?x) ?b BELIEF (:who, "prefers", ?x) }'
SLOT = 'FIND(?s.status) WHERE { ?s BELIEF SLOT (:who, "prefers") }'
NAMED = "FIND(?c.id) WHERE { ?c {name: :v} }"
MATCH = 'FIND(?c.id) WHERE { ?c {type: "Person"} FILTER(REGEX(?c.name, :p)) }'
MATCH_HERE = 'FIND(?c.id) WHERE { ?c {type: "Person"} FILTER(REGEX(?c.name, "(p+)+x")) }'
REDOS = 'FIND(?c.id) WHERE { ?c {type: "Insight"} FILTER(REGEX(?c.name, "(a|aa)+$")) }'
NOTE = 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: :v} }'
CREATE = 'CREATE CONCEPT ?a { TYPE "Person" NAME :v }'
MANY = "MUTATE { " + " ".join(f'CREATE CONCEPT ?a{at} {{ TYPE "Person" }}' for at in range(5)) + " }"
EDIT = 'UPDATE ?c SET FIELDS {name: "x"} WHERE { ?c {name: "person 7"} ?d CONCEPT {} FILTER(?d.name != ?c.name) }'
DEEP = "FIND(?c.id) WHERE { ?c CONCEPT {} FILTER((((((?c.id == 1)))))) }"
CAPSULE = "EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }"


def query(text: str, **parameters: Any) -> Ask:
    return lambda nexus, limits: nexus.query(text, parameters, limits=limits)


def execute(text: str, **parameters: Any) -> Ask:
    return lambda nexus, limits: nexus.execute(text, parameters, limits=limits)


def prepared(text: str, warm: int = 2, **parameters: Any) -> Ask:
    """The third run of a prepared statement: generated code, or the ready path."""

    def ask(nexus: kipql.Nexus, limits: Limits) -> object:
        statement = nexus.prepare(text)
        for _ in range(warm):
            with suppress(KipError):
                statement.execute(parameters)
        return statement.execute(parameters, limits=limits)

    return ask


def inside(text: str, **parameters: Any) -> Ask:
    def ask(nexus: kipql.Nexus, limits: Limits) -> object:
        with nexus.transaction(limits=limits) as tx:
            return tx.execute(text, parameters)

    return ask


def load(*records: dict[str, Any]) -> Ask:
    return lambda nexus, limits: nexus.load(records, limits=limits)


def bring(nexus: kipql.Nexus, limits: Limits) -> object:
    return kipql.open().import_capsule(nexus.export_capsule(["C-1", "C-2", "C-3"]), limits=limits)


NOTE_RECORD = {"kind": "evidence", "fields": {"evidence_class": "note", "payload": "x" * 50}}
CASES: list[tuple[str, float, Ask]] = [
    ("text", 10, query(ALL)),
    ("text", 10, execute(CREATE, v="x")),
    ("text", 10, inside(ALL)),
    ("text", 10, query("DESCRIBE PROTOCOL")),
    ("depth", 4, query(DEEP)),
    ("depth", 1, query(NAMED, v=[[[1]]])),
    ("tokens", 5, query("LIST " + "TYPES " * 6)),
    ("tokens", 5, query(ALL)),
    ("statements", 3, execute(MANY)),
    ("statements", 3, inside(MANY)),
    ("parameters", 10, query(NAMED, v="x" * 100)),
    ("parameters", 10, prepared(NAMED, v="x" * 100)),
    ("parameters", 10, execute(CREATE, v="x" * 100)),
    ("capsule", 10, bring),
    ("rows", 10, query(ALL)),
    ("rows", 10, prepared(ALL)),
    ("rows", 10, inside(ALL)),
    ("rows", 1, bring),
    ("ticks", 100, query(ALL)),
    ("ticks", 100, prepared(ALL)),
    ("ticks", 100, query(PAIRS)),
    ("ticks", 100, prepared(SORTED)),
    ("ticks", 100, prepared(GROUPED)),
    ("ticks", 10, query(PATH)),
    ("ticks", 10, query(BELIEFS, who="C-5001")),
    ("ticks", 10, prepared(BELIEFS, who="C-5001")),
    ("ticks", 10, query('SEARCH CONCEPT "person" LIMIT 5')),
    ("ticks", 100, query(CAPSULE)),
    ("ticks", 100, query("PREVIEW KML :k", k=EDIT)),
    ("ticks", 1_000, execute(EDIT)),
    ("ticks", 1_000, inside(EDIT)),
    ("ticks", 2, load(*[{"kind": "concept", "type": "Person"}] * 5)),
    ("ticks", 1, bring),
    ("hops", 5, query(PATH)),
    ("hops", 5, prepared(PATH, warm=0)),
    ("hops", 64, lambda nexus, limits: nexus.query(PATH)),
    ("projections", 5, query(BELIEFS, who="C-5001")),
    ("projections", 5, prepared(BELIEFS, who="C-5001")),
    ("projections", 0, query(SLOT, who="C-1")),
    ("projections", 0, prepared(SLOT, who="C-1")),
    ("buffered", 50, query(SORTED)),
    ("buffered", 50, prepared(SORTED)),
    ("buffered", 50, query(DESCENDING)),
    ("buffered", 50, prepared(DESCENDING)),
    ("buffered", 50, query(GROUPED)),
    ("buffered", 50, prepared(GROUPED)),
    ("buffered", 2, query('SEARCH CONCEPT "person" LIMIT 5')),
    ("buffered", 2, query("LIST TYPES")),
    ("buffered", 2, query("LIST PREDICATES")),
    ("buffered", 50, query(CAPSULE)),
    ("regex_pattern", 3, query(MATCH, p="^p+1$")),
    ("regex_pattern", 3, prepared(MATCH, p="^p+1$")),
    ("regex_pattern", 3, prepared(MATCH_HERE)),
    ("regex_size", 90, query(MATCH, p="(a{10}){10}")),
    ("regex_size", 100_000, query(MATCH, p="(?:(?:(?:a{100}){100}){100}){100}")),
    ("regex_size", 100_000, query(MATCH, p="(?:" * 30 + "a" + "){2}" * 30)),
    ("regex_size", 100_000, query(MATCH, p="a{999999999999}")),
    ("regex_size", 100_000, query(MATCH, p="(?x)(?:(?:a {100}) {100}) {100}")),
    ("regex_size", 100_000, query(MATCH, p="(?x)(?: a # }\n { # 9\n 9})")),
    ("regex_subject", 3, query(MATCH, p="x")),
    ("regex_subject", 3, prepared(MATCH, p="x")),
    ("regex_match", 0.0, query(MATCH, p="(p|pp)+x")),
    ("regex_match", 0.1, lambda nexus, limits: nexus.query(REDOS)),
    ("regex_match", 0.02, prepared(REDOS)),
    ("regex_total", 0.0, query(MATCH, p="(p|pp)+x")),
    ("payload", 10, execute(NOTE, v="x" * 50)),
    ("payload", 10, inside(NOTE, v="x" * 50)),
    ("payload", 10, load(NOTE_RECORD)),
]


@pytest.fixture(scope="module")
def nexus() -> kipql.Nexus:
    return memory()


def refusal(call: Callable[[], object]) -> KipError:
    with pytest.raises(KipError) as caught:
        call()
    return caught.value


def names(error: KipError, limit: str, value: float) -> None:
    """The error says which limit, its value, and how to raise it."""
    assert (error.details.get("limit"), error.details.get("value")) == (limit, value), error
    assert limit in error.message and f"{value}" in error.message.replace(",", "")
    assert error.hint is not None and f"Limits({limit}=" in error.hint


@pytest.mark.parametrize(("limit", "value", "ask"), CASES, ids=[f"{at}-{case[0]}" for at, case in enumerate(CASES)])
def test_at_a_limit_the_error_names_it(nexus: kipql.Nexus, limit: str, value: float, ask: Ask) -> None:
    before = nexus.space_seq
    error = refusal(lambda: ask(nexus, Limits(**{limit: value})))  # type: ignore[arg-type]
    assert error.code in ("ResourceExhausted", "ArtifactTooLarge")
    names(error, limit, value)
    assert nexus.space_seq == before, "nothing was written"


def test_wall_time_is_a_limit(nexus: kipql.Nexus) -> None:
    for ask in (query(PAIRS), prepared(PAIRS, warm=0), inside(PAIRS), query("PREVIEW KML :k", k=EDIT)) * 2:
        error = refusal(lambda ask=ask: ask(nexus, Limits(seconds=0.05)))  # type: ignore[misc]
        assert error.code == "ExecutionTimeout" and error.details["cancelled"] is False
        assert (error.details["limit"], error.details["value"]) == ("seconds", 0.05)
        assert error.hint is not None and "Limits(seconds=" in error.hint


def test_a_frame_is_bounded_by_what_the_folder_was_opened_with(tmp_path: Path) -> None:
    kipql.open(tmp_path / "m").close()
    with kipql.open(tmp_path / "m", limits=Limits(frame=60_000)) as nexus:
        error = refusal(lambda: nexus.execute(NOTE, {"v": "x" * 70_000}))
        assert error.code == "TransactionTooLarge"
        names(error, "frame", 60_000)
        assert nexus.space_seq == 0
        assert nexus.execute(NOTE, {"v": "x"})


ENVELOPE: list[tuple[str, float, list[dict[str, Any]]]] = [
    ("text", 20, [{"command": ALL}]),
    ("depth", 4, [{"command": DEEP}]),
    ("tokens", 8, [{"command": ALL}]),
    ("statements", 2, [{"command": "DESCRIBE PROTOCOL"}] * 3),
    ("statements", 2, [{"command": MANY}]),
    ("parameters", 10, [{"command": NAMED, "parameters": {"v": "x" * 100}}]),
    ("rows", 2, [{"command": ALL}]),
    ("ticks", 2, [{"command": ALL}]),
    ("buffered", 2, [{"command": SORTED}]),
    ("regex_pattern", 2, [{"command": MATCH, "parameters": {"p": "abc"}}]),
    ("regex_subject", 2, [{"command": MATCH, "parameters": {"p": "abc"}}]),
    ("payload", 2, [{"command": NOTE, "parameters": {"v": "abc"}}]),
]


@pytest.mark.parametrize(("limit", "value", "operations"), ENVELOPE)
def test_the_envelope_is_under_the_limits_of_the_memory(
    limit: str, value: float, operations: list[dict[str, Any]]
) -> None:
    nexus = kipql.open(limits=Limits(**{limit: value}))  # type: ignore[arg-type]
    nexus.load([{"kind": "concept", "type": "Person", "name": "abc"}] * (0 if limit == "ticks" else 5), batch=1)
    if limit == "ticks":
        for _ in range(5):
            nexus.load([{"kind": "concept", "type": "Person"}], batch=1)
    before = nexus.space_seq
    execution = {"execution": {"mode": "independent"}} if len(operations) > 1 else {}
    reply = nexus.request({"kip": "2.0", "operations": operations, **execution})
    error = reply.get("error") or reply["results"][0]["error"]
    assert error["code"] == "ResourceExhausted"
    assert (error["details"]["limit"], error["details"]["value"]) == (limit, value)
    assert f"Limits({limit}=" in error["hint"]
    assert nexus.space_seq == before


def test_ingested_payloads_are_bounded() -> None:
    nexus = kipql.open(limits=Limits(payload=10))
    entry = {"key": "e", "evidence_class": "note", "payload": "x" * 50}
    create = {"command": 'CREATE CONCEPT ?a { TYPE "Person" }'}
    reply = nexus.request({"kip": "2.0", "ingest": {"evidence": [entry]}, "operations": [create]})
    error = reply.get("error") or reply["results"][0]["error"]
    assert error["details"] == {"limit": "payload", "value": 10} and nexus.space_seq == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("limits") / "m"
    with memory(path=path, durability="none") as nexus:
        nexus.snapshot()
    return path


FIRST_CASES = list({limit: (limit, value, ask) for limit, value, ask in reversed(CASES) if ask is not bring}.values())


@pytest.mark.parametrize(("limit", "value", "ask"), FIRST_CASES, ids=[case[0] for case in FIRST_CASES])
def test_each_limit_is_set_at_open_and_no_call_widens_it(folder: Path, limit: str, value: float, ask: Ask) -> None:
    wide = Limits(**{field.name: 10**9 for field in fields(Limits)})
    with kipql.open(folder, limits=Limits(**{limit: value})) as nexus:  # type: ignore[arg-type]
        for limits in (Limits(), wide):
            names(refusal(lambda limits=limits: ask(nexus, limits)), limit, value)  # type: ignore[misc]


def test_every_limit_has_a_case() -> None:
    tested = {limit for limit, _, _ in CASES} | {"seconds", "frame"}
    assert tested == {field.name for field in fields(Limits)}


def test_a_call_narrows_and_never_widens(nexus: kipql.Nexus) -> None:
    wide = Limits(**{field.name: 10**9 for field in fields(Limits)})
    narrow = kipql.open(limits=Limits(rows=3))
    narrow.load([{"kind": "concept", "type": "Person"}] * 5)
    for ask in (query(ALL), prepared("FIND(?c.name) WHERE { ?c CONCEPT {} } LIMIT 3"), inside(ALL)):
        try:
            answer = ask(narrow, wide)
        except KipError as error:
            names(error, "rows", 3)
        else:
            assert isinstance(answer, kipql.Result) and len(answer.rows) <= 3
    assert len(nexus.query("FIND(?c.id) WHERE { ?c CONCEPT {} } LIMIT 4", limits=wide).rows) == 4


@pytest.mark.parametrize(
    ("bounds", "code"),
    [
        ({"ticks": -1}, "ConstraintViolation"),
        ({"seconds": -0.5}, "ConstraintViolation"),
        ({"seconds": float("nan")}, "ConstraintViolation"),
        ({"rows": "10"}, "TypeMismatch"),
        ({"rows": None}, "TypeMismatch"),
        ({"rows": True}, "TypeMismatch"),
        ({"rows": 1.5}, "TypeMismatch"),
        ({"seconds": "1"}, "TypeMismatch"),
    ],
)
def test_a_limit_is_a_number(bounds: dict[str, Any], code: str) -> None:
    assert refusal(lambda: Limits(**bounds)).code == code
    assert Limits(seconds=1, regex_match=float("inf")).seconds == 1


def test_the_page_of_limits_names_each_with_its_default() -> None:
    page = (Path(__file__).parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")
    for field in fields(Limits):
        assert f"| `{field.name}` | {field.default:,} |" in page, field.name
