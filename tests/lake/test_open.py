"""Opening and asking a lake: what is refused, by which name, and what an answer says about itself."""

from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import lake
from kipql.errors import KipError
from kipql.lake import manifest
from tests.lake.test_export import SPACE, founded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lake.export(founded(), tmp_path)
    return tmp_path


REFUSED = [
    ('CREATE CONCEPT ?c { TYPE "Robot" }', "ReadonlyViolation"),
    ("DESCRIBE SPACE", "UnsupportedCapability"),
    ('FIND(?c) WHERE { ?c SEARCH CONCEPT "red" LIMIT 3 }', "UnsupportedCapability"),
    ('FIND(?c.name) WHERE { ?c CONCEPT {} } LIMIT 1 CURSOR "x"', "UnsupportedCapability"),
    ("FIND(?c._system.dependency_validity) WHERE { ?c CONCEPT {} }", "UnsupportedCapability"),
    ("FIND(?c.name) WHERE { ?c CONCEPT {} } AS OF SEQ 9", "HistoricalSnapshotUnavailable"),
    ("FIND(?c.name) WHERE { ?c CONCEPT {} } AS OF SEQ -1", "TypeMismatch"),
    ("FIND(?c.name) WHERE { ?c {type: :none} }", "ReferenceError"),
    ('FIND(?c.name) WHERE { ?c {type: "Nothing"} }', "SchemaSymbolNotFound"),
    ("FIND(?c.name) WHERE { ?c {", "InvalidSyntax"),
    ("FIND(?d) WHERE { ?c CONCEPT {} }", "InvalidSyntax"),
    ("FIND(?c.attributes) WHERE { ?c CONCEPT {} } ORDER BY ?c.attributes", "TypeMismatch"),
    ("FIND(SUM(?c.name)) WHERE { ?c CONCEPT {} }", "TypeMismatch"),
]


@pytest.mark.parametrize(("text", "code"), REFUSED)
def test_what_a_lake_does_not_answer_is_refused_by_name(folder: Path, text: str, code: str) -> None:
    with lake.open(folder) as opened, pytest.raises(KipError) as raised:
        opened.query(text)
    assert raised.value.code == code


ANSWERED = {"UnsupportedCapability", "ReadonlyViolation", "HistoricalSnapshotUnavailable"}
"""What the memory answers, or knows more of."""


@pytest.mark.parametrize("text", [text for text, code in REFUSED if code not in ANSWERED])
def test_an_error_stands_where_the_memory_says_it_stands(folder: Path, text: str) -> None:
    with pytest.raises(KipError) as expected:
        founded().query(text)
    with lake.open(folder) as opened, pytest.raises(KipError) as found:
        opened.query(text)
    assert (found.value.code, found.value.message, found.value.span) == (
        expected.value.code,
        expected.value.message,
        expected.value.span,
    )


def test_a_result_says_what_was_read(folder: Path) -> None:
    with lake.open(folder) as opened:
        result = opened.query('FIND(?c.key, ?c.name) WHERE { ?c {type: "Robot"} } ORDER BY ?c.key LIMIT 2')
    assert result.columns == ("c.key", "c.name")
    assert [row[0] for row in result.rows] == ["r0", "r1"]
    assert (result.truncated, result.next_cursor) == (True, None)
    assert (result.context["space_id"], result.context["snapshot_seq"]) == (SPACE, 1)


def test_limit_zero_and_a_limit_that_leaves_nothing_out(folder: Path) -> None:
    with lake.open(folder) as opened:
        nothing = opened.query("FIND(?c) WHERE { ?c CONCEPT {} } LIMIT 0")
        everything = opened.query("FIND(?c) WHERE { ?c CONCEPT {} } LIMIT 1000")
    assert (nothing.rows, nothing.truncated, everything.truncated) == ([], False, False)


def test_before_the_first_commit_there_is_nothing(folder: Path) -> None:
    with lake.open(folder) as opened:
        assert opened.query("FIND(COUNT(?c)) WHERE { ?c CONCEPT {} } AS OF SEQ 0").scalar() == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"space": "nowhere"}, "NotFoundOrNotVisible"),
        ({"engine": "oracle"}, "UnsupportedCapability"),
        ({"engine": 5}, "UnsupportedCapability"),
        ({"space": 5}, "TypeMismatch"),
        ({"space": "\ud800"}, "ConstraintViolation"),
        ({"space": "a" * 513}, "ConstraintViolation"),
        ({"threads": 0}, "ConstraintViolation"),
        ({"threads": -1}, "ConstraintViolation"),
        ({"threads": 10**30}, "ConstraintViolation"),
        ({"threads": "x"}, "TypeMismatch"),
        ({"threads": True}, "TypeMismatch"),
        ({"limits": 5}, "TypeMismatch"),
        ({"engine": "spark", "master": 5}, "TypeMismatch"),
    ],
)
def test_what_can_not_be_opened(folder: Path, arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(KipError) as raised:
        lake.open(folder, **arguments)
    assert raised.value.code == code


def test_a_folder_that_is_no_lake(tmp_path: Path) -> None:
    with pytest.raises(KipError) as raised:
        lake.open(tmp_path)
    assert raised.value.code == "NotFoundOrNotVisible"


def test_several_spaces_have_to_be_named(folder: Path) -> None:
    lake.export(founded(), folder, name="other")
    assert lake.spaces(folder) == [SPACE, "other"]
    with pytest.raises(KipError) as raised:
        lake.open(folder)
    assert raised.value.code == "NotFoundOrNotVisible"
    with lake.open(folder, space="other") as opened:
        assert opened.space_id == "other"


@pytest.mark.parametrize("damage", ["gone", "shorter", "longer", "flipped"])
def test_a_damaged_file_is_told(folder: Path, damage: str) -> None:
    path = folder / manifest.read(folder, SPACE).of("concepts")[0].path
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]
        path.write_bytes({"shorter": content[:-7], "longer": content + b"x", "flipped": flipped}[damage])
    with pytest.raises(KipError) as raised, lake.open(folder) as opened:
        opened.query("FIND(?c) WHERE { ?c CONCEPT {} }")
    assert raised.value.code == "MemoryDamaged"


HOSTILE = [
    " ",
    '"',
    "\\",
    "'; DROP TABLE concepts; --",
    "a\x01b\x1fc",
    "\N{RIGHT-TO-LEFT OVERRIDE}x",
    "%",
    "null",
    "@0",
    "ﬁ",
    "😀",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_is_data_on_its_way_in_and_out(tmp_path: Path, text: str) -> None:
    nexus = kipql.open()
    nexus.execute(
        'CREATE CONCEPT ?c { TYPE "Person" NAME :n SET ATTRIBUTES {note: :n} SET FIELDS {key: "k"} }', {"n": text}
    )
    lake.export(nexus, tmp_path)
    questions = [
        ('FIND(?c.name, ?c.attributes.note, ?c) WHERE { ?c {type: "Person"} FILTER(?c.name == :n) }', 1),
        ("FIND(?c.name) WHERE { ?c {name: :n} }", 1),
        ("FIND(?c.attributes.note) WHERE { ?c {attributes: {note: :n}} }", 1),
        ("FIND(?n) WHERE { ?c {name: ?n, attributes: {note: ?n}} }", 1),
        ('FIND(?c.name) WHERE { ?c {type: "Person"} FILTER(IN(?c.attributes.note, [:n]) && ?c.name >= :n) }', 1),
    ]
    with lake.open(tmp_path) as opened:
        for question, count in questions:
            expected = nexus.query(question, {"n": text}).rows
            assert opened.query(question, {"n": text}).rows == expected
            assert len(expected) == count
