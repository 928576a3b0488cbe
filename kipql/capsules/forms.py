"""The vocabulary in which the shape of a Capsule is written (see `shape`).

A check takes a value and its JSON Pointer and notes what is wrong; checks of members make checks of objects.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from kipql.capsules.artifact import escaped
from kipql.errors import KipError
from kipql.values import MAX_SAFE_INTEGER, Json, json_type

MOST = 50
"""How many problems are noted before a check gives up."""


class Problem(NamedTuple):
    """One thing that is wrong, and where: a JSON Pointer into the artifact."""

    path: str
    message: str
    code: str = "CapsuleValidationFailed"
    capability: str | None = None

    def error(self) -> KipError:
        """The error that this problem alone is."""
        wanted = {} if self.capability is None else {"capability": self.capability}
        return KipError(self.code, f"{self.path or '/'}: {self.message}", details={"path": self.path, **wanted})

    def to_dict(self) -> dict[str, Json]:
        return {"code": self.code, "path": self.path, "message": self.message}


Notes: TypeAlias = list[Problem]
Check: TypeAlias = Callable[[Json, str, Notes], None]


def typed(name: str) -> Check:
    """A value of one JSON type."""

    def check(value: Json, path: str, notes: Notes) -> None:
        if json_type(value) != name:
            note(notes, path, f"it must be {name}, not {json_type(value)}")

    return check


def note(notes: Notes, path: str, message: str) -> None:
    """Add a problem, as long as there is room."""
    if len(notes) < MOST:
        notes.append(Problem(path, message))


def text(pattern: "re.Pattern[str] | None" = None, *, empty: bool = False, what: str = "") -> Check:
    """A string that matches a pattern as a whole; `what` is what such a string is."""

    def check(value: Json, path: str, notes: Notes) -> None:
        if not isinstance(value, str):
            note(notes, path, f"it must be a string, not {json_type(value)}")
        elif not value and not empty:
            note(notes, path, "it can not be empty")
        elif pattern is not None and not pattern.fullmatch(value):
            note(notes, path, f"{value[:80]!r} is no {what}")

    return check


def one_of(*allowed: str) -> Check:
    """One of a few words."""

    def check(value: Json, path: str, notes: Notes) -> None:
        if not isinstance(value, str) or value not in allowed:
            note(notes, path, f"{str(value)[:80]!r} is not one of {', '.join(allowed)}")

    return check


def integer(least: int) -> Check:
    """A safe integer of at least `least`."""

    def check(value: Json, path: str, notes: Notes) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_SAFE_INTEGER:
            note(notes, path, f"it must be an integer from {least} to {MAX_SAFE_INTEGER}")

    return check


def array(item: Check) -> Check:
    """An array whose every item passes."""

    def check(value: Json, path: str, notes: Notes) -> None:
        if not isinstance(value, list):
            note(notes, path, f"it must be an array, not {json_type(value)}")
            return
        for at, member in enumerate(value):
            item(member, f"{path}/{at}", notes)

    return check


def object_of(
    members: Mapping[str, Check], required: Sequence[str] = (), *, rest: Check | None = None, least: int = 0
) -> Check:
    """An object of named members; `rest` is what others must be, and without it there are no others."""

    def check(value: Json, path: str, notes: Notes) -> None:
        if not isinstance(value, Mapping):
            note(notes, path, f"it must be an object, not {json_type(value)}")
            return
        for name in required:
            if name not in value:
                note(notes, path, f"it has no {name}")
        if len(value) < least:
            note(notes, path, "it can not be empty")
        for name, member in value.items():
            known = members.get(name, rest)
            below = f"{path}/{escaped(name)}"
            if known is None:
                note(notes, below, "there is no such member")
            else:
                known(member, below, notes)

    return check


def nullable(inner: Check) -> Check:
    """null, or what passes."""

    def check(value: Json, path: str, notes: Notes) -> None:
        if value is not None:
            inner(value, path, notes)

    return check


def parsed(parse: Callable[[Json], object]) -> Check:
    """What a parser takes without a KipError."""

    def check(value: Json, path: str, notes: Notes) -> None:
        try:
            parse(value)
        except KipError as error:
            note(notes, path, error.message)

    return check


def anything(value: Json, path: str, notes: Notes) -> None:
    """Any JSON value."""
