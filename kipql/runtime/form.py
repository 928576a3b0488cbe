"""Checking the form of a request: small predicates over JSON values (kip-request.schema.json).

Each one returns the value it accepted and raises InvalidRequestEnvelope, naming the place, otherwise.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeGuard

from kipql.errors import KipError
from kipql.lang.words import near
from kipql.limits import exhausted
from kipql.values import MAX_SAFE_INTEGER, Json, json_type

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
CAPABILITY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*", re.ASCII)
EXTENSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._/-]*", re.ASCII)

_DEPTH = 96
_PLAIN = frozenset((str, int, float, bool, type(None)))


def refuse(where: str, problem: str, hint: str | None = None) -> NoReturn:
    """Raise InvalidRequestEnvelope for one place of the request."""
    raise KipError("InvalidRequestEnvelope", f"{where} {problem}", hint=hint, details={"member": where})


def _is_object(value: object) -> TypeGuard[Mapping[str, Json]]:
    return value.__class__ is dict or isinstance(value, Mapping)


def members(value: object, where: str, known: Sequence[str], required: Sequence[str] = ()) -> Mapping[str, Json]:
    """An object with none but known members and all the required ones."""
    if not _is_object(value):
        refuse(where, f"must be an object, not {json_type(value)}")
    for name in value:
        if name not in known:
            close = near(name, known) if isinstance(name, str) else None
            refuse(where, f"has no member {name!r}", f"did you mean {close}?" if close else None)
    for name in required:
        if name not in value:
            refuse(where, f"needs the member {name}")
    return value


def named(value: object, where: str, names: re.Pattern[str]) -> Mapping[str, Json]:
    """An object whose member names follow a pattern."""
    if not _is_object(value):
        refuse(where, f"must be an object, not {json_type(value)}")
    for name in value:
        if not isinstance(name, str) or names.fullmatch(name) is None:
            refuse(where, f"has a member with an illegal name: {name!r}")
    return value


def string(value: object, where: str, most: int | None = None) -> str:
    """A non-empty string of at most `most` characters."""
    if not isinstance(value, str):
        refuse(where, f"must be a string, not {json_type(value)}")
    if not value or (most is not None and len(value) > most):
        refuse(where, "must not be empty" if not value else f"must have at most {most} characters")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        refuse(where, "holds half of a surrogate pair", "send Unicode text")
    return value


def integer(value: object, where: str, least: int) -> int:
    """A safe integer of at least `least`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        refuse(where, f"must be an integer, not {json_type(value)}")
    if not least <= value <= MAX_SAFE_INTEGER:
        refuse(where, f"must lie between {least} and {MAX_SAFE_INTEGER}")
    return value


def boolean(value: object, where: str) -> bool:
    """A boolean."""
    if not isinstance(value, bool):
        refuse(where, f"must be true or false, not {json_type(value)}")
    return value


def choice(value: object, where: str, choices: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        refuse(where, f"must be one of {', '.join(choices)}", f"found {value!r}")
    return value


def extensions(owner: Mapping[str, Json], where: str) -> None:
    """The `extensions` of an object: carried past, unless one is critical; none is known here (§71).

    Raises UnsupportedCapability for a critical one.
    """
    if "extensions" not in owner:
        return
    for name, extension in named(owner["extensions"], f"{where}.extensions", EXTENSION).items():
        place = f"{where}.extensions[{name!r}]"
        if not isinstance(extension, Mapping):
            refuse(place, f"must be an object, not {json_type(extension)}")
        if boolean(extension.get("critical", False), f"{place}.critical"):
            raise KipError(
                "UnsupportedCapability",
                f"the critical extension {name} is not supported",
                hint="leave it out, or mark it as not critical if the request may run without it",
                details={"extension": name},
            )


def check_depth(value: Any) -> None:
    """Refuse a request nested deeper than any statement could use. Raises ResourceExhausted."""
    level: dict[int, Any] = {id(value): value}  # an object that is in several places is looked at once
    for _ in range(_DEPTH):
        level = {id(inner): inner for outer in level.values() for inner in _inside(outer) if _holds(inner)}
        if not level:
            return
    exhausted("depth", _DEPTH, "the request is nested too deeply")


def _holds(value: Any) -> bool:
    kind = value.__class__
    return kind is dict or kind is list or (kind not in _PLAIN and isinstance(value, Mapping | list | tuple))


def _inside(value: Any) -> Iterable[Any]:
    if value.__class__ is dict:
        return value.values()
    return value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
