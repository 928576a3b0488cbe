"""Reading JSON into definition parts, refusing what has the wrong form (specification §20.11).

Every reader takes the JSON value and a phrase that says where it stands; what it refuses is a
ConstraintViolation that begins with that phrase. Members that a definition does not mention take the defaults
of §20.15, so that abbreviated packages read like complete ones.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from kipql.errors import KipError
from kipql.lang.words import near
from kipql.model import KIND_NAMES, KIND_OF_NAME
from kipql.schema.contracts import Contract
from kipql.schema.definitions import ANYTHING, LITERAL_TYPES, TYPE_NAMES, Endpoint, FieldDefinition, Format, Shape
from kipql.schema.refs import CORE_REF, is_symbol_name
from kipql.values import Json, json_type

T = TypeVar("T")
Formats: TypeAlias = Mapping[str, Format]
NO_FORMATS: Formats = MappingProxyType({})


def refuse(what: str, why: str, hint: str | None = None) -> KipError:
    """The error for a package that is not well formed."""
    return KipError("ConstraintViolation", f"{what} {why}", hint=hint)


def member(source: Mapping[str, Json], key: str, kind: type[T], default: T, what: str) -> T:
    """A member of one JSON type, or `default` when it is absent."""
    if key not in source:
        return default
    value = source[key]
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    raise refuse(what, f"has {key} of the wrong type: {json_type(value)}")


def json_object(value: Json, what: str) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise refuse(what, f"must be an object, not {json_type(value)}")
    return value


def names(value: Json, what: str) -> tuple[str, ...]:
    """A list of distinct strings; one string stands for a list of one."""
    values = (value,) if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(item, str) and item for item in values):
        raise refuse(what, "must be a list of names")
    if len(set(values)) != len(values):
        raise refuse(what, "names something twice")
    return tuple(values)


def read_contract(source: Mapping[str, Json], what: str) -> Contract | None:
    if "value_schema" not in source:
        return None
    return Contract(json_object(source["value_schema"], f"{what}.value_schema"))


def read_formats(value: Json, what: str) -> Formats:
    """The formats that a package defines: `{name: {pattern, description}}`, a pattern as in JSON Schema."""
    found: dict[str, Format] = {}
    for name, raw in json_object(value, what).items():
        source = json_object(raw, f"{what}.{name}")
        pattern = source.get("pattern")
        if name in ("timestamp", "uri") or not is_symbol_name(name):
            raise refuse(f"{what}.{name}", "can not be defined", "timestamp and uri are Core's; others are plain names")
        if not isinstance(pattern, str):
            raise refuse(f"{what}.{name}", "needs a pattern")
        try:
            found[name] = Format(name, re.compile(re.sub(r"(?<!\\)\$$", r"\\Z", pattern), re.ASCII))
        except re.error as error:
            raise refuse(f"{what}.{name}", f"has a malformed pattern: {error}") from None
    return found


def read_format(source: Mapping[str, Json], formats: Formats, what: str) -> Format | None:
    """The `format` member: `timestamp`, `uri`, or the name of a format, which constrains where a package defines it."""
    name = member(source, "format", str, "", what)
    return formats.get(name) or Format(name) if name else None


def read_field(name: str, value: Json, what: str, formats: Formats = NO_FORMATS) -> FieldDefinition:
    """One field: `{type, required, mutable, enum, minimum, maximum, format, computed, value_schema}`."""
    what = f"{what}.{name}"
    source = json_object(value, what)
    types = names(source["type"], f"{what}.type") if "type" in source else ()
    if unknown := set(types) - TYPE_NAMES:
        raise refuse(what, f"has an unknown type {min(unknown)!r}", f"types are {', '.join(sorted(TYPE_NAMES))}")
    enum = source.get("enum")
    if enum is not None and (not isinstance(enum, list | tuple) or not enum):
        raise refuse(f"{what}.enum", "must be a list of values")
    minimum, maximum = _number(source, "minimum", what), _number(source, "maximum", what)
    if minimum is not None and maximum is not None and minimum > maximum:
        raise refuse(what, "has minimum above maximum")
    return FieldDefinition(
        name=name,
        types=types,
        required=member(source, "required", bool, False, what),
        mutable=member(source, "mutable", bool, True, what),
        computed=member(source, "computed", bool, False, what),
        enum=None if enum is None else tuple(enum),
        minimum=minimum,
        maximum=maximum,
        format=read_format(source, formats, what),
        value_schema=read_contract(source, what),
        description=member(source, "description", str, "", what) or None,
    )


def _number(source: Mapping[str, Json], key: str, what: str) -> float | None:
    value = source.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise refuse(what, f"has {key} of the wrong type: {json_type(value)}")
    return value


def read_shape(
    fields: Json,
    what: str,
    *,
    is_open: bool,
    contract: Contract | None,
    paths: Json = (),
    formats: Formats = NO_FORMATS,
) -> Shape:
    """A Shape from the JSON object of its fields."""
    read = {name: read_field(name, value, what, formats) for name, value in json_object(fields, what).items()}
    return Shape(
        fields=read,
        open=is_open,
        required=tuple(name for name, field in read.items() if field.required and not field.computed),
        fixed=frozenset(name for name, field in read.items() if not field.mutable and not field.computed),
        value_schema=contract,
        references=tuple(_read_path(path, what) for path in paths),
    )


def _read_path(value: Json, what: str) -> tuple[str, ...]:
    """A `reference_paths` entry: `{path: "/groups/*/pins/*/id", target: "element", namespace: "source"}`."""
    source = json_object(value, f"{what}.reference_paths")
    path = source.get("path")
    if not isinstance(path, str) or not path.startswith("/"):
        raise refuse(f"{what}.reference_paths", "needs a path that begins with /")
    if source.get("target", "element") != "element" or source.get("namespace", "source") != "source":
        raise refuse(f"{what}.reference_paths {path}", "names a target or namespace that is not supported")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:])


_ENDPOINT_MEMBERS = {"kinds", "concept_types", "literal_types", "datatypes", "nullable", "format", "description"}


def read_endpoint(value: Json, what: str, *, literals: bool = False, formats: Formats = NO_FORMATS) -> Endpoint:
    """An endpoint as written; type names stay unresolved until an Environment holds the package.

    `literals` says whether Literals may stand here at all. Abbreviated packages write `datatypes: ["kip:string"]`
    for `literal_types: ["string"]`.
    """
    if value is None:
        return ANYTHING
    source = json_object(value, what)
    if unknown := set(source) - _ENDPOINT_MEMBERS:
        close = near(min(unknown), sorted(_ENDPOINT_MEMBERS))
        raise refuse(what, f"has an unknown member {min(unknown)!r}", f"did you mean {close}?" if close else None)
    written = [*names(source.get("literal_types", ()), what), *names(source.get("datatypes", ()), what)]
    literal_types = {name.removeprefix("kip:") for name in written}
    if unknown := literal_types - LITERAL_TYPES:
        raise refuse(what, f"has an unknown literal type {min(unknown)!r}", "use string, number, boolean or null")
    shape = read_format(source, formats, what)
    kinds = frozenset(_kind(name, what) for name in names(source.get("kinds", ()), what))
    concept_types = names(source.get("concept_types", ()), what)
    if shape is not None and not literal_types:
        literal_types = {"string"}  # a format constrains a string Literal
    if literal_types and not literals:
        raise refuse(what, "can not be a Literal")
    return Endpoint(
        kinds=kinds,
        concept_types=concept_types,
        literal_types=frozenset(literal_types),
        nullable=member(source, "nullable", bool, False, what) or "null" in literal_types,
        format=shape,
    )


def _kind(name: str, what: str) -> int:
    kind = KIND_OF_NAME.get(name.removeprefix(f"{CORE_REF}/"))
    if kind is None:
        raise refuse(what, f"has an unknown kind {name!r}", f"kinds are {', '.join(KIND_NAMES)}")
    return kind
