"""Every way to write a package wrong is refused when it is activated, by a code and with words that help (§20.11)."""

from copy import deepcopy
from typing import Any

import pytest

import kipql
from kipql.errors import KipError

GONE: Any = object()
ROBOTS: dict[str, Any] = {
    "manifest": {"package_id": "kip://lab/x", "version": "1.0.0"},
    "definitions": {
        "concept_types": {
            "Robot": {
                "description": "A machine.",
                "attributes": {
                    "open": False,
                    "fields": {"label": {"type": "string", "required": True}, "n": {"type": "integer"}},
                },
            },
            "Room": {"description": "A place."},
        },
        "predicates": {
            "in": {
                "subject": {"concept_types": ["Robot"]},
                "object": {"concept_types": ["Room"]},
                "functional": True,
            },
            "size": {"object": {"literal_types": ["number"]}},
        },
        "facets": {"Wear": {"applicable_to": {"kinds": ["Concept"]}, "fields": {"level": {"type": "number"}}}},
        "structural_fields": {
            "part": {
                "source": {"concept_types": ["Robot"]},
                "target": {"concept_types": ["Robot"]},
                "cardinality": {"min": 0, "max": 2},
            }
        },
    },
}
ROBOT, LABEL = "definitions/concept_types/Robot", "definitions/concept_types/Robot/attributes/fields/label"
N, IN, SIZE = (
    "definitions/concept_types/Robot/attributes/fields/n",
    "definitions/predicates/in",
    "definitions/predicates/size",
)
WEAR, PART = "definitions/facets/Wear", "definitions/structural_fields/part"
NO_DIGEST = "sha256:" + "0" * 64
C, S, N_F = "ConstraintViolation", "SchemaSymbolConflict", "SchemaSymbolNotFound"


def changed(path: str, value: Any) -> dict[str, Any]:
    """The package with one place changed; `GONE` takes it out."""
    artifact = deepcopy(ROBOTS)
    *steps, last = path.split("/")
    inside: Any = artifact
    for step in steps:
        inside = inside[step]
    if value is GONE:
        del inside[last]
    else:
        inside[last] = value
    return artifact


# a place, what is written there, the code, and what the message or the hint says
WRONG: list[tuple[str, Any, str, str]] = [
    ("manifest", GONE, C, "manifest"),
    ("manifest", [], C, "must be an object"),
    ("manifest/version", GONE, C, 'write "1.0.0"'),
    ("manifest/version", "^1.0.0", C, "never a range"),
    ("manifest/version", 1.0, C, 'write "1.0.0"'),
    ("manifest/package_id", "kip://Lab/X", C, "kip://lower-case/path"),
    ("manifest/package_id", "lab/x", C, "kip://lower-case/path"),
    ("manifest/package_id", "kip://core", S, "built in"),
    ("manifest/package_id", "kip://local/draft", C, "kept for"),
    ("manifest/package_id", "kip://local/mine", C, "kept for"),
    ("manifest/package_ref", "kip://lab/x@2.0.0", C, "calls itself"),
    ("manifest/pacakge_ref", "kip://lab/x@1.0.0", C, "did you mean package_ref?"),
    ("manifest/validation_schemas", {}, C, "wrong type"),
    ("manifest/validation_schemas", [{"id": "urn:x"}], C, "content_digest"),
    (
        "manifest/validation_schemas",
        [{"id": "urn:kip:2.0:schema:common", "content_digest": NO_DIGEST}],
        "DigestMismatch",
        "urn:kip:2.0:schema:common",
    ),
    ("format", "KIP-Capsule", C, "KIP-Schema-Package"),
    ("format_version", "9", C, "reads 2.0"),
    ("defintions", {}, C, "did you mean definitions?"),
    ("definitions", [], C, "must be an object"),
    ("definitions/predicate", {}, C, "kinds are"),
    ("definitions/concept_types", [], C, "must be an object"),
    ("definitions/enums", [], C, "must be an object"),
    ("definitions/registry_extensions", {"activity_classes": []}, C, "must be an object"),
    ("definitions/registry_extensions", {"activity_class": {"values": ["x"]}}, C, "did you mean activity_classes?"),
    ("definitions/formats", {"plate": {"pattern": "("}}, C, "malformed pattern"),
    ("definitions/formats", {"plate": {}}, C, "needs a pattern"),
    ("definitions/formats", {"uri": {"pattern": "x"}}, C, "timestamp and uri are Core's"),
    # Concept Types
    (ROBOT, 5, C, "must be an object"),
    (f"{ROBOT}/kind", "PredicateType", C, "must be ConceptType"),
    (f"{ROBOT}/ref", "kip://lab/x@1.0.0/Rob", C, "calls itself"),
    (f"{ROBOT}/description", 5, C, "wrong type"),
    (f"{ROBOT}/attribute", {}, C, "did you mean attributes?"),
    (f"{ROBOT}/open", True, C, "did you mean attributes.open?"),
    (f"{ROBOT}/reference_paths", {}, C, "wrong type"),
    (f"{ROBOT}/reference_paths", ["x"], C, "must be an object"),
    (f"{ROBOT}/reference_paths", [{"path": "x"}], C, "begins with /"),
    (f"{ROBOT}/attributes/feilds", {}, C, "did you mean fields?"),
    (f"{ROBOT}/attributes/opne", True, C, "did you mean open?"),
    (f"{ROBOT}/attributes/zzzzzz", True, C, "it has open, fields or value_schema"),
    (f"{ROBOT}/attributes/open", "no", C, "wrong type"),
    ("definitions/concept_types/Assertion", {}, S, "Core kind"),
    ("definitions/concept_types/Ro bot", {}, C, "not a symbol name"),
    # fields
    (f"{ROBOT}/attributes/fields/ ", {}, C, "has no name"),
    (LABEL, [], C, "must be an object"),
    (f"{LABEL}/typ", "string", C, "did you mean type?"),
    (f"{LABEL}/requierd", True, C, "did you mean required?"),
    (f"{LABEL}/required", "yes", C, "wrong type"),
    (f"{LABEL}/type", "strng", C, "types are"),
    (f"{LABEL}/type", [], C, "names no type"),
    (f"{LABEL}/type", 7, C, "list of names"),
    (f"{LABEL}/type", ["string", "string"], C, "twice"),
    (f"{LABEL}/enum", [], C, "list of values"),
    (f"{LABEL}/enum", ["a", "a"], C, "twice"),
    (f"{LABEL}/minimum", 3, C, "bound numbers"),
    (f"{LABEL}/format", "tiemstamp", C, "did you mean timestamp?"),
    (f"{LABEL}/format", 3, C, "wrong type"),
    (f"{LABEL}/value_schema", {"type": "strng"}, C, "no JSON Schema"),
    (f"{LABEL}/value_schema", {"$ref": "https://x.example/y.json"}, C, "not among the packaged schemas"),
    (f"{LABEL}/value_schema", {"$ref": "#/nowhere"}, C, "names nothing"),
    (f"{LABEL}/value_schema", {"$dynamicRef": "#x"}, C, "not supported"),
    (f"{LABEL}/value_schema", "x", C, "must be an object"),
    (f"{N}/minimum", "0", C, "wrong type"),
    (f"{N}/minimum", float("nan"), C, "finite"),
    (N, {"type": "integer", "minimum": 2, "maximum": 1}, C, "above maximum"),
    # Predicates
    (f"{IN}/functionnal", True, C, "did you mean functional?"),
    (f"{IN}/open_wrold", False, C, "did you mean open_world?"),
    (f"{IN}/functional", "true", C, "wrong type"),
    (f"{IN}/functional_by", "object_type", C, "declare one of them"),
    (f"{SIZE}/functional_by", "subject", C, 'use "object_type"'),
    (f"{SIZE}/functional_by", "object_type", C, "no type to partition by"),
    (f"{IN}/temporal_conflict", "sometimes", C, "temporal_conflict"),
    (f"{IN}/complete", 1, C, "wrong type"),
    (f"{IN}/boolean_completeness", True, C, "never a boolean"),
    (f"{SIZE}/boolean_completeness", True, C, "never a boolean"),
    (f"{SIZE}/nullable", True, C, "did you mean object.nullable?"),
    (f"{SIZE}/literal_types", ["string"], C, "did you mean object.literal_types?"),
    (f"{SIZE}/object/nulable", True, C, "did you mean nullable?"),
    (f"{SIZE}/object/literal_types", ["text"], C, "use string, number, boolean or null"),
    (f"{IN}/value_schema", {"type": 5}, C, "no JSON Schema"),
    (f"{IN}/reference_paths", [], C, "no meaning there"),
    (f"{IN}/subject", [], C, "must be an object"),
    (f"{IN}/subject/kinds", ["Concepts"], C, "kinds are"),
    (f"{IN}/subject/literal_types", ["string"], C, "can not be a Literal"),
    (f"{IN}/subject/concept_type", ["Robot"], C, "did you mean concept_types?"),
    (f"{IN}/subject/concept_types", ["Robt"], N_F, "did you mean 'Robot'?"),
    (f"{IN}/subject/concept_types", ["kip://lab/x@1.0.0/Robt"], N_F, "did you mean kip://lab/x@1.0.0/Robot?"),
    # Facets
    (f"{WEAR}/aplicable_to", {}, C, "did you mean applicable_to?"),
    (f"{WEAR}/closd", False, C, "did you mean closed?"),
    (f"{WEAR}/field", {}, C, "did you mean fields?"),
    (f"{WEAR}/terminal_only", True, C, "did you mean attachment.terminal_only?"),
    (f"{WEAR}/closed", "no", C, "wrong type"),
    (f"{WEAR}/fields", [], C, "must be an object"),
    (f"{WEAR}/attachment", {"activity_class": ["x"]}, C, "not supported"),
    (f"{WEAR}/attachment", {"terminal_only": "yes"}, C, "wrong type"),
    (f"{WEAR}/applicable_to/kinds", ["Thing"], C, "kinds are"),
    # Structural Fields
    (f"{PART}/cardinalty", {}, C, "did you mean cardinality?"),
    (f"{PART}/ordred", True, C, "did you mean ordered?"),
    (f"{PART}/max", 1, C, "did you mean cardinality.max?"),
    (f"{PART}/cardinality/maximum", 3, C, "maximum"),
    (f"{PART}/cardinality/max", 0, C, "impossible"),
    (f"{PART}/cardinality/min", 3, C, "impossible"),
    (f"{PART}/cardinality/max", "2", C, "wrong type"),
    (f"{PART}/unique", "yes", C, "wrong type"),
    (f"{PART}/value_schema", {}, C, "no meaning there"),
    (f"{PART}/target/concept_types", ["Nobody"], N_F, "Nobody"),
    ("definitions/structural_fields/evidence", {}, S, "Core field 'evidence'"),
    # aliases, dependencies, migrations, integrity
    ("aliases", [], C, "must be an object"),
    ("aliases", {"concept_type": {}}, C, "kinds are"),
    ("aliases", {"concept_types": {"Bot": 5}}, C, "malformed alias"),
    ("aliases", {"concept_types": {"Bot": "kip://lab/x@1.0.0/Nothing"}}, N_F, "stands for nothing"),
    ("aliases", {"concept_types": {"Robot": "kip://lab/x@1.0.0/Room"}}, S, "makes it an alias"),
    ("dependencies", {}, C, "wrong type"),
    ("dependencies", ["kip://no/such@1.0.0"], C, "must be an object"),
    ("dependencies", [{"package": "kip://no/such"}], C, "no package id"),
    ("dependencies", [{"package_id": "kip://no/such", "version": ">=1"}], C, "no exact version"),
    ("dependencies", [{"package_id": "kip://no/such", "requird": True}], C, "did you mean required?"),
    ("dependencies", [{"package_id": "kip://lab/x", "version": "1.0.0"}], C, "depends on itself"),
    ("dependencies", [{"package_id": "kip://no/such", "version": "1.0.0"}], "SchemaPackageUnavailable", "same step"),
    ("migrations", [5], C, "must be an object"),
    ("migrations", [{"kind": "renmae", "symbol_kind": "ConceptType", "from": "O", "to": "Robot"}], C, "mean rename?"),
    ("migrations", [{"kind": "rename", "symbol_kind": "ConceptType", "from": "Robot", "to": "Room"}], C, "not the old"),
    ("migrations", [{"kind": "rename", "symbol_kind": "ConceptType", "from": "Old", "to": "New"}], C, "new name"),
    ("migrations", [{"kind": "retire", "symbol_kind": "Concept", "symbol": "Old"}], C, "symbol_kind 'Concept'"),
    ("migrations", [{"kind": "retire", "symbol_kind": "ConceptType"}], C, "symbol name in 'symbol'"),
    ("integrity", [], C, "must be an object"),
    ("integrity", {"content_digest": NO_DIGEST}, "DigestMismatch", "package check --seal"),
]


def test_the_package_is_right_before_it_is_changed() -> None:
    kipql.open().install_packages([deepcopy(ROBOTS)])


@pytest.mark.parametrize(("path", "value", "code", "said"), WRONG)
def test_a_wrong_package_is_refused_whole(path: str, value: Any, code: str, said: str) -> None:
    nexus = kipql.open()
    version = nexus.query("DESCRIBE SPACE").one()["schema_environment_version"]
    with pytest.raises(KipError) as caught:
        nexus.install_packages([changed(path, value)])
    error = caught.value
    assert (error.code, said in f"{error.message} {error.hint}") == (code, True), str(error)
    assert nexus.query("DESCRIBE SPACE").one()["schema_environment_version"] == version
    assert nexus.space_seq == 0


def validated(artifact: dict[str, Any]) -> list[str]:
    """The codes that VALIDATE finds, of a parameter that is no JSON the one that it is refused by."""
    try:
        found = kipql.open().query("VALIDATE SCHEMA PACKAGE :p", {"p": artifact}).one()
    except KipError as error:
        return [error.code]
    assert found["valid"] is not bool(found["errors"])
    return [error["code"] for error in found["errors"]]


@pytest.mark.parametrize(("path", "value", "code", "said"), WRONG)
def test_validate_says_the_same_without_activating(path: str, value: Any, code: str, said: str) -> None:
    assert code in validated(changed(path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (f"{ROBOT}/examples", ["a rover"]),
        (f"{LABEL}/display_name", "Label"),
        (f"{IN}/inverse_of", "holds"),
        ("manifest/homepage", "https://example.org"),
        ("definitions/structural_fields/evidence", {"source": {"concept_types": ["Robot"]}}),
        (f"{LABEL}/format", "licence-plate"),
        ("migrations", [{"kind": "note", "text": "nothing moved"}]),
    ],
)
def test_what_only_describes_is_kept(path: str, value: Any) -> None:
    nexus = kipql.open()
    artifact = changed(path, value)
    nexus.install_packages([artifact])
    assert nexus.query('DESCRIBE PACKAGE "kip://lab/x@1.0.0"').described
