"""What a Watch observes: its arming, its condition, and which commit matches (Profile §5.11, Brain Runtime §2).

An arming begins with the commit that gave the Watch its present condition, class and deadline in status `armed`; each
arming is a generation of its own, counted over the element's history, so that a stale worker can not fire a newer one.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.model import CONCEPT, Concept, Proposition, element_code, parse_id
from kipql.schema.contracts import canonical_digest
from kipql.store.computed import PROFILE
from kipql.times import parse_instant
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View

_TYPE = f"{PROFILE}/Watch"
_WATCHED = ("status", "watch_class", "condition", "due_at")
_MEMBERS = {"element", "slot", "type", "ops", "touched", "text"}


@dataclass(frozen=True, slots=True)
class Armed:
    """One armed Watch. `condition` is None where only a Brain can evaluate it."""

    code: int
    version: int
    watch_class: str
    condition: Mapping[str, Any] | None
    condition_digest: str
    due_at: int | None
    generation: int
    armed_seq: int

    @property
    def key(self) -> tuple[int, int]:
        """What identifies the arming."""
        return self.code, self.generation


def armed(view: "View") -> Iterator[Armed]:
    """The armed Watches of a view, in id order."""
    definition = view.environment.find_concept_type(_TYPE)
    number = None if definition is None else view.lineage_number(definition.lineage)
    for row in () if number is None else view.of_type(number):
        found = armed_watch(view, element_code(CONCEPT, row))
        if found is not None:
            yield found


def armed_watch(view: "View", code: int) -> Armed | None:
    """The arming of one Watch, None when it is not armed."""
    if not view.exists(code):
        return None
    record = view.record(code)
    if not isinstance(record, Concept) or record.state != "active" or record.attributes.get("status") != "armed":
        return None
    generation, since = _arming(record)
    condition, due_at = record.attributes.get("condition"), record.attributes.get("due_at")
    return Armed(
        code=code,
        version=record.version,
        watch_class=str(record.attributes.get("watch_class")),
        condition=condition if _evaluable(condition) else None,
        condition_digest=canonical_digest(condition),
        due_at=None if due_at is None else parse_instant(due_at),
        generation=generation,
        armed_seq=since,
    )


def _arming(record: Concept) -> tuple[int, int]:
    """How often the Watch was armed up to this state, and the commit that armed it last."""
    states: list[Concept] = []
    state: Any = record
    while state is not None:
        states.append(state)
        state = state.prev
    count, since, before = 0, record.seq, None
    for each in reversed(states):
        present = {name: each.attributes.get(name) for name in _WATCHED}
        if present != before and present["status"] == "armed":
            count, since = count + 1, each.seq
        before = present
    return max(count, 1), since


def _evaluable(condition: Json) -> bool:
    """Whether a runtime can evaluate a condition: an object that selects something, of known members only."""
    if not isinstance(condition, Mapping) or not condition.keys() <= _MEMBERS:
        return False
    slot = condition.get("slot")
    whole = slot is None or (isinstance(slot, Mapping) and slot.keys() == {"subject", "predicate"})
    return whole and any(condition.get(name) is not None for name in _SELECTING)


# --- matching -----------------------------------------------------------------------------------------


def first_match(view: "View", watch: Armed, after: int, through: int) -> tuple[int, str] | None:
    """The first commit in `(after, through]` with a matching change, and the element that changed.

    Changes of elements that the view does not show are not looked at.
    """
    if watch.condition is None:
        return None
    selects = _Selector(view, watch.condition)
    for seq in range(after + 1, through + 1):
        for entry in view.commit(seq).changes:
            code = parse_id(entry["id"])
            if code is not None and code != watch.code and view.exists(code) and selects.matches(entry, code):
                return seq, str(entry["id"])
    return None


class _Selector:
    """A structured condition against change entries: its members hold together (Brain Runtime §2)."""

    def __init__(self, view: "View", condition: Mapping[str, Any]) -> None:
        self._view = view
        self._ops = _several(condition.get("ops"))
        self._touched = _several(condition.get("touched"))
        self._type = self._lineage("type", condition.get("type"))
        self._element = self._code(condition.get("element"))
        slot = condition.get("slot")
        self._subject = None if slot is None else self._code(slot["subject"])
        self._predicate = None if slot is None else self._lineage("predicate", slot["predicate"])
        self._wanted = [name for name in _SELECTING if condition.get(name) is not None]

    def matches(self, entry: Mapping[str, Any], code: int) -> bool:
        """Whether a change entry counts."""
        if self._ops and entry["op"] not in self._ops:
            return False
        touched = entry.get("touched", ())
        if self._touched and not any(_below(path, wanted) for path in touched for wanted in self._touched):
            return False
        return all(_SELECTING[name](self, entry, code) for name in self._wanted)

    def _in_element(self, entry: Mapping[str, Any], code: int) -> bool:
        return self._element is not None and self._view.canonical(code) == self._element

    def _in_type(self, entry: Mapping[str, Any], code: int) -> bool:
        ref = entry.get("schema_ref")
        return self._type is not None and ref is not None and self._view.environment.lineage(ref) == self._type

    def _in_slot(self, entry: Mapping[str, Any], code: int) -> bool:
        proposition = parse_id(entry.get("refs", {}).get("proposition", ""))
        if entry["kind"] != "assertion" or proposition is None or not self._view.exists(proposition):
            return False
        record = self._view.record(proposition)
        assert isinstance(record, Proposition)
        subject = self._view.canonical(record.subject) if record.subject >= 0 else None
        lineage = self._view.environment.lineage(record.predicate)
        return subject is not None and (subject, lineage) == (self._subject, self._predicate)

    def _code(self, reference: Json) -> int | None:
        """The canonical element that an id or `{id}` names, None when there is none to see."""
        named = reference.get("id") if isinstance(reference, Mapping) else reference
        code = parse_id(named) if isinstance(named, str) else None
        return self._view.canonical(code) if code is not None and self._view.exists(code) else None

    def _lineage(self, kind: str, name: Json) -> str | None:
        environment = self._view.environment
        if not isinstance(name, str):
            return None
        try:
            found = environment.find_concept_type(name) if kind == "type" else environment.find_predicate(name)
        except KipError:  # an ambiguous name selects nothing rather than something
            return None
        return None if found is None else found.lineage


_SELECTING: Mapping[str, Callable[[_Selector, Mapping[str, Any], int], bool]] = {
    "element": _Selector._in_element,
    "slot": _Selector._in_slot,
    "type": _Selector._in_type,
}
"""The members that select elements; a condition has at least one of them."""


def _several(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list | tuple) else ()


def _below(path: str, wanted: str) -> bool:
    return path == wanted or path.startswith(f"{wanted}.")
