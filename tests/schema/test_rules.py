"""Final-state validation of records (specification §9-§20)."""

from dataclasses import replace
from typing import Any

import pytest

from kipql.model import Activity, Assertion, Concept, Edge, Evidence, Proposition, element_code
from kipql.schema.builtin import cognitive_memory
from kipql.schema.environment import Environment
from tests.schema.small import LAB, THINGS, Small, concept, environment, package, verdict

ENV = environment(package(THINGS))
ROBOT, ROOM, PLAIN, CAPTAIN = (element_code(0, row) for row in range(4))
P1, A1, E1, X1 = (element_code(kind, 0) for kind in (1, 2, 3, 4))

ATTRIBUTES: dict[str, tuple[dict[str, Any], str]] = {
    "what is declared": ({"speed": 3}, "ok"),
    "an undeclared field of a closed type": ({"colour": "red"}, "ConstraintViolation"),
    "a number for a string": ({"serial": 7}, "TypeMismatch"),
    "a boolean for a number": ({"speed": True}, "TypeMismatch"),
    "a number for a boolean": ({"on": 1}, "TypeMismatch"),
    "null where it is not declared": ({"serial": None}, "TypeMismatch"),
    "a fraction for an integer": ({"wheels": 1.5}, "TypeMismatch"),
    "an integral number for an integer": ({"wheels": 4.0}, "ok"),
    "above the maximum": ({"speed": 11}, "ConstraintViolation"),
    "below the minimum": ({"speed": -0.5}, "ConstraintViolation"),
    "at both bounds": ({"speed": 0}, "ok"),
    "a value outside the enum": ({"mood": "angry"}, "ConstraintViolation"),
    "null inside the enum": ({"mood": None}, "ok"),
    "an array where object or array is declared": ({"parts": []}, "ok"),
    "a string where object or array is declared": ({"parts": "x"}, "TypeMismatch"),
    "a computed field": ({"age": 3}, "ConstraintViolation"),
    "a timestamp": ({"built_at": "2024-02-29T12:34:56.123Z"}, "ok"),
    "a null timestamp where null is declared": ({"built_at": None}, "ok"),
    "whole seconds": ({"built_at": "2024-02-29T12:34:56Z"}, "ConstraintViolation"),
    "no real date": ({"built_at": "2026-02-29T00:00:00.000Z"}, "ConstraintViolation"),
    "a number for a timestamp": ({"built_at": 0}, "TypeMismatch"),
    "whole seconds for format timestamp": ({"checked": "2024-02-29T12:34:56Z"}, "ConstraintViolation"),
    "a number for format timestamp": ({"checked": 0}, "TypeMismatch"),
    "a URI": ({"home": "https://example.org/a"}, "ok"),
    "no URI": ({"home": "not a uri"}, "ConstraintViolation"),
}


@pytest.mark.parametrize(("attributes", "expected"), ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_attributes_of_a_new_concept(attributes: dict[str, Any], expected: str) -> None:
    assert verdict(ENV, concept(attributes={"label": "R", **attributes})) == expected


def test_a_required_attribute_must_be_there() -> None:
    assert verdict(ENV, concept()) == "ConstraintViolation"
    assert verdict(ENV, concept("Plain")) == "ok"


def test_an_open_type_takes_any_attribute_and_a_bare_type_none() -> None:
    assert verdict(ENV, concept("Room", attributes={"anything": [1, {"a": None}]})) == "ok"
    assert verdict(ENV, concept("Plain", attributes={"anything": 1})) == "ConstraintViolation"


CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a mutable value": ({"speed": 1}, {"speed": 2}, "ok"),
    "an optional value removed": ({"speed": 1}, {}, "ok"),
    "an immutable value": ({"serial": "a"}, {"serial": "b"}, "ConstraintViolation"),
    "an immutable value removed": ({"serial": "a"}, {}, "ConstraintViolation"),
    "an immutable value added later": ({}, {"serial": "a"}, "ConstraintViolation"),
    "an immutable value kept": ({"serial": "a"}, {"serial": "a", "speed": 1}, "ok"),
    "a value of the wrong type": ({"speed": 1}, {"speed": "fast"}, "TypeMismatch"),
    "true for 1": ({"parts": [1]}, {"parts": [True]}, "ok"),
}


@pytest.mark.parametrize(("before", "after", "expected"), CHANGES.values(), ids=CHANGES)
def test_a_change_of_attributes(before: dict[str, Any], after: dict[str, Any], expected: str) -> None:
    old = concept(attributes={"label": "R", **before})
    assert verdict(ENV, concept(attributes={"label": "R", **after}), old) == expected


def test_a_required_attribute_can_not_be_unset() -> None:
    assert verdict(ENV, concept(), concept(attributes={"label": "R"})) == "ConstraintViolation"


def test_true_and_one_are_different_values_of_an_immutable_field() -> None:
    env = environment(package({"concept_types": {"T": {"attributes": {"fields": {"f": {"mutable": False}}}}}}))
    assert (
        verdict(env, concept("T", attributes={"f": True}), concept("T", attributes={"f": 1})) == "ConstraintViolation"
    )
    assert verdict(env, concept("T", attributes={"f": 1.0}), concept("T", attributes={"f": 1})) == "ok"


@pytest.mark.parametrize("members", [{"key": "b"}, {"key": None}, {"schema": f"{LAB}/Room"}], ids=str)
def test_the_key_and_the_type_of_a_concept_never_change(members: dict[str, Any]) -> None:
    old = concept("Plain", key="a")
    assert verdict(ENV, replace(old, **members), old) == "ImmutableField"


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"name": 7}, "TypeMismatch"),
        ({"key": 7}, "TypeMismatch"),
        ({"key": ""}, "ConstraintViolation"),
        ({"aliases": ("a", 7)}, "TypeMismatch"),
        ({"name": "", "aliases": ("a",), "canonical_id": "urn:a"}, "ok"),
    ],
    ids=str,
)
def test_identity_fields_are_strings(members: dict[str, Any], expected: str) -> None:
    assert verdict(ENV, concept("Plain", **members)) == expected


def test_an_unknown_type_is_not_found_and_a_purged_stub_is_not_checked() -> None:
    assert verdict(ENV, concept("Ghost")) == "SchemaSymbolNotFound"
    assert verdict(ENV, concept(state="purged"), concept(attributes={"label": "R"})) == "ok"


TUPLES: dict[str, tuple[str, Any, Any, str]] = {
    "ends as declared": ("stands_in", ROBOT, ROOM, "ok"),
    "an object of the wrong type": ("stands_in", ROBOT, ROBOT, "ConstraintViolation"),
    "a subject of the wrong type": ("stands_in", ROOM, ROOM, "ConstraintViolation"),
    "an object of the wrong kind": ("stands_in", ROBOT, P1, "ConstraintViolation"),
    "a Literal where an element is declared": ("stands_in", ROBOT, "the shed", "ConstraintViolation"),
    "an unresolved reference where an element is declared": ("stands_in", ROBOT, {"canonical_id": "urn:a"}, "ok"),
    "an unresolved reference where a Literal is declared": (
        "named",
        ROBOT,
        {"canonical_id": "urn:a"},
        "ConstraintViolation",
    ),
    "an unresolved subject": ("about", {"canonical_id": "urn:a"}, "x", "ok"),
    "a Literal subject": ("about", "x", ROBOT, "ConstraintViolation"),
    "the declared literal type": ("named", ROBOT, "R", "ok"),
    "another literal type": ("named", ROBOT, 20.26, "ConstraintViolation"),
    "a boolean for a string": ("named", ROBOT, True, "ConstraintViolation"),
    "an element where a Literal is declared": ("named", ROBOT, ROOM, "ConstraintViolation"),
    "null where it is not nullable": ("named", ROBOT, None, "ConstraintViolation"),
    "null where it is nullable": ("shown_as", ROBOT, None, "ok"),
    "either form, element": ("shown_as", ROBOT, ROOM, "ok"),
    "either form, Literal": ("shown_as", ROBOT, "x", "ok"),
    "a timestamp": ("moment", ROBOT, "2024-02-29T12:34:56.123Z", "ok"),
    "whole seconds": ("moment", ROBOT, "2024-02-29T12:34:56Z", "ConstraintViolation"),
    "a number for a timestamp": ("moment", ROBOT, 0.5, "TypeMismatch"),
    "null for a timestamp": ("moment", ROBOT, None, "TypeMismatch"),
    "a URI": ("page", ROBOT, "urn:a:b", "ok"),
    "no URI": ("page", ROBOT, "a b", "ConstraintViolation"),
    "anything where nothing is declared": ("about", P1, 1.5, "ok"),
    "null where nothing is declared": ("about", P1, None, "ConstraintViolation"),
    "an unknown Predicate": ("ghost", ROBOT, ROOM, "SchemaSymbolNotFound"),
}


@pytest.mark.parametrize(("predicate", "subject", "target", "expected"), TUPLES.values(), ids=TUPLES)
def test_the_ends_of_a_tuple(predicate: str, subject: Any, target: Any, expected: str) -> None:
    """An int stands for an element, anything else for a Literal."""
    elements = Small("Robot", "Room", "Plain", "Captain")
    ends = [end if type(end) is int else elements.intern(end) for end in (subject, target)]
    new = Proposition(subject=ends[0], predicate=f"{LAB}/{predicate}", object=ends[1])
    assert verdict(ENV, new, elements=elements) == expected


def test_a_tuple_never_changes() -> None:
    old = Proposition(subject=ROBOT, predicate=f"{LAB}/about", object=ROOM)
    assert verdict(ENV, replace(old, object=ROBOT), old) == "ImmutableField"
    assert verdict(ENV, replace(old, state="archived"), old) == "ok"


CLAIM = Assertion(proposition=P1, asserted_by=ROBOT, stance="support", mode="stated", asserted_at=0)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({}, "ok"),
        ({"confidence": 0}, "ok"),
        ({"confidence": 1.0}, "ok"),
        ({"confidence": -0.5}, "ConstraintViolation"),
        ({"confidence": 1.01}, "ConstraintViolation"),
        ({"confidence": "high"}, "TypeMismatch"),
        ({"confidence": True}, "TypeMismatch"),
        ({"stance": "maybe"}, "ConstraintViolation"),
        ({"stance": 1}, "TypeMismatch"),
        ({"mode": "guessed"}, "ConstraintViolation"),
        ({"proposition": ROBOT}, "ConstraintViolation"),
        ({"asserted_by": P1}, "ConstraintViolation"),
        ({"evidence": (Edge(E1, "support"),)}, "ok"),
        ({"evidence": (Edge(E1, "vouches"),)}, "ConstraintViolation"),
        ({"evidence": (Edge(A1, "support"),)}, "ConstraintViolation"),
        ({"evidence": (Edge(element_code(3, 99), "support"),)}, "NotFoundOrNotVisible"),
        ({"context": (ROOM,)}, "ok"),
        ({"context": (E1,)}, "ConstraintViolation"),
        ({"status": "expired"}, "ConstraintViolation"),
    ],
    ids=str,
)
def test_a_new_assertion(members: dict[str, Any], expected: str) -> None:
    assert verdict(ENV, replace(CLAIM, **members)) == expected


def test_only_the_lifecycle_of_an_assertion_moves() -> None:
    assert verdict(ENV, replace(CLAIM, status="retracted", retracted_at=1), CLAIM) == "ok"
    assert verdict(ENV, replace(CLAIM, confidence=0.1), CLAIM) == "EpistemicRevisionRequired"
    assert verdict(ENV, replace(CLAIM, structural={f"{LAB}/has_part": ()}), CLAIM) == "EpistemicRevisionRequired"


SEEN = Evidence(evidence_class="observation", payload={"mode": "inline", "inline": "x"})


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({}, "ok"),
        ({"evidence_class": 7}, "TypeMismatch"),
        ({"evidence_class": ""}, "ConstraintViolation"),
        ({"media_type": 7}, "TypeMismatch"),
        ({"source": (Edge(ROBOT), Edge(E1))}, "ok"),
        ({"source": (Edge(P1),)}, "ConstraintViolation"),
        ({"source": (Edge(ROBOT, "support"),)}, "ConstraintViolation"),
        ({"generated_by": (Edge(X1),)}, "ok"),
        ({"generated_by": (Edge(X1), Edge(X1))}, "ConstraintViolation"),
        ({"generated_by": (Edge(E1),)}, "ConstraintViolation"),
        ({"status": "retracted"}, "ConstraintViolation"),
    ],
    ids=str,
)
def test_new_evidence(members: dict[str, Any], expected: str) -> None:
    assert verdict(ENV, replace(SEEN, **members)) == expected


def test_evidence_is_corrected_and_its_payload_purged_but_never_rewritten() -> None:
    assert verdict(ENV, replace(SEEN, status="corrected"), SEEN) == "ok"
    assert verdict(ENV, replace(SEEN, payload={"mode": "purged"}), SEEN) == "ok"
    assert verdict(ENV, replace(SEEN, payload={"mode": "inline", "inline": "y"}), SEEN) == "EvidenceCorrectionRequired"
    assert verdict(ENV, replace(SEEN, evidence_class="message"), SEEN) == "EvidenceCorrectionRequired"


RUN = Activity(activity_class="inference", status="running")


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({}, "ok"),
        ({"status": "banana"}, "ConstraintViolation"),
        ({"activity_class": None}, "ConstraintViolation"),
        ({"inputs": (Edge(ROBOT), Edge(P1), Edge(A1), Edge(E1), Edge(X1))}, "ok"),
        ({"inputs": (Edge(element_code(0, 99)),)}, "NotFoundOrNotVisible"),
        ({"associated_actors": (Edge(E1),)}, "ConstraintViolation"),
        ({"parameters_digest": 7}, "TypeMismatch"),
    ],
    ids=str,
)
def test_a_new_activity(members: dict[str, Any], expected: str) -> None:
    assert verdict(ENV, replace(RUN, **members)) == expected


def test_an_activity_is_final_once_it_was_terminal() -> None:
    done = replace(RUN, status="completed", outputs=(Edge(ROBOT),))
    assert verdict(ENV, done, RUN) == "ok"
    assert verdict(ENV, replace(done, outputs=()), done) == "ActivityTerminal"
    assert verdict(ENV, replace(done, status="failed"), done) == "ActivityTerminal"
    assert verdict(ENV, replace(done, structural={f"{LAB}/evidence": (Edge(ROBOT),)}), done) == "ActivityTerminal"
    assert verdict(ENV, replace(done, state="archived"), done) == "ok"


def facets(**members: Any) -> dict[str, Any]:
    return {f"{LAB}/{name}": facet for name, facet in members.items()}


FACETS: dict[str, tuple[Any, str]] = {
    "a Facet on the type it declares": (concept(attributes={"label": "R"}, facets={"Wear": {"level": 0.4}}), "ok"),
    "on another type": (concept("Room", facets={"Wear": {"level": 0.4}}), "ConstraintViolation"),
    "on a record": (replace(SEEN, facets=facets(Wear={"level": 0.4})), "ConstraintViolation"),
    "an undeclared field": (concept(attributes={"label": "R"}, facets={"Wear": {"depth": 1}}), "ConstraintViolation"),
    "a value out of range": (concept(attributes={"label": "R"}, facets={"Wear": {"level": 2}}), "ConstraintViolation"),
    "a value of the wrong type": (concept(attributes={"label": "R"}, facets={"Wear": {"level": "x"}}), "TypeMismatch"),
    "anything in an open Facet": (concept("Room", facets={"Loose": {"x": [1]}}), "ok"),
    "a computed Facet": (concept("Room", facets={"Derived": {"n": 1}}), "ConstraintViolation"),
    "an unknown Facet": (concept("Room", facets={"Ghost": {}}), "SchemaSymbolNotFound"),
    "a Grade on Evidence": (replace(SEEN, facets=facets(Grade={"score": 1, "of": "A-1"})), "ok"),
    "a Grade on an Assertion": (replace(CLAIM, facets=facets(Grade={"score": 1})), "ok"),
    "a Grade on a Concept": (concept("Room", facets={"Grade": {"score": 1}}), "ConstraintViolation"),
    "a missing required field": (replace(SEEN, facets=facets(Grade={"note": "x"})), "ConstraintViolation"),
    "an optional reference that is null": (replace(SEEN, facets=facets(Grade={"score": 1, "of": None})), "ok"),
    "a reference to nothing": (replace(SEEN, facets=facets(Grade={"score": 1, "of": "E-99"})), "NotFoundOrNotVisible"),
    "a reference that is no id": (replace(SEEN, facets=facets(Grade={"score": 1, "of": "x"})), "ConstraintViolation"),
    "an attachment of the right class": (
        Activity(activity_class="verdict", status="completed", facets=facets(Verdict={"text": "x"})),
        "ok",
    ),
    "an attachment of another class": (
        Activity(activity_class="other", status="completed", facets=facets(Verdict={"text": "x"})),
        "ConstraintViolation",
    ),
    "an attachment before the end": (
        Activity(activity_class="verdict", status="running", facets=facets(Verdict={"text": "x"})),
        "ConstraintViolation",
    ),
}


@pytest.mark.parametrize(("record", "expected"), FACETS.values(), ids=FACETS)
def test_facets_of_a_new_element(record: Any, expected: str) -> None:
    assert verdict(ENV, record) == expected


SEALED: dict[str, tuple[Any, Any, str]] = {
    "a value changed": ({"score": 1}, {"score": 2}, "ConstraintViolation"),
    "a value removed": ({"score": 1, "note": "x"}, {"score": 1}, "ConstraintViolation"),
    "everything removed": ({"score": 1}, {}, "ConstraintViolation"),
    "an undeclared field": ({"score": 1}, {"score": 1, "verdict": "promote"}, "ConstraintViolation"),
    "a field added": ({"score": 1}, {"score": 1, "note": "x"}, "ImmutableField"),
    "the Facet added": (None, {"score": 1}, "ImmutableField"),
    "the Facet removed": ({"score": 1}, None, "ConstraintViolation"),
    "nothing": ({"score": 1}, {"score": 1.0}, "ok"),
}


@pytest.mark.parametrize(("before", "after", "expected"), SEALED.values(), ids=SEALED)
@pytest.mark.parametrize("record", [SEEN, CLAIM, replace(RUN, status="completed")], ids=["E", "A", "X"])
def test_the_immutable_facet_of_a_finished_record(record: Any, before: Any, after: Any, expected: str) -> None:
    old = replace(record, facets=facets(Grade=before) if before is not None else {})
    new = replace(record, facets=facets(Grade=after) if after is not None else {})
    assert verdict(ENV, new, old) == expected


def test_a_running_activity_can_still_be_given_its_facet() -> None:
    assert verdict(ENV, replace(RUN, status="completed", facets=facets(Grade={"score": 1})), RUN) == "ok"


def test_the_class_of_an_activity_can_not_move_from_under_its_facet() -> None:
    old = Activity(activity_class="verdict", status="completed", facets=facets(Verdict={"text": "x"}))
    assert verdict(ENV, replace(old, activity_class="other"), old) == "ActivityTerminal"


EDGES: dict[str, tuple[Concept, str]] = {
    "as declared": (concept(attributes={"label": "R"}, edges={"has_part": (PLAIN, ROBOT)}), "ok"),
    "a target of the wrong type": (
        concept(attributes={"label": "R"}, edges={"has_part": (ROOM,)}),
        "ConstraintViolation",
    ),
    "a target of the wrong kind": (
        concept(attributes={"label": "R"}, edges={"has_part": (E1,)}),
        "ConstraintViolation",
    ),
    "a source of the wrong type": (concept("Room", edges={"has_part": (PLAIN,)}), "ConstraintViolation"),
    "one target twice": (concept(attributes={"label": "R"}, edges={"has_part": (PLAIN, PLAIN)}), "ConstraintViolation"),
    "more than the maximum": (
        concept(attributes={"label": "R"}, edges={"has_part": (PLAIN, ROBOT, element_code(0, 4))}),
        "ConstraintViolation",
    ),
    "a target that is not here": (
        concept(attributes={"label": "R"}, edges={"has_part": (element_code(0, 99),)}),
        "NotFoundOrNotVisible",
    ),
    "a computed field": (concept("Room", edges={"derived": (ROBOT,)}), "ConstraintViolation"),
    "an unknown field": (concept("Room", edges={"ghost": (ROBOT,)}), "SchemaSymbolNotFound"),
    "a field named as Core does": (concept("Room", edges={"evidence": (ROBOT,)}), "ok"),
    "the minimum": (concept("Captain", edges={"led_by": (ROBOT,)}), "ok"),
    "less than the minimum": (concept("Captain"), "ConstraintViolation"),
}


@pytest.mark.parametrize(("record", "expected"), EDGES.values(), ids=EDGES)
def test_structural_references(record: Concept, expected: str) -> None:
    assert verdict(ENV, record, elements=Small("Robot", "Room", "Plain", "Captain", "Plain")) == expected


def test_the_last_reference_of_a_required_field_can_not_be_removed() -> None:
    old = concept("Captain", edges={"led_by": (ROBOT,)})
    assert verdict(ENV, concept("Captain"), old) == "ConstraintViolation"
    assert verdict(ENV, concept("Captain", edges={"led_by": (ROOM,)}), old) == "ok"


def test_only_a_citation_takes_a_role() -> None:
    cited = replace(concept("Room"), structural={f"{LAB}/evidence": (Edge(ROBOT, "support"),)})
    assert verdict(ENV, cited) == "ConstraintViolation"


def test_an_element_is_held_to_the_version_it_names() -> None:
    stricter = {"concept_types": {"Robot": {"attributes": {"fields": {"label": {"type": "string"}}}}}}
    env = environment(package(THINGS), package(stricter, version="2.0.0"))
    old = concept(attributes={"label": "R", "speed": 1})
    assert verdict(env, replace(old, attributes={"label": "R", "speed": 2}), old) == "ok"
    newer = Concept(schema="kip://lab/things@2.0.0/Robot", attributes={"speed": 2})
    assert verdict(env, newer) == "ConstraintViolation"


PROFILE = "kip://profiles/cognitive-memory@2.0.0"
DIGEST = "sha256:" + "0" * 64
OUTCOME = {
    "task_family": "deploy",
    "attempt_ref": None,
    "metric": "completion",
    "window": "run",
    "terminal": True,
    "observation_key": "win",
    "observer_config_digest": DIGEST,
    "outcome_status": "success",
}


@pytest.fixture(scope="module")
def profile() -> Environment:
    return Environment.of([cognitive_memory()], 1)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "ok"),
        ({"magnitude": 0.8}, "ok"),
        ({"magnitude": 1.5}, "ConstraintViolation"),
        ({"outcome_status": "won"}, "ConstraintViolation"),
        ({"observer_config_digest": "sha256:1"}, "ConstraintViolation"),
        ({"observer_config_digest": DIGEST + "\n"}, "ConstraintViolation"),
        ({"terminal": "yes"}, "TypeMismatch"),
        ({"task_family": ""}, "ConstraintViolation"),
        ({"verdict": "promote"}, "ConstraintViolation"),
    ],
    ids=str,
)
def test_a_value_schema_binds_a_facet(profile: Environment, changes: dict[str, Any], expected: str) -> None:
    outcome = Evidence(evidence_class="outcome", facets={f"{PROFILE}/OutcomeRecord": {**OUTCOME, **changes}})
    assert verdict(profile, outcome) == expected


def test_a_value_schema_binds_attributes(profile: Environment) -> None:
    elements = Small()
    elements.types = {element_code(0, 0): f"{PROFILE}/Skill"}
    edges = {f"{PROFILE}/revision_of": (Edge(element_code(0, 0)),)}
    good = {"task_family": "deploy", "procedure": "dry-run first", "behavior_digest": DIGEST}

    def revision(**changes: Any) -> str:
        record = Concept(schema=f"{PROFILE}/SkillRevision", attributes={**good, **changes}, structural=edges)
        return verdict(profile, record, elements=elements)

    assert revision() == "ok"
    assert revision(behavior_digest="nonsense") == "ConstraintViolation"
    assert revision(summary="a Skill's field") == "ConstraintViolation"


def test_a_skill_needs_its_current_revision(profile: Environment) -> None:
    skill = Concept(
        schema=f"{PROFILE}/Skill", attributes={"skill_class": "workflow", "summary": "s", "status": "proposed"}
    )
    elements = Small()
    elements.types = {element_code(0, 0): f"{PROFILE}/SkillRevision"}
    assert verdict(profile, skill, elements=elements) == "ConstraintViolation"
    edges = {f"{PROFILE}/current_revision": (Edge(element_code(0, 0)),)}
    assert verdict(profile, replace(skill, structural=edges), elements=elements) == "ok"
    assert (
        verdict(
            profile,
            replace(skill, facets={f"{PROFILE}/GradingState": {"graded_count": 2}}, structural=edges),
            elements=elements,
        )
        == "ConstraintViolation"
    )
