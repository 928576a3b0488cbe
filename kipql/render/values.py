"""One value as one line of text.

Strings are themselves, an element is its id and what names it, anything else is compact JSON. The text is
not escaped: each sink does that (`kipql.escape`).
"""

import json
from collections.abc import Mapping

from kipql.values import Json


def compact(value: Json) -> str:
    """Compact JSON; characters stay as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def show(value: Json) -> str:
    """A value as people read it: `Alice`, `0.9`, `null`, `C-3 Person "Alice"`, `{"a":1}`."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _element(value) or compact(value)
    return compact(value)


def many(count: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _element(value: Mapping[str, Json]) -> str | None:
    """The short form of a whole element (it carries `kind` and `_system`), or None."""
    identity, kind = value.get("id"), value.get("kind")
    if not (isinstance(identity, str) and isinstance(kind, str) and "_system" in value):
        return None
    return " ".join([identity, _kind(value, kind), *_facts(value)])


def _kind(value: Mapping[str, Json], kind: str) -> str:
    """The Concept's type by its local name, else the kind."""
    schema = value.get("schema_ref")
    return schema.rpartition("/")[2] if isinstance(schema, str) else kind


def _facts(value: Mapping[str, Json]) -> list[str]:
    """What tells one element of its kind from another at a glance."""
    named = next((value[name] for name in ("name", "key") if isinstance(value.get(name), str)), None)
    if named is not None:
        return [compact(named)]
    if "predicate_ref" in value:
        predicate = str(value["predicate_ref"]).rpartition("/")[2]
        return [f"({_term(value.get('subject'))}, {compact(predicate)}, {_term(value.get('object'))})"]
    if "stance" in value:
        return [f"{value['stance']} {_term(value.get('proposition'))} by {_term(value.get('asserted_by'))}"]
    return [str(value[name]) for name in ("evidence_class", "activity_class") if isinstance(value.get(name), str)]


def _term(value: Json) -> str:
    """A reference by its id, a Literal as JSON."""
    if isinstance(value, Mapping) and isinstance(value.get("id"), str):
        return str(value["id"])
    return compact(value)
