"""Handles, forward references and Structural References (§17, §53)."""

import pytest

from tests.mutate.kml_space import Space


def _targets(space: Space, field: str, source: str = "C-1") -> list[str]:
    edges = space.element(source)["structural"].get(f"kip://test/things@1.0.0/{field}", [])
    return [edge["id"] for edge in edges]


@pytest.fixture
def parts(space: Space) -> Space:
    """C-1 with the parts C-2, C-3, C-4 in this order; C-5 and C-6 lie beside it."""
    space.write(
        """MUTATE {
          CREATE CONCEPT ?whole { TYPE "Thing" SET STRUCTURAL { ("part", ?a) ("part", ?b) ("part", ?c) } }
          CREATE CONCEPT ?a { TYPE "Thing" } CREATE CONCEPT ?b { TYPE "Thing" } CREATE CONCEPT ?c { TYPE "Thing" }
          CREATE CONCEPT ?d { TYPE "Thing" } CREATE CONCEPT ?e { TYPE "Thing" }
        }"""
    )
    return space


@pytest.mark.parametrize(
    ("entries", "order"),
    [
        ('SET STRUCTURAL {("part", "C-5")}', "2 3 4 5"),
        ('SET STRUCTURAL {("part", "C-3")}', "2 3 4"),
        ('SET STRUCTURAL {("part", "C-5") {index: 0}}', "5 2 3 4"),
        ('SET STRUCTURAL {("part", "C-5") {index: 3}}', "2 3 4 5"),
        ('SET STRUCTURAL {("part", "C-4") {index: 0}}', "4 2 3"),
        ('SET STRUCTURAL {("part", "C-5") {index: 4} ("part", "C-6") {index: 1}}', "2 6 3 4 5"),
        ('SET STRUCTURAL {("part", "C-5") ("part", "C-5")}', "2 3 4 5"),
        ('UNSET STRUCTURAL {("part", "C-2")}', "3 4"),
        ('UNSET STRUCTURAL {("part", "C-6")}', "2 3 4"),
        ('UNSET STRUCTURAL {("part", "C-2")} SET STRUCTURAL {("part", "C-6") {index: 2}}', "3 4 6"),
    ],
)
def test_order_is_dense_and_explicit_positions_are_positions_in_the_result(
    parts: Space, entries: str, order: str
) -> None:
    parts.write(f'UPDATE "C-1" {entries}')
    assert _targets(parts, "part") == [f"C-{number}" for number in order.split()]


@pytest.mark.parametrize(
    ("entries", "code"),
    [
        ('SET STRUCTURAL {("part", "C-5") {index: 4}}', "ConstraintViolation"),
        ('SET STRUCTURAL {("part", "C-5") {index: 0} ("part", "C-6") {index: 0}}', "ConstraintViolation"),
        ('SET STRUCTURAL {("part", "C-5") {index: -1}}', "TypeMismatch"),
        ('SET STRUCTURAL {("part", "C-5") {index: 0} ("part", "C-5") {index: 1}}', "DuplicateMutationTarget"),
        ('SET STRUCTURAL {("part", "C-5")} UNSET STRUCTURAL {("part", "C-5")}', "DuplicateMutationTarget"),
        ('SET STRUCTURAL {("tag", "C-5") {index: 0}}', "ConstraintViolation"),
        ('SET STRUCTURAL {("part", "C-5") {role: "support"}}', "ConstraintViolation"),
        ('SET STRUCTURAL {("lid", "C-5") ("lid", "C-6")}', "DuplicateMutationTarget"),
        ('SET STRUCTURAL {("nothing", "C-5")}', "SchemaSymbolNotFound"),
        ('SET STRUCTURAL {("inputs", "C-5")}', "SchemaSymbolNotFound"),
        ('SET STRUCTURAL {("part", "C-9")}', "NotFoundOrNotVisible"),
        ('SET STRUCTURAL {("derived_from", "C-5")}', "ConstraintViolation"),
    ],
)
def test_a_bad_entry_is_refused(parts: Space, entries: str, code: str) -> None:
    error = parts.refused(f'UPDATE "C-1" {entries}')
    assert (error.code, error.span is not None) == (code, True)


def test_set_replaces_the_reference_of_a_single_field(parts: Space) -> None:
    parts.write('UPDATE "C-1" SET STRUCTURAL {("lid", "C-5")}')
    parts.write('UPDATE "C-1" SET STRUCTURAL {("lid", "C-6")}')
    assert _targets(parts, "lid") == ["C-6"]


def test_a_required_reference_can_not_be_removed(space: Space) -> None:
    space.write(
        """MUTATE {
          CREATE CONCEPT ?s { TYPE "Skill" SET ATTRIBUTES {skill_class: "workflow", summary: "s", status: "proposed"}
                              SET STRUCTURAL {("current_revision", ?r)} }
          CREATE CONCEPT ?r { TYPE "SkillRevision" SET ATTRIBUTES {task_family: "t", procedure: "p",
              behavior_digest: "sha256:e8c8371d77877cbe6e7fdf6241f6430d97beac3f720ae3b875980f8fdd98ecb6"}
                              SET STRUCTURAL {("revision_of", ?s)} }
        }"""
    )
    error = space.refused('UPDATE "C-1" UNSET STRUCTURAL {("current_revision", "C-2")}')
    assert error.code == "ConstraintViolation"


def test_evidence_and_activity_may_name_each_other(space: Space) -> None:
    space.write(
        """MUTATE {
          CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "m", payload: 1} SET STRUCTURAL {("generated_by", ?x)} }
          CREATE ACTIVITY ?x { SET FIELDS {activity_class: "m", status: "completed"} SET STRUCTURAL {("outputs", ?e)} }
        }"""
    )
    assert space.element("E-1")["generated_by"] == {"id": "X-1"}
    assert space.element("X-1")["outputs"] == [{"id": "E-1"}]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('MUTATE { CREATE CONCEPT ?a {TYPE "Thing"} CREATE CONCEPT ?a {TYPE "Thing"} }', "DuplicateLocalHandle"),
        ('MUTATE { ENSURE PROPOSITION (?nobody, "is", 1) }', "ReferenceError"),
        ('ASSERT (:a, "is", 1) {by: :a, mode: "stated"} SUPERSEDING :old', "ReferenceError"),
    ],
)
def test_every_handle_and_parameter_resolves(space: Space, text: str, code: str) -> None:
    assert space.refused(text).code == code


def test_a_handle_reaches_a_new_element_and_a_pattern_does_not(space: Space) -> None:
    space.write(
        """MUTATE {
          CREATE CONCEPT ?a { TYPE "Thing" NAME "A" }
          UPDATE ?a SET ATTRIBUTES {by: "handle"}
          UPDATE ?x SET ATTRIBUTES {by: "pattern"} WHERE { ?x {type: "Thing"} }
        }"""
    )
    assert space.element("C-1")["attributes"] == {"by": "handle"}


def test_an_empty_mutate_has_no_effect(space: Space) -> None:
    assert space.write("MUTATE { }") == {}
    assert not space.changed
