"""What beliefs on a lake rest on, fetched in batches, round by round until nothing new is cited (§21, §23, §57.6).

A slot brings its Propositions under every identity of its subject, their Assertions, and what those come from:
Evidence, the Activities that put things out and their inputs, upwards without end; the pins of an input contract, and
the slots that tell how long a pinned Assertion holds. An element that is asked for and not here yet is fetched then,
so that leaving one out here costs a query and nothing else.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kipql.lake import layout
from kipql.lake.lower.sql import Sql, among, col, eq, every, everything, lit, table
from kipql.lake.lower.wants import unsupported
from kipql.lake.records import record_of
from kipql.lake.view import LISTED
from kipql.model import (
    ACTIVITY,
    ASSERTION,
    CONCEPT,
    EVIDENCE,
    KINDS,
    PROPOSITION,
    Activity,
    AnyRecord,
    Assertion,
    Evidence,
    kind_of,
    parse_id,
)
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.lake.view import LakeView

Slot = tuple[int, str]
"""A subject and the lineage of a Predicate."""


class Placed(NamedTuple):
    """A Proposition: its ends, its exact Predicate, and why recall leaves it out."""

    subject: int
    predicate: str
    object: int
    unrecalled: str | None


class Closure:
    """Everything that was fetched of a lake's Space at one sequence.

    whole  also the Assertions that have ended: only what explains a belief looks at them
    """

    def __init__(self, lake: "LakeView", whole: bool) -> None:
        self.lake = lake
        self.records: dict[int, AnyRecord | None] = {}
        self.producers: dict[int, list[int]] = {}
        self.propositions: dict[int, Placed] = {}
        self.slots: dict[Slot, list[int]] = {}
        self.claims: dict[int, list[int]] = {}  # Proposition row -> Assertion rows
        self._whole = whole
        self._rooted: set[Slot] = set()  # slots whose claims were followed
        self._followed: set[int] = set()
        self._payloads: set[int] = set()  # Evidence that is read with its payload: selectors
        self._slots_left: dict[Slot, bool] = {}
        self._left: set[int] = set()
        self._shown: set[int] = set()  # records without what they come from
        self._pins: list[int] = []  # Assertions whose slots tell how long they hold

    def need(self, codes: Iterable[int] = (), slots: Iterable[Slot] = ()) -> None:
        """Fetch elements with what they come from, and slots by a canonical subject with all their claims."""
        self._left |= set(codes) - self._followed
        for slot in slots:
            if slot not in self._rooted:
                self._slots_left[slot] = True
        while self._left or self._slots_left or self._shown:
            self._take_slots()
            self._take_codes()
            self._take_pins()

    def places(self, rows: Iterable[int]) -> None:
        """Fetch Propositions by their rows."""
        self._place("code", [row * 8 + PROPOSITION for row in rows if row not in self.propositions])

    # --- slots

    def outline(self, slots: Iterable[Slot]) -> None:
        """Fetch the Propositions of slots by a canonical subject, under every identity that it has."""
        lake = self.lake
        under = [(code, lineage) for subject, lineage in slots for code in lake.same(subject)]
        fresh = [slot for slot in under if slot not in self.slots]
        refs = [lit(ref) for lineage in sorted({lineage for _, lineage in fresh}) for ref in lake.refs(lineage)]
        found: dict[Slot, list[int]] = {slot: [] for slot in fresh}
        if refs:
            lineages = lake.lineages()
            subjects = sorted({subject for subject, _ in fresh})
            for row in self._place("subject", subjects, among(col("predicate"), refs)):
                placed = self.propositions[row]
                found.setdefault((placed.subject, lineages[placed.predicate]), []).append(row)
        for slot, held in found.items():
            self.slots.setdefault(slot, sorted(held))
        lake.know_literals(self.propositions[row].object for held in found.values() for row in held)

    def _take_slots(self) -> None:
        wanted, self._slots_left = self._slots_left, {}
        if not wanted:
            return
        lake = self.lake
        self.outline(wanted)
        under = {slot: [row for code in lake.same(slot[0]) for row in self.slots[code, slot[1]]] for slot in wanted}
        rows = {row for held in under.values() for row in held}
        self._take_claims([row for row in rows if row not in self.claims])
        objects = {lake.canonical(self.propositions[row].object) for row in rows}
        self._shown |= {code for code in objects if code >= 0 and kind_of(code) == CONCEPT and code not in self.records}
        for slot, rooted in wanted.items():
            if rooted:
                self._rooted.add(slot)
                claims = (claim * 8 + ASSERTION for row in under[slot] for claim in self.claims[row])
                self._left.update(code for code in claims if code not in self._followed)

    def _place(self, key: str, codes: Sequence[int], *conditions: Sql) -> list[int]:
        """Fetch Propositions; their rows."""
        names = ("code", "subject", "predicate", "object", "state", "recalled")
        rows = []
        for code, subject, predicate, object_, state, recalled in self.rows(
            layout.PROPOSITIONS, names, key, codes, *conditions
        ):
            unrecalled = None if recalled else "quarantined" if state == "active" else state
            self.propositions[code >> 3] = Placed(subject, predicate, object_, unrecalled)
            rows.append(code >> 3)
        return rows

    def _take_claims(self, propositions: Sequence[int]) -> None:
        """The Assertions on Propositions."""
        self.claims.update((row, []) for row in propositions)
        standing = () if self._whole else (eq(col("status"), lit("active")),)
        codes = [row * 8 + PROPOSITION for row in propositions]
        names = ("code", "element", "proposition")
        for code, element, proposition in self.rows(layout.ASSERTIONS, names, "proposition", codes, *standing):
            if code not in self.records:
                self.records[code] = self._record(code, element)
            self.claims[proposition >> 3].append(code >> 3)
        for row in propositions:
            self.claims[row].sort()

    # --- elements and where they come from

    def _take_codes(self) -> None:
        codes, self._left = self._left - self._followed, set()
        shown, self._shown = self._shown, set()
        self._followed |= codes
        self._fetch([code for code in codes | shown if code not in self.records])
        known = [code for code in codes if self.records[code] is not None]
        self._take_producers([code for code in known if code not in self.producers])
        for code in known:
            self._follow(self.producers[code])
            self._upstream(code)

    def _upstream(self, code: int) -> None:
        """What an element names as what it comes from."""
        match self.records[code]:
            case Assertion(evidence=evidence):
                self._follow(edge.target for edge in evidence if edge.role in (None, "support"))
            case Evidence(source=source, generated_by=generated_by):
                self._follow(edge.target for edge in source if kind_of(edge.target) == EVIDENCE)
                self._follow(edge.target for edge in generated_by)
            case Activity(inputs=inputs, facets=facets):
                self._follow(edge.target for edge in inputs)
                for facet in facets.values():
                    self._contract(facet)
            case _:
                pass

    def _contract(self, basis: Mapping[str, Any]) -> None:
        """The pins of an input contract, and the selectors of its query dependencies (§57.6, §57.7)."""
        for group in _listed(basis, "groups"):
            pins = [code for pin in _listed(group, "pins") if (code := _named(pin, "id")) is not None]
            self._follow(pins)
            self._pins += [code for code in pins if kind_of(code) == ASSERTION]
        for query in _listed(basis, "queries"):
            code = _named(query.get("selector"), "artifact_ref")
            if code is not None and kind_of(code) == EVIDENCE and code not in self._payloads:
                self._payloads.add(code)
                self.records.pop(code, None)
                self._followed.discard(code)
                self._left.add(code)

    def _follow(self, codes: Iterable[int]) -> None:
        self._left.update(code for code in codes if code not in self._followed)

    def _take_pins(self) -> None:
        """The slots of pinned Assertions, once it is known where they are: they end them (§25.4)."""
        pins, self._pins = self._pins, []
        for pin in pins:
            if pin not in self.records:
                self._pins.append(pin)  # it is among those that are fetched next
                continue
            record = self.records[pin]
            if not isinstance(record, Assertion):
                continue
            self._follow((record.proposition,))
            self.places((record.proposition >> 3,))
            placed = self.propositions[record.proposition >> 3]
            slot = (self.lake.canonical(placed.subject), self.lake.lineages()[placed.predicate])
            if slot not in self.slots:
                self._slots_left.setdefault(slot, False)

    def _take_producers(self, codes: Sequence[int]) -> None:
        """The Activities that put elements out, in creation order."""
        self.producers.update((code, []) for code in codes)
        found = self.rows(layout.EDGES, ("code", "target"), "target", codes, eq(col("field"), lit("outputs")))
        for producer, target in sorted(set(found)):
            if kind_of(producer) == ACTIVITY:
                self.producers[target].append(producer)

    def _fetch(self, codes: Iterable[int]) -> None:
        by_kind: dict[int, list[int]] = {}
        for code in codes:
            self.records[code] = None
            if 0 <= code & 7 < len(KINDS):
                by_kind.setdefault(code & 7, []).append(code)
        for kind, listed in by_kind.items():
            names = ("code", "element", "object") if kind == PROPOSITION else ("code", "element")
            payloads = self._selectors(listed) if kind == EVIDENCE else {}
            for code, element, *term in self.rows(layout.STATE_TABLES[kind], names, "code", listed):
                self.records[code] = self._record(code, element, term[0] if term else None, payloads.get(code))

    def _selectors(self, codes: Iterable[int]) -> dict[int, Json]:
        wanted = [code for code in codes if code in self._payloads]
        return {
            code: json.loads(text) for code, text in self.rows(layout.PAYLOADS, ("code", "payload"), "code", wanted)
        }

    def _record(self, code: int, element: str, term: int | None = None, payload: Json = None) -> AnyRecord:
        wire = json.loads(element)
        if wire["_system"]["origin"]["channel"] is None:
            raise unsupported("belief over an export whose principal may not read how records came in", None)
        return record_of(code & 7, wire, term, payload)

    # --- queries

    def rows(
        self,
        each: layout.Table,
        names: Sequence[str],
        key: str,
        codes: Sequence[int],
        *conditions: Sql,
        also: Sequence[Sql] = (),
    ) -> list[tuple[Any, ...]]:
        """Columns of what a table holds at the sequence, of the rows whose `key` is one of the codes."""
        from sqlglot import exp

        if not codes or self.lake.empty(each):
            return []
        engine = self.lake.engine
        listed: Sql
        if len(codes) == 1:
            listed = eq(col(key), lit(codes[0]))
        elif len(codes) <= LISTED:  # joined: of an IN list DuckDB asks each row
            values = exp.values([(code,) for code in codes], alias="g", columns=["given"])
            listed = exp.In(this=col(key), query=everything().from_(values).subquery())
        else:
            given = engine.put([(code,) for code in codes], [("given", "int64")])
            listed = exp.In(this=col(key), query=exp.select(col("given")).from_(table(given)).subquery())
        select = self.lake.held(each, *(col(name) for name in names), *also).where(every((listed, *conditions)))
        return engine.rows(select)


def _listed(holder: Any, name: str) -> list[Any]:
    """The objects of an array member; nothing of what has another form."""
    found = holder.get(name) if isinstance(holder, Mapping) else None
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list | tuple) else []


def _named(holder: Any, name: str) -> int | None:
    found = holder.get(name) if isinstance(holder, Mapping) else None
    return parse_id(found) if isinstance(found, str) else None
