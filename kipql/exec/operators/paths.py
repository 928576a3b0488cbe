"""Raw paths: reachability over stored Propositions (specification §45).

An endpoint pair is found once however many walks connect it. Each alternative walks its own Predicate: first
exactly `low` hops, then breadth-first for up to `high - low` more. Zero hops are the element itself. Only
recalled Propositions are hops, and identities are canonical. At the hop limit the query fails.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import product

from kipql.exec.context import Context
from kipql.exec.emit import Emitter, Scope, Then
from kipql.exec.frames import Frame, Step, extended, known_term, taken_back
from kipql.exec.operators.propositions import endpoint
from kipql.exec.operators.propositions_source import end_of
from kipql.exec.write import bind
from kipql.limits import exhausted
from kipql.model import KINDS, PROPOSITION, element_code
from kipql.plan import nodes

Move = Callable[[int, int], Iterable[int]]  # from a term along a Predicate lineage


class Reacher:
    """A path pattern in one run, for both engines."""

    def __init__(self, operator: nodes.Reach, context: Context) -> None:
        self.context = context
        self.view = context.view
        self.hops = [(context.lineage(hop.predicate), hop.low, hop.high) for hop in operator.hops]
        self.where = operator.where
        self.hidden = context.left_out(PROPOSITION)
        self.limit = context.budget.limits.hops
        self.spend = context.budget.spend

    def pairs(self, subjects: Iterable[int] | None, objects: Iterable[int] | None) -> Iterator[tuple[int, int]]:
        """Endpoint pairs; a given end is one identity (its codes), None is free. Each pair comes once.

        Pairs are canonical codes.
        """
        canonical = self.view.canonical
        if subjects is not None:
            wanted = None if objects is None else {canonical(code) for code in objects}
            for start in dict.fromkeys(map(canonical, subjects)):
                for end in self._reached(start, self._forward):
                    if wanted is None or end in wanted:
                        yield start, end
        elif objects is not None:
            for end in dict.fromkeys(map(canonical, objects)):
                for start in self._reached(end, self._backward):
                    if start >= 0:
                        yield start, end
        else:
            for start in self._starts():
                for end in self._reached(start, self._forward):
                    yield start, end

    def _starts(self) -> Iterable[int]:
        """Every element a path can start at."""
        view, canonical = self.view, self.view.canonical
        found: dict[int, None] = {}
        if any(low == 0 for _, low, _ in self.hops):
            for kind in range(len(KINDS)):
                rows = view.rows(kind)
                self.spend(len(rows))
                found.update((canonical(element_code(kind, row)), None) for row in rows)
        for lineage, _, _ in self.hops:
            rows_of = view.by_predicate(lineage)
            self.spend(len(rows_of))
            found.update((canonical(view.subjects[row]), None) for row in rows_of if row not in self.hidden)
        return found

    def _reached(self, start: int, move: Move) -> Iterable[int]:
        """The ends that some alternative reaches from `start`, each once."""
        found: dict[int, None] = {}
        for lineage, low, high in self.hops:
            found.update(dict.fromkeys(self._walk(start, lineage, low, high, move)))
        return found

    def _walk(self, start: int, lineage: int, low: int, high: int | None, move: Move) -> dict[int, None]:
        level: dict[int, None] = {start: None}
        hops = 0
        while hops < low and level:
            self._admit(hops)
            level = dict.fromkeys(end for code in level for end in move(code, lineage))
            hops += 1
        # Zero hops are the element itself (§45): not a Literal, and not an id that nothing has in this view.
        found = dict(level) if low > 0 or self.view.exists(start) else {}
        while level and (high is None or hops < high):
            fresh = dict.fromkeys(end for code in level for end in move(code, lineage) if end not in found)
            if fresh:
                self._admit(hops)
            found.update(fresh)
            level = fresh
            hops += 1
        return found

    def _admit(self, hops: int) -> None:
        if hops >= self.limit:
            exhausted("hops", self.limit, "a path has more hops")

    def _forward(self, code: int, lineage: int) -> Iterable[int]:
        if code < 0:
            return
        view, hidden = self.view, self.hidden
        for subject in view.same(code):
            rows = view.slot(subject, lineage)
            self.spend(len(rows) + 1)
            for row in rows:
                if row not in hidden:
                    yield view.canonical(view.objects[row])

    def _backward(self, code: int, lineage: int) -> Iterable[int]:
        view, hidden = self.view, self.hidden
        for term in view.same(code) if code >= 0 else (code,):
            rows = view.pairs(term, lineage)
            self.spend(len(rows) + 1)
            for row in rows:
                if row not in hidden:
                    yield view.canonical(view.subjects[row])


def step(operator: nodes.Reach, context: Context) -> Step:
    """The closure of a path pattern."""
    reacher = Reacher(operator, context)
    subject, object_ = endpoint(operator.subject, context), endpoint(operator.object, context)
    spread = frozenset(context.index[name] for name in operator.spread)

    def identities(end: "int | tuple[int, ...]", code: int) -> tuple[int, ...]:
        return context.view.same(code) if end in spread else (code,)

    def known(frame: Frame, end: "int | tuple[int, ...]") -> tuple[int, ...] | None:
        if isinstance(end, tuple):
            return end
        bound, code = known_term(context, frame, end)
        return None if not bound else () if code is None else (code,)

    def run(frame: Frame) -> Iterator[None]:
        subjects, objects = known(frame, subject), known(frame, object_)
        for start, end in reacher.pairs(subjects, objects):
            starts = identities(subject, start) if subjects is None else (None,)
            ends = identities(object_, end) if objects is None else (None,)
            for one, other in product(starts, ends):
                bindings = [(at, code) for at, code in ((subject, one), (object_, other)) if code is not None]
                added = extended(context, frame, bindings)  # type: ignore[arg-type]
                if added is not None:
                    yield
                    taken_back(frame, added)

    return run


def emit(operator: nodes.Reach, code: Emitter, scope: Scope, then: Then) -> None:
    """The source of a path pattern: a loop over the pairs of a `Reacher`."""
    site = code.constant(operator, "path")
    reacher = code.local(f"{code.helper(Reacher)}({site}, {code.context()})", "reach")
    ends = (_codes(operator.subject, code, scope), _codes(operator.object, code, scope))
    start, end = code.fresh("e"), code.fresh("e")
    with code.block(f"for {start}, {end} in {reacher}.pairs({ends[0]}, {ends[1]}):"):
        bind_free((operator.subject, start), (operator.object, end), code, scope, then, operator.spread)


def _codes(term_: nodes.Term, code: Emitter, scope: Scope) -> str:
    """The codes of an end as an expression, None while it is free."""
    end = end_of(term_, code, scope)
    return end.codes if end.known else "None"


def bind_free(
    subject: tuple[nodes.Term, str],
    object_: tuple[nodes.Term, str],
    code: Emitter,
    scope: Scope,
    then: Then,
    spread: tuple[str, ...] = (),
) -> None:
    """Bind the ends that were free; a variable in both places has to agree with itself."""

    def second(inner: Scope) -> None:
        _bind_free(object_, code, inner, scope, then, spread)

    _bind_free(subject, code, scope, scope, second, spread)


def _bind_free(
    end: tuple[nodes.Term, str], code: Emitter, scope: Scope, before: Scope, then: Then, spread: tuple[str, ...]
) -> None:
    term_, cell = end
    if not isinstance(term_, nodes.Variable) or term_.name in before:
        then(scope)
    elif code.merges and term_.name in spread:
        one = code.fresh("e")
        with code.block(f"for {one} in {code.member('same')}({cell}):"):
            bind(term_.name, one, code, scope, then)
    else:
        bind(term_.name, cell, code, scope, then)
