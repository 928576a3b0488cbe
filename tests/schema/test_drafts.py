"""What DEFINE may add to the draft vocabulary (specification §20.16)."""

from typing import Any

import pytest

from kipql.errors import KipError
from kipql.schema.draft import define
from kipql.schema.environment import Environment, describe
from tests.schema.small import LAB, THINGS, environment, package

DRAFT = "kip://local/draft@0.0.0"
ENV = environment(package(THINGS))


def defined(env: Environment, kind: str, name: Any, **definition: Any) -> Environment:
    added, ref = define(env, kind, name, definition)
    assert ref == f"{DRAFT}/{name}"
    return env.with_packages([added], env.version + 1)


def test_a_predicate_is_added_to_the_draft_package() -> None:
    env = defined(ENV, "PredicateType", "guards", description="It guards it.", subject={"concept_types": ["Robot"]})
    guards = env.predicate("guards")
    assert (guards.ref, guards.package_ref, env.version) == (f"{DRAFT}/guards", DRAFT, 2)
    assert guards.subject.type_refs == {f"{LAB}/Robot"}
    assert describe(guards)["definition"]["description"] == "It guards it."
    row = {"package_ref": DRAFT, "package_id": "kip://local/draft", "version": "0.0.0", "status": "active"}
    assert row in env.package_rows()


def test_the_draft_package_keeps_what_it_had() -> None:
    env = defined(ENV, "PredicateType", "guards", description="It guards it.")
    env = defined(env, "ConceptType", "Gate", description="A gate.")
    env = defined(env, "PredicateType", "opens", description="Opens.", object={"concept_types": ["Gate"]})
    assert [env.predicate("guards").ref, env.concept_type("Gate").ref] == [f"{DRAFT}/guards", f"{DRAFT}/Gate"]
    assert env.predicate("opens").object.type_refs == {f"{DRAFT}/Gate"}
    assert len([package for package in env.packages if package.ref == DRAFT]) == 1


def test_a_draft_endpoint_keeps_its_meaning_when_the_name_becomes_ambiguous() -> None:
    env = defined(ENV, "PredicateType", "guards", description="It guards it.", subject={"concept_types": ["Robot"]})
    env = env.with_packages([package({"concept_types": {"Robot": {}}}, path="kip://other")], 3)
    assert env.predicate("guards").subject.type_refs == {f"{LAB}/Robot"}


def test_a_type_may_declare_open_optional_attributes() -> None:
    fields = {"family": {"type": "string", "description": "strings, brass"}}
    env = defined(ENV, "ConceptType", "Horn", description="A horn.", attributes={"open": True, "fields": fields})
    assert env.concept_type("Horn").open and list(env.concept_type("Horn").fields) == ["family"]


def test_a_predicate_and_a_type_may_share_a_name() -> None:
    env = defined(ENV, "ConceptType", "Horn", description="A horn.")
    env = defined(env, "PredicateType", "Horn", description="Blows it.")
    assert env.concept_type("Horn").ref == env.predicate("Horn").ref


REFUSED: dict[str, tuple[str, Any, dict[str, Any], str]] = {
    "a name that resolves": ("PredicateType", "named", {"description": "x"}, "SchemaSymbolConflict"),
    "a type that resolves": ("ConceptType", "Robot", {"description": "x"}, "SchemaSymbolConflict"),
    "a Core kind": ("ConceptType", "Evidence", {"description": "x"}, "SchemaSymbolConflict"),
    "a name that is no string": ("ConceptType", 7, {"description": "x"}, "TypeMismatch"),
    "a name that is no name": ("ConceptType", "two words", {"description": "x"}, "InvalidIdentifier"),
    "no description": ("PredicateType", "p", {}, "ConstraintViolation"),
    "a blank description": ("PredicateType", "p", {"description": " "}, "ConstraintViolation"),
    "a description that is no string": ("PredicateType", "p", {"description": 7}, "TypeMismatch"),
    "a closed world": ("PredicateType", "p", {"description": "x", "open_world": False}, "ConstraintViolation"),
    "completeness": ("PredicateType", "p", {"description": "x", "complete": True}, "ConstraintViolation"),
    "an unknown member": ("PredicateType", "p", {"description": "x", "cardinality": 3}, "ConstraintViolation"),
    "an unknown type": (
        "PredicateType",
        "p",
        {"description": "x", "subject": {"concept_types": ["Ghost"]}},
        "SchemaSymbolNotFound",
    ),
    "two kinds of functional": (
        "PredicateType",
        "p",
        {"description": "x", "functional": True, "functional_by": "object_type", "object": {"kinds": ["Concept"]}},
        "ConstraintViolation",
    ),
    "Facets": ("ConceptType", "T", {"description": "x", "facets": {"Wear": {}}}, "ConstraintViolation"),
    "a required attribute": (
        "ConceptType",
        "T",
        {"description": "x", "attributes": {"fields": {"a": {"type": "string", "required": True}}}},
        "ConstraintViolation",
    ),
    "closed attributes": (
        "ConceptType",
        "T",
        {"description": "x", "attributes": {"open": False}},
        "ConstraintViolation",
    ),
    "an attribute of no scalar type": (
        "ConceptType",
        "T",
        {"description": "x", "attributes": {"fields": {"a": {"type": "array"}}}},
        "ConstraintViolation",
    ),
}


@pytest.mark.parametrize(("kind", "name", "definition", "code"), REFUSED.values(), ids=REFUSED)
def test_what_a_draft_may_not_be(kind: str, name: Any, definition: dict[str, Any], code: str) -> None:
    with pytest.raises(KipError) as caught:
        define(ENV, kind, name, definition)
    assert caught.value.code == code


def test_an_ambiguous_name_already_has_a_meaning() -> None:
    env = ENV.with_packages([package({"predicates": {"named": {}}}, path="kip://other")], 2)
    with pytest.raises(KipError) as caught:
        define(env, "PredicateType", "named", {"description": "x"})
    assert caught.value.code == "SchemaSymbolConflict"


def test_a_draft_symbol_is_defined_once() -> None:
    env = defined(ENV, "PredicateType", "guards", description="It guards it.")
    with pytest.raises(KipError) as caught:
        define(env, "PredicateType", "guards", {"description": "It guards it."})
    assert caught.value.code == "SchemaSymbolConflict"
