"""BELIEF and BELIEF SLOT on a lake: the distinct targets of the solutions, projected here (specification §46, §47).

The solutions are run and kept; their targets come out, a chunk at a time, and go through the process's own `Believer`
over what was fetched of them (`HeldView`); the beliefs go back as a table, joined where a solution has the target.
A target is projected once, however many solutions have it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from kipql.belief.read import Absent
from kipql.exec import fields
from kipql.exec.operators.belief import Believer
from kipql.lake.cells import BELIEF, EDGE, ELEMENT, SYMBOL, text
from kipql.lake.layout import Kind
from kipql.lake.lower.draft import Draft
from kipql.lake.lower.sql import col, eq, everything, named, same, table
from kipql.lake.lower.steps import Lowering, Relation
from kipql.lake.lower.wants import Want, unsupported
from kipql.model import PROPOSITION, kind_of
from kipql.plan import nodes
from kipql.plan.cells import Cell, Value, Virtual
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.exec.beliefs import Predicate
    from kipql.lake.reading import LakeReading

CHUNK = 5_000
"""Targets that are in memory at once, with all that they rest on; four times as many where only statuses are read."""

Row = tuple[Any, ...]


def believe(low: Lowering, operator: nodes.Projected, relation: Relation) -> Relation:
    """The solutions with their beliefs."""
    terms = _terms(operator)
    places = {role: low.columns[name] for role, name in terms.items() if name in relation.scope}
    keys = list(dict.fromkeys(places.values()))
    alone = relation.name in low.units
    if not alone:
        relation = replace(relation, name=low.keep(everything().from_(table(relation.name))))
    wants = list(low.along(operator.variable))
    targets = [()] if alone else _targets(low, relation, keys)
    rows = _beliefs(low, operator, terms, places, targets, [want for want, _ in wants])
    object_ = terms.get("object")
    columns: list[tuple[str, Kind]] = [(f"k{key}", _kind(low, key)) for key in keys]
    columns += [("belief", "string"), ("object", "string" if object_ is None else _kind(low, low.columns[object_]))]
    columns += [(f"w{at}", "string") for at in range(len(wants))]
    draft = Draft(low, relation)
    draft.join(low.engine.put(rows, columns), "b")
    sure = {low.columns[name] for name, bound in relation.scope.items() if bound}
    for key in keys:
        draft.when((eq if key in sure else same)(col(f"k{key}", "b"), col(key, "r")))
    draft.bind(operator.variable, col("belief", "b"), {want: col(f"w{at}", "b") for at, (want, _) in enumerate(wants)})
    if object_ is not None and not relation.scope.get(object_):
        draft.bind(object_, col("object", "b"))
    return draft.done()


def _terms(operator: nodes.Projected) -> dict[str, str]:
    """The variables of a projection by what they are in it."""
    roles = {role: getattr(operator, role, None) for role in ("proposition", "subject", "predicate", "object")}
    return {role: term.name for role, term in roles.items() if isinstance(term, nodes.Variable)}


def _kind(low: Lowering, column: str) -> Kind:
    terms = {low.columns[name] for name, shape in low.shapes.items() if shape == "term"}
    return "int64" if column in terms else "string"


def _targets(low: Lowering, relation: Relation, keys: list[str]) -> list[Row]:
    """The distinct targets of the solutions, in order, so that those of a chunk lie together in the files."""
    if not keys:
        return [()] if low.engine.count(relation.name) else []
    select = exp.select(*(named(col(key), key) for key in keys)).from_(table(relation.name)).distinct()
    return low.engine.rows(select.order_by(*(col(key) for key in keys)))


def _beliefs(
    low: Lowering,
    operator: nodes.Projected,
    terms: Mapping[str, str],
    places: Mapping[str, str],
    targets: list[Row],
    wants: list[Want],
) -> list[Row]:
    """(target, belief, object, wants) of every belief about a target."""
    reading: LakeReading = low.values[operator.reading.index]
    reading.believes = True
    at = {column: place for place, column in enumerate(dict.fromkeys(places.values()))}
    rows: list[Row] = []
    statuses = _statuses(wants)
    size = 4 * CHUNK if statuses else CHUNK
    for begin in range(0, len(targets), size):
        chunk = targets[begin : begin + size]
        reading.turn()
        believer = LakeBeliever(operator, reading.view, low.values, reading.budget)  # type: ignore[arg-type]
        asked = []
        for target in chunk:
            cells = {role: _cell(low, terms[role], target[at[column]], operator) for role, column in places.items()}
            asked.append((target, cells))
        believer.prefetch([cells for _, cells in asked], statuses=statuses)
        for target, cells in asked:
            reading.budget.spend()
            for binding, object_ in believer.made(cells):
                along = (_want(believer.view, binding, want) for want in wants)
                given = target[at[places["object"]]] if "object" in places else None
                bound = _object(low, terms, believer.view, object_) if given is None else given
                rows.append((*target, _key(binding), bound, *along))
        reading.check()
        for ref in believer.refs():
            low.view.know_ref(ref)
    reading.turn()
    return rows


_QUICK = frozenset((("status",), ("candidate_status",), ("slot_status",), ("accepted_values",)))


def _statuses(wants: list[Want]) -> bool:
    """Whether nothing but statuses is read of the beliefs."""
    return all(want.what in ("literal", "ref", "bound") or want.steps in _QUICK for want in wants)


class LakeBeliever(Believer):
    """A `Believer` whose cells come from a lake's columns: a symbol is its lineage."""

    __slots__ = ()

    def made(self, cells: Mapping[str, Cell]) -> Iterator[tuple[Virtual, Cell]]:
        """The beliefs of a target, each with the cell of its object."""
        subject, predicate, object_ = (cells.get(role) for role in ("subject", "predicate", "object"))
        match self.operator:
            case nodes.Belief():
                yield from ((one, None) for one in self.of(cells.get("proposition"), None))
            case nodes.SlotBelief():
                yield from ((one, None) for one in self.slots(subject, predicate, None))
            case _:
                yield from self.beliefs(subject, predicate, object_, None)

    def prefetch(self, targets: list[dict[str, Cell]], *, statuses: bool) -> None:
        """Fetch what the targets rest on, all at once. What is wrong with one of them is said when it is its turn.

        statuses  whether nothing else of them is read, so that a plain slot needs no more than columns
        """
        view: Any = self.view
        slots: set[tuple[int, str]] = set()
        if isinstance(self.operator, nodes.Belief):
            codes = [code for cells in targets if (code := cells.get("proposition")).__class__ is int]
            rows = [code >> 3 for code in codes if code >= 0 and kind_of(code) == PROPOSITION]
            view.closure.places(rows)
            for placed in (view.closure.propositions[row] for row in set(rows)):
                slots.add((view.canonical(placed.subject), view.lineage_of[placed.predicate]))
        for cells in targets if not isinstance(self.operator, nodes.Belief) else ():
            subject, predicate = cells.get("subject"), cells.get("predicate")
            subjects = (subject,) if isinstance(subject, int) else self.subjects
            if self.predicate is not None:
                lineage = self.predicate.definition.lineage
            elif isinstance(predicate, _Lineage):
                lineage = str(predicate)
            else:
                continue
            slots |= {(view.canonical(one), lineage) for one in subjects if isinstance(one, int) and one >= 0}
        reading: Any = self.reading
        view.closure.need(slots=reading.plainly(slots) if statuses else slots)

    def refs(self) -> set[str]:
        """The exact refs of the Predicates that were projected."""
        return {each.definition.ref for each in (*self._known.values(), self.predicate) if each is not None}

    def _cell_predicate(self, cell: Cell) -> "Predicate":
        if isinstance(cell, _Lineage):
            return self._named(str(cell))
        return super()._cell_predicate(cell)


class _Lineage(str):
    """The cell of a symbol."""


def _cell(low: Lowering, name: str, raw: Any, operator: nodes.Projected) -> Any:
    """The cell that the process has for what a column holds."""
    shape = low.shapes[name]
    if raw is None:
        return None
    if shape == "term":
        return int(raw)
    if shape == "symbol":
        return _Lineage(raw)
    match raw[:1]:
        case mark if mark == ELEMENT:
            return int(raw[1:])
        case mark if mark == EDGE:
            return Value(json.loads(raw[1:]))
        case mark if mark == SYMBOL and getattr(operator, "predicate", None) == nodes.Variable(name):
            return _Lineage(raw[1:])
        case mark if mark in (SYMBOL, BELIEF):
            what = "a Schema symbol" if mark == SYMBOL else "a belief"
            raise unsupported(f"{what} as a term of BELIEF", operator.where)
        case _:
            return Value(json.loads(raw))


def _object(low: Lowering, terms: Mapping[str, str], view: Any, cell: Cell) -> Any:
    """The column of an object's cell."""
    name = terms.get("object")
    if name is None or cell is None:
        return None
    if isinstance(cell, int):
        if low.shapes[name] == "term":
            return cell
        return f"{ELEMENT}{cell}" if cell >= 0 else text(view.literal(cell))
    return text(cell.json) if isinstance(cell, Value) else None


def _want(view: Any, binding: Virtual, want: Want) -> str | None:
    if want.what == "whole":
        return text(binding.json())
    if want.what != "member":
        return None
    found = fields.member(view, binding, want.steps)
    return None if found is None else text(found)


def _key(binding: Virtual) -> str:
    """The cell of a belief: two are one when their texts are."""
    return BELIEF + text([_canonical(part) for part in binding.key])


def _canonical(part: object) -> Json:
    """What makes two terms one, as JSON."""
    return {"absent": _numbers(part.json)} if isinstance(part, Absent) else part


def _numbers(value: Any) -> Json:
    if isinstance(value, Mapping):
        return {str(name): _numbers(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
