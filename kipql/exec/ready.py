"""The ready path: a FIND that has run before goes from the caller's parameters to its rows in one generated function.

The general path (`Prepared.run`) decides per call what a statement that runs again has long settled: which plan and
which engine, what AS OF, FOR TIME and LIMIT mean, how a parameter is checked. Here the answers are written into the
function (`exec.fused`). It applies while

- the statement is a FIND without CURSOR and WITH EPISTEMIC whose plan neither chooses its start by the postings nor
  checks constant arguments (texts of one form share it when it has run three times);
- the caller sees everything and brings no limits and no cancel of its own for the call (the caller's business);
- the Schema Environment of the snapshot is the one that the plan was made for, in force at the head;
- every parameter that the statement uses is there, and is a short ASCII string, a safe integer, a boolean or null;
- AS OF, FOR TIME and LIMIT are given values that they admit.

Whatever else is the case it raises `Unready`, before anything was done that shows, and the general path answers or
raises: it is the fallback and the oracle. The source is compiled once per kind of head; what a head brings (its
environment, merges, numbers of symbols) is bound once per commit: a schema change, a merge or another Space is seen
because the head differs.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from kipql.cursors import Cursors
from kipql.errors import KipError
from kipql.exec import engine, point_belief, sorting
from kipql.exec.direct import is_direct
from kipql.exec.fused import BUDGET, SPENT, Fused, Kind, charged
from kipql.exec.heads import Names, Pasts
from kipql.exec.paging import fingerprint, issued
from kipql.exec.reading import UNASKED, Reading
from kipql.exec.rows import Rows, Told
from kipql.exec.terms import lineage_number
from kipql.exec.uniqueness import proven_unique
from kipql.exec.unready import SHORT, Unready
from kipql.lang import ast, walk
from kipql.limits import Limits, exhausted
from kipql.model import ASSERTION
from kipql.plan import nodes, shape
from kipql.times import PARSED, parse_instant
from kipql.values import MAX_SAFE_INTEGER, Json

if TYPE_CHECKING:
    from kipql.exec.prepared import Prepared
    from kipql.plan.prepare import Planned
    from kipql.store.view import View


FEW = 64  # rows and projections that no limit of a session is below
STRIDES = 8_192  # ticks and rows held that no limit of a session is below: they are looked at in strides
Run = Callable[..., Any]
"""(parameters, projections, cursors) -> the answer. Only rows are always looked at, the rest is made when asked for."""


class Settled(NamedTuple):
    """What one head and the limits of a session came to: the function, None where the path does not apply."""

    head: "View"
    limits: Limits
    run: Run | None


class Ready:
    """The ready path of one Prepared; `state` is what its last head came to."""

    __slots__ = ("_count", "_find", "_made", "_prepared", "state")

    def __init__(self, prepared: "Prepared", shared: bool = False) -> None:
        """`shared` is for every text of the form: their literals come with the parameters (`plan.shape.named`)."""
        self._prepared = prepared
        self._find = prepared.shape if shared else prepared.find
        self._count = len(walk.parameters(self._find))
        self.state: Settled | None = None
        self._made: dict[tuple[int, Kind], tuple[object, Callable[..., Run] | None]] = {}

    def settle(self, head: "View", limits: Limits, kind: type[Told]) -> Settled:
        """What a head comes to; it stays so until the next commit. `kind` is what holds an answer."""
        make = None
        with suppress(KipError):  # a name that the head does not know: the general path says so, or reads the past
            planned = self._prepared.planned(head.environment)
            fits = _enough(limits, self._count) and applies(self._find, planned)
            make = self._maker(planned, head) if fits else None
        run = None
        if make is not None:
            with suppress(KipError, Unready):  # a constant of the text: the general path says what is wrong with it
                run = make(head, limits, object.__new__, kind, partial(Names, head), Pasts(head), lineage_number)
        self.state = Settled(head, limits, run)
        return self.state

    def forget(self) -> None:
        """Let go of the last head, which will not come again."""
        self.state = None

    def locate(self, error: KipError) -> KipError:
        """An error of a run, with its span in the text."""
        return self._prepared.locate(error)

    def _maker(self, planned: "Planned", head: "View") -> Callable[..., Run] | None:
        graph = head.graph
        kind = Kind(
            head.has_merges,
            is_direct(head),
            bool(graph.left_seqs),
            bool(graph.side[ASSERTION]),
            proven_unique(planned.plan, head),
        )
        known = self._made.get((id(planned), kind))
        if known is None or known[0] is not planned:
            made = Writing(self._prepared, planned, kind, self._find).function()
            known = self._made[id(planned), kind] = (planned, made)
        return known[1]


def applies(find: ast.Find, planned: "Planned") -> bool:
    """Whether a statement can have a ready path at all; a count over columns has its own."""
    if planned.plan.scan is not None:
        return False
    return find.cursor is None and find.epistemic is None and not planned.entries and not planned.calls


def _enough(limits: Limits, parameters: int) -> bool:
    """Whether the limits of a session are beyond what short parameters and one slot could reach unnoticed."""
    enough = min(limits.ticks, limits.buffered) >= STRIDES and min(limits.rows, limits.projections) >= FEW
    return enough and limits.parameters >= SHORT * parameters


class Writing:
    """The function being written: parameters, snapshot, instants, then the loops of the plan, then the Result."""

    def __init__(self, prepared: "Prepared", planned: "Planned", kind: Kind, find: ast.Find) -> None:
        self.prepared = prepared
        self.planned = planned
        self.find = find
        self.shared = find is prepared.shape
        self.kind = kind
        self.lines: list[str] = []
        self.names = {param.name: f"g{at}" for at, param in enumerate(walk.parameters(self.find)) if _is_given(param)}
        self.namespace: dict[str, Any] = {
            "COLUMNS": prepared.columns,
            "FIND": prepared.shape,
            "LITERALS": {} if self.shared else shape.named(prepared.literals),
            "LAZY": prepared.lazy,
            "PARSED": PARSED,
            "PLAN": planned.plan,
            "Reading": Reading,
            "Rows": Rows,
            "UNASKED": UNASKED,
            "Unready": Unready,
            "charged": charged,
            "exhausted": exhausted,
            "finished": engine.finished,
            "next_page": _next_page,
            "parse_instant": parse_instant,
        }

    def function(self) -> Callable[..., Run] | None:
        """What makes the function for a head; None where the plan is too deep for it."""
        plan = self.planned.plan
        self.lines += [f"{local} = given[{name!r}]" for name, local in self.names.items()]
        if self.shared:
            self.lines.append(f"COLUMNS = given[{shape.COLUMNS!r}]")
        self._snapshot()
        point = point_belief.point(plan, self.find)
        try:
            source = self._plan() if point is None else point_belief.source(point, self)
            made: Callable[..., Run] = engine.function(source, "make", self.namespace)
        except (RecursionError, MemoryError, SyntaxError):
            return None
        return made

    def value(self, node: ast.Value) -> str:
        """The expression for a literal or a parameter of a clause."""
        if isinstance(node, ast.Param):
            return self.names[node.name]
        assert isinstance(node, ast.Literal)
        name = f"CLAUSE_{len(self.namespace)}"
        self.namespace[name] = node.value
        return name

    def slot(self, index: int) -> str | tuple[Any]:
        """A value of the plan: the local of a parameter, or the value itself."""
        source, key = self.planned.plan.slots[index]
        if source == "parameter":
            return "reading" if key == nodes.READING else self.names[str(key)]
        if source == "literal" and self.shared:
            return self.names[f"{shape.LIFTED}{key}"]
        held = self.prepared.literals if source == "literal" else self.planned.constants
        return (held[int(key)],)

    # parts

    def _snapshot(self) -> None:
        """AS OF SEQ, FOR TIME and LIMIT, each as it has to be: `view`, `w` and `most`."""
        find = self.find
        if find.as_of is not None:
            seq = self.value(find.as_of)
            self.lines += [f"if {seq}.__class__ is not int:", "    raise Unready", f"view = pasts[{seq}]"]
        if find.for_time is not None:
            stated = self.value(find.for_time)
            self.lines += [
                f"if {stated}.__class__ is not str:",
                "    raise Unready",
                f"w = PARSED[{stated}] if {stated} in PARSED else parse_instant({stated})",
            ]
        if find.limit is not None:
            most = self.value(find.limit)
            if isinstance(find.limit, ast.Literal) and _is_count(find.limit.value):
                self.lines += [f"most = {find.limit.value}", f"wanted = {find.limit.value + 1}"]  # type: ignore[operator]
                return
            self.lines += [
                f"if {most}.__class__ is not int or not 1 <= {most} <= {MAX_SAFE_INTEGER}:",
                "    raise Unready",
                f"most = {most}",
                "wanted = most + 1",
            ]

    def _plan(self) -> str:
        """The loops of the plan, with what is left to do with their rows."""
        plan, find = self.planned.plan, self.find
        timed = find.for_time is not None
        if self.prepared.reads:
            self.lines.append(f"reading = Reading(view, projections, UNASKED, {'w' if timed else 'None'}, None)")
        finish = plan.order or plan.grouped
        limited = find.limit is not None and not finish
        after = [*(self._ordered() if finish else [SPENT]), *self._result()]
        values = [self.slot(index) for index in range(len(plan.slots))]
        code = Fused(plan, self.kind, values, find.as_of is not None, limited, after)
        code.after = [re_named(line, code.out) for line in after]
        engine.written(code, code.out, None if self.kind.unique else code.own("set()", "seen"))
        source = code.module(self.lines)
        self.namespace.update(code.namespace)
        return source

    def _ordered(self) -> list[str]:
        """Groups, order and window; a few rows whose keys are all strings or all numbers are sorted on the spot."""
        plan, wanted = self.planned.plan, "None" if self.find.limit is None else "wanted"
        whole = f"out = finished(PLAN, out, {BUDGET}, {wanted})"
        width, places, extra = len(plan.items), list[int](), 0
        for sort in plan.order:
            places.append(sort.key if isinstance(sort.key, int) else width + extra)
            extra += not isinstance(sort.key, int)
        if plan.grouped or any(sort.descending for sort in plan.order):
            return [whole]
        self.namespace["KEY"] = itemgetter(*places)
        shown = "row[0]" if width == 1 else f"row[:{width}]" if extra else ""
        cut = "" if self.find.limit is None else "[:wanted]"
        rows = f"out = [{shown} for row in out{cut}]" if shown else f"out = out{cut}" if cut else "pass"
        self.namespace.update(FEW=sorting.FEW, ORDERED=frozenset((str, int, float)))
        kinds = [f"kind{at}" for at in range(len(places))]
        first = ", ".join(f"out[0][{place}].__class__" for place in places)
        other = " or ".join(f"row[{place}].__class__ is not {kind}" for place, kind in zip(places, kinds, strict=True))
        return [
            "simple = len(out) < 2",
            "if not simple and len(out) <= FEW:",
            f"    {', '.join(kinds)}, = {first},",
            f"    if {' and '.join(f'{kind} in ORDERED' for kind in kinds)}:",
            "        for row in out:",
            f"            if {other}:",
            "                break",
            "        else:",
            "            out.sort(key=KEY)",
            "            simple = True",
            "if simple:",
            f"    {SPENT}",
            f"    {rows}",
            "else:",
            f"    {whole}",
        ]

    def _result(self) -> list[str]:
        """What holds the answer."""
        find, reads = self.find, self.prepared.reads
        more = f", {self.value(find.for_time) if find.for_time is not None else None}, {'reading' if reads else None}"
        plain = find.for_time is None and not reads
        made = "result = new(kind)\nresult.described = False".splitlines()
        made += [] if self.prepared.lazy else ["result.rows = out"]
        lines = ["if len(out) > limits.rows:", "    exhausted('rows', limits.rows, 'the answer has too many rows')"]
        if find.limit is not None:
            given = "{" + ", ".join(f"{name!r}: {local}" for name, local in self.names.items()) + "}"
            lines += [
                "if len(out) > most:",
                f"    page = next_page(FIND, view, {given}, LITERALS, cursors, most, {'reading' if reads else 'None'})",
                "    out = out[:most]",
                *("    " + line for line in made),
                f"    result.held = (Rows, COLUMNS, out, view, LAZY, page, True{more})",
                "    return result",
            ]
        tail = "" if plain else f", None, False{more}"
        return [*lines, *made, f"result.held = (Rows, COLUMNS, out, view, LAZY{tail})", "return result"]


def re_named(line: str, out: str) -> str:
    """A line about `out`, with its local."""
    return re.sub(r"\bout\b", out, line)


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < MAX_SAFE_INTEGER


def _is_given(param: ast.Param) -> bool:
    return param.name != nodes.READING


def _next_page(
    find: ast.Find,
    view: "View",
    given: Mapping[str, Json],
    literals: Mapping[str, Json],
    cursors: Cursors | None,
    most: int,
    reading: Reading | None,
) -> Callable[[], str] | None:
    """The cursor after a first page, made when it is asked for; the instant of its read is of now."""
    if cursors is None:
        return None
    now = None if reading is None else reading.now
    return partial(_issue, find, view, {**given, **literals}, cursors, most, now)


def _issue(
    find: ast.Find, view: "View", given: Mapping[str, Json], cursors: Cursors, most: int, now: int | None
) -> str:
    return issued(cursors, fingerprint(find, view.coverage, given), view.seq, most, now)
