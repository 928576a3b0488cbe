"""Counting Assertions in groups over their packed records, many at a time (architecture §4.4; `plan.rules.scans`).

The records are read in parts that stay in the processor's cache, as they lie in memory; what a part holds is
remembered (`zones`), so that a later count reads only the parts that its limits split. NumPy is imported by the first
such count. It answers exactly what the operators answer, and says None where it would have to look at more than
columns: a merge or a rename, what is withheld from the caller, an erased element, an end that is a range, a Predicate
that the Space wrote in two versions, a constant that is no timestamp, number or registered name.
"""

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kipql.exec.direct import is_direct
from kipql.exec.hot import instant_or_none
from kipql.exec.operators.zones import FLAGS, zones_of
from kipql.exec.terms import NO_LINEAGE, lineage_number, symbol_number, symbol_value, term_value
from kipql.exec.uniqueness import proven_unique
from kipql.limits import Budget
from kipql.model import ASSERTION, MODES, PROPOSITION, STANCES
from kipql.plan import nodes
from kipql.store.records import END_MASK, EXACT, FROM_SHIFT, MODE_MASK, MODE_SHIFT, SIZE, STANCE_MASK, UNTIL_SHIFT

if TYPE_CHECKING:
    import numpy as np

    from kipql.exec.context import Values
    from kipql.store.graph import Graph
    from kipql.store.view import View

    Column = np.ndarray[Any, Any]
    Test = Callable[["Column", int, int], "Column"]

LEAST = 4_096  # Assertions from which columns are worth it
PART = 8_192  # records that are read at once
_FIELDS = [("ended", "<u4"), ("flags", "<u4"), ("from", "<i8"), ("until", "<i8"), ("actor", "<i4"), ("object", "<i4"),
           ("proposition", "<u4"), ("predicate", "<u4")]  # fmt: skip
_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_NOT = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_FORMS = {"from": FROM_SHIFT, "until": UNTIL_SHIFT}
_NAMES = {"stance": (STANCES, 0, STANCE_MASK), "mode": (MODES, MODE_SHIFT, MODE_MASK)}
_TERM = 1 << 31  # added to a term it is not negative


def counted(plan: nodes.Plan, view: "View", values: "Values", budget: Budget) -> list[tuple[Any, ...]] | None:
    """A row per group, in the order of what groups are numbered by; None where the operators have to answer."""
    scan = plan.scan
    if scan is None or view.bounds[ASSERTION] < LEAST or view.seq > len(view.graph.history):
        return None
    if not is_direct(view) or not proven_unique(plan, view) or _erased(view):
        return None
    if view.has_merges and not {"subject", "object"}.isdisjoint(scan.keys):
        return None
    try:
        import numpy as np
    except ImportError:
        return None
    tests = _tests(scan, view, values, np)
    if tests is None:
        return None
    groups = _Groups(scan.keys, view, np)
    records = np.frombuffer(view.graph.assertions.hot, np.dtype(_FIELDS), count=view.bounds[ASSERTION])
    assert records.itemsize == SIZE
    read = _decided(tests, records, groups, view, np)
    budget.spend(len(read))
    for start in (np.flatnonzero(read) * PART).tolist():
        part = records[start : start + PART]
        budget.spend(len(part))
        kept = None
        for test in tests.every:
            passed = test(part, start, start + len(part))
            kept = passed if kept is None else kept & passed
        groups.add(part, kept)
    found = groups.found()
    return None if found is None else [_row(plan, keys, count) for keys, count in found]


def _row(plan: nodes.Plan, keys: Sequence[Any], count: int) -> tuple[Any, ...]:
    left = iter(keys)
    return tuple(count if isinstance(item, nodes.Aggregate) else next(left) for item in plan.items)


def _erased(view: "View") -> bool:
    """Whether something was purged: its columns stay, and say what is gone from the past too (§60.3)."""
    graph = view.graph
    for kind in (ASSERTION, PROPOSITION):
        if kind in graph.ever_left:
            for row in graph.ever_left[kind].get(None, view.bounds[kind]):
                record = graph.head(row * 8 + kind)
                if record is not None and record.state == "purged":
                    return True
    return False


class _Tests(NamedTuple):
    """What a record has to pass.

    every     each as a function of a part, its first row and the row after it
    limits    the ordered columns among them
    mask, wanted  what the flags have to be
    numbers   of the lineages of Predicates that are named, None for every one
    hidden    rows of Assertions that are left out, in order
    whole     whether nothing else is asked
    """

    every: "list[Test]"
    limits: list[tuple[str, str, int | float]]
    mask: int
    wanted: int
    numbers: list[int] | None
    hidden: "Column | None"
    whole: bool


def _decided(tests: _Tests, records: "Column", groups: "_Groups", view: "View", np: Any) -> "Column":
    """Count what passes in parts that pass their limits whole; which parts are still to be read."""
    read: Column = np.ones(-(-len(records) // PART), bool)
    known = zones_of(view.graph, np) if tests.whole and not groups.by_end else None
    if known is None:
        return read
    assertions = view.graph.assertions
    beside = {"asserted_at": np.frombuffer(assertions.asserted_at, "q"),
              "confidence": np.frombuffer(assertions.confidence, "d")}  # fmt: skip
    known = known.upto(records, beside, PART)
    full = known.made
    none, every = np.zeros(full, bool), np.ones(full, bool)
    for column, op, limit in tests.limits:
        least, most = known.least[column], known.most[column]
        every &= _OPS[op](least, limit) & _OPS[op](most, limit)
        none |= _OPS[_NOT[op]](least, limit) & _OPS[_NOT[op]](most, limit)
    if tests.hidden is not None:
        touched = tests.hidden[tests.hidden < full * PART] // PART
        every[touched] = False
    kinds, chosen = known.kind, every[known.zone]
    chosen &= (kinds & tests.mask) == tests.wanted
    if tests.numbers is not None:
        chosen &= np.isin(kinds // FLAGS, tests.numbers)
    groups.add_kinds(kinds[chosen], known.count[chosen])
    read[:full] = ~(none | every)
    return read


def _tests(scan: nodes.Scan, view: "View", values: "Values", np: Any) -> _Tests | None:
    """What a record has to pass; None where a constant is not what columns can say."""
    graph, found = view.graph, list[Any]()
    limits: list[tuple[str, str, int | float]] = []
    numbers = None
    mask = wanted = 0
    for what, slot in scan.named:
        names, shift, bits = _NAMES[what]
        name = values[slot.index]
        if not isinstance(name, str) or name not in names:
            return None
        bit = names.index(name) << shift
        if wanted & mask & bits << shift != bit & mask:
            return None  # two different ones
        mask, wanted = mask | bits << shift, wanted | bit
    for column, op, slot in scan.limits:
        limit = _constant(column, values[slot.index])
        if limit is None or (column in _FORMS and graph.assertions.intervals):
            return None
        if column in _FORMS:
            mask, wanted = mask | END_MASK << _FORMS[column], wanted | EXACT << _FORMS[column]
            found.append(_ordered(column, _OPS[op], limit))
        else:
            whole = np.frombuffer(getattr(graph.assertions, column), "d" if column == "confidence" else "q")
            found.append(_beside(whole, _OPS[op], limit))
        limits.append((column, op, limit))
    if scan.predicates:
        numbers = [_number(symbol, view, values) for symbol in scan.predicates]
        found.append(lambda part, start, end: np.isin(part["predicate"], numbers))
    if mask:
        found.append(lambda part, start, end: part["flags"] & mask == wanted)
    left = view.left_out(ASSERTION)
    hidden = None if left is None else np.array(sorted(left), np.int64)
    if hidden is not None:
        found.append(_outside(np, hidden))
    left = view.left_out(PROPOSITION) if scan.propositions else None
    if left is not None:
        rows = np.array(sorted(left))
        found.append(lambda part, start, end: ~np.isin(part["proposition"], rows))
    return _Tests(found, limits, mask, wanted, numbers, hidden, left is None)


def _constant(column: str, value: object) -> int | float | None:
    if column != "confidence":
        return instant_or_none(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _ordered(column: str, op: Callable[[Any, Any], Any], limit: int | float) -> "Test":
    return lambda part, start, end: op(part[column], limit)


def _beside(whole: Any, op: Callable[[Any, Any], Any], limit: int | float) -> "Test":
    return lambda part, start, end: op(whole[start:end], limit)


def _outside(np: Any, hidden: Any) -> "Test":
    def test(part: Any, start: int, end: int) -> Any:
        kept = np.ones(len(part), bool)
        first, last = np.searchsorted(hidden, (start, end))
        kept[hidden[first:last] - start] = False
        return kept

    return test


def _number(symbol: nodes.SymbolRef, view: "View", values: "Values") -> int:
    if symbol.slot is None:
        return NO_LINEAGE if symbol.lineage is None else lineage_number(view, symbol.lineage)
    return symbol_number(view, symbol.group, values[symbol.slot.index], symbol.slot.where)


class _Groups:
    """Counts by group; a group is one number, made of the numbers of its keys."""

    def __init__(self, keys: Sequence[str], view: "View", np: Any) -> None:
        self._np, self._view = np, view
        self._keys = keys
        lineages = len(view.graph.symbols.lineages)
        self._sizes = [{"predicate": lineages, "stance": 4, "mode": 8}.get(key, 1) for key in keys]
        self._end = next((key for key in keys if key in ("subject", "object")), None)
        size = 1
        for each in self._sizes:
            size *= each
        self._size = size
        self._counts = np.zeros(size, np.int64)
        self._listed: list[Any] = []

    @property
    def by_end(self) -> bool:
        """Whether an endpoint is among the keys."""
        return self._end is not None

    def add_kinds(self, kinds: "Column", counts: "Column") -> None:
        """Count claims of these kinds (`zones`)."""
        np = self._np
        group: Any = np.zeros(len(kinds), np.int64)
        flags = kinds % FLAGS
        for key, size in zip(self._keys, self._sizes, strict=True):
            number = kinds // FLAGS if key == "predicate" else flags >> _NAMES[key][1] & _NAMES[key][2]
            group = group * size + number
        self._counts += np.bincount(group, counts, self._size).astype(np.int64)

    def add(self, part: "Column", kept: "Column | None") -> None:
        """Count the records of a part that passed."""
        np, group = self._np, None
        for key, size in zip(self._keys, self._sizes, strict=True):
            if size > 1:
                number = self._numbers(key, part)
                group = number if group is None else group * size + number
        if self._end is not None:
            terms = self._terms(self._end, part) + _TERM
            group = terms * self._size if group is None else terms * self._size + group
            self._listed.append(group if kept is None else group[kept])
        elif group is None:
            self._counts[0] += len(part) if kept is None else int(np.count_nonzero(kept))
        elif kept is None:
            self._counts += np.bincount(group, minlength=self._size)
        else:
            group *= 2  # what passed is odd: one pass, no copy of a selection
            group += kept
            self._counts += np.bincount(group, minlength=2 * self._size)[1::2]

    def found(self) -> list[tuple[list[Any], int]] | None:
        """(keys, count) of every group; None where a Predicate has two exact refs."""
        np = self._np
        if self._end is not None:
            numbers, counts = np.unique(np.concatenate(self._listed), return_counts=True)
        else:
            numbers = np.flatnonzero(self._counts) if self._keys else np.zeros(1, np.int64)
            counts = self._counts[numbers]
        found = []
        refs = _refs(self._view.graph)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            keys = self._values(number, refs)
            if keys is None:
                return None
            found.append((keys, count))
        return found

    def _values(self, number: int, refs: dict[int, list[str]]) -> list[Any] | None:
        term, rest = divmod(number, self._size)
        values: list[Any] = []
        for key, size in zip(reversed(self._keys), reversed(self._sizes), strict=True):
            at = 0
            if size > 1:
                rest, at = divmod(rest, size)
            if key in ("subject", "object"):
                values.append(term_value(self._view, term - _TERM))
            elif key == "predicate":
                if len(refs[at]) > 1:
                    return None
                values.append(symbol_value(self._view, refs[at][0]))
            else:
                values.append(_NAMES[key][0][at])
        return values[::-1]

    def _numbers(self, key: str, part: "Column") -> "Column":
        if key == "predicate":
            found: Column = part["predicate"].astype(self._np.intp)
            return found
        _, shift, bits = _NAMES[key]
        named: Column = (part["flags"] >> shift & bits).astype(self._np.intp)
        return named

    def _terms(self, key: str, part: "Column") -> "Column":
        np = self._np
        if key == "object":
            objects: Column = part["object"].astype(np.int64)
            return objects
        subjects = np.frombuffer(self._view.graph.propositions.subjects, np.intc)
        found: Column = subjects[part["proposition"]].astype(np.int64)
        return found


def _refs(graph: "Graph") -> dict[int, list[str]]:
    """The exact refs of each lineage number."""
    found: dict[int, list[str]] = {}
    for number, lineage in enumerate(graph.symbols.lineage_of):
        found.setdefault(lineage, []).append(graph.symbols.refs[number])
    return found
