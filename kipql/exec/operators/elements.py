"""Element patterns: Concept, Assertion, Evidence, Activity (specification §43.1, §43.4-§43.6).

Candidates come from the shortest posting, then every test is checked. A field that is absent matches nothing,
also no null. Default recall leaves out what is not active (see `nodes.Elements`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kipql.exec import access, fields
from kipql.exec.context import Context
from kipql.exec.frames import Frame, Step, extended, known_term, taken_back
from kipql.exec.terms import boxed, constant_terms, id_term, known_element, symbol_value
from kipql.model import CONCEPT, PROPOSITION
from kipql.plan import nodes
from kipql.plan.cells import Cell, Value
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View


# --- reference fields ---------------------------------------------------------------------------------


def referred(view: "View", field: str, row: int) -> int | None:
    """The element that a reference field of a row names."""
    if field == "asserted_by":
        return view.assertion(row).actor
    if field == "proposition":
        return view.assertion(row).proposition * 8 + PROPOSITION
    code: int | None = getattr(view.record(row * 8 + CONCEPT), field)
    return code


def referring(view: "View", field: str, code: int) -> Iterable[int] | None:
    """Rows whose reference field names an element; None where there is no posting."""
    if field == "proposition":
        return view.assertions_of(code >> 3) if code & 7 == PROPOSITION else ()
    return view.assertions_by(code) if field == "asserted_by" else None


# --- recall -------------------------------------------------------------------------------------------


def recalled(view: "View", kind: int, row: int, recall: str, hidden: frozenset[int]) -> bool:
    """Whether recall lets a row through; naming a merged Concept by its id does."""
    return row not in hidden or (recall == "identity" and view.state(row * 8 + kind) == "merged")


# --- the closure --------------------------------------------------------------------------------------


_CONSTANT = nodes.Equals | nodes.KeyIn | nodes.IdIn | nodes.HasLength | nodes.IsObject


class _Pattern:
    """An element pattern in one run."""

    def __init__(self, operator: nodes.Elements, context: Context) -> None:
        self.operator = operator
        self.context = context
        self.kind = operator.kind
        self.constants = [test for test in operator.tests if isinstance(test, _CONSTANT)]
        self._matchers = {
            test: access.key_matcher(self._listed(test)) for test in self.constants if isinstance(test, nodes.KeyIn)
        }
        self._among = {
            test: access.id_matcher(self.kind, self._listed(test))
            for test in self.constants
            if isinstance(test, nodes.IdIn)
        }
        self.refers = [(test.field, self._term(test.term)) for test in operator.tests if isinstance(test, nodes.Refers)]
        self.binds = [test for test in operator.tests if isinstance(test, nodes.Binds)]
        self.types = {context.lineage(test.symbol) for test in operator.tests if isinstance(test, nodes.HasType)}
        self.only = [
            known_element(context.view, context.values[test.slot.index], operator.kind, test.slot.where)
            for test in operator.tests
            if isinstance(test, nodes.IsElement)
        ]

    def _term(self, term: nodes.Variable | nodes.Constant) -> int | tuple[int, ...]:
        """A slot of the frame, or the codes of a constant. A record's reference is never widened by merges."""
        if isinstance(term, nodes.Variable):
            return self.context.index[term.name]
        return constant_terms(
            self.context.view, self.context.values[term.slot.index], False, True, False, term.slot.where
        )

    def candidates(self, frame: Frame) -> Iterable[int]:
        if self.only:
            return () if self.only[0] is None else (self.only[0] >> 3,)
        found = [self._posting()]
        for field, term in self.refers:
            if isinstance(term, tuple):
                codes: Iterable[int] = term
            else:
                bound, code = known_term(self.context, frame, term)
                if not bound:
                    continue
                codes = () if code is None else (code,)
            lists = [referring(self.context.view, field, code) for code in codes]
            if None not in lists:
                found.append(sorted(row for rows in lists for row in rows))  # type: ignore[union-attr]
        best = access.shortest(*found)
        return self.context.view.rows(self.kind) if best is None else best

    def _posting(self) -> Sequence[int] | None:
        view, values, tests = self.context.view, self.context.values, self.operator.tests
        lineage = next(iter(self.types), None)
        found = []
        ids = access.ids_test(tests)
        if ids is not None:
            return access.rows_by_ids(view, self.kind, self._listed(ids), self.context.budget.spend)
        if self.kind == CONCEPT:
            key, keys, name = access.key_test(tests), access.keys_test(tests), access.name_test(tests)
            if key is not None:
                found.append(access.rows_by_key(view, values[key.slot.index], lineage))
            if keys is not None:
                return access.rows_by_keys(view, self._listed(keys), lineage, self.context.budget.spend)
            if name is not None:
                found.append(access.rows_by_name(view, values[name.slot.index]))
            if lineage is not None:
                found.append(view.of_type(lineage))
        for test in access.value_tests(self.kind, tests):
            rows = access.rows_by_value(view, self.kind, test.steps, values[test.slot.index])  # type: ignore[arg-type]
            if rows is not None:
                found.append(rows)
        return access.shortest(*found)

    def holds(self, row: int) -> bool:
        """Whether a row satisfies every constant test."""
        code = row * 8 + self.kind
        if any(only != code for only in self.only):
            return False
        if self.types and not self._typed(code):
            return False
        return all(self._constant(test, row) for test in self.constants)

    def _typed(self, code: int) -> bool:
        return all(has_type(self.context.view, code >> 3, lineage) for lineage in self.types)

    def _listed(self, test: nodes.KeyIn | nodes.IdIn) -> Json:
        values = self.context.values
        if isinstance(test.listed, nodes.Const):
            return values[test.listed.slot.index]
        return [values[item.slot.index] for item in test.listed.items if isinstance(item, nodes.Const)]

    def _constant(self, test: _CONSTANT, row: int) -> bool:
        view, kind = self.context.view, self.kind
        if isinstance(test, nodes.IdIn):
            return self._among[test](row)
        if isinstance(test, nodes.KeyIn):
            return self._matchers[test](fields.reader(kind, ("key",))(view, row))
        value = fields.reader(kind, test.steps)(view, row)
        if isinstance(test, nodes.HasLength):
            return has_length(value, test.length)
        if isinstance(test, nodes.IsObject):
            return is_object(value)
        return constant_holds(view, kind, row, test, value, self.context.values[test.slot.index])

    def bindings(self, row: int) -> list[tuple[int, Cell]] | None:
        """What a row binds besides itself; None when a field is absent or a reference does not match."""
        view, context = self.context.view, self.context
        found: list[tuple[int, Cell]] = []
        for field, term in self.refers:
            code = referred(view, field, row)
            if code is None or (isinstance(term, tuple) and code not in term):
                return None
            if isinstance(term, int):
                found.append((term, code))
        for test in self.binds:
            present, cell = field_cell(view, self.kind, row, test, context.shapes[test.variable])
            if not present:
                return None
            found.append((context.index[test.variable], cell))
        return found


def constant_holds(view: "View", kind: int, row: int, test: nodes.Equals, value: Json, constant: Json) -> bool:
    """One field against a constant."""
    if test.scalar:
        return fields.is_equal(value, constant)
    if value is None:
        return constant is None and fields.explicit_null(view, kind, row, test.steps)
    return constant is not None and fields.matches(value, constant)


def field_cell(view: "View", kind: int, row: int, test: nodes.Binds, shape: str) -> tuple[bool, Cell]:
    """Whether a field is there, and the cell that a variable of a shape gets from it."""
    value = fields.reader(kind, test.steps)(view, row)
    if value is None:
        return fields.explicit_null(view, kind, row, test.steps), Value(None)
    if test.natural == "symbol":
        if shape == "symbol":
            return True, view.symbol(value)
        return True, Value(symbol_value(view, value))
    if test.natural == "id" and shape == "term":
        code = id_term(view, value)
        return code is not None, code
    return True, boxed(view, value)


def step(operator: nodes.Elements, context: Context) -> Step:
    """The closure of an element pattern."""
    pattern = _Pattern(operator, context)
    at, view, kind, recall = context.index[operator.variable], context.view, operator.kind, operator.recall
    hidden = frozenset() if recall == "any" else context.left_out(kind)
    spend = context.budget.spend

    def run(frame: Frame) -> Iterator[None]:
        bound, code = known_term(context, frame, at)
        if bound:
            rows: Iterable[int] = () if code is None or code < 0 or code & 7 != kind else (code >> 3,)
        else:
            rows = pattern.candidates(frame)
        for row in rows:
            spend()
            if not recalled(view, kind, row, recall, hidden) or not pattern.holds(row):
                continue
            binding = pattern.bindings(row)
            if binding is None:
                continue
            added = extended(context, frame, [(at, row * 8 + kind), *binding])
            if added is not None:
                yield
                taken_back(frame, added)

    return run


# --- tests that the generated source calls ------------------------------------------------------------


def has_type(view: "View", row: int, lineage: int) -> bool:
    """Whether a Concept is of a Type lineage (§20.14)."""
    number = view.symbol(view.record(row * 8 + CONCEPT).schema)  # type: ignore[union-attr]
    return number is not None and view.lineage_of[number] == lineage


def has_length(value: Json, length: int) -> bool:
    """Whether a field is an array of so many items."""
    return isinstance(value, list | tuple) and len(value) == length


def is_object(value: Json) -> bool:
    """Whether a field is an object."""
    return isinstance(value, Mapping)


def merged_by_id(view: "View", row: int) -> bool:
    """Whether a Concept that recall leaves out is merged: naming it by its id still reaches it."""
    return view.state(row * 8 + CONCEPT) == "merged"


def estimate(operator: nodes.Elements, context: Context) -> int:
    """How many candidates the pattern has as the first of a join."""
    pattern = _Pattern(operator, context)
    rows = pattern.candidates([None] * len(context.index))
    return len(rows)  # type: ignore[arg-type]
