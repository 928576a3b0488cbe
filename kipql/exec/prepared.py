"""Prepared: a FIND that was checked and planned, ready to run on any view (architecture §4).

Modes: "compiled" runs generated source, "closures" the same plan on the closure engine, "unoptimised" the plan
as written, without any rule, on closures. All give the same rows. None lets the first run of a shape use
closures and later ones generated source.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from kipql.cursors import Cursors
from kipql.errors import KipError
from kipql.exec import closures, engine, projection
from kipql.exec.context import Context, Values
from kipql.exec.estimate import estimate
from kipql.exec.expressions import check_constants
from kipql.exec.paging import Page, Snapshots, fingerprint, issued, page
from kipql.exec.reading import DEFAULTS, Projections, Reading, reading
from kipql.exec.rows import Rows
from kipql.exec.uniqueness import proven_unique
from kipql.lang import ast, walk
from kipql.limits import Budget, exhausted
from kipql.plan import clauses, nodes, prepare, shape
from kipql.plan.functions import COMPUTED
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.exec.ready import Ready
    from kipql.schema.environment import Environment
    from kipql.store.view import View

Solution = tuple[Any, ...]
MODES = ("compiled", "closures", "unoptimised")
COMPILE_AFTER = 1  # runs of a shape before it is worth generating source
READY_AFTER = 2  # runs of a statement before it is worth a ready path


class Prepared:
    """One FIND. Immutable but for its caches; safe to share between threads."""

    __slots__ = (
        "_calls",
        "_plain",
        "_planned",
        "_ready",
        "_shaped",
        "columns",
        "environment",
        "find",
        "lazy",
        "literals",
        "reads",
    )

    def __init__(self, find: ast.Find, environment: "Environment") -> None:
        self.find = find
        self._shaped = shape.lift_find(find)
        self.literals = self._shaped.literals
        self._planned: dict[int, tuple[Environment, prepare.Planned]] = {}
        self.columns = tuple(clauses.title(item) for item in find.items)
        planned = self.planned(environment)
        self.environment = environment
        self.lazy = projection.lazy_columns(planned.plan)
        self._plain = all(getattr(find, name) is None for name in ("as_of", "for_time", "epistemic", "limit", "cursor"))
        self.reads = reads(find)
        self._calls = 0
        self._ready: Ready | None = None

    @property
    def ready(self) -> "Ready | None":
        """The ready path of a statement that has run before, None for one that has not."""
        return self._ready

    def locate(self, error: KipError) -> KipError:
        """An error of a run, with its span in the text."""
        return self._shaped.locate(error)

    def planned(self, environment: "Environment") -> prepare.Planned:
        """The plan in an environment; resolved again where the environment differs."""
        known = self._planned.get(environment.version)
        if known is not None and known[0] is environment:
            return known[1]
        try:
            planned = prepare.planned_find(self._shaped, environment)
        except KipError as error:
            raise self._shaped.locate(error) from None
        self._planned[environment.version] = (environment, planned)
        return planned

    def run(
        self,
        view: "View",
        parameters: Mapping[str, Json] | None = None,
        budget: Budget | None = None,
        *,
        cursors: Cursors | None = None,
        mode: str | None = None,
        at: Snapshots | None = None,
        projections: Projections = DEFAULTS,
    ) -> Rows:
        """The rows at a view, or at the past that AS OF SEQ or the cursor names.

        parameters   bound values (`plan.parameters.bind`)
        cursors      issues and opens cursors; without it LIMIT gives no `next_cursor`
        at           how to get the view of another sequence; the same Space by default
        projections  the clock, the policies and the trust that beliefs are read with
        """
        parameters = parameters or {}
        budget = budget or Budget()
        self._calls += 1
        if self._calls == READY_AFTER:
            from kipql.exec.ready import Ready

            self._ready = Ready(self)
        try:
            if self._plain:
                planned = self.planned(view.environment)
                if self.reads:
                    return self._projected(planned, view, parameters, budget, mode, Reading(view, projections))
                rows = answer(planned, view, planned.fetch(self.literals, parameters), budget, mode, None)
                return Rows(self.columns, admitted(rows, budget), view, self.lazy)
        except KipError as error:
            raise self._shaped.locate(error) from None
        valid_at = clauses.world_time(self.find, parameters)
        clauses.check_epistemic(self.find.epistemic, parameters)
        where = page(self.find, view, parameters, cursors, at)
        made = None
        if self.reads or self.find.epistemic is not None:
            made = reading(self.find, where.view, parameters, projections, where.at)
        try:
            return self._page(where, parameters, budget, cursors, mode, valid_at, made)
        except KipError as error:
            raise self._shaped.locate(error) from None

    def _projected(
        self,
        planned: prepare.Planned,
        view: "View",
        parameters: Mapping[str, Json],
        budget: Budget,
        mode: str | None,
        made: Reading,
    ) -> Rows:
        """The rows of a query that reads beliefs or computed members."""
        values = planned.fetch(self.literals, {**parameters, nodes.READING: made})
        rows = answer(planned, view, values, budget, mode, None)
        return Rows(self.columns, admitted(rows, budget), view, self.lazy, reading=made)

    def _page(
        self,
        where: Page,
        parameters: Mapping[str, Json],
        budget: Budget,
        cursors: Cursors | None,
        mode: str | None,
        valid_at: str | None,
        made: Reading | None,
    ) -> Rows:
        view, start, most, _, entry = where
        planned = self.planned(view.environment)
        if most is not None:
            mode = mode or "compiled"  # every page by one engine: the order of rows is its own
        given = parameters if made is None else {**parameters, nodes.READING: made}
        values: Values = planned.fetch(self.literals, given)
        wanted = None if most is None else start + most + 1
        if most == 0:
            wanted = 0
        if entry is None and planned.entries:
            entry = shortest(planned, view, values, budget)
        rows = admitted(answer(planned, view, values, budget, mode, wanted, entry), budget)
        more = most is not None and most > 0 and len(rows) > start + most
        if most is not None:
            rows = rows[start : start + most]
        token = None
        if more and cursors is not None and most is not None:
            mark = fingerprint(self.find, view.coverage, parameters)
            token = issued(cursors, mark, view.seq, start + most, None if made is None else made.now, entry)
        return Rows(self.columns, rows, view, self.lazy, token, more, valid_at, made)


def reads(find: ast.Find) -> bool:
    """Whether a query may need a Reading: it asks for a belief or a search, or for a member that is computed when
    read."""
    return any(
        isinstance(node, ast.BeliefPattern | ast.BeliefSlotPattern | ast.SearchPattern)
        or (isinstance(node, ast.Path) and not COMPUTED.isdisjoint(node.steps))
        or (isinstance(node, ast.Member) and node.name in COMPUTED)
        for node in walk.iterate(find)
    )


def admitted(rows: list[Any], budget: Budget) -> list[Any]:
    """The rows, unless they are more than an answer may have."""
    if len(rows) > budget.limits.rows:
        exhausted("rows", budget.limits.rows, "the answer has too many rows")
    return rows


def prepare_find(find: ast.Find, environment: "Environment") -> Prepared:
    """Check and plan a FIND. Raises KipError with the span of what is wrong in it."""
    prepare.checked_find(find)
    return Prepared(find, environment)


def values_of(planned: prepare.Planned, literals: tuple[object, ...], parameters: Mapping[str, Json]) -> Values:
    """The values of a plan's slots in one run."""
    found: Values = planned.fetch(literals, parameters)
    return found


def answer(
    planned: prepare.Planned,
    view: "View",
    values: Values,
    budget: Budget,
    mode: str | None,
    wanted: int | None,
    entry: int | None = None,
) -> list[Any]:
    """The projected rows, all of them or the first `wanted`; `entry` is where the join starts, if that is settled."""
    if mode is None:
        planned.runs += 1
        # A count over columns is the compiled engine's: on closures it would be a solution for each Assertion.
        mode = "compiled" if planned.runs > COMPILE_AFTER or planned.plan.scan is not None else "closures"
    plan = planned.plan
    if planned.entries or mode == "unoptimised":
        plan = chosen(planned, view, values, budget, mode, entry)
    if planned.calls:
        check_calls(planned, values)
    if wanted == 0:
        return []
    if mode == "compiled" and engine.fits(planned, plan, view):
        return engine.answer(planned, plan, view, values, budget, wanted)
    context = Context.of(plan, view, values, budget)
    return finished(solutions(context), context, wanted)


def chosen(
    planned: prepare.Planned, view: "View", values: Values, budget: Budget, mode: str, entry: int | None = None
) -> nodes.Plan:
    """The plan to run: as written, or started where the postings of this snapshot are shortest."""
    if mode == "unoptimised":
        return planned.written
    if not planned.entries:
        return planned.plan
    return planned.started_at(shortest(planned, view, values, budget) if entry is None else entry)


def shortest(planned: prepare.Planned, view: "View", values: Values, budget: Budget) -> int:
    """The entry of the join whose posting is shortest now."""
    context = Context.of(planned.plan, view, values, budget)
    return min(planned.entries, key=lambda at: estimate(planned.first[at], context))


def solutions(context: Context) -> Iterator[Solution]:
    """The distinct complete solutions, by the closure engine."""
    found = closures.solutions(context)
    return found if proven_unique(context.plan, context.view) else projection.distinct(found, context)


def finished(found: Iterator[Solution], context: Context, wanted: int | None) -> list[Any]:
    """Groups, order, window and projection of distinct solutions."""
    plan = context.plan
    if plan.grouped:
        rows = projection.group_rows(found, context)
        if wanted is not None:
            rows = rows[:wanted]
        return [row[0] for row in rows] if len(plan.items) == 1 else rows
    if plan.order:
        held = []
        for solution in found:
            held.append(solution)
            if len(held) % 1_024 == 0:
                context.budget.buffer(len(held))
        context.budget.buffer(len(held))
        ordered = projection.order_solutions(held, context)
        return projection.project(ordered if wanted is None else ordered[:wanted], context)
    return projection.project(limited(found, wanted), context)


def limited(found: Iterator[Solution], wanted: int | None) -> Iterator[Solution]:
    """The first `wanted` solutions."""
    return found if wanted is None else islice(found, wanted)


def check_calls(planned: prepare.Planned, values: Values) -> None:
    """Constant arguments of functions are checked before any row (§44.2)."""
    for call in planned.calls:
        check_constants(call, values)
