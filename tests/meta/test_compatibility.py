"""DESCRIBE COMPATIBILITY (§65): what a change of package would refuse or reread, against what it declares."""

from copy import deepcopy
from typing import Any

import pytest

import kipql

BASE: dict[str, Any] = {
    "manifest": {"package_id": "kip://test/shop", "version": "1.0.0"},
    "definitions": {
        "concept_types": {
            "Item": {
                "kind": "ConceptType",
                "description": "A thing for sale.",
                "attributes": {
                    "open": False,
                    "fields": {"price": {"type": ["number", "null"], "maximum": 9}, "state": {"enum": ["new", "old"]}},
                },
            },
            "Shop": {"kind": "ConceptType", "attributes": {"open": True}},
        },
        "predicates": {
            "sells": {"subject": {"concept_types": ["Shop"]}, "object": {"kinds": ["Concept"]}},
            "label": {"subject": {"concept_types": ["Shop"]}, "object": {"literal_types": ["string", "number"]}},
        },
        "structural_fields": {
            "shelf": {
                "source": {"concept_types": ["Shop"]},
                "target": {"concept_types": ["Item"]},
                "cardinality": {"min": 0, "max": 5},
            }
        },
    },
}
ITEM, SHELF = ("concept_types", "Item", "attributes"), ("structural_fields", "shelf")


def edited(path: tuple[str, ...], value: Any, base: dict[str, Any] = BASE) -> dict[str, Any]:
    """The package at version 2.0.0 with one member of its definitions set; `None` removes it."""
    package = deepcopy(base)
    package["manifest"]["version"] = "2.0.0"
    at = package["definitions"]
    for name in path[:-1]:
        at = at.setdefault(name, {})
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return package


def described(old: Any, new: Any, nexus: kipql.Nexus | None = None) -> Any:
    return (nexus or kipql.open()).query("DESCRIBE COMPATIBILITY FROM :a TO :b", {"a": old, "b": new}).one()


BREAKING: list[tuple[tuple[str, ...], Any, str, str]] = [
    ((*ITEM, "fields", "price", "type"), ["number"], "Item", "fields.price.type"),
    ((*ITEM, "fields", "price", "maximum"), 5, "Item", "fields.price.maximum"),
    ((*ITEM, "fields", "price", "required"), True, "Item", "fields.price.required"),
    ((*ITEM, "fields", "price", "mutable"), False, "Item", "fields.price.mutable"),
    ((*ITEM, "fields", "state", "enum"), ["new"], "Item", "fields.state.enum"),
    ((*ITEM, "fields", "state"), None, "Item", "fields.state"),
    ((*ITEM, "fields", "weight"), {"type": "number", "required": True}, "Item", "fields.weight.required"),
    (("concept_types", "Shop", "attributes", "open"), False, "Shop", "open"),
    (("predicates", "sells", "object"), {"concept_types": ["Item"]}, "sells", "object"),
    (("predicates", "sells", "functional"), True, "sells", "functional"),
    (("predicates", "label", "object", "literal_types"), ["string"], "label", "object"),
    (("predicates", "label", "open_world"), False, "label", "open_world"),
    ((*SHELF, "cardinality", "max"), 2, "shelf", "cardinality.max"),
    ((*SHELF, "cardinality", "min"), 1, "shelf", "cardinality.min"),
    ((*SHELF, "unique"), True, "shelf", "unique"),
]
HARMLESS: list[tuple[tuple[str, ...], Any]] = [
    ((*ITEM, "fields", "price", "maximum"), 20),
    ((*ITEM, "fields", "price", "type"), ["number", "null", "string"]),
    ((*ITEM, "fields", "state", "enum"), ["old", "new", "lost"]),
    ((*ITEM, "fields", "weight"), {"type": "number"}),
    ((*ITEM, "open"), True),
    (("predicates", "label", "object", "literal_types"), ["string", "number", "boolean"]),
    (("predicates", "sells", "subject"), {"kinds": ["Concept"]}),
    ((*SHELF, "cardinality", "max"), 9),
]


@pytest.mark.parametrize(("path", "value", "symbol", "member"), BREAKING)
def test_what_would_be_refused_or_reread_breaks(path: tuple[str, ...], value: Any, symbol: str, member: str) -> None:
    answer = described(BASE, edited(path, value))
    assert not answer["compatible"]
    assert [(each["symbol"], each["change"]) for each in answer["changes"]] == [(symbol, "changed")]
    assert answer["changes"][0]["breaks"] == [member]


@pytest.mark.parametrize(("path", "value"), HARMLESS)
def test_what_only_admits_more_is_compatible(path: tuple[str, ...], value: Any) -> None:
    answer = described(BASE, edited(path, value))
    assert answer["compatible"]
    assert [each["change"] for each in answer["changes"]] == ["changed"]


def test_a_text_is_no_change() -> None:
    assert described(BASE, edited(("concept_types", "Item", "description"), "Anything."))["changes"] == []


def test_symbols_come_and_go_and_change_names() -> None:
    new = edited(("predicates", "sells"), None)
    new["definitions"]["predicates"]["offers"] = BASE["definitions"]["predicates"]["sells"]
    new["definitions"]["concept_types"]["Till"] = {"kind": "ConceptType", "attributes": {"open": True}}
    found = {each["symbol"]: each for each in described(BASE, new)["changes"]}
    assert {name: each["change"] for name, each in found.items()} == {
        "Till": "added", "offers": "added", "sells": "removed",
    }  # fmt: skip
    assert found["sells"]["breaks"] == ["symbol"]
    new["migrations"] = [{"kind": "rename", "symbol_kind": "PredicateType", "from": "sells", "to": "offers"}]
    answer = described(BASE, new)
    assert answer["compatible"]
    assert [(each["symbol"], each.get("to")) for each in answer["changes"]] == [("Till", None), ("sells", "offers")]


def test_a_retired_symbol_breaks() -> None:
    new = edited(("predicates", "label"), None)
    new["migrations"] = [{"kind": "retire", "symbol_kind": "PredicateType", "symbol": "label"}]
    assert [(each["change"], each["breaks"]) for each in described(BASE, new)["changes"]] == [("retired", ["symbol"])]


def test_a_declaration_is_reported_apart_and_proves_nothing() -> None:
    new = {**edited(("predicates", "label"), None), "compatibility": {"breaking_changes": []}}
    answer = described(BASE, new)
    assert (answer["declared"], answer["compatible"]) == ({"breaking_changes": []}, False)
    assert (answer["from"], answer["to"], answer["same_path"]) == (
        "kip://test/shop@1.0.0", "kip://test/shop@2.0.0", True,
    )  # fmt: skip


def test_active_packages_are_named_by_their_refs() -> None:
    nexus = kipql.open(packages=[BASE])
    nexus.install_package(edited((*ITEM, "open"), True))
    assert described("kip://test/shop@1.0.0", "kip://test/shop", nexus)["to"] == "kip://test/shop@2.0.0"
    for operand, code in (("kip://test/none@1.0.0", "NotFoundOrNotVisible"), (7, "TypeMismatch")):
        with pytest.raises(kipql.KipError) as raised:
            described("kip://test/shop@1.0.0", operand, nexus)
        assert raised.value.code == code
