"""BELIEF and BELIEF SLOT: a row for each target, joined to the row it came from (specification §46, §47).

A grounded target always answers: one row, `insufficient` where nothing was ever stored. An open object is bound
by the Propositions of the slot that recall lets through, one belief each. What nothing binds in a row is an
error, never an absence.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from kipql.belief.read import Absent, Term
from kipql.errors import KipError
from kipql.exec.beliefs import CandidateBinding, Predicate, SlotBinding
from kipql.exec.context import Context, Values
from kipql.exec.emit import Emitter, Place, Scope, Then
from kipql.exec.frames import Frame, Step, taken_back
from kipql.exec.terms import canonical_terms, constant_terms, literal_json, symbol_lineage, term_of
from kipql.limits import Budget
from kipql.model import PROPOSITION, kind_of
from kipql.plan import nodes
from kipql.plan.cells import Cell, Value, Virtual
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.exec.reading import Reading
    from kipql.store.view import View


class Believer:
    """A projection pattern in one run, for both engines. Cells come in as they are bound, None where free."""

    __slots__ = ("_budget", "_known", "_limit", "objects", "operator", "predicate", "reading", "subjects", "view")

    def __init__(self, operator: nodes.Projected, view: "View", values: Values, budget: Budget) -> None:
        self.operator = operator
        self.view = view
        self.reading: Reading = values[operator.reading.index]
        self.reading.believes = True
        self.reading.projector.budget = budget
        self.subjects: tuple[Term, ...] = ()
        self.objects: tuple[Term, ...] | None = None
        self.predicate: Predicate | None = None
        self._known: dict[str, Predicate] = {}
        self._budget = budget
        self._limit = budget.limits.projections
        if isinstance(operator, nodes.Belief):
            return
        if not isinstance(operator.subject, nodes.Variable):
            self.subjects = constant_subjects(view, operator.subject, values)
        if isinstance(operator.predicate, nodes.SymbolRef):
            self.predicate = self._named(_lineage(view, operator.predicate, values))
        if isinstance(operator, nodes.TupleBelief) and not isinstance(operator.object, nodes.Variable):
            self.objects = _objects(view, operator.object, values)

    # --- what a row gets ------------------------------------------------------------------------------

    def slots(self, subject: Cell, predicate: Cell, held: Cell) -> Iterator[SlotBinding]:
        """The slots of the subject, constant or bound, that agree with what the belief variable holds."""
        named = self.predicate or self._cell_predicate(predicate)
        for term in self.subjects or (self._subject(subject),):
            made = SlotBinding(self.reading.projector, named, term)
            self.reading.touch(made, self._limit)
            if held is None or held == made:
                yield made

    def beliefs(
        self, subject: Cell, predicate: Cell, object_: Cell, held: Cell
    ) -> Iterator[tuple[CandidateBinding, Cell]]:
        """The beliefs of the tuple, each with the cell of its object."""
        named = self.predicate or self._cell_predicate(predicate)
        for term in self.subjects or (self._subject(subject),):
            for value, proposition, cell in self._targets(term, named, object_):
                made = CandidateBinding(self.reading.projector, named, term, value, proposition)
                self.reading.touch(made, self._limit)
                if held is None or held == made:
                    yield made, cell

    def of(self, proposition: Cell, held: Cell) -> Iterator[CandidateBinding]:
        """The belief about a bound Proposition; what is no Proposition matches nothing."""
        if proposition is None:
            _fail("ProjectionTargetUnbound", "BELIEF is about a Proposition, which is unbound in a row", self.operator)
        code = term_of(self.view, proposition)
        if code is None or code < 0 or kind_of(code) != PROPOSITION:
            return
        view, row = self.view, code >> 3
        named = self._named(view.environment.lineage(view.symbol_ref(view.predicates[row])))
        value = view.canonical(view.objects[row])
        made = CandidateBinding(self.reading.projector, named, view.subjects[row], value, code)
        self.reading.touch(made, self._limit)
        if held is None or held == made:
            yield made

    # --- targets --------------------------------------------------------------------------------------

    def _targets(self, subject: Term, predicate: Predicate, object_: Cell) -> Iterator[tuple[Term, int | None, Cell]]:
        """(object term, the Proposition that is meant, the cell of the object)."""
        if self.objects is not None:
            yield from ((value, None, None) for value in self._among(subject, predicate))
        elif object_ is not None:
            yield _term(self.view, object_), None, object_
        else:
            yield from self._stored(subject, predicate)

    def _among(self, subject: Term, predicate: Predicate) -> tuple[Term, ...]:
        """What a constant object means: a text that can be an id or a Literal means what is stored."""
        assert self.objects is not None
        if len(self.objects) < 2:
            return self.objects
        stored = {value for value, _, _ in self._stored(subject, predicate)}
        return tuple(value for value in self.objects if value in stored) or self.objects[-1:]

    def _stored(self, subject: Term, predicate: Predicate) -> Iterator[tuple[Term, int | None, Cell]]:
        """The recalled Propositions of a slot."""
        view, number = self.view, predicate.number
        if number is None or isinstance(subject, Absent):
            return
        hidden = view.left_out(PROPOSITION) or ()
        for row in sorted({row for same in view.same(subject) for row in view.slot(same, number)}):
            self._budget.spend()
            if row not in hidden:
                value = view.canonical(view.objects[row])
                yield value, row * 8 + PROPOSITION, value

    def _subject(self, cell: Cell) -> Term:
        return subject_of(self.view, cell, self.operator)

    def _cell_predicate(self, cell: Cell) -> Predicate:
        """The Predicate that a variable holds: a symbol number, or a boxed symbol."""
        if cell is None:
            self._unbounded("its Predicate")
        if cell.__class__ is int:
            return self._named(self.view.environment.lineage(self.view.symbol_ref(cell)))
        value = cell.json if isinstance(cell, Value) else None
        return self._named(symbol_lineage(self.view, "predicate", value, self.operator.where))

    def _named(self, lineage: str) -> Predicate:
        known = self._known.get(lineage)
        if known is None:
            known = self._known[lineage] = Predicate.of(lineage, self.reading.projector)
        return known

    def _unbounded(self, what: str) -> NoReturn:
        _unbounded(what, self.operator)


def subject_of(view: "View", cell: Cell, operator: nodes.Projected) -> Term:
    """The subject that a cell is; of what is no element nothing can be claimed, and it keeps its row (§47.4)."""
    if cell.__class__ is int and cell >= 0:
        return cell
    if cell is None:
        _unbounded("its subject", operator)
    return _absent(view, cell)


def _unbounded(what: str, operator: nodes.Projected) -> NoReturn:
    _fail("ProjectionTargetUnbounded", f"a projection needs {what}, which is unbound in a row", operator)


def _fail(code: str, message: str, operator: nodes.Projected) -> NoReturn:
    raise KipError(code, message, span=operator.where, hint="keep rows without it out with FILTER(IS_NOT_NULL(...))")


# --- terms --------------------------------------------------------------------------------------------


def _absent(view: "View", cell: Cell) -> Absent:
    """A cell that is no element."""
    if isinstance(cell, Virtual):
        return Absent(cell.json())
    if isinstance(cell, Value):
        return Absent(cell.json)
    assert isinstance(cell, int)
    return Absent(literal_json(view, cell))


def _term(view: "View", cell: Cell) -> Term:
    """The object that a bound cell is, by its canonical identity."""
    code = term_of(view, cell)
    return _absent(view, cell) if code is None else view.canonical(code)


def constant_subjects(view: "View", term: nodes.Constant | nodes.Canonical, values: Values) -> tuple[Term, ...]:
    """The identities that a constant subject names; one that names nothing here is a target all the same."""
    value = values[term.slot.index]
    if isinstance(term, nodes.Canonical):
        codes = tuple(code for code in canonical_terms(view, value) if code >= 0)
    else:
        codes = constant_terms(view, value, False, True, False, term.slot.where)
    return _distinct(view, codes) or (_unknown(value, term),)


def _objects(view: "View", term: nodes.Constant | nodes.Canonical, values: Values) -> tuple[Term, ...]:
    """The terms that a constant object can mean, a Literal last."""
    value = values[term.slot.index]
    if isinstance(term, nodes.Canonical):
        return tuple(dict.fromkeys(map(view.canonical, canonical_terms(view, value)))) or (_unknown(value, term),)
    codes = constant_terms(view, value, term.literal, term.element, False, term.slot.where)
    found = tuple(dict.fromkeys(map(view.canonical, codes)))
    literal = term.literal and not isinstance(value, dict)
    if literal and not any(isinstance(code, int) and code < 0 for code in found):
        return (*found, Absent(value))
    return found or (_unknown(value, term),)


def _distinct(view: "View", codes: tuple[int, ...]) -> tuple[Term, ...]:
    """Each identity once."""
    return tuple({view.canonical(code): code for code in codes}.values())


def _unknown(value: Json, term: nodes.Constant | nodes.Canonical) -> Absent:
    if isinstance(term, nodes.Canonical):
        return Absent({"canonical_id": value})
    return Absent({"id": value} if isinstance(value, str) else value)


def _lineage(view: "View", symbol: nodes.SymbolRef, values: Values) -> str:
    if symbol.slot is None:
        assert symbol.lineage is not None
        return symbol.lineage
    return symbol_lineage(view, symbol.group, values[symbol.slot.index], symbol.slot.where)


# --- closures -----------------------------------------------------------------------------------------


def step(operator: nodes.Projected, context: Context) -> Step:
    """The closure of a projection."""
    believer = Believer(operator, context.view, context.values, context.budget)
    at = context.index[operator.variable]
    spend = context.budget.spend

    def place(term: object) -> int | None:
        return context.index[term.name] if isinstance(term, nodes.Variable) else None

    def held(frame: Frame, place_: int | None) -> Any:
        return None if place_ is None else frame[place_]

    if isinstance(operator, nodes.Belief):
        link = context.index[operator.proposition.name]
        made: Any = lambda frame: ((one, None) for one in believer.of(frame[link], frame[at]))  # noqa: E731
        object_ = None
    else:
        subject, predicate = place(operator.subject), place(operator.predicate)
        object_ = place(operator.object) if isinstance(operator, nodes.TupleBelief) else None
        if isinstance(operator, nodes.SlotBelief):
            made = lambda frame: (  # noqa: E731
                (one, None) for one in believer.slots(held(frame, subject), held(frame, predicate), frame[at])
            )
        else:
            made = lambda frame: believer.beliefs(  # noqa: E731
                held(frame, subject), held(frame, predicate), held(frame, object_), frame[at]
            )

    def run(frame: Frame) -> Iterator[None]:
        for belief, value in made(frame):
            spend()
            added = [one for one in (at, object_) if one is not None and frame[one] is None]
            frame[at] = belief
            if object_ in added:
                frame[object_] = value
            yield
            taken_back(frame, added)

    return run


# --- source -------------------------------------------------------------------------------------------


def emit(operator: nodes.Projected, code: Emitter, scope: Scope, then: Then) -> None:
    """The source of a projection: a loop over what a `Believer` makes of the cells at hand."""
    if isinstance(operator, nodes.SlotBelief) and operator.variable not in scope and _is_named(operator.predicate):
        _emit_slot(operator, code, scope, then)
        return
    site = code.constant(operator, "belief")
    believer = code.local(f"{code.helper(Believer)}({site}, view, p, budget)", "believer")
    cell = code.fresh("b")
    inner = {**scope, operator.variable: Place(cell)}
    held = _cell(nodes.Variable(operator.variable), scope)
    code.charge("1")
    if isinstance(operator, nodes.Belief):
        head = f"for {cell} in {believer}.of({_cell(operator.proposition, scope)}, {held}):"
    else:
        subject, predicate = _cell(operator.subject, scope), _cell(operator.predicate, scope)
        if isinstance(operator, nodes.TupleBelief):
            value, object_ = code.fresh("e"), operator.object
            cells = f"{subject}, {predicate}, {_cell(object_, scope)}, {held}"
            head = f"for {cell}, {value} in {believer}.beliefs({cells}):"
            if isinstance(object_, nodes.Variable):
                inner[object_.name] = Place(value)
        else:
            head = f"for {cell} in {believer}.slots({subject}, {predicate}, {held}):"
    with code.block(head):
        then(inner)


def _is_named(predicate: nodes.SymbolRef | nodes.Variable) -> bool:
    return isinstance(predicate, nodes.SymbolRef) and predicate.lineage is not None


def _emit_slot(operator: nodes.SlotBelief, code: Emitter, scope: Scope, then: Then) -> None:
    """A slot of a Predicate that the text names: a binding per subject, and nothing else."""
    assert isinstance(operator.predicate, nodes.SymbolRef)
    site, cell, reading = code.constant(operator, "belief"), code.fresh("b"), code.value(operator.reading)
    named = code.local(f"{code.helper(slot_predicate)}({operator.predicate.lineage!r}, {reading}, budget)", "predicate")
    projector = code.local(f"{reading}.projector", "projector")
    touch, limit = code.local(f"{reading}.touch", "touch"), code.local("budget.limits.projections", "limit")

    def bound(subject: str) -> None:
        code.line(f"{cell} = {code.helper(SlotBinding)}({projector}, {named}, {subject})")
        code.line(f"{touch}({cell}, {limit})")
        then({**scope, operator.variable: Place(cell)})

    code.charge("1")
    if isinstance(operator.subject, nodes.Variable):
        bound(f"{code.helper(subject_of)}(view, {_cell(operator.subject, scope)}, {site})")
        return
    subject = code.fresh("e")
    subjects = code.local(f"{code.helper(constant_subjects)}(view, {site}.subject, p)", "subjects")
    with code.block(f"for {subject} in {subjects}:"):
        bound(subject)


def slot_predicate(lineage: str, reading: "Reading", budget: Budget) -> Predicate:
    """The Predicate of a run that has a projection."""
    reading.believes = True
    reading.projector.budget = budget
    return Predicate.of(lineage, reading.projector)


def _cell(term: object, scope: Scope) -> str:
    """The local with the cell of a variable, None for what is free or a constant."""
    if isinstance(term, nodes.Variable) and term.name in scope:
        return scope[term.name].name
    return "None"
