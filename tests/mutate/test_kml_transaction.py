"""Several statements in one Transaction: read-your-writes, one final state, and a failure that costs only itself
(§32.3, §32.6)."""

from typing import Any

import pytest

from kipql.errors import KipError
from kipql.lang import parse
from kipql.mutate import WriteContext, finish, run
from kipql.plan.parameters import bind
from tests.mutate.kml_space import Space

SKILL = """CREATE CONCEPT ?s { TYPE "Skill"
  SET ATTRIBUTES {skill_class: "workflow", summary: "s", status: "proposed"} }"""
REVISION = """CREATE CONCEPT ?r { TYPE "SkillRevision"
  SET ATTRIBUTES {task_family: "t", procedure: "p",
                  behavior_digest: "sha256:e8c8371d77877cbe6e7fdf6241f6430d97beac3f720ae3b875980f8fdd98ecb6"}
  SET STRUCTURAL {("revision_of", "C-1")} }"""


def _all(space: Space, *texts: str, **parameters: Any) -> list[str | None]:
    """Run statements in one transaction and commit what succeeded; their error codes."""
    tx = space.store.begin(space.at)
    write = WriteContext()
    codes: list[str | None] = []
    try:
        for text in texts:
            statement = parse(text)
            try:
                run(statement, tx, bind(statement, parameters), write)  # type: ignore[arg-type]
                codes.append(None)
            except KipError as error:
                codes.append(error.code)
        finish(tx, write)
        if tx.seal():
            tx.commit()
    finally:
        tx.rollback()
    return codes


def test_a_later_statement_sees_an_earlier_one(space: Space) -> None:
    _all(
        space,
        'CREATE CONCEPT ?a { TYPE "Thing" SET FIELDS {key: "a"} }',
        'UPDATE "C-1" SET ATTRIBUTES {n: 1}',
        'UPSERT CONCEPT ?a { MATCH {type: "Thing", key: "a"} SET FIELDS {name: "A"} } EXPECT VERSION 1',
        'ASSERT ("C-1", "is", "new") {by: "C-1", mode: "observed"}',
        'TRANSITION "A-1" TO "retracted"',
    )
    assert space.store.head == 1
    assert space.element("C-1")["name"] == "A"
    assert space.element("C-1")["_system"]["version"] == 1
    assert space.element("A-1")["lifecycle"]["status"] == "retracted"


def test_only_the_final_state_must_be_legal(space: Space) -> None:
    codes = _all(space, SKILL, REVISION, 'UPDATE "C-1" SET STRUCTURAL {("current_revision", "C-2")}')
    assert codes == [None, None, None]
    assert space.count("Concept") == 2


def test_an_illegal_final_state_fails_at_the_end(space: Space) -> None:
    with pytest.raises(KipError) as caught:
        _all(space, SKILL)
    assert caught.value.code == "ConstraintViolation"
    assert space.count("Concept") == 0


def test_a_statement_that_fails_leaves_the_transaction_as_it_was(lab: Space, twin: Space) -> None:
    good = 'MUTATE { CREATE CONCEPT ?c { TYPE "Thing" CLIENT KEY "k" } UPDATE "C-3" SET FIELDS {name: "L"} }'
    bad = """MUTATE {
      CREATE CONCEPT ?d { TYPE "Thing" CLIENT KEY "d" }
      UPDATE "C-3" SET FIELDS {name: "M"}
      ENSURE PROPOSITION ("C-1", "says", "something new")
      ASSERT ("C-1", "near", "C-4") {by: "C-2", mode: "stated"} SUPERSEDING "A-1"
    }"""
    after = 'CREATE CONCEPT ?d { TYPE "Thing" CLIENT KEY "d" NAME "other" }'
    assert _all(lab, good, bad, after) == [None, "SupersessionMismatch", None]
    assert _all(twin, good, after) == [None, None]
    assert lab.store.digest() == twin.store.digest()


def test_a_change_taken_back_by_a_later_statement_has_no_effect(lab: Space) -> None:
    _all(lab, 'UPDATE "C-3" SET FIELDS {name: "L"}', 'UPDATE "C-3" SET FIELDS {name: "Lamp"}')
    assert lab.store.head == 1
