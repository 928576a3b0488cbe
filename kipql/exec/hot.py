"""The fields of an Assertion that its packed record says, for generated source (`store.records`).

A field path of an Assertion otherwise makes the record, and an instant is formatted only to be compared. Where
columns say all of a row (nothing of it is kept beside them), the stance and the mode are two bits of the flags, and
an exact end of its valid time is an int: canonical timestamps order as their instants do (§6.5).
"""

import struct

from kipql.errors import KipError
from kipql.exec.emit import Emitter
from kipql.model import ASSERTION, MODES, STANCES
from kipql.plan import nodes
from kipql.store.records import END_MASK, EXACT, FROM_SHIFT, MODE_MASK, MODE_SHIFT, SIZE, STANCE_MASK, UNTIL_SHIFT
from kipql.times import parse_instant
from kipql.values import Json

_START = struct.Struct("<4xIq").unpack_from
_ENDS = struct.Struct("<4xIqq").unpack_from
_STANCE, _MODE = ("stance",), ("mode",)
_FIELDS = {_STANCE, _MODE, ("valid_time", "from"), ("valid_time", "until")}
_FORMS = {"from": (1, FROM_SHIFT), "until": (2, UNTIL_SHIFT)}
_GONE = (-1, 0, 0)  # no form of an end is exact in it


def unpacked(name: str, row: str, code: Emitter) -> tuple[str, str, str] | None:
    """Fetch the flags and the ends of the Assertion that a variable is; None where none of them is read.

    The flags are negative where columns do not say all of the row."""
    read = code.fields.get(name, set())
    if not code.direct or read.isdisjoint(_FIELDS):
        return None
    flags, start, until = code.fresh("f"), code.fresh("f"), code.fresh("f")
    both = ("valid_time", "until") in read
    code.namespace.update({"ENDS": _ENDS} if both else {"START": _START})
    hot = code.local("view.graph.assertions.hot", "hot")
    targets, fetched = (f"{flags}, {start}, {until}", "ENDS") if both else (f"{flags}, {start}", "START")
    text = f"{fetched}({hot}, {row} * {SIZE})"
    if code.kept:
        kept = code.local(f"view.graph.side[{ASSERTION}]", "kept")
        text += f" if {row} not in {kept} else {_GONE if both else _GONE[:2]}"
    code.line(f"{targets} = {text}")
    return flags, start, until


def coded(
    packed: tuple[str, str, str] | None, steps: tuple[str | int, ...], otherwise: str, code: Emitter
) -> str | None:
    """An expression for the stance or the mode of an Assertion; None for any other path."""
    if packed is None or steps not in (_STANCE, _MODE):
        return None
    flags = packed[0]
    code.namespace.update(STANCES=STANCES, MODES=MODES)
    stance, mode = f"STANCES[{flags} & {STANCE_MASK}]", f"MODES[{flags} >> {MODE_SHIFT} & {MODE_MASK}]"
    read = stance if steps == _STANCE else mode
    return f"({read} if {flags} >= 0 else {otherwise})" if code.kept else read


def is_name(packed: tuple[str, str, str] | None, steps: tuple[str | int, ...], name: str, code: Emitter) -> str | None:
    """A condition: the stance or the mode of an Assertion is a known one; None where that is not said so easily."""
    if packed is None or code.kept:
        return None
    if steps == _STANCE and name in STANCES:
        return f"{packed[0]} & {STANCE_MASK} == {STANCES.index(name)}"
    if steps == _MODE and name in MODES:
        return f"{packed[0]} >> {MODE_SHIFT} & {MODE_MASK} == {MODES.index(name)}"
    return None


def compared(
    op: str,
    packed: tuple[str, str, str] | None,
    steps: tuple[str | int, ...],
    constant: nodes.Slot,
    otherwise: str,
    code: Emitter,
) -> str | None:
    """A condition that orders an exact end of an Assertion's valid time against a constant; None for another path.

    otherwise  the condition where the end is no exact one, or the constant no timestamp
    """
    if packed is None or len(steps) != 2 or steps[0] != "valid_time" or steps[1] not in _FORMS:
        return None
    place, shift = _FORMS[str(steps[1])]
    instant = code.instant(constant)
    if instant is None:
        return None
    known = "" if code.fused else f" and {instant} is not None"
    return f"({packed[place]} {op} {instant} if {packed[0]} >> {shift} & {END_MASK} == {EXACT}{known} else {otherwise})"


def instant_or_none(value: Json) -> int | None:
    """The instant of a canonical timestamp, None for anything else."""
    try:
        return parse_instant(value) if value.__class__ is str else None
    except KipError:
        return None
