"""The answer of a lake to one FIND: what the process reads and plans, with the rows of an engine."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.exec.reading import Projections
from kipql.lake import layout, lower
from kipql.lake.door import malformed
from kipql.lake.manifest import Manifest
from kipql.lake.reading import Asking, LakeControl, reading
from kipql.lake.view import LakeView
from kipql.lang import ast
from kipql.limits import Budget
from kipql.plan import clauses, prepare, shape
from kipql.runtime.result import Answered
from kipql.store.environments import Environments, load_schema
from kipql.store.symbols import Symbols
from kipql.times import Clock
from kipql.times import now as instant_now
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.lake.engines import Engine
    from kipql.schema.environment import Environment


@dataclass(frozen=True, slots=True)
class Answering:
    """What answers the queries of one Space of a lake."""

    held: Manifest
    engine: "Engine"
    environments: Environments
    clock: Clock | None

    def projections(self, seq: int) -> Projections:
        """What the beliefs of one query are read with: one instant, and the lake itself for selections made again."""
        at = instant_now(self.clock)

        def ask(find: ast.Find, parameters: Mapping[str, Any], budget: Budget, projections: Projections) -> Answered:
            return self.answer(find, parameters, seq, budget, projections)

        return Projections(lambda: at, ask=Asking(ask))

    def answer(
        self, find: ast.Find, parameters: Mapping[str, Any], seq: int, budget: Budget, projections: Projections
    ) -> Answered:
        """The answer to a FIND at a sequence, of which its LIMIT leaves rows. Raises KipError."""
        prepare.checked_find(find)
        environment = self.environments.entry(seq).environment
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
            view = LakeView(self.engine, self.held.space_id, seq, environment, at, budget.limits)
            made = None
            if shaped.reads or inner.epistemic is not None:
                if projections.control is None:
                    projections = replace(projections, control=LakeControl(self.engine))
                withheld = self.held.coverage != self.held.space_id
                made = reading(inner, view, given, budget, projections, withheld)
            values = planned.fetch(shaped.literals, {**parameters, lower.READING: made})
            wanted = None if most is None else most + 1
            rows = lower.answer(planned.written, values, view, self.engine, wanted, budget)
        except KipError as error:
            raise shaped.locate(error) from None
        truncated = most is not None and 0 < most < len(rows)
        context: dict[str, Any] = {
            "space_id": self.held.space_id,
            "snapshot_seq": seq,
            "schema_environment_version": environment.version,
        }
        if valid_at is not None:
            context["valid_at"] = valid_at
        if made is not None and made.believes and most != 0:  # of no rows there is nothing to say
            context.update(made.context())
        columns = tuple(clauses.title(item) for item in find.items)
        return Answered(columns, rows if most is None else rows[:most], context, None, truncated)

    def sequence(self, find: ast.Find, parameters: Mapping[str, Any]) -> int:
        """The sequence that a FIND is about. Raises HistoricalSnapshotUnavailable past the last export."""
        if find.as_of is None:
            return self.held.head
        seq = clauses.count(find.as_of, parameters, "AS OF SEQ")
        if seq > self.held.head:
            raise KipError(
                "HistoricalSnapshotUnavailable",
                f"the lake holds the Space up to sequence {self.held.head}; it has no state {seq}",
                span=find.as_of.span,
                hint=f"use 0 to {self.held.head}, or export again",
            )
        return seq


def _loaded(before: "Environment | None", artifacts: Sequence[Json], version: int) -> "Environment":
    """An environment with packages added. The Spaces of a fleet have few: each is made once."""
    return _known_schema(before, json.dumps(artifacts), version)


@lru_cache(maxsize=64)
def _known_schema(before: "Environment | None", artifacts: str, version: int) -> "Environment":
    return load_schema(before, json.loads(artifacts), version)


def environments_of(engine: "Engine") -> Environments:
    """The Schema Environments that the lake's Space went through. Raises MemoryDamaged for what is no such change."""
    from sqlglot import exp

    from kipql.lake.lower.sql import col, eq, lit, table

    found = Environments(Symbols(), _loaded)
    found.add(0, {})
    select = exp.select(col("seq"), col("change")).from_(table(layout.SCHEMA.name))
    changes = engine.rows(select.where(eq(col("kind"), lit("schema"))).order_by(exp.Ordered(this=col("place"))))
    for seq, change in changes:
        try:
            if seq.__class__ is not int:
                raise TypeError(f"its commit is {seq!r}")
            found.add(seq, json.loads(change))
        except Exception as error:
            raise malformed(f"a change of the Schema Environment: {error!r}") from error
    return found
