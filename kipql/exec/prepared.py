"""Prepared: a FIND that was checked and planned, ready to run on any view (architecture §4).

Modes: "compiled" runs generated source, "closures" the same plan on the closure engine, "unoptimised" the plan
as written, without any rule, on closures. All give the same rows. None lets the first runs of a shape use
closures and later ones generated source, since generating costs about ten short runs; what starts from a long posting
or was found to be much work is generated at once.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
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
from kipql.exec.rows import Columns, Rows
from kipql.exec.uniqueness import proven_unique
from kipql.lang import ast
from kipql.limits import Budget, exhausted
from kipql.plan import clauses, nodes, prepare, shape
from kipql.values import Json, Scalar

if TYPE_CHECKING:
    from kipql.exec.ready import Ready
    from kipql.schema.environment import Environment
    from kipql.store.view import View

Solution = tuple[Any, ...]
MODES = ("compiled", "closures", "unoptimised")
COMPILE_AFTER = 3  # runs of a shape before it is worth generating source
LONG = 2_048  # candidates of a start from which it is worth it at once
MUCH = 20_000  # ticks of a run after which the next one is worth it
READY_AFTER = 2  # runs of a statement before it is worth a ready path


class Shared:
    """What the texts of one form share: how often they ran, which columns are completed when they are read, and the
    ready path that takes their literals."""

    __slots__ = ("lazy", "ready", "runs")

    def __init__(self) -> None:
        self.runs = 0
        self.lazy: tuple[int, ...] = ()
        self.ready: Ready | None = None


class Prepared:
    """One FIND. Immutable but for its caches; safe to share between threads.

    shape   the FIND with a parameter for each literal that was lifted (`plan.shape`); it is what runs
    shared  what it shares with other texts of its form
    """

    __slots__ = (
        "_calls",
        "_find",
        "_plain",
        "_planned",
        "_ready",
        "_shaped",
        "columns",
        "literals",
        "reads",
        "shape",
        "shared",
    )

    def __init__(self, find: ast.Find, environment: "Environment") -> None:
        self._find: ast.Find | Callable[[], ast.Find] = find
        self._shaped: shape.Shaped | None = shape.lift_find(find)
        assert isinstance(self._shaped.node, ast.Find)
        self.shape = self._shaped.node
        self.shared = Shared()
        self.literals = self._shaped.literals
        self._planned: dict[int, tuple[Environment, prepare.Planned]] = {}
        self.columns = Columns.of(find, [clauses.title(item) for item in find.items])
        try:
            self.planned(environment)
        except KipError:
            if find.as_of is None and find.cursor is None:
                raise  # names mean what they meant at the snapshot that is read (§48.6): the run plans there
        self._plain = all(getattr(find, name) is None for name in ("as_of", "for_time", "epistemic", "limit", "cursor"))
        self.reads = self._shaped.reads
        self._calls = 0
        self._ready: Ready | None = None

    def like(self, literals: tuple[Scalar, ...], find: Callable[[], ast.Find]) -> "Prepared":
        """The same with other literals (`plan.forms`); `find` makes the tree if it is ever looked at."""
        made = object.__new__(Prepared)
        for name in ("_plain", "_planned", "reads", "shape", "shared"):
            setattr(made, name, getattr(self, name))
        made.columns = self.columns.like(find)
        made.literals, made._find, made._shaped, made._ready, made._calls = literals, find, None, None, 0
        return made

    @property
    def find(self) -> ast.Find:
        """The tree of the text."""
        if not isinstance(self._find, ast.Find):
            self._find = self._find()
        return self._find

    @property
    def shaped(self) -> shape.Shaped:
        """The shape with the spans and literals of this text."""
        if self._shaped is None:
            self._shaped = shape.lift_find(self.find)
        return self._shaped

    @property
    def lazy(self) -> tuple[int, ...]:
        """The columns whose cells are completed when they are read; known once it was planned."""
        return self.shared.lazy

    @property
    def ready(self) -> "Ready | None":
        """The ready path of a statement that has run before, None for one that has not."""
        return self._ready

    def locate(self, error: KipError) -> KipError:
        """An error of a run, with its span in the text."""
        return error if error.span is None else self.shaped.locate(error)

    def make_ready(self) -> "Ready":
        """The ready path of this statement, for those that run again."""
        if self._ready is None:
            from kipql.exec.ready import Ready

            self._ready = Ready(self)
        return self._ready

    def planned(self, environment: "Environment") -> prepare.Planned:
        """The plan in an environment; resolved again where the environment differs."""
        known = self._planned.get(environment.version)
        if known is not None and known[0] is environment:
            return known[1]
        try:
            planned = prepare.planned_find(self.shape, environment)
        except KipError as error:
            raise self.locate(error) from None
        self.shared.lazy = projection.lazy_columns(planned.plan)
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
            self.make_ready()
        if self.literals:
            self._share()
        try:
            if self._plain:
                planned = self.planned(view.environment)
                if self.reads:
                    return self._projected(planned, view, parameters, budget, mode, Reading(view, projections))
                rows = answer(planned, view, planned.fetch(self.literals, parameters), budget, mode, None)
                return Rows(self.columns, admitted(rows, budget), view, self.lazy)
            if self.literals:
                parameters = {**parameters, **shape.named(self.literals)}
            find = self.shape
            valid_at = clauses.world_time(find, parameters)
            clauses.check_epistemic(find.epistemic, parameters)
            where = page(find, view, parameters, cursors, at)
            made = None
            if self.reads or find.epistemic is not None:
                made = reading(find, where.view, parameters, projections, where.at)
            return self._page(where, parameters, budget, cursors, mode, valid_at, made)
        except KipError as error:
            raise self.locate(error) from None

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
        view, start, most, _, entry, paged = where
        planned = self.planned(view.environment)
        mode = mode or paged  # every page by one engine: the order of rows is its own
        given = parameters if made is None else {**parameters, nodes.READING: made}
        values: Values = planned.fetch(self.literals, given)
        wanted = None if most is None else start + most + 1
        if most == 0:
            wanted = 0
        if entry is None and planned.entries:
            entry = shortest(planned, view, values, budget)
        if mode is None:
            mode = engine_of(planned, view, values, budget)
        rows = admitted(answer(planned, view, values, budget, mode, wanted, entry), budget)
        more = most is not None and most > 0 and len(rows) > start + most
        if most is not None:
            rows = rows[start : start + most]
        token = None
        if more and cursors is not None and most is not None:
            now = None if made is None else made.now
            token = partial(_issued, self.shape, view, parameters, cursors, start + most, now, entry, mode)
        return Rows(self.columns, rows, view, self.lazy, token, more, valid_at, made)

    def _share(self) -> None:
        """Count a run of the form; the ready path for its other texts is made once, and compiled when one uses it."""
        shared = self.shared
        shared.runs += 1
        if shared.ready is None and shared.runs >= COMPILE_AFTER:
            from kipql.exec.ready import Ready

            shared.ready = Ready(self, shared=True)


def _issued(
    find: ast.Find,
    view: "View",
    parameters: Mapping[str, Json],
    cursors: Cursors,
    position: int,
    now: int | None,
    entry: int | None,
    mode: str,
) -> str:
    return issued(cursors, fingerprint(find, view.coverage, parameters), view.seq, position, now, entry, mode)


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
    mode = mode or engine_of(planned, view, values, budget)
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
    before = budget.ticks
    rows = finished(solutions(context), context, wanted)
    if budget.ticks - before > MUCH:
        planned.runs = COMPILE_AFTER
    return rows


def engine_of(planned: prepare.Planned, view: "View", values: Values, budget: Budget) -> str:
    """The engine of a run that says none. A count over columns is the compiled engine's: on closures it would be a
    solution for each Assertion."""
    planned.runs += 1
    if planned.runs > COMPILE_AFTER or planned.plan.scan is not None:
        return "compiled"
    if planned.broad and estimate(planned.broad, Context.of(planned.plan, view, values, budget)) > LONG:
        planned.runs = COMPILE_AFTER
        return "compiled"
    return "closures"


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
