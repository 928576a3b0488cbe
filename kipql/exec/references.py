"""References: what a value in a reference position names (specification §8, §7.3, §73).

A bare id and `{id}` are the same; `{type, key}` names a Concept by its key within its Type, `{canonical_id}` by
its cross-system identity. A whole element is its id. A merged Concept stays addressable and is itself.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.model import CONCEPT, Concept, element_code
from kipql.values import Json, json_type

if TYPE_CHECKING:
    from kipql.store.view import View


def resolve(view: "View", value: Json) -> int | None:
    """The code of the element that `value` names, None when there is none.

    Raises TypeMismatch for what is no reference, IdentityConflict for a key or canonical id of several Concepts,
    SchemaSymbolNotFound or SchemaSymbolAmbiguous for the `type` of a key.
    """
    if isinstance(value, str):
        return view.code(value)
    if not isinstance(value, Mapping):
        raise KipError("TypeMismatch", f"a reference can not be {json_type(value)}", hint='pass an id, or {"id": ...}')
    if "id" in value:
        known = value["id"]
        if not isinstance(known, str):
            raise KipError("TypeMismatch", f"an id is a string, not {json_type(known)}")
        return view.code(known)
    if "key" in value:
        return _one(keyed(view, value.get("type"), value["key"]), f"the key {value['key']!r}")
    if "canonical_id" in value:
        return _one(canonical_concepts(view, value["canonical_id"]), f"canonical_id {value['canonical_id']!r}")
    raise KipError(
        "TypeMismatch",
        "an object is a reference only with id, with type and key, or with canonical_id",
        hint='pass an id, or {"id": ...}',
    )


def keyed(view: "View", type_name: Json, key: Json) -> list[int]:
    """Codes of the Concepts with a key, of a Type when one is given; purged stubs have none."""
    if not isinstance(key, str) or not (type_name is None or isinstance(type_name, str)):
        raise KipError("TypeMismatch", "type and key are strings")
    lineage = None
    if type_name is not None:
        lineage = view.lineage_number(view.environment.concept_type(type_name).lineage)
        if lineage is None:
            return []
    codes = [element_code(CONCEPT, row) for row in view.keyed(key, lineage)]
    return [code for code in codes if view.state(code) != "purged"]


def canonical_concepts(view: "View", canonical_id: Json) -> list[int]:
    """Codes of the Concepts with a canonical id."""
    if not isinstance(canonical_id, str):
        raise KipError("TypeMismatch", f"canonical_id is a string, not {json_type(canonical_id)}")
    rows: Iterable[int] | None = view.with_value(CONCEPT, ("canonical_id",), canonical_id)
    found = []
    for row in view.rows(CONCEPT) if rows is None else rows:
        record = view.record(element_code(CONCEPT, row))
        if isinstance(record, Concept) and record.canonical_id == canonical_id and record.state != "purged":
            found.append(element_code(CONCEPT, row))
    return found


def _one(codes: list[int], what: str) -> int | None:
    if len(codes) > 1:
        raise KipError(
            "IdentityConflict",
            f"{what} names {len(codes)} Concepts",
            hint="name the Concept by id, or add its type",
            details={"matches": len(codes)},
        )
    return codes[0] if codes else None
