"""What time it is in a memory, asked of the memory itself: its clock may be a test's or a replay's."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import kipql
from kipql.memory.canon.queries import query

if TYPE_CHECKING:
    from kipql import Nexus, Transaction

Clock = Callable[[], datetime]
_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z")


def instant(reader: "Nexus | Transaction", clock: Clock | None) -> str:
    """Now, in canonical form: `clock`'s answer if there is one, else the memory's."""
    if clock is None:
        return str(reader.query(query("clock")).context["valid_at"])
    return canonical(clock())


def canonical(moment: "datetime | str") -> str:
    """An instant in canonical form, UTC with three fraction digits. Raises TypeMismatch for anything else."""
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
    if isinstance(moment, str) and _INSTANT.fullmatch(moment):
        return moment
    raise kipql.KipError(
        "TypeMismatch",
        f"{moment!r} is no instant",
        hint="give an aware datetime, or text such as 2026-08-11T09:30:00.000Z",
    )
