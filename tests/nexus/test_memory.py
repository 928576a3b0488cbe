"""Opening, reopening and copying a memory (§5)."""

import shutil
from pathlib import Path

import pytest

import kipql
from kipql.errors import KipError

ADA = 'CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }'
COUNT = "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }"


def code_of(call: object, *arguments: object, **options: object) -> str:
    with pytest.raises(KipError) as caught:
        call(*arguments, **options)  # type: ignore[operator]
    return caught.value.code


def test_a_memory_in_a_folder_is_there_when_opened_again(tmp_path: Path) -> None:
    with kipql.open(tmp_path / "brain.kip") as nexus:
        nexus.execute(ADA)
        digest = nexus.digest()
    with kipql.open(tmp_path / "brain.kip") as again:
        assert (again.space_seq, again.digest()) == (1, digest)
        assert again.query('FIND(?c.name) WHERE { ?c {type: "Person"} }').rows == ["Ada"]


def test_the_layout_has_control_state_and_one_folder_a_space(tmp_path: Path) -> None:
    with kipql.open(tmp_path / "m") as nexus:
        nexus.space("kip:space:other").execute(ADA)
    assert (tmp_path / "m" / "nexus" / "memory.json").is_file()
    assert {each.name for each in (tmp_path / "m" / "spaces").iterdir()} == {
        "kip%3Aspace%3Adefault",
        "kip%3Aspace%3Aother",
    }


def test_an_empty_folder_becomes_a_memory_and_a_full_one_does_not(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    kipql.open(tmp_path / "empty").close()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    assert code_of(kipql.open, tmp_path / "full") == "NotAMemory"
    assert [each.name for each in (tmp_path / "full").iterdir()] == ["notes.txt"]


def test_a_file_or_a_missing_folder_to_read_is_no_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert code_of(kipql.open, tmp_path / "file") == "NotAMemory"
    assert code_of(kipql.open, tmp_path / "missing", readonly=True) == "NotAMemory"
    assert not (tmp_path / "missing").exists()


def test_a_newer_layout_is_refused_and_a_broken_mark_is_damage(tmp_path: Path) -> None:
    kipql.open(tmp_path / "m").close()
    mark = tmp_path / "m" / "nexus" / "memory.json"
    mark.write_text('{"format": "kipql-memory", "version": 99}')
    assert code_of(kipql.open, tmp_path / "m") == "MemoryFormatUnsupported"
    mark.write_text('{"format": "other"}')
    assert code_of(kipql.open, tmp_path / "m") == "MemoryDamaged"


def test_a_closed_memory_answers_no_new_space() -> None:
    nexus = kipql.open()
    nexus.close()
    nexus.close()
    assert code_of(nexus.space, "kip:space:new") == "MemoryUnavailable"


def test_spaces_are_separate_and_count_for_themselves() -> None:
    nexus = kipql.open()
    other = nexus.space("kip:space:other")
    other.execute(ADA)
    assert nexus.spaces() == ["kip:space:default", "kip:space:other"]
    assert (nexus.space_seq, other.space_seq) == (0, 1)
    assert (nexus.query(COUNT).scalar(), nexus.space("kip:space:other").query(COUNT).scalar()) == (0, 1)


def test_a_space_that_is_missing_is_not_made_by_reading(tmp_path: Path) -> None:
    kipql.open(tmp_path / "m").close()
    with kipql.open(tmp_path / "m", readonly=True) as nexus:
        assert code_of(nexus.space, "kip:space:new") == "NotFoundOrNotVisible"


def test_a_backup_is_a_memory_with_the_same_digest(tmp_path: Path) -> None:
    with kipql.open(tmp_path / "m") as nexus:
        nexus.execute(ADA)
        nexus.backup(tmp_path / "copy")
        nexus.execute('CREATE CONCEPT ?b { TYPE "Person" NAME "Bob" }')
        with kipql.open(tmp_path / "copy") as copy:
            assert copy.space_seq == 1
            assert copy.query(COUNT).scalar() == 1
        assert code_of(nexus.backup, tmp_path / "copy") == "MemoryUnavailable"


def test_an_embedder_makes_search_by_meaning_possible() -> None:
    search = 'SEARCH CONCEPT "ada" MODE "semantic"'
    assert code_of(kipql.open().query, search) == "SearchModeUnsupported"
    assert kipql.open(embedder=lambda texts: [[1.0] for _ in texts]).query(search).rows == []


def test_the_graph_has_concepts_as_vertices_and_propositions_as_edges() -> None:
    nexus = kipql.open()
    nexus.execute(
        'MUTATE { CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" } CREATE CONCEPT ?b { TYPE "Person" NAME "Bo" }'
        ' ENSURE PROPOSITION ?p (?a, "same_as", ?b) }'
    )
    graph = nexus.to_networkx()
    assert graph.nodes["C-1"]["name"] == "Ada"
    assert [(s, t, k) for s, t, k in graph.edges(keys=True)] == [("C-1", "C-2", "P-1")]


def test_a_commit_into_a_folder_that_was_deleted_is_refused(tmp_path: Path) -> None:
    nexus = kipql.open(tmp_path / "m")
    nexus.execute(ADA)
    shutil.rmtree(tmp_path / "m")
    assert code_of(nexus.execute, ADA) == "MemoryUnavailable"
    assert (nexus.space_seq, nexus.query(COUNT).scalar()) == (1, 1)


def test_a_folder_that_no_space_wrote_is_no_space(tmp_path: Path) -> None:
    with kipql.open(tmp_path / "m") as nexus:
        nexus.execute(ADA)
        (tmp_path / "m" / "spaces" / "notes").mkdir()
        assert nexus.spaces() == ["kip:space:default"]
        assert len(nexus.query("LIST SPACES").rows) == 1
        nexus.backup(tmp_path / "copy")
    assert kipql.open(tmp_path / "copy").space_seq == 1


def test_a_backup_into_the_memory_itself_is_refused(tmp_path: Path) -> None:
    with kipql.open(tmp_path / "m") as nexus:
        assert code_of(nexus.backup, tmp_path / "m" / "spaces" / "copy") == "MemoryUnavailable"
        assert nexus.spaces() == ["kip:space:default"]


@pytest.mark.parametrize("mark", ["[" * 100_000, '{"format": "kipql-memory", "version": true}'])
def test_a_mark_that_kipql_did_not_write_is_damage(tmp_path: Path, mark: str) -> None:
    kipql.open(tmp_path / "m").close()
    (tmp_path / "m" / "nexus" / "memory.json").write_text(mark)
    assert code_of(kipql.open, tmp_path / "m") == "MemoryDamaged"
