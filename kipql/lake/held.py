"""A store's view over a `Closure`: everything that belief asks of a memory, answered from what was fetched of a lake.

There is one implementation of belief (`kipql.belief`); this is what it reads here. `narrowed` keeps it off the packed
records of a store, which a lake does not have.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kipql.errors import KipError
from kipql.lake.closure import Closure, Placed, Slot
from kipql.lake.view import LeftOut
from kipql.model import ASSERTION, PROPOSITION, AnyRecord, Assertion, element_id
from kipql.store.records import NEVER
from kipql.values import Json, Scalar

if TYPE_CHECKING:
    from kipql.lake.view import LakeView
    from kipql.schema.environment import Environment


class Hot(NamedTuple):
    """An Assertion as far as slots are sorted by it: `ended > seq` is neither ended nor invalidated; the row of its
    Proposition."""

    ended: int
    proposition: int


class HeldView:
    """The Space of a `LakeView` as belief reads it."""

    narrowed = True

    def __init__(self, lake: "LakeView", whole: bool) -> None:
        self._lake = lake
        self.closure = Closure(lake, whole)
        self.subjects = _Column(self, 0)
        self.predicates = _Column(self, 1)
        self.objects = _Column(self, 2)

    # --- the Space

    @property
    def space_id(self) -> str:
        return self._lake.space_id

    @property
    def seq(self) -> int:
        return self._lake.seq

    @property
    def last_commit(self) -> int:
        return self._lake.seq

    @property
    def environment(self) -> "Environment":
        return self._lake.environment

    @property
    def identity_version(self) -> int:
        return self._lake.identity_version

    # --- elements

    def code(self, id_text: str) -> int | None:
        return self._lake.code(id_text)

    def exists(self, code: int) -> bool:
        return code >= 0 and self._known(code) is not None

    def record(self, code: int) -> AnyRecord:
        record = self._known(code)
        if record is None:
            raise KipError("NotFoundOrNotVisible", f"{element_id(code)} does not exist here")
        return record

    def state(self, code: int) -> str:
        return self.record(code).state

    def unrecalled(self, code: int) -> str | None:
        """Why default recall leaves an element out; None when it does not."""
        if code & 7 == PROPOSITION:
            return self.placed(code >> 3).unrecalled
        record = self.record(code)
        return None if record.recalled else "quarantined" if record.state == "active" else record.state

    def left_out(self, kind: int) -> LeftOut:
        return LeftOut(lambda code: self.unrecalled(code) is None, kind)

    def invalidated(self, code: int) -> bool:
        return self.record(code).repaired_by is not None

    def review_since(self, code: int) -> int | None:
        return self._lake.reviewed.get(code)

    def referrers(self, target: int, field: str) -> Sequence[int]:
        """The Activities that put an element out; belief asks for no other field."""
        assert field == "outputs"
        if target not in self.closure.producers:
            self.closure.need((target,))
        return self.closure.producers.get(target, ())

    # --- Propositions and Assertions

    def placed(self, row: int) -> Placed:
        """The ends of a Proposition, and why recall leaves it out."""
        if row not in self.closure.propositions:
            self.closure.places((row,))
        return self.closure.propositions[row]

    def slot(self, subject: int, lineage: str) -> Sequence[int]:
        key: Slot = (subject, lineage)
        if key not in self.closure.slots:
            self.closure.need(slots=((self.canonical(subject), lineage),))
        return self.closure.slots[key]

    def assertions_of(self, row: int) -> Sequence[int]:
        if row not in self.closure.claims:
            placed = self.placed(row)
            self.slot(placed.subject, self.lineage_of[placed.predicate])
        return self.closure.claims[row]

    def assertion(self, row: int) -> Hot:
        record = self._assertion(row)
        return Hot(NEVER if _counts(record) else 0, record.proposition >> 3)

    def live_assertions(self, subject: int, lineage: str) -> Sequence[int]:
        rows = (row for proposition in self.slot(subject, lineage) for row in self.assertions_of(proposition))
        return sorted(row for row in rows if _counts(self._assertion(row)))

    # --- Literals and symbols

    def literal(self, code: int) -> Json:
        return self._lake.literal(code)

    def literal_code(self, value: Scalar) -> int | None:
        return self._lake.literal_code(value)

    def symbol_ref(self, ref: str) -> str:
        return ref

    def lineage_number(self, lineage: str) -> str:
        return lineage

    @property
    def lineage_of(self) -> Mapping[str, str]:
        return self._lake.lineages()

    # --- identity and look-ups

    @property
    def has_merges(self) -> bool:
        return self._lake.has_merges

    def canonical(self, code: int) -> int:
        return self._lake.canonical(code)

    def same(self, code: int) -> tuple[int, ...]:
        return self._lake.same(code)

    def keyed(self, key: str, lineage: str | None = None) -> Sequence[int]:
        return self._lake.keyed(key, lineage)

    def with_value(self, kind: int, steps: tuple[str, ...], value: Scalar) -> Sequence[int]:
        return self._lake.with_value(kind, steps, value)

    # --- inside

    def _known(self, code: int) -> AnyRecord | None:
        if code not in self.closure.records:
            self.closure.need((code,))
        return self.closure.records[code]

    def _assertion(self, row: int) -> Assertion:
        record = self.record(row * 8 + ASSERTION)
        assert isinstance(record, Assertion)
        return record


def _counts(record: Assertion) -> bool:
    return record.status == "active" and record.repaired_by is None


class _Column:
    """A column of Propositions, by row."""

    def __init__(self, view: HeldView, at: int) -> None:
        self._view = view
        self._at = at

    def __getitem__(self, row: int) -> Any:
        return self._view.placed(row)[self._at]
