"""A lake holds every state of every element, whole or grown export by export."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import kipql
from kipql.errors import KipError
from kipql.lake import export, layout, manifest
from tests.lake.reading import elements, holds, table
from tests.properties.engine import EXAMPLES, SLOW, tell
from tests.properties.engine import elements as told_elements
from tests.properties.memories import FOUNDING, memories
from tests.properties.vocabulary import PACKAGE

SPACE = "kip:space:default"
ANEW = {table.name for table in layout.TABLES} - {layout.ENDS.name}
often = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW)


def sorted_rows(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def founded() -> kipql.Nexus:
    nexus = kipql.open(packages=[PACKAGE])
    nexus.execute(FOUNDING)
    return nexus


@often
@given(story=memories)
def test_an_element_reads_in_the_lake_as_in_the_memory_at_every_sequence(
    tmp_path_factory: pytest.TempPathFactory, story: list[str]
) -> None:
    nexus = tell(story).nexus
    lake = tmp_path_factory.mktemp("lake")
    export(nexus, lake)
    for seq in range(1, nexus.space_seq + 1):
        assert elements(lake, SPACE, seq) == told_elements(nexus, seq)


@often
@given(story=memories)
def test_a_lake_grown_by_increments_equals_one_written_at_once(
    tmp_path_factory: pytest.TempPathFactory, story: list[str]
) -> None:
    told = tell(story[:1])
    grown, whole = tmp_path_factory.mktemp("grown"), tmp_path_factory.mktemp("whole")
    for number, statement in enumerate(story[1:], 1):
        if number % 3 == 1:
            export(told.nexus, grown)
        told.tell(number, statement)
    last = export(told.nexus, grown)
    export(told.nexus, whole)
    assert last.head == told.nexus.space_seq
    for name in ANEW:
        assert sorted_rows(table(grown, name, SPACE)) == sorted_rows(table(whole, name, SPACE)), name


@often
@given(story=memories)
def test_identities_are_the_canonical_concepts(tmp_path_factory: pytest.TempPathFactory, story: list[str]) -> None:
    nexus = tell(story).nexus
    lake = tmp_path_factory.mktemp("lake")
    export(nexus, lake)
    for seq in range(1, nexus.space_seq + 1):
        view = nexus._session.space.at(seq)
        expected = {row * 8: view.canonical(row * 8) for row in view.rows(0) if view.canonical(row * 8) != row * 8}
        found = {row["code"]: row["canonical"] for row in table(lake, "identities", SPACE) if holds(row, seq)}
        assert found == expected


def test_a_second_export_writes_only_what_is_new(tmp_path: Path) -> None:
    nexus = founded()
    first = export(nexus, tmp_path)
    assert (first.since, first.head) == (0, 1)
    before = {part.path for part in manifest.read(tmp_path, SPACE).of("concepts")}
    nexus.execute('UPDATE ?x SET FIELDS {name: "Renamed"} WHERE { ?x {type: "Robot", key: "r0"} }')
    second = export(nexus, tmp_path)
    after = manifest.read(tmp_path, SPACE).of("concepts")
    assert (second.since, second.head, second.erased) == (1, 2, 0)
    assert before < {part.path for part in after}
    assert [part.rows for part in after if part.path not in before] == [1]
    assert [row["seq_to"] for row in table(tmp_path, "ends", SPACE)] == [2]


def test_an_export_of_nothing_new_writes_no_states(tmp_path: Path) -> None:
    nexus = founded()
    export(nexus, tmp_path)
    again = export(nexus, tmp_path)
    assert (again.since, again.head, again.rows) == (1, 1, 0)
    assert {path.name for path in tmp_path.rglob("part-*")} == {
        Path(part.path).name for part in manifest.read(tmp_path, SPACE).parts
    }


@pytest.mark.parametrize(
    "erasing",
    [
        'PURGE "E-1" CONFIRM "PURGE"',
        'PURGE PAYLOAD "E-1" CONFIRM "PURGE"',
    ],
)
def test_what_was_purged_leaves_the_older_files(tmp_path: Path, erasing: str) -> None:
    nexus = founded()
    nexus.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: "the secret word"} }')
    export(nexus, tmp_path)
    assert any("the secret word" in row["payload"] for row in table(tmp_path, "payloads", SPACE))
    nexus.execute(erasing)
    done = export(nexus, tmp_path)
    assert done.erased == 1
    for path in tmp_path.rglob("*.parquet"):
        assert b"the secret word" not in path.read_bytes()
    for row in table(tmp_path, "payloads", SPACE):
        assert "the secret word" not in row["payload"]
    for seq in (1, 2, 3):
        assert elements(tmp_path, SPACE, seq) == told_elements(nexus, seq)


def test_several_memories_need_names_of_their_own(tmp_path: Path) -> None:
    export(founded(), tmp_path, name="one")
    export(founded(), tmp_path, name="two/three")
    assert manifest.names(tmp_path) == ["one", "two/three"]
    with pytest.raises(KipError) as raised:
        export(kipql.open(packages=[PACKAGE]), tmp_path, name="one")
    assert raised.value.code == "IdentityConflict"


def test_a_principal_exports_what_it_may_see(tmp_path: Path) -> None:
    nexus = founded()
    nexus.govern.grant("reader", "discover", "read", "export", kinds=("concept",))
    nexus.govern.grant("guest", "discover", "read")
    with pytest.raises(KipError) as raised:
        export(nexus.as_principal("guest"), tmp_path)
    assert raised.value.code == "NotAuthorized"
    export(nexus.as_principal("reader"), tmp_path)
    assert len(table(tmp_path, "concepts", SPACE)) > 0
    assert table(tmp_path, "assertions", SPACE) == table(tmp_path, "literals", SPACE) == []


def test_another_view_of_a_space_is_written_anew(tmp_path: Path) -> None:
    nexus = founded()
    export(nexus, tmp_path)
    nexus.govern.grant("reader", "discover", "read", "export", kinds=("concept",))
    export(nexus.as_principal("reader"), tmp_path)
    assert table(tmp_path, "assertions", SPACE) == []
    assert not list((tmp_path / "assertions").rglob("*.parquet"))


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "MemoryDamaged"),
        (b"[]", "MemoryDamaged"),
        (b'{"kipql_lake": 1}', "MemoryDamaged"),
        (b'{"kipql_lake": true}', "MemoryDamaged"),
        (b'{"kipql_lake": ' + b"9" * 5_000 + b"}", "MemoryDamaged"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "MemoryDamaged"),
        (b'{"kipql_lake": 99}', "MemoryFormatUnsupported"),
        (b"\xff\xfe", "MemoryDamaged"),
    ],
)
def test_a_damaged_manifest_is_told(tmp_path: Path, content: bytes, code: str) -> None:
    nexus = founded()
    export(nexus, tmp_path)
    manifest.path_of(tmp_path, SPACE).write_bytes(content)
    with pytest.raises(KipError) as raised:
        export(nexus, tmp_path)
    assert raised.value.code == code


def test_a_part_outside_the_lake_is_refused(tmp_path: Path) -> None:
    nexus = founded()
    export(nexus, tmp_path)
    path = manifest.path_of(tmp_path, SPACE)
    path.write_text(path.read_text().replace("concepts/space_id", "concepts/../../space_id"))
    with pytest.raises(KipError) as raised:
        manifest.read(tmp_path, SPACE)
    assert raised.value.code == "MemoryDamaged"


def test_a_damaged_file_that_a_purge_would_rewrite_is_told(tmp_path: Path) -> None:
    nexus = founded()
    nexus.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: "the secret word"} }')
    export(nexus, tmp_path)
    path = tmp_path / manifest.read(tmp_path, SPACE).of("payloads")[0].path
    content = path.read_bytes()
    path.write_bytes(content[:40] + bytes([content[40] ^ 0xFF]) + content[41:])
    nexus.execute('PURGE "E-1" CONFIRM "PURGE"')
    with pytest.raises(KipError) as raised:
        export(nexus, tmp_path)
    assert raised.value.code == "MemoryDamaged"
