"""Trust records: how much a weighted policy lets an actor's word weigh (specification §22.2, §22.5, §22.6).

Trust comes from the host, never from what a memory contains, and grants nothing but weight. Each change is a
`trust` control change with a version and a sequence, so an AS OF read weighs as it was weighed then.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kipql.errors import KipError
from kipql.model import CONCEPT, element_id, kind_of
from kipql.values import Json, json_type

KIND = "trust"


@dataclass(frozen=True, slots=True)
class TrustRecord:
    """One actor's weight: 0 silences the actor under a weighted policy, 1 takes the word at full strength."""

    actor: str
    value: float
    note: str | None = None

    def to_dict(self) -> dict[str, Json]:
        """The record as DESCRIBE TRUST lists it."""
        return {"actor": {"id": self.actor}, "value": self.value, "note": self.note}


def records(
    changes: Sequence[Mapping[str, Any]], identity: Callable[[str], str] = lambda actor: actor
) -> dict[str, TrustRecord]:
    """The records in force after some `trust` changes, by actor id, in the order they were first set.

    identity  the actor that an actor's id stands for: what was said of merged actors was said of the one they became,
              so of several changes the last counts, a removal too; where the merge is withdrawn each has its own again
    """
    found: dict[str, TrustRecord] = {}
    for change in changes:
        actor = identity(change["actor"])
        if change["value"] is None:
            found.pop(actor, None)
        else:
            found[actor] = TrustRecord(actor, change["value"], change["note"])
    return found


class Trust:
    """`nexus.govern.trust`: reads and changes the trust records of a Space.

    >>> import kipql
    >>> nexus = kipql.open()
    >>> ada = nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }').handles["a"]
    >>> nexus.govern.trust.set(ada, 0.5, note="second hand")
    >>> [(record.actor, record.value) for record in nexus.govern.trust.list()]
    [('C-1', 0.5)]
    """

    __slots__ = ("_change", "_find", "_identity", "_read", "_version")

    def __init__(
        self,
        read: Callable[[int | None], Mapping[str, TrustRecord]],
        version: Callable[[int | None], str],
        find: Callable[[object], int | None],
        change: Callable[[str, dict[str, Json]], None],
        identity: Callable[[str], str],
    ) -> None:
        """`read` and `version` take a sequence (None is the head), `find` a reference, `change` commits; `identity`
        is whom an id stands for at the head."""
        self._read = read
        self._version = version
        self._find = find
        self._change = change
        self._identity = identity

    def list(self, seq: int | None = None) -> "list[TrustRecord]":
        """The records in force at a sequence, the head by default."""
        _check_sequence(seq)
        return [*self._read(seq).values()]

    def version(self, seq: int | None = None) -> str:
        """The version that a ProjectionBasis names (§21.12): "0" while nothing was ever set."""
        _check_sequence(seq)
        return self._version(seq)

    def set(self, actor: object, value: float, *, note: str | None = None) -> None:
        """Say how much an actor's word weighs, from 0 to 1.

        actor  an id, `{"id": ...}` or an element: the Concept that Assertions name in `by`
        note   why, for those who ask later

        Raises NotFoundOrNotVisible for an unknown actor, TypeMismatch or ConstraintViolation for the value.
        """
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise KipError("TypeMismatch", f"trust is a number from 0 to 1, not {json_type(value)}")
        if not 0 <= value <= 1:
            raise KipError("ConstraintViolation", f"trust is a number from 0 to 1, not {value}")
        if note is not None and not isinstance(note, str):
            raise KipError("TypeMismatch", f"a note is a string, not {json_type(note)}")
        self._put(actor, float(value), note)

    def remove(self, actor: object) -> None:
        """Forget what was set for an actor: the policy's default applies again."""
        self._put(actor, None, None)

    def _put(self, actor: object, value: float | None, note: str | None) -> None:
        code = self._find(actor)
        if code is None or kind_of(code) != CONCEPT:
            raise KipError("NotFoundOrNotVisible", f"{actor!r} names no actor", hint="pass the id of a Concept")
        known = self._read(None).get(self._identity(element_id(code)))
        if (None if known is None else (known.value, known.note)) == (None if value is None else (value, note)):
            return
        self._change(KIND, {"actor": element_id(code), "value": value, "note": note})


def _check_sequence(seq: object) -> None:
    if seq is not None and (isinstance(seq, bool) or not isinstance(seq, int)):
        raise KipError("TypeMismatch", f"a sequence is an integer, not {json_type(seq)}")
