"""UPDATE and UPSERT: what changes, what never does, and what an expression makes of it (§54, §58, §59)."""

from typing import Any

import pytest

from tests.mutate.kml_space import Space


def test_set_merges_shallowly_and_null_is_a_value(lab: Space) -> None:
    lab.write('UPDATE "C-3" SET ATTRIBUTES {deep: {a: 1, b: 2}, gone: "x"}')
    lab.write('UPDATE "C-3" SET ATTRIBUTES {deep: {a: 2}, none: null} UNSET ATTRIBUTES {gone, absent}')
    assert lab.element("C-3")["attributes"] == {"count": 3, "deep": {"a": 2}, "none": None}


def test_a_facet_keeps_the_members_that_are_not_named(lab: Space) -> None:
    lab.write('UPDATE "C-3" SET FACET "Wear" {level: 1, by: "Ada"}')
    lab.write('UPDATE "C-3" SET FACET "Wear" {level: 2}')
    (wear,) = lab.element("C-3")["facets"].values()
    assert wear == {"level": 2, "by": "Ada"}
    lab.write('UPDATE "C-3" UNSET FACET "Wear" {level, by}')
    assert lab.element("C-3")["facets"] == {}


def test_an_unchanged_target_has_no_effect(lab: Space) -> None:
    lab.write('UPDATE "C-3" SET FIELDS {name: "Lamp"} SET ATTRIBUTES {count: 3.0}')
    assert not lab.changed
    assert lab.element("C-3")["_system"]["version"] == 1


def test_one_commit_is_one_version_step(lab: Space) -> None:
    lab.write(
        'MUTATE { UPDATE "C-3" SET FIELDS {name: "L"} UPDATE "C-3" SET ATTRIBUTES {a: 1} SET FACET "Wear" {level: 1} }'
    )
    system = lab.element("C-3")["_system"]
    assert system["version"] == 2
    assert system["plane_versions"]["attributes"] == 2
    assert list(system["plane_versions"]["facets"].values()) == [1]


# --- expressions (§59) --------------------------------------------------------------------------------

COUNT = "?c.attributes.count"
WHERE = ' WHERE { ?c {key: "lamp"} }'


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        (f"ADD({COUNT}, 1)", 4),
        (f"ADD({COUNT}, -1.5)", 1.5),
        (f"MUL({COUNT}, 2)", 6),
        (f"MUL(0.5, ADD({COUNT}, :n))", 5),
        (f"CLAMP({COUNT}, 0, 2)", 2),
        (f"CLAMP({COUNT}, 5, 9)", 5),
        (f"COALESCE({COUNT}, 9)", 3),
        ("COALESCE(?c.attributes.other, 9)", 9),
        ("add(1, 2)", 3),
        ("ADD(?c.attributes.other, 1)", None),
        ("ADD(?c.name, 1)", None),
        ("COALESCE(?c.name, 1)", None),
        ("CLAMP(?c.attributes.other, 0, 1)", None),
    ],
)
def test_an_expression_reads_the_target_as_it_was(lab: Space, expression: str, result: Any) -> None:
    """None: the key is skipped, and keeps what it had."""
    lab.write(f"UPDATE ?c SET ATTRIBUTES {{out: {expression}, other_key: 1}}{WHERE}", n=7)
    attributes = lab.element("C-3")["attributes"]
    assert attributes.get("out") == result
    assert attributes["other_key"] == 1


def test_two_assignments_both_read_the_old_value(lab: Space) -> None:
    lab.write(f"UPDATE ?c SET ATTRIBUTES {{count: ADD({COUNT}, 1), twice: MUL({COUNT}, 2), copy: {COUNT}}}{WHERE}")
    assert lab.element("C-3")["attributes"] == {"count": 4, "twice": 6, "copy": 3}


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("ADD(1)", "InvalidSyntax"),
        ("ADD(1, 2, 3)", "InvalidSyntax"),
        ("SUB(1, 2)", "InvalidSyntax"),
        ("ADD(?d.attributes.count, 1)", "InvalidSyntax"),
        (f"ADD({COUNT}, [1])", "InvalidSyntax"),
        (f"CLAMP({COUNT}, 2, 1)", "ConstraintViolation"),
        (f"MUL({COUNT}, 9007199254740991)", "ConstraintViolation"),
        ("ADD(9007199254740991, 1)", "ConstraintViolation"),
        ("MUL(1e-300, 1e-300)", "ConstraintViolation"),
    ],
)
def test_a_bad_expression_is_an_error_and_no_skipped_key(lab: Space, expression: str, code: str) -> None:
    error = lab.refused(
        f'UPDATE ?c SET ATTRIBUTES {{out: {expression}}} WHERE {{ ?c {{key: "lamp"}} ?d {{key: "ada"}} }}'
    )
    assert (error.code, error.span is not None) == (code, True)


def test_the_schema_checks_what_an_expression_made(lab: Space) -> None:
    lab.write(
        'CREATE CONCEPT ?e {TYPE "Experience" SET ATTRIBUTES {goal: "g", outcome_status: "success", surprise: 0.6}}'
    )
    error = lab.refused(
        'UPDATE ?c SET ATTRIBUTES {surprise: MUL(?c.attributes.surprise, 2)} WHERE { ?c {type: "Experience"} }'
    )
    assert error.code == "ConstraintViolation"


# --- what is selected (§52.7, §58.4) ------------------------------------------------------------------


def test_an_element_reached_twice_is_updated_once(lab: Space) -> None:
    lab.write('MUTATE { ENSURE PROPOSITION ("C-3", "is", 1) ENSURE PROPOSITION ("C-3", "is", 2) }')
    lab.write(f'UPDATE ?c SET ATTRIBUTES {{count: ADD({COUNT}, 1)}} WHERE {{ ?p (?c, "is", ?v) }}')
    assert lab.element("C-3")["attributes"]["count"] == 4


@pytest.mark.parametrize(("limit", "names"), [(0, ["a", "b", "c"]), (2, ["z", "z", "c"]), (9, ["z", "z", "z"])])
def test_limit_takes_distinct_targets_in_ascending_id(space: Space, limit: int, names: list[str]) -> None:
    for name in "abc":
        space.write('CREATE CONCEPT ?c {TYPE "Thing" NAME :n}', n=name)
    space.write('UPDATE ?c SET FIELDS {name: "z"} WHERE { ?c {type: "Thing"} } LIMIT :n', n=limit)
    assert [space.element(f"C-{number}")["name"] for number in (1, 2, 3)] == names


@pytest.mark.parametrize("limit", [-1, 1.5, "2", True, None])
def test_limit_is_a_non_negative_integer(lab: Space, limit: Any) -> None:
    error = lab.refused('UPDATE ?c SET FIELDS {name: "z"} WHERE { ?c {type: "Thing"} } LIMIT :n', n=limit)
    assert error.code == "TypeMismatch"


def test_no_target_is_no_effect(lab: Space) -> None:
    lab.write('UPDATE ?c SET FIELDS {name: "z"} WHERE { ?c {key: "nobody"} }')
    assert not lab.changed


@pytest.mark.parametrize(("guard", "name"), [("Lamp", "Z"), ("Nobody", "Lamp")])
def test_the_where_of_a_direct_target_only_guards(lab: Space, guard: str, name: str) -> None:
    lab.write('UPDATE "C-3" SET FIELDS {name: "Z"} WHERE { ?any {name: :guard} }', guard=guard)
    assert lab.element("C-3")["name"] == name


def test_every_where_of_a_block_reads_its_start(lab: Space) -> None:
    lab.write(
        """MUTATE {
          UPDATE ?c SET FIELDS {name: "Bob"} WHERE { ?c {name: "Ada"} }
          UPDATE ?d SET ATTRIBUTES {seen: true} WHERE { ?d {name: "Bob"} }
        }"""
    )
    assert "seen" not in lab.element("C-1")["attributes"]
    assert lab.element("C-2")["attributes"]["seen"] is True


def test_a_variable_of_the_where_may_be_a_reference(lab: Space) -> None:
    lab.write('UPDATE ?c SET STRUCTURAL {("tag", ?t)} WHERE { ?c {key: "lamp"} ?t {type: "Person"} }')
    (tags,) = lab.element("C-3")["structural"].values()
    assert tags == [{"id": "C-1"}, {"id": "C-2"}]


# --- what never changes (§58.1) -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('UPDATE "P-1" SET ATTRIBUTES {a: 1}', "ImmutableField"),
        ('UPDATE "P-1" SET FIELDS {name: "x"}', "ImmutableField"),
        ('UPDATE "A-1" SET FIELDS {name: "x"}', "EpistemicRevisionRequired"),
        ('UPDATE "A-1" SET STRUCTURAL {("evidence", "E-1")}', "EpistemicRevisionRequired"),
        ('UPDATE "A-1" UNSET STRUCTURAL {("evidence", "E-1")}', "EpistemicRevisionRequired"),
        ('UPDATE "E-1" SET FIELDS {media_type: "x"}', "EvidenceCorrectionRequired"),
        ('UPDATE "E-1" SET STRUCTURAL {("source", "C-1")}', "EvidenceCorrectionRequired"),
        ('UPDATE "X-1" SET STRUCTURAL {("inputs", "C-1")}', "ImmutableField"),
        ('UPDATE "X-1" SET FIELDS {status: "completed"}', "ImmutableField"),
        ('UPDATE "C-1" SET FIELDS {key: "other"}', "ImmutableField"),
        ('UPDATE "C-4" UNSET ATTRIBUTES {size}', "ConstraintViolation"),
        ('UPDATE "C-9" SET FIELDS {name: "x"}', "NotFoundOrNotVisible"),
        ('UPDATE "Ada" SET FIELDS {name: "x"}', "NotFoundOrNotVisible"),
        ('UPDATE :id SET FIELDS {name: "x"}', "TypeMismatch"),
    ],
)
def test_the_kind_of_the_target_decides_how_to_go_on(lab: Space, text: str, code: str) -> None:
    error = lab.refused(text, id=7)
    assert (error.code, error.span is not None) == (code, True)


def test_a_pending_activity_takes_fields_and_a_terminal_one_nothing(lab: Space) -> None:
    lab.write('UPDATE "X-1" SET FIELDS {started_at: "2026-01-01T00:00:00.000Z"}')
    lab.write('TRANSITION "X-1" TO "completed"')
    assert lab.refused('UPDATE "X-1" SET FIELDS {parameters_digest: "d"}').code == "ActivityTerminal"


@pytest.mark.parametrize(
    ("second", "code"),
    [
        ('SET FIELDS {name: "Two"}', "DuplicateMutationTarget"),
        ('SET FIELDS {name: "One"}', None),
        ("SET ATTRIBUTES {count: 4}", "DuplicateMutationTarget"),
        ("SET ATTRIBUTES {other: 4}", None),
        ("UNSET ATTRIBUTES {count}", "DuplicateMutationTarget"),
    ],
)
def test_two_final_values_for_one_path_are_refused_in_either_order(lab: Space, second: str, code: str | None) -> None:
    one = 'UPDATE "C-3" SET FIELDS {name: "One"} SET ATTRIBUTES {count: 3.5}'
    two = f'UPDATE "C-3" {second}'
    for text in (f"MUTATE {{ {one} {two} }}", f"MUTATE {{ {two} {one} }}"):
        if code is None:
            lab.write(text)
        else:
            assert lab.refused(text).code == code


# --- UPSERT (§54.2-54.4) ------------------------------------------------------------------------------


def test_upsert_makes_what_is_not_there_and_finds_it_afterwards(space: Space) -> None:
    text = 'UPSERT CONCEPT ?c { MATCH {type: "Thing", key: "k"} SET FIELDS {name: :n} }'
    assert space.write(text, n="One") == {"c": "C-1"}
    assert space.write(text, n="Two") == {"c": "C-1"}
    assert (space.element("C-1")["name"], space.element("C-1")["key"]) == ("Two", "k")
    space.write(text, n="Two")
    assert not space.changed


def test_a_match_selects_and_does_not_seed(space: Space) -> None:
    space.write('UPSERT CONCEPT ?c { MATCH {type: "Thing", key: "k", name: "Ignored"} }')
    assert space.element("C-1")["name"] is None


def test_two_upserts_of_one_identity_are_one_concept(space: Space) -> None:
    made = space.write(
        """MUTATE {
          UPSERT CONCEPT ?a { MATCH {type: "Thing", key: "k"} SET FIELDS {name: "N"} }
          UPSERT CONCEPT ?b { MATCH {type: "Thing", key: "k"} SET ATTRIBUTES {n: 1} }
        }"""
    )
    assert made == {"a": "C-1", "b": "C-1"}


def test_a_key_is_identity_within_its_type(space: Space) -> None:
    space.write('UPSERT CONCEPT ?a { MATCH {type: "Thing", key: "k"} }')
    assert space.write('UPSERT CONCEPT ?b { MATCH {type: "Person", key: "k"} }') == {"b": "C-2"}
    assert space.refused('UPSERT CONCEPT ?c { MATCH {key: "k"} SET FIELDS {name: "?"} }').code == "IdentityConflict"
    assert space.refused('UPDATE {key: "k"} SET FIELDS {name: "?"}').code == "InvalidSyntax"


@pytest.mark.parametrize(
    ("match", "code"),
    [
        ('{key: "nobody"}', "SchemaSymbolNotFound"),
        ('{type: "Spaceship", key: "k"}', "SchemaSymbolNotFound"),
        ('{type: "Person", id: "C-9"}', "NotFoundOrNotVisible"),
        ('{type: "Thing", id: "C-1"}', "NotFoundOrNotVisible"),
        ('{id: "A-1"}', None),
        ('{type: 42, key: "ada"}', "TypeMismatch"),
        ('{type: "Person", key: 42}', "TypeMismatch"),
        ('{type: "Person", name: "Ada"}', "InvalidSyntax"),
        ('{type: "Person", key: "ada", name: "Bob"}', "IdentityConflict"),
    ],
)
def test_a_match_that_addresses_nothing_fails(lab: Space, match: str, code: str | None) -> None:
    error = lab.refused(f'UPSERT CONCEPT ?x {{ MATCH {match} SET FIELDS {{name: "N"}} }}')
    assert error.code == (code or "NotFoundOrNotVisible")
