"""Proposition patterns: tuples, known Propositions, Predicate variables (specification §43.2, §43.3).

Matching is canonical: a term matches a stored endpoint when both resolve to one element through merges. A
variable that the pattern binds gets the canonical endpoint; `?p.subject` keeps the stored one. A Predicate
variable binds the exact ref and unifies by lineage. Default recall is that of the Proposition.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kipql.exec.context import Context
from kipql.exec.frames import Frame, Step, extended, known_term, taken_back
from kipql.exec.terms import known_proposition, symbol_cell
from kipql.model import PROPOSITION
from kipql.plan import nodes
from kipql.plan.cells import Cell

if TYPE_CHECKING:
    from kipql.store.view import View


class _Triple:
    """A tuple pattern in one run."""

    def __init__(self, operator: nodes.Triple, context: Context) -> None:
        self.context = context
        self.view = context.view
        self.link = None if operator.link is None else context.index[operator.link]
        self.subject = endpoint(operator.subject, context)
        self.object = endpoint(operator.object, context)
        self.spread = frozenset(context.index[name] for name in operator.spread)
        self.lineages: frozenset[int] | None = None
        self.predicate: int | None = None
        if isinstance(operator.predicates, nodes.Variable):
            self.predicate = context.index[operator.predicates.name]
            self.boxed = context.shapes[operator.predicates.name] != "symbol"
        else:
            self.lineages = frozenset(context.lineage(symbol) for symbol in operator.predicates)

    def rows(self, frame: Frame) -> Iterable[int]:
        """Candidate rows from what is known."""
        view = self.view
        if self.link is not None:
            bound, code = known_term(self.context, frame, self.link)
            if bound:
                return () if code is None or code < 0 or code & 7 != PROPOSITION else (code >> 3,)
        subjects, objects = self.known(frame, self.subject), self.known(frame, self.object)
        if subjects is not None:
            return sorted(row for code in subjects for row in self._by_subject(view, code))
        if objects is not None:
            return sorted(row for code in objects for row in self._by_object(view, code))
        if self.lineages is not None:
            return sorted(row for lineage in self.lineages for row in view.by_predicate(lineage))
        return view.rows(PROPOSITION)

    def _by_subject(self, view: "View", code: int) -> Iterable[int]:
        if self.lineages is None:
            return view.outgoing(code)
        return [row for lineage in self.lineages for row in view.slot(code, lineage)]

    def _by_object(self, view: "View", code: int) -> Iterable[int]:
        if self.lineages is None:
            return view.incoming(code)
        return [row for lineage in self.lineages for row in view.pairs(code, lineage)]

    def known(self, frame: Frame, end: "int | tuple[int, ...]") -> tuple[int, ...] | None:
        """The codes an end may have, None while it is free."""
        if isinstance(end, tuple):
            return end
        bound, code = known_term(self.context, frame, end)
        if not bound:
            return None
        return () if code is None else self.view.same(code)

    def bindings(self, frame: Frame, row: int) -> list[list[tuple[int, Cell]]]:
        """What a row binds, in each way it can; nothing when it does not match."""
        view = self.view
        found: list[tuple[int, Cell]] = []
        ways = [found]
        if self.link is not None:
            found.append((self.link, row * 8 + PROPOSITION))
        symbol = view.predicates[row]
        if self.lineages is not None:
            if view.lineage_of[symbol] not in self.lineages:
                return []
        else:
            assert self.predicate is not None
            found.append((self.predicate, self._symbol_cell(symbol)))
        for end, code in ((self.subject, view.subjects[row]), (self.object, view.objects[row])):
            known = self.known(frame, end)
            if known is None:
                assert isinstance(end, int)
                codes = view.same(code) if end in self.spread else (view.canonical(code),)
                ways = [[*way, (end, one)] for way in ways for one in codes]
            elif code not in known:
                return []
        return ways

    def _symbol_cell(self, symbol: int) -> Cell:
        return symbol_cell(self.view, symbol) if self.boxed else symbol


def endpoint(term: nodes.Term, context: Context) -> "int | tuple[int, ...]":
    """The slot of a variable, or the codes of a constant."""
    return context.index[term.name] if isinstance(term, nodes.Variable) else context.constants(term, context.merges)


def step(operator: nodes.Triple, context: Context) -> Step:
    """The closure of a tuple pattern."""
    triple = _Triple(operator, context)
    hidden, spend = context.left_out(PROPOSITION), context.budget.spend

    def run(frame: Frame) -> Iterator[None]:
        for row in triple.rows(frame):
            spend()
            if row in hidden:
                continue
            for binding in triple.bindings(frame, row):
                added = extended(context, frame, binding)
                if added is not None:
                    yield
                    taken_back(frame, added)

    return run


def known_step(operator: nodes.KnownProposition, context: Context) -> Step:
    """The closure of `(id: x)`."""
    code = known_proposition(context.view, context.values[operator.slot.index], operator.slot.where)
    at = context.index[operator.link]

    def run(frame: Frame) -> Iterator[None]:
        if code is None:
            return
        added = extended(context, frame, [(at, code)])
        if added is not None:
            yield
            taken_back(frame, added)

    return run


def estimate(operator: nodes.Triple, context: Context) -> int:
    """How many candidates the tuple has as the first of a join."""
    triple, view = _Triple(operator, context), context.view
    ends = [(end, by) for end, by in ((triple.subject, 0), (triple.object, 1)) if isinstance(end, tuple)]
    found = [len(view.rows(PROPOSITION))]
    if triple.lineages is not None:
        found.append(sum(len(view.by_predicate(lineage)) for lineage in triple.lineages))
    for codes, by in ends:
        postings = (view.outgoing, view.incoming)[by]
        found.append(sum(len(postings(code)) for code in codes))
    return min(found)
