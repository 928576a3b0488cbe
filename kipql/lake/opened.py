"""`kipql.lake.open`: one Space of a lake, asked in KQL like a Nexus (docs/scale.md, "Asking a lake")."""

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from kipql import lang
from kipql.errors import KipError
from kipql.exec.reading import Projections
from kipql.lake import layout, lower, manifest
from kipql.lake.engines.watch import watched
from kipql.lake.manifest import Manifest
from kipql.lake.reading import Asking, LakeControl, reading
from kipql.lake.view import LakeView
from kipql.lang import ast
from kipql.limits import DEFAULT_LIMITS, Budget, Limits
from kipql.plan import clauses, prepare, shape
from kipql.plan.parameters import bind
from kipql.runtime.folder import path_of
from kipql.runtime.result import Answered, Result
from kipql.runtime.standing import completed
from kipql.store.environments import Environments, load_schema
from kipql.store.symbols import Symbols
from kipql.times import Clock, parse_instant
from kipql.times import now as instant_now

if TYPE_CHECKING:
    from kipql.lake.engines import Engine

ENGINES = ("duckdb", "spark")


class Lake:
    """One Space of a lake, read-only. Made by `kipql.lake.open`; a context manager that closes the engine."""

    def __init__(self, folder: Path, held: Manifest, engine: "Engine", limits: Limits, clock: Clock | None) -> None:
        self._folder = folder
        self._manifest = held
        self._engine = engine
        self._limits = limits
        self._clock = clock
        with watched(Budget(limits), engine.interrupt):
            self._environments = _environments(engine)

    def query(
        self,
        text: str,
        parameters: Mapping[str, object] | None = None,
        *,
        limits: Limits | None = None,
        cancel: threading.Event | None = None,
    ) -> Result:
        """The rows of a FIND, as `Nexus.query` answers it.

        Without ORDER BY, rows have an order of their own, the same at every run. LIMIT says in `truncated` whether
        there was more; there is no cursor.

        Raises KipError as `Nexus.query`; ReadonlyViolation for a mutation, UnsupportedCapability for META and for what
        no SQL engine is asked to do: SEARCH, cursors, computed members.
        """
        return self.prepare(text).query(parameters, limits=limits, cancel=cancel)

    def prepare(self, text: str, *, as_of: int | None = None, for_time: str | None = None) -> "LakeStatement":
        """A statement to be run, with the coordinates that it does not name, as `Nexus.prepare` takes them.

        Raises InvalidSyntax.
        """
        try:
            return LakeStatement(self, text, completed(lang.parse(text, self._limits), as_of, for_time))
        except KipError as error:
            raise error.in_text(text) from None

    def execute(self, text: str, parameters: Mapping[str, object] | None = None) -> NoReturn:
        """Raises ReadonlyViolation: a lake is only read."""
        _find(lang.parse(text, self._limits))
        raise KipError("ReadonlyViolation", "a lake is only read", hint="ask it with query")

    def packages(self) -> frozenset[str]:
        """The ids of the Schema Packages that are active."""
        rows = self._environments.entry(self._manifest.head).environment.package_rows()
        return frozenset(row["package_id"] for row in rows if row["status"] == "active")

    def sequence_at(self, moment: str) -> int:
        """The last commit at or before an instant, 0 before the first, as far as the lake holds commits."""
        from sqlglot import exp

        from kipql.lake.lower.sql import col, le, lit, named, table

        last = exp.select(named(exp.Max(this=col("seq")), "n")).from_(table(layout.COMMITS.name))
        ((seq,),) = self._engine.rows(last.where(le(col("at"), lit(parse_instant(moment)))))
        return int(seq or 0)

    @property
    def space_id(self) -> str:
        """What the Space is called in the lake."""
        return self._manifest.name

    @property
    def space_seq(self) -> int:
        """The last commit that is in the lake."""
        return self._manifest.head

    @property
    def limits(self) -> Limits:
        """The limits that queries start from."""
        return self._limits

    @property
    def engine(self) -> str:
        """The engine's name."""
        return self._engine.name

    def close(self) -> None:
        """Give up the engine."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(
        self,
        node: ast.Statement,
        parameters: Mapping[str, object] | None,
        limits: Limits | None,
        cancel: threading.Event | None,
    ) -> Result:
        narrowed = self._limits.narrowed(limits)
        budget = Budget(narrowed, cancel)
        find = _find(node)
        given = bind(find, parameters, narrowed)
        seq = self._sequence(find, given)
        try:
            with watched(budget, self._engine.interrupt):
                return Result(self._answer(find, given, seq, budget, self._projections(seq)))
        finally:
            self._engine.forget()

    def _projections(self, seq: int) -> Projections:
        """What the beliefs of one query are read with: one instant, and the lake itself for selections made again."""
        at = instant_now(self._clock)

        def ask(find: ast.Find, parameters: Mapping[str, Any], budget: Budget, projections: Projections) -> Answered:
            return self._answer(find, parameters, seq, budget, projections)

        return Projections(lambda: at, ask=Asking(ask))

    def _answer(
        self, find: ast.Find, parameters: Mapping[str, Any], seq: int, budget: Budget, projections: Projections
    ) -> Answered:
        prepare.checked_find(find)
        environment = self._environments.entry(seq).environment
        shaped = shape.lift_find(find)
        try:
            inner = shaped.node
            assert isinstance(inner, ast.Find)
            planned = prepare.planned_find(inner, environment)
            given = {**parameters, **shape.named(shaped.literals)}
            valid_at = clauses.world_time(inner, given)
            clauses.check_epistemic(inner.epistemic, given)
            if clauses.cursor(inner, given) is not None:
                raise KipError("UnsupportedCapability", "a lake issues no cursors", span=inner.span)
            most = None if inner.limit is None else clauses.count(inner.limit, given, "LIMIT")
            at = projections.clock()
            view = LakeView(self._engine, self._manifest.space_id, seq, environment, at, budget.limits)
            made = None
            if shaped.reads or inner.epistemic is not None:
                if projections.control is None:
                    projections = replace(projections, control=LakeControl(self._engine))
                withheld = self._manifest.coverage != self._manifest.space_id
                made = reading(inner, view, given, budget, projections, withheld)
            values = planned.fetch(shaped.literals, {**parameters, lower.READING: made})
            wanted = None if most is None else most + 1
            rows = lower.answer(planned.written, values, view, self._engine, wanted, budget)
        except KipError as error:
            raise shaped.locate(error) from None
        truncated = most is not None and 0 < most < len(rows)
        context: dict[str, Any] = {
            "space_id": self._manifest.space_id,
            "snapshot_seq": seq,
            "schema_environment_version": environment.version,
        }
        if valid_at is not None:
            context["valid_at"] = valid_at
        if made is not None and made.believes and most != 0:  # of no rows there is nothing to say
            context.update(made.context())
        columns = tuple(clauses.title(item) for item in find.items)
        return Answered(columns, rows if most is None else rows[:most], context, None, truncated)

    def _sequence(self, find: ast.Find, parameters: Mapping[str, Any]) -> int:
        if find.as_of is None:
            return self._manifest.head
        seq = clauses.count(find.as_of, parameters, "AS OF SEQ")
        if seq > self._manifest.head:
            raise KipError(
                "HistoricalSnapshotUnavailable",
                f"the lake holds the Space up to sequence {self._manifest.head}; it has no state {seq}",
                span=find.as_of.span,
                hint=f"use 0 to {self._manifest.head}, or export again",
            )
        return seq


class LakeStatement:
    """A statement of a lake. Made by `Lake.prepare`."""

    def __init__(self, lake: Lake, text: str, node: ast.Statement) -> None:
        self._lake = lake
        self._text = text
        self._node = node

    def query(
        self,
        parameters: Mapping[str, object] | None = None,
        *,
        limits: Limits | None = None,
        cancel: threading.Event | None = None,
    ) -> Result:
        """As `Lake.query`."""
        try:
            return self._lake._run(self._node, parameters, limits, cancel)
        except KipError as error:
            raise error.in_text(self._text) from None


def open(
    folder: object,
    *,
    space: str | None = None,
    engine: str = "duckdb",
    master: str | None = None,
    threads: int | None = None,
    verify: bool = False,
    limits: Limits | None = None,
    clock: Clock | None = None,
) -> Lake:
    """Open one Space of a lake.

    folder   the lake's folder
    space    what the Space is called there; may be left out where there is one
    engine   "duckdb" in this process, or "spark"
    master   of Spark: "local[2]", "spark://host:port", or "sc://host:port" for Spark Connect
    threads  of DuckDB; as many as there are cores by default
    verify   check every byte of the files also where they are more than `manifest.RESIDENT`
    limits   what a query may spend
    clock    for what depends on the instant of a read

    Raises NotFoundOrNotVisible, MemoryDamaged, MemoryFormatUnsupported, UnsupportedCapability for an engine that is
    unknown or not installed, MemoryUnavailable where it can not be reached.
    """
    lake = path_of(folder)
    held = manifest.read(lake, _named(lake, space))
    manifest.check_files(lake, held, whole=verify or held.bytes <= manifest.RESIDENT)
    if engine not in ENGINES:
        raise KipError("UnsupportedCapability", f"there is no engine {engine!r}", hint=f"one of {', '.join(ENGINES)}")
    return Lake(lake, held, _engine(engine, lake, held, master, threads), limits or DEFAULT_LIMITS, clock)


def spaces(folder: object) -> list[str]:
    """What the Spaces of a lake are called, ordered."""
    return manifest.names(path_of(folder))


def _named(lake: Path, space: str | None) -> str:
    if space is not None:
        return space
    known = manifest.names(lake)
    if len(known) == 1:
        return known[0]
    raise KipError(
        "NotFoundOrNotVisible",
        f"{lake} is no lake" if not known else f"the lake has {len(known)} Spaces",
        hint="pass space=..." if known else "export a memory into it first",
    )


def _engine(name: str, lake: Path, held: Manifest, master: str | None, threads: int | None) -> "Engine":
    if name == "duckdb":
        from kipql.lake.engines.on_duckdb import DuckDB

        return DuckDB(lake, held, threads)
    from kipql.lake.engines.on_spark import Spark

    return Spark(lake, held, master)


def _find(node: ast.Statement) -> ast.Find:
    if isinstance(node, ast.Find):
        return node
    if lang.is_mutation(node):
        raise KipError("ReadonlyViolation", "a lake is only read", span=node.span, hint="write to the memory itself")
    raise KipError("UnsupportedCapability", "a lake answers FIND", span=node.span, hint="ask the memory itself")


def _environments(engine: "Engine") -> Environments:
    """The Schema Environments that the lake's Space went through."""
    from sqlglot import exp

    from kipql.lake.lower.sql import col, eq, lit, table

    found = Environments(Symbols(), load_schema)
    found.add(0, {})
    select = exp.select(col("seq"), col("change")).from_(table(layout.SCHEMA.name))
    changes = engine.rows(select.where(eq(col("kind"), lit("schema"))).order_by(exp.Ordered(this=col("place"))))
    for seq, change in changes:
        found.add(seq, json.loads(change))
    return found
