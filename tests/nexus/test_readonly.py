"""Read-only by parse tree (§76, §88.3): the tree decides, never the text or a label."""

from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql.errors import KipError

ADA = 'CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }'
WRITES = (
    ADA,
    'create concept ?a { type "Person" name "Ada" }',
    'MuTaTe { CREATE CONCEPT ?a { TYPE "Person" NAME "FIND(?c)" } }',
    "// FIND(?c) WHERE { ?c CONCEPT {} }\n" + ADA,
    'UPDATE "C-1" SET FIELDS {name: "x"}',
    'TRANSITION "C-1" TO "archived"',
    'SET RETENTION "C-1" {retention_class: "short"}',
    'PURGE "C-1" CONFIRM "PURGE"',
    'MERGE CONCEPT "C-1" INTO "C-1"',
    'ENSURE PROPOSITION ("C-1", "same_as", "C-1")',
    'DEFINE CONCEPT TYPE "T" {description: "d"}',
)
READS = (
    'FIND(?c.name) WHERE { ?c CONCEPT {name: "CREATE CONCEPT ?a { }"} }',
    "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} } // MUTATE { }",
    "find(count(?c)) where { ?c concept {} }",
    "LIST TYPES",
    "LIST PREDICATES",
)


@pytest.fixture(scope="module")
def full() -> kipql.Nexus:
    nexus = kipql.open()
    nexus.execute(ADA)
    return nexus


def refusal(call: Any, *arguments: Any) -> str:
    with pytest.raises(KipError) as caught:
        call(*arguments)
    return caught.value.code


@pytest.mark.parametrize("text", WRITES)
def test_a_mutation_is_refused_everywhere_and_changes_nothing(full: kipql.Nexus, text: str) -> None:
    before = (full.space_seq, full.digest())
    reader = full.readonly()
    calls = (full.query, reader.query, reader.execute)
    assert [refusal(call, text) for call in calls] == ["ReadonlyViolation"] * 3
    assert refusal(lambda: reader.prepare(text).execute()) == "ReadonlyViolation"
    assert (full.space_seq, full.digest()) == before


@pytest.mark.parametrize("text", READS)
def test_a_read_that_mentions_writing_is_a_read(full: kipql.Nexus, text: str) -> None:
    assert full.readonly().execute(text).result == full.query(text).result


def test_a_parameter_that_holds_a_mutation_is_data(full: kipql.Nexus) -> None:
    found = full.readonly().query("FIND(?c) WHERE { ?c CONCEPT {name: :name} }", {"name": ADA})
    assert (found.rows, full.space_seq) == ([], 1)


def test_validate_and_preview_of_a_mutation_are_reads(full: kipql.Nexus, tmp_path: Path) -> None:
    for reader in (full.readonly(), _reopened(tmp_path)):
        before = reader.digest()
        assert reader.query("VALIDATE KML :text", {"text": ADA}).one()["valid"] is True
        foreseen = reader.query("PREVIEW KML :text", {"text": ADA}).one()
        assert (foreseen["effect"], [change["op"] for change in foreseen["changes"]]) == ("changes", ["create"])
        assert reader.digest() == before


def _reopened(tmp_path: Path) -> kipql.Nexus:
    kipql.open(tmp_path / "m").close()
    return kipql.open(tmp_path / "m", readonly=True)


def test_a_memory_opened_read_only_has_no_way_to_write(tmp_path: Path) -> None:
    reader = _reopened(tmp_path)
    assert refusal(reader.execute, ADA) == "ReadonlyViolation"
    assert refusal(reader.install_packages, ["kip://domains/general@1.0.0"]) == "ReadonlyViolation"
    assert refusal(lambda: reader.load([{"kind": "concept", "type": "Person"}])) == "ReadonlyViolation"
    assert refusal(lambda: reader.transaction().__enter__()) == "ReadonlyViolation"


def test_a_label_does_not_make_a_write_a_read(full: kipql.Nexus) -> None:
    reply = full.readonly().request({"kip": "2.0", "operations": [{"language": "KQL", "command": ADA}]})
    assert reply["results"][0]["error"]["code"] == "LanguageMismatch"
    assert full.space_seq == 1


def test_one_write_in_a_batch_is_refused_and_the_reads_answer(full: kipql.Nexus) -> None:
    operations = [{"command": READS[1]}, {"command": ADA}, {"command": "LIST TYPES LIMIT 1"}]
    reply = full.readonly().request({"kip": "2.0", "execution": {"mode": "independent"}, "operations": operations})
    assert [result["status"] for result in reply["results"]] == ["succeeded", "failed", "succeeded"]
    assert reply["results"][1]["error"]["code"] == "ReadonlyViolation"
    assert (reply["status"], full.space_seq) == ("partial", 1)


def test_the_views_that_readers_get_have_no_way_to_write(full: kipql.Nexus) -> None:
    view = full.readonly()._session.view()
    writing = ("create", "put", "begin", "control", "note", "rollback", "remember")
    assert [name for name in writing if hasattr(view, name)] == []
