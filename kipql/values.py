"""Literals and JSON values: what is a legal value, when two are one, and how they order (§9, §70.2).

A Literal is a JSON scalar. Its canonical form decides identity: strings are NFC, numbers are binary64
(1, 1.0 and 1e0 are one, -0 is 0), booleans and null are themselves. Python says `True == 1`; here they
differ, so identity goes through `literal_key`.
"""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from kipql.errors import KipError

Scalar: TypeAlias = str | int | float | bool | None
Json: TypeAlias = Any  # a Scalar, a list of Json, or a dict of str to Json

MAX_SAFE_INTEGER = 2**53 - 1
DEEPEST = 96  # how deep a JSON value may nest


@dataclass(frozen=True, slots=True)
class CanonicalReference:
    """`{canonical_id}` where no element of the Space carries it: an endpoint known by identity only (§8.2).

    A Proposition may hold one as its object; it is interned like a Literal and reads as `{"canonical_id": ...}`.
    """

    canonical_id: str


def number_problem(value: int | float) -> str | None:
    """Why `value` is not a portable number (§9.3), or None."""
    if isinstance(value, float) and not math.isfinite(value):
        return "a number must be finite"
    if isinstance(value, float) and not value.is_integer():
        return None
    if abs(value) > MAX_SAFE_INTEGER:
        return "an integral number must lie within +/-9007199254740991"
    return None


def canonical_number(value: int | float) -> int | float:
    """Integral values become int, -0 becomes 0 (§9.6). The value must already be legal."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def canonical_string(value: str) -> str:
    """NFC, nothing else (§9.6). Raises ConstraintViolation for an unpaired surrogate (§70.2)."""
    if value.isascii():
        return value
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise KipError("ConstraintViolation", "a string holds an unpaired surrogate")
    return unicodedata.normalize("NFC", value)


def canonical_literal(value: Scalar) -> Scalar:
    """The canonical form of a Literal (§9.6); of `{canonical_id}`, which stands where a Literal may, its reference.

    Raises TypeMismatch for what is not a scalar, ConstraintViolation for an illegal number or string.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return canonical_string(value)
    if isinstance(value, int | float):
        if problem := number_problem(value):
            raise KipError("ConstraintViolation", problem)
        return canonical_number(value)
    if isinstance(value, CanonicalReference):
        return value
    if isinstance(value, dict) and set(value) == {"canonical_id"} and isinstance(value["canonical_id"], str):
        return CanonicalReference(canonical_string(value["canonical_id"]))
    raise KipError("TypeMismatch", f"a Literal is a string, a number, a boolean or null, not {json_type(value)}")


def json_type(value: object) -> str:
    """The JSON type name of a value: string, number, boolean, null, array, object."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, Sequence):
        return "array"
    return type(value).__name__


def check_text(value: str) -> str:
    """A string as written, a plain `str`. Raises ConstraintViolation for an unpaired surrogate (§70.2)."""
    if value.__class__ is not str:
        value = str.__str__(value)
    if not value.isascii():
        canonical_string(value)  # only for its complaint
    return value


def check_number(value: int | float) -> int | float:
    """The canonical number, a plain `int` or `float`. Raises ConstraintViolation for an illegal one (§9.3)."""
    if problem := number_problem(value):
        raise KipError("ConstraintViolation", problem)
    return canonical_number(int(value) if isinstance(value, int) else float(value))


def check_key(key: object) -> str:
    """The key of an object. Raises TypeMismatch for what is no string, ConstraintViolation as `check_text`."""
    if not isinstance(key, str):
        raise KipError("TypeMismatch", "an object key must be a string")
    return check_text(key)


def check_json(value: object, depth: int = DEEPEST) -> Json:
    """A JSON-compatible copy of `value` with canonical numbers; strings stay as written.

    Raises ConstraintViolation for illegal numbers and unpaired surrogates, TypeMismatch for anything that
    JSON can not say, ResourceExhausted for what nests deeper than `depth`, such as a list that holds itself.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return check_text(value)
    if isinstance(value, int | float):
        return check_number(value)
    if depth <= 0:
        raise KipError("ResourceExhausted", "a value nests too deep", details={"limit": "depth"}, hint="nest it less")
    if isinstance(value, Mapping):
        return {check_key(key): check_json(member, depth - 1) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [check_json(item, depth - 1) for item in value]
    raise KipError("TypeMismatch", f"{type(value).__name__} is not a JSON value")


def members_once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """`object_pairs_hook` for JSON from outside: two readers of a doubled member may disagree (§70.2).

    Raises ValueError for a member that is given twice.
    """
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the member {next(name for name in names if names.count(name) > 1)!r} is given twice")
    return members


def literal_key(value: Scalar) -> tuple[str, Scalar]:
    """A hashable identity of a canonical Literal, in which true and 1 differ."""
    return (json_type(value), value)


def value_key(value: object) -> object:
    """A hashable identity of any JSON value: key order does not count, array order does (§42.5)."""
    if isinstance(value, Mapping):
        return ("object", frozenset((key, value_key(member)) for key, member in value.items()))
    if isinstance(value, list | tuple):
        return ("array", tuple(value_key(item) for item in value))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return (json_type(value), value)


_ORDER = {"boolean": 0, "number": 1, "string": 2}


def sort_key(value: Scalar) -> tuple[int, Any]:
    """A total order over scalars: booleans, numbers, strings by code point. Null is the caller's."""
    return (_ORDER[json_type(value)], value)
