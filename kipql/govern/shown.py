"""The states of an element as a caller may see them (specification §29.2, §30.4).

What a state says of a hidden element is left out: a reference, a merge, a supersession, a correction, an id in a
Facet. What a hidden record did to a visible one is not shown either: superseded, corrected or merged by it, the
visible one reads as if that had not happened. States that then say the same are one, and versions and planes are
counted over what is left, so that a hidden reference moves no counter. Fields that may not be read are absent.

Fields that a rule can name, by kind: see `FIELDS`; with members, `attributes.salary`, `facets.MnemonicState`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kipql.govern.authority import NO_FIELDS, FieldRule
from kipql.model import (
    ACTIVITY,
    ASSERTION,
    CONCEPT,
    EVIDENCE,
    NOTHING,
    PROPOSITION,
    Activity,
    AnyRecord,
    Assertion,
    Concept,
    Edge,
    Evidence,
    Proposition,
)
from kipql.store.elements import HIDDEN_REPAIR
from kipql.store.planes import first_planes, next_planes
from kipql.store.states import plain_assertion, plain_proposition
from kipql.store.transaction import equal
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.govern.visibility import Visibility

WITHHELD = "withheld"
"""Stands in a Facet for the id of an element that the caller may not see."""

FIELDS: Mapping[int, tuple[str, ...]] = {
    CONCEPT: ("key", "name", "canonical_id", "aliases", "attributes", "facets", "structural"),
    PROPOSITION: ("facets", "structural"),
    ASSERTION: ("evidence", "facets", "structural"),
    EVIDENCE: (
        "payload", "content_digest", "media_type", "observed_at", "source", "generated_by", "facets", "structural",
    ),
    ACTIVITY: (
        "started_at", "ended_at", "parameters_digest", "inputs", "outputs", "associated_actors", "facets", "structural",
    ),
}  # fmt: skip
"""The fields that a rule about `read` may name; `kind.field` is the record's member of that name."""

_EMPTY: Mapping[str, Any] = {
    "aliases": (), "attributes": NOTHING, "facets": NOTHING, "structural": NOTHING, "evidence": (), "source": (),
    "generated_by": (), "inputs": (), "outputs": (), "associated_actors": (),
}  # fmt: skip
_MEMBERED = ("attributes", "facets", "structural")
_GONE: Any = object()


class Shown:
    """Makes and remembers what a caller sees of states; the states of an element are asked for newest first."""

    __slots__ = ("_known", "_visibility")

    def __init__(self, visibility: "Visibility") -> None:
        self._visibility = visibility
        self._known: dict[int, tuple[AnyRecord, AnyRecord | None]] = {}

    def head(self, code: int, record: AnyRecord) -> AnyRecord | None:
        """The newest state to be seen, linked to the older ones; None when an element's columns say all of it."""
        chain: list[AnyRecord] = []
        older: AnyRecord | None = record
        while older is not None and (known := self._known.get(id(older))) is None:
            chain.append(older)
            older = older.prev  # type: ignore[assignment]
        if older is None and len(chain) == 1 and code & 7 not in (PROPOSITION, ASSERTION):
            seen = self._first(code, record)
            if seen is not record:
                self._known[id(record)] = (record, seen)
            return seen
        seen_before = None if older is None else known[1]  # type: ignore[index]
        for state in reversed(chain):
            seen_before = self._next(code, state, older, seen_before)
            self._known[id(state)] = (state, seen_before)
            older = state
        return seen_before

    def _first(self, code: int, state: AnyRecord) -> AnyRecord:
        """The oldest state that is kept."""
        seen = self.redacted(code, state)
        if seen is state or state.version != 1 or state.state == "purged":
            return seen
        return replace(seen, planes=first_planes(seen))

    def _next(self, code: int, state: AnyRecord, older: AnyRecord | None, before: AnyRecord | None) -> AnyRecord | None:
        """What is seen of a state: what was seen before it when it says nothing new.

        older, before  the state it follows and what is seen of that; None where only columns came before
        """
        if older is None and not self._follows_columns(code, state):
            return self._first(code, state)
        seen = self.redacted(code, state)
        base = self._columns(code) if before is None else before
        if equal(base, seen):
            return before
        if seen is state and before is older:
            return state
        # A state that a transaction under way put has not been counted yet.
        step = state.version - (1 if older is None else older.version)
        planes = next_planes(base, seen) if step else base.planes
        return replace(seen, prev=before, version=base.version + step, planes=planes)

    def _follows_columns(self, code: int, state: AnyRecord) -> bool:
        """Whether a claim had only its columns before this state."""
        if code & 7 not in (PROPOSITION, ASSERTION) or state.state == "purged":
            return False
        return state.seq > self._visibility.graph.history.created_in(code & 7, code >> 3)

    def _columns(self, code: int) -> AnyRecord:
        """What is seen of a claim as it was created."""
        made = plain_proposition if code & 7 == PROPOSITION else plain_assertion
        record = made(self._visibility.graph, code >> 3)
        seen = self.redacted(code, record)
        return record if seen is record else replace(seen, planes=first_planes(seen))

    # one state

    def redacted(self, code: int, record: AnyRecord) -> AnyRecord:
        """A state without what may not be seen; the record itself when that is all of it."""
        found: dict[str, Any] = {}
        rule = self._visibility.rule(code)
        if record.structural:
            _note(found, record, "structural", self._structural(record.structural))
        if record.facets:
            _note(found, record, "facets", {ref: self._scrubbed(members) for ref, members in record.facets.items()})
        _KINDS[type(record)](self, record, found)
        if record.repaired_by is not None and self._visibility.hides(record.repaired_by):
            found["repaired_by"] = HIDDEN_REPAIR
        if rule is not None:
            _apply(rule, code & 7, record, found)
            if rule is NO_FIELDS and record.client_key is not None:
                found["client_key"] = None
        return replace(record, **found) if found else record

    def forget(self) -> None:
        """Drop what was remembered: bytes were erased (§60.3)."""
        self._known = {}

    def visible(self, edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
        """The references to what may be seen."""
        hides = self._visibility.hides
        return tuple(edge for edge in edges if not hides(edge.target))

    def _structural(self, held: Mapping[str, tuple[Edge, ...]]) -> Mapping[str, tuple[Edge, ...]]:
        seen = {ref: self.visible(edges) for ref, edges in held.items()}
        return {ref: edges for ref, edges in seen.items() if edges or not held[ref]}

    def _scrubbed(self, value: Json) -> Json:
        if isinstance(value, Mapping):
            return {name: self._scrubbed(member) for name, member in value.items()}
        if isinstance(value, list | tuple):
            return [self._scrubbed(item) for item in value]
        return WITHHELD if self._visibility.hidden_id(value) else value

    def concept(self, record: Concept, found: dict[str, Any]) -> None:
        if record.merged_into is not None and self._visibility.hides(record.merged_into):
            found["merged_into"] = None
            if record.state == "merged":
                found["state"] = "active"

    def assertion(self, record: Assertion, found: dict[str, Any]) -> None:
        _note(found, record, "evidence", self.visible(record.evidence))
        self._revised(record, found, "supersedes", "superseded_by", "superseded")

    def evidence(self, record: Evidence, found: dict[str, Any]) -> None:
        _note(found, record, "source", self.visible(record.source))
        _note(found, record, "generated_by", self.visible(record.generated_by))
        self._revised(record, found, "corrects", "corrected_by", "corrected")

    def activity(self, record: Activity, found: dict[str, Any]) -> None:
        for name in ("inputs", "outputs", "associated_actors"):
            _note(found, record, name, self.visible(getattr(record, name)))
        for name in ("input_versions", "output_versions", "output_plane_versions"):
            held = getattr(record, name)
            if held:
                hidden = self._visibility.hidden_id
                _note(found, record, name, {key: value for key, value in held.items() if not hidden(key)})

    def proposition(self, record: AnyRecord, found: dict[str, Any]) -> None:
        """Its endpoints are visible, or it is not."""

    def _revised(self, record: AnyRecord, found: dict[str, Any], forward: str, back: str, status: str) -> None:
        hides = self._visibility.hides
        for name in (forward, back):
            held: tuple[int, ...] = getattr(record, name)
            if held:
                _note(found, record, name, tuple(code for code in held if not hides(code)))
        if getattr(record, "status", None) == status and back in found and not found[back]:
            found["status"] = "active"


_KINDS: Mapping[type, Callable[[Shown, Any, dict[str, Any]], None]] = {
    Concept: Shown.concept,
    Proposition: Shown.proposition,
    Assertion: Shown.assertion,
    Evidence: Shown.evidence,
    Activity: Shown.activity,
}


def _note(found: dict[str, Any], record: AnyRecord, name: str, value: Any) -> None:
    if value != getattr(record, name):
        found[name] = value


def _apply(rule: FieldRule, kind: int, record: AnyRecord, found: dict[str, Any]) -> None:
    """Take out the fields that a rule does not show."""
    for name in FIELDS[kind]:
        value = found.get(name, getattr(record, name))
        if not value:
            continue
        if name in _MEMBERED and isinstance(value, Mapping):
            parts = {key: _part(rule, name, key, member) for key, member in value.items()}
            kept = {key: part for key, part in parts.items() if part is not _GONE}
            if kept != value:
                found[name] = kept
        elif not rule.shows(name):
            found[name] = _EMPTY.get(name)


def _part(rule: FieldRule, name: str, key: str, member: Any) -> Any:
    """What is left of one attribute, Facet or structural field; `_GONE` when nothing is."""
    path = f"{name}.{key if name == 'attributes' else key.rpartition('/')[2]}"
    if not rule.shows(path):
        return _GONE
    if name != "facets":
        return member
    return {field: value for field, value in member.items() if rule.shows(f"{path}.{field}")} or _GONE
