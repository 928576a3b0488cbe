"""Attacks that no other test makes; the table of all of them is docs/security.md."""

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError, Limits
from tests.shared import ROOT

CREATE = 'CREATE CONCEPT ?a { TYPE "Person" NAME "x" }'
COUNT = "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }"


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(KipError) as caught:
        call()
    return caught.value.code


@pytest.fixture
def nexus() -> kipql.Nexus:
    nexus = kipql.open()
    nexus.load({"kind": "concept", "type": "Person", "name": f"p{at}"} for at in range(60))
    return nexus


@pytest.mark.parametrize(
    "text",
    [
        'FIND(?c) WHERE { ?c {name: "\\"} //"} }',
        'FIND(?c) WHERE { ?c {name: "}}}}(((("} }',
        'FIND(?c) WHERE { // }}}} "\n ?c {name: "x"} }',
        'FIND(?c) WHERE { ?c {name: "a\\\\"} }',
        'FIND(?c) WHERE { ?c {name: "// CREATE"} }',
    ],
)
def test_what_stands_in_strings_and_comments_is_no_structure(nexus: kipql.Nexus, text: str) -> None:
    assert nexus.query(text, limits=Limits(depth=8)).rows == []


@pytest.mark.parametrize(
    "text",
    [
        'FIND(?c) WHERE { ?c {name: "x} } ; ' + CREATE,
        "FIND(?c) WHERE { ?c CONCEPT {} } // \n" + CREATE,
        "FIND(?c) WHERE { ?c CONCEPT {} } \u2028" + CREATE,
        "FIND(?c) WHERE { ?c CONCEPT {} };" + CREATE,
        "\ufeff" + CREATE,
        "/* */ " + CREATE,
        "FIND(?c) WHERE { ?c CONCEPT {} } \x00" + CREATE,
        "\uff23REATE CONCEPT ?a { TYPE \"Person\" }",
        "CR\u0415ATE CONCEPT ?a { TYPE \"Person\" }",
    ],
)  # fmt: skip
def test_a_text_that_reads_like_something_else_writes_nothing(nexus: kipql.Nexus, text: str) -> None:
    before = nexus.digest()
    assert code_of(lambda: nexus.readonly().execute(text)) in ("InvalidSyntax", "ReadonlyViolation")
    assert code_of(lambda: nexus.query(text)) in ("InvalidSyntax", "ReadonlyViolation")
    assert nexus.digest() == before


@pytest.mark.parametrize(
    "value",
    [
        '"} } ' + CREATE,
        '" || "1" == "1',
        "p1\u202e",
        ":v",
        "?c",
        '{"id": "C-1"}',
        'C-1"} ?d CONCEPT {',
    ],
)
def test_a_parameter_is_a_value_whatever_it_spells(nexus: kipql.Nexus, value: str) -> None:
    before = nexus.digest()
    assert nexus.query("FIND(?c.id) WHERE { ?c {name: :v} }", {"v": value}).rows == []
    assert nexus.query("FIND(?c.id) WHERE { ?c CONCEPT {} FILTER(?c.name == :v) }", {"v": value}).rows == []
    assert nexus.digest() == before
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME :v }', {"v": value})
    assert nexus.query("FIND(?c.name) WHERE { ?c {name: :v} }", {"v": value}).rows == [value]


def test_nothing_writes_through_a_reader(nexus: kipql.Nexus) -> None:
    reader, before = nexus.readonly(), nexus.digest()
    hidden = ("PREVIEW KML :k", "VALIDATE KML :k")
    for text in hidden:
        reader.query(text, {"k": CREATE})
    ways: list[Callable[[], object]] = [
        lambda: reader.execute(CREATE),
        lambda: reader.prepare(CREATE).execute(),
        lambda: reader.load([{"kind": "concept", "type": "Person"}]),
        lambda: reader.capture(COUNT),
        lambda: reader.install_packages(["kip://domains/general@1.0.0"]),
        lambda: reader.import_capsule(nexus.export_capsule(["C-1"])),
    ]
    for way in ways:
        assert code_of(way) == "ReadonlyViolation"
    with pytest.raises(KipError) as caught, reader.transaction() as tx:
        tx.execute(CREATE)
    assert caught.value.code == "ReadonlyViolation"
    for mode in ("independent", "sequence", "atomic"):
        operations = [
            {"command": COUNT},
            {"command": "PREVIEW KML :k", "parameters": {"k": CREATE}},
            {"command": CREATE},
        ]
        reply = reader.request({"kip": "2.0", "execution": {"mode": mode}, "operations": operations})
        assert reply["results"][2]["error"]["code"] == "ReadonlyViolation"
    ingest = {"evidence": [{"key": "e", "evidence_class": "note", "payload": "x"}]}
    reader.request({"kip": "2.0", "ingest": ingest, "operations": [{"command": COUNT}]})
    reader.request({"kip": "2.0", "ingest": ingest, "operations": [{"command": CREATE, "language": "KQL"}]})
    assert nexus.digest() == before and nexus.space_seq == 1


def test_a_callback_of_a_subscription_holds_no_door(nexus: kipql.Nexus) -> None:
    told: list[Any] = []

    def callback(envelope: dict[str, Any]) -> None:
        told.append(json.loads(json.dumps(envelope)))
        envelope["changes"].clear()
        raise RuntimeError("a subscriber that fails")

    reader = nexus.readonly()
    reader.subscribe(callback)
    nexus.execute(CREATE)
    assert len(told) == 1 and told[0]["changes"], "what one subscriber does to its envelope is its own affair"
    assert nexus.query(COUNT).scalar() == 61


def test_look_alike_names_are_different_names(nexus: kipql.Nexus) -> None:
    assert code_of(lambda: nexus.execute('CREATE CONCEPT ?a { TYPE "\u0420erson" }')) == "SchemaSymbolNotFound"
    for name in ("Ada", "\u0410da", "Ada\u200b", "Ad\u0061\u0301", "Ad\u00e1"):
        nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME :n }', {"n": name})
    for name in ("Ada", "\u0410da", "Ada\u200b", "Ad\u0061\u0301", "Ad\u00e1"):
        assert nexus.query("FIND(?c.name) WHERE { ?c {name: :n} }", {"n": name}).rows == [name]


def test_products_and_dense_paths_end_at_a_limit() -> None:
    nexus = kipql.open(limits=Limits(ticks=300_000))
    nexus.load({"kind": "concept", "type": "Person", "as": f"p{at}"} for at in range(40))
    ids = nexus.query("FIND(?c.id) WHERE { ?c CONCEPT {} }").rows
    nexus.load(
        {"kind": "proposition", "subject": one, "predicate": "prefers", "object": other} for one in ids for other in ids
    )
    product = " ".join(f"?c{at} CONCEPT {{}}" for at in range(9))
    everything = " ".join(f'(?a{at}, "prefers"{{1,}}, ?b{at})' for at in range(5))
    for text in (
        f"FIND(COUNT(?c0)) WHERE {{ {product} }}",
        f"FIND(?c0.id) WHERE {{ {product} }} ORDER BY ?c0.id",
        f"FIND(COUNT(?a0)) WHERE {{ {everything} }}",
        'FIND(?p) WHERE { ?p (?a, "prefers"{1,}, ?b) (?b, "prefers"{1,}, ?c) (?c, "prefers"{1,}, ?d) }',
    ):
        for _ in range(3):
            assert code_of(lambda text=text: nexus.query(text)) in ("ResourceExhausted", "InvalidSyntax")  # type: ignore[misc]
    assert len(nexus.query('FIND(?b.id) WHERE { ({id: "C-1"}, "prefers"{1,}, ?b) }').rows) == 40


@pytest.mark.parametrize(
    "literal",
    [
        "9" * 10_000,
        "0." + "0" * 10_000 + "1",
        "1e999999999",
        "-" + "9" * 400 + ".5",
        "9007199254740993",
        "1e-999999999",
    ],
)
def test_giant_numbers_are_refused_or_portable(nexus: kipql.Nexus, literal: str) -> None:
    try:
        nexus.query(f"FIND(?c.id) WHERE {{ ?c CONCEPT {{}} FILTER(?c.name == {literal}) }}")
    except KipError as error:
        assert error.code in ("InvalidSyntax", "ConstraintViolation", "ResourceExhausted")
        assert len(error.message) < 1_000


def test_giant_texts_are_refused_before_they_are_read(nexus: kipql.Nexus) -> None:
    for text in ("x" * 50_000_000, '"' + "y" * 50_000_000, "(" * 50_000_000):
        assert code_of(lambda text=text: nexus.query(text)) == "ResourceExhausted"  # type: ignore[misc]
    assert (
        code_of(lambda: nexus.query("FIND(?c) WHERE { ?c {name: :v} }", {"v": "x" * 50_000_000})) == "ResourceExhausted"
    )


@pytest.mark.parametrize(
    "space", ["..", ".", "../x", "a/../../b", "/etc", "C:\\x", "con", "a\0b", "%2e%2e", "..\\x", "x" * 500]
)
def test_no_space_id_leaves_the_memory(tmp_path: Path, space: str) -> None:
    with kipql.open(tmp_path / "m") as nexus:
        try:
            nexus.space(space).execute(CREATE)
        except KipError as error:
            assert error.code in ("ConstraintViolation", "MemoryUnavailable", "TypeMismatch")
            written = None
        else:
            written = space
        assert {path.name for path in tmp_path.iterdir()} == {"m"}
        assert {path.name for path in (tmp_path / "m").iterdir()} <= {"nexus", "spaces", "lock"}
    with kipql.open(tmp_path / "m", readonly=True) as nexus:
        assert written is None or written in nexus.spaces()
        assert written is None or nexus.space(written).query(COUNT).scalar() == 1


def test_a_wire_request_makes_no_space(tmp_path: Path) -> None:
    with kipql.open(tmp_path / "m") as nexus:
        for space in ("..", "../../x", "kip:space:new"):
            reply = nexus.request({"kip": "2.0", "space": {"id": space}, "operations": [{"command": CREATE}]})
            assert reply["error"]["code"] == "NotFoundOrNotVisible"
    assert [path.name for path in (tmp_path / "m" / "spaces").iterdir()] == ["kip%3Aspace%3Adefault"]


def test_what_a_script_or_artifact_names_opens_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """References in texts, packages and Capsules are names: nothing they say is opened."""
    nexus = kipql.open()
    capsule = kipql.open().export_capsule()
    secret = tmp_path / "secret"
    secret.write_text("not yours", encoding="utf-8")
    opened: list[object] = []
    real = Path.open

    def watch(path: Path, *arguments: Any, **options: Any) -> Any:
        opened.append(path)
        return real(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", watch)
    for name in (str(secret), f"file://{secret}", "../secret", "kip://../secret@1.0.0"):
        for call in (
            lambda name=name: nexus.install_packages([name]),  # type: ignore[misc]
            lambda name=name: nexus.query("VERIFY CAPSULE :c", {"c": {**capsule, "payload": {"$ref": name}}}),  # type: ignore[misc]
            lambda name=name: nexus.import_capsule(name),  # type: ignore[misc]
            lambda name=name: nexus.query("DESCRIBE PACKAGE :p", {"p": name}),  # type: ignore[misc]
        ):
            try:
                call()
            except KipError as error:
                assert "not yours" not in str(error)
    assert secret not in [Path(str(path)) for path in opened]


def test_many_threads_and_many_errors_leave_nothing_behind(nexus: kipql.Nexus) -> None:
    def work() -> None:
        for _ in range(30):
            code_of(
                lambda: nexus.query("FIND(COUNT(?a)) WHERE { ?a CONCEPT {} ?b CONCEPT {} }", limits=Limits(ticks=50))
            )

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert nexus.query(COUNT).scalar() == 60
    assert nexus.execute(CREATE)


def test_each_attack_of_the_table_has_a_test_that_exists() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", page)
    assert len(named) > 35
    for file, test in named:
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file}::{test}"
    table = page.partition("## Attacks")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][2:]
    assert len(rows) > 25
    for row in rows:
        assert "`tests/" in row.split(" | ")[-1], row
