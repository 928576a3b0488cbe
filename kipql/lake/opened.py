"""`kipql.lake.open`: one Space of a lake, asked in KQL like a Nexus (docs/scale.md, "Asking a lake")."""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self

from kipql import lang
from kipql.errors import KipError
from kipql.extras import need
from kipql.lake import layout, manifest
from kipql.lake.answering import Answering, environments_of
from kipql.lake.door import guarded
from kipql.lake.engines.classic import check_master
from kipql.lake.engines.watch import EVERY, watched
from kipql.lake.manifest import Manifest
from kipql.lake.view import EMPTY
from kipql.lang import ast
from kipql.limits import DEFAULT_LIMITS, Budget, Limits
from kipql.plan.parameters import bind
from kipql.runtime.folder import path_of
from kipql.runtime.result import Result
from kipql.runtime.standing import completed
from kipql.times import Clock, parse_instant

if TYPE_CHECKING:
    from kipql.lake.engines import Engine

ENGINES = ("duckdb", "spark")
MOST_THREADS = 1_024


class Lake:
    """One Space of a lake, read-only. Made by `kipql.lake.open`; a context manager that closes the engine.

    Threads may share one: their queries wait for each other, at most for what they may spend.
    """

    unmetered = frozenset(("ticks",))
    """Limits that no engine counts: an audit that sets one is refused."""

    def __init__(self, folder: Path, held: Manifest, engine: "Engine", limits: Limits, clock: Clock | None) -> None:
        self._folder = folder
        self._manifest = held
        self._engine = engine
        self._limits = limits
        self._lock = threading.Lock()
        self._process: int | None = os.getpid()  # None once it is closed
        held_tables = {part.table for part in held.parts}
        engine.facts[EMPTY] = frozenset(each.name for each in layout.TABLES) - held_tables
        with watched(Budget(limits), engine.interrupt):
            self._answering = Answering(held, engine, environments_of(engine), clock)

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
        no SQL engine is asked to do: SEARCH, cursors, computed members, arrays and objects of variables in expressions.
        """
        with guarded(text, self._folder):
            node = lang.parse(text, self._limits.narrowed(limits))
        return LakeStatement(self, text, node).query(parameters, limits=limits, cancel=cancel)

    def prepare(self, text: str, *, as_of: int | None = None, for_time: str | None = None) -> "LakeStatement":
        """A statement to be run, with the coordinates that it does not name, as `Nexus.prepare` takes them.

        Raises InvalidSyntax.
        """
        with guarded(text, self._folder):
            return LakeStatement(self, text, completed(lang.parse(text, self._limits), as_of, for_time))

    def execute(self, text: str, parameters: Mapping[str, object] | None = None) -> NoReturn:
        """Raises ReadonlyViolation: a lake is only read."""
        with guarded(text, self._folder):
            find_of(lang.parse(text, self._limits))
        raise KipError("ReadonlyViolation", "a lake is only read", hint="ask it with query")

    def packages(self) -> frozenset[str]:
        """The ids of the Schema Packages that are active."""
        rows = self._answering.environments.entry(self._manifest.head).environment.package_rows()
        return frozenset(row["package_id"] for row in rows if row["status"] == "active")

    def sequence_at(self, moment: str) -> int:
        """The last commit at or before an instant, 0 before the first, as far as the lake holds commits."""
        from sqlglot import exp

        from kipql.lake.lower.sql import col, le, lit, named, table

        last = exp.select(named(exp.Max(this=col("seq")), "n")).from_(table(layout.COMMITS.name))
        with guarded(lake=self._folder), self._turn(Budget(self._limits)):
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
        """Give up the engine, after the query that runs."""
        with self._lock:
            ours, self._process = self._process == os.getpid(), None
            if ours:
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
        find = find_of(node)
        given = bind(find, parameters, narrowed)
        answering = self._answering
        seq = answering.sequence(find, given)
        with self._turn(budget):
            return Result(answering.answer(find, given, seq, budget, answering.projections(seq)))

    @contextmanager
    def _turn(self, budget: Budget) -> Iterator[None]:
        """The engine, for one query at a time: what interrupts it interrupts no other one."""
        while not self._lock.acquire(timeout=EVERY):
            budget.check()
        try:
            if self._process != os.getpid():
                what = "is closed" if self._process is None else "was opened by another process"
                raise KipError("MemoryUnavailable", f"this lake {what}", hint="open it again")
            try:
                with watched(budget, self._engine.interrupt):
                    yield
            except KipError as error:
                found = self._exported_again(error)
                if found is error:
                    raise
                raise found from error
            finally:
                self._engine.forget()
        finally:
            self._lock.release()

    def _exported_again(self, error: KipError) -> KipError:
        """What an engine failed of, where that is that files are gone which a later export removed."""
        if error.code not in ("MemoryUnavailable", "MemoryDamaged"):
            return error
        try:
            manifest.check_files(self._folder, self._manifest, whole=False)
        except KipError as gone:
            if manifest.read(self._folder, self._manifest.name) == self._manifest:
                return gone
            return KipError("MemoryUnavailable", "the lake was exported again", hint="open it anew")
        return error


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
        with guarded(self._text, self._lake._folder):
            return self._lake._run(self._node, parameters, limits, cancel)


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
    _check(engine, threads, limits, master)
    with guarded(lake=lake):
        held = manifest.read(lake, _named(lake, space))
        manifest.check_files(lake, held, whole=verify or held.bytes <= manifest.RESIDENT)
        started = _engine(engine, lake, held, master, threads)
        try:
            return Lake(lake, held, started, limits or DEFAULT_LIMITS, clock)
        except BaseException:
            started.close()
            raise


def _check(engine: object, threads: object, limits: object, master: object) -> None:
    if engine not in ENGINES:
        raise KipError("UnsupportedCapability", f"there is no engine {engine!r}", hint=f"one of {', '.join(ENGINES)}")
    if threads is not None and threads.__class__ is not int:
        raise KipError("TypeMismatch", f"threads are a whole number, not {threads!r}")
    if isinstance(threads, int) and not 0 < threads <= MOST_THREADS:
        raise KipError("ConstraintViolation", f"threads are 1 to {MOST_THREADS}, not {threads}")
    if limits is not None and not isinstance(limits, Limits):
        raise KipError("TypeMismatch", f"limits are kipql.Limits, not {type(limits).__name__}")
    if master is not None and not isinstance(master, str):
        raise KipError("TypeMismatch", f"a master is a string, not {type(master).__name__}")
    if isinstance(master, str) and engine == "spark":
        check_master(master)


def spaces(folder: object) -> list[str]:
    """What the Spaces of a lake are called, ordered."""
    lake = path_of(folder)
    with guarded(lake=lake):
        return manifest.names(lake)


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
        need("lake", "pyarrow", "duckdb")
        from kipql.lake.engines.on_duckdb import DuckDB

        return DuckDB(lake, held, threads)
    from kipql.lake.engines.on_spark import Spark

    return Spark(lake, held, master)


def find_of(node: ast.Statement) -> ast.Find:
    if isinstance(node, ast.Find):
        return node
    if lang.is_mutation(node):
        raise KipError("ReadonlyViolation", "a lake is only read", span=node.span, hint="write to the memory itself")
    raise KipError("UnsupportedCapability", "a lake answers FIND", span=node.span, hint="ask the memory itself")
