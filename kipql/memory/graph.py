"""The one place where the agent layer meets the memory: shipped queries by name, and what a session needs of it.

Only the public surface is used: `query`, `execute`, `transaction`, `install_package`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

import kipql
from kipql.memory.names import session_key
from kipql.memory.queries import query

if TYPE_CHECKING:
    from kipql import Nexus, Result

PACKAGE = "kip://kipql/agent@1.0.0"
Row = tuple[Any, ...]
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)


class Reader(Protocol):
    """A Nexus, or a transaction that reads its own writes."""

    def query(self, text: str, parameters: Mapping[str, object] | None = None) -> "Result": ...


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as the memory holds it; before anything was recorded it has no id."""

    id: str | None
    last_turn: int


def prepare(nexus: "Nexus") -> None:
    """Install the agent package where it is missing and may be installed; a read-only memory is left as it is."""
    package, version = PACKAGE.rsplit("@", 1)
    listed = nexus.query("LIST SCHEMA PACKAGES")
    if any(row["package_id"] == package and row["version"] == version for row in listed):
        return
    try:
        nexus.install_package(PACKAGE)
    except kipql.KipError as error:
        if error.code not in ("ReadonlyViolation", "NotAuthorized"):
            raise


def ask(reader: Reader, name: str, parameters: Mapping[str, object]) -> "Result":
    """The Result of one shipped query."""
    return reader.query(query(name), parameters)


def rows(reader: Reader, name: str, parameters: Mapping[str, object]) -> Sequence[Row]:
    """The rows of one shipped query; none where its vocabulary is not installed, as nothing can have been written."""
    result = found(reader, name, parameters)
    return [] if result is None else result.rows


def found(reader: Reader, name: str, parameters: Mapping[str, object]) -> "Result | None":
    """The Result of one shipped query, or None where its vocabulary is not installed."""
    try:
        return ask(reader, name, parameters)
    except kipql.KipError as error:
        if error.code == "SchemaSymbolNotFound":
            return None
        raise


def session_row(reader: Reader, session: str) -> SessionRow:
    """The session as it is now."""
    found = rows(reader, "session", {"session_key": session_key(session)})
    if not found:
        return SessionRow(None, 0)
    identity, last = found[0]
    return SessionRow(identity, last or 0)


def now() -> str:
    """This moment as a timestamp of the protocol."""
    return timestamp(datetime.now(UTC))


def timestamp(moment: datetime) -> str:
    """A moment as a timestamp of the protocol, in UTC with three fraction digits. Raises TypeMismatch without zone."""
    if moment.tzinfo is None:
        raise kipql.KipError("TypeMismatch", "a moment needs a time zone", hint="datetime.now(UTC)")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def checked_timestamp(value: str, what: str) -> str:
    """A text that is a timestamp of the protocol. Raises ConstraintViolation for another one, in the engine's words."""
    try:
        if _TIMESTAMP.fullmatch(value):
            datetime.fromisoformat(value)
            return value
    except ValueError:
        pass
    raise kipql.KipError(
        "ConstraintViolation",
        f"{what} is not a protocol timestamp: {value!r}",
        hint='write UTC with three decimals, for example "2026-08-14T03:00:00.123Z"',
    )


def snake(code: str) -> str:
    """An error code as the failure tables of tools write it: ReadonlyViolation is readonly_violation."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in code).lstrip("_")
