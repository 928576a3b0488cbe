"""What a query of a lake reads beside its tables: one instant, and beliefs at a world time (specification §27.1, §49).

The process's own Reading over a `HeldView`, which is a new one for every chunk of targets, so that what a query holds
of the lake is bounded.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from kipql.belief.control import POLICY, Control
from kipql.belief.quick import Quick
from kipql.exec.reading import UNASKED, Asked, Projections, Projector, Reading, asked_of
from kipql.govern.trust import KIND as TRUST
from kipql.lake import layout
from kipql.lake.closure import Slot
from kipql.lake.held import HeldView
from kipql.lake.lower.sql import among, col, lit, table
from kipql.lake.lower.wants import Refused, unsupported
from kipql.lake.plain import Plain
from kipql.lang import ast
from kipql.limits import Budget
from kipql.model import parse_id
from kipql.plan import clauses
from kipql.times import parse_instant
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.lake.engines import Engine
    from kipql.lake.view import LakeView
    from kipql.schema.definitions import PredicateType

CONTROLS = "controls"
"""The fact that holds the policies and trust of the Space, as they changed."""

Ask = Callable[[ast.Find, Mapping[str, Json], Budget, Projections], Any]


class LakeControl(Control):
    """Policies and trust of a lake's Space; the weights of one query are found once."""

    __slots__ = ("_found", "actors")

    def __init__(self, engine: "Engine") -> None:
        changes = engine.facts.get(CONTROLS)
        if changes is None:
            kinds = among(col("kind"), [lit(POLICY), lit(TRUST)])
            select = exp.select(col("seq"), col("kind"), col("change")).from_(table(layout.SCHEMA.name)).where(kinds)
            rows = engine.rows(select.order_by(exp.Ordered(this=col("place"))))
            changes = engine.facts[CONTROLS] = [(seq, kind, json.loads(change)) for seq, kind, change in rows]
        super().__init__(SimpleNamespace(controls=changes))  # type: ignore[arg-type]
        named = (parse_id(change["actor"]) for _, kind, change in changes if kind == TRUST)
        self.actors = frozenset(code for code in named if code is not None)
        self._found: dict[int, float] | None = None

    def trust(self, view: Any) -> dict[int, float]:
        if self._found is None:
            view.closure.need(self.actors | {view.canonical(actor) for actor in self.actors})
            self._found = super().trust(view)
        return self._found


class Asking:
    """Answers selections that are made again (§57.7) by asking the lake; remembers what it had to refuse, since a
    selection that can not be made would be no proof, and the belief another one."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.refused: Refused | None = None

    def __call__(
        self, find: ast.Find, view: Any, parameters: Mapping[str, Json], budget: Budget, projections: Projections
    ) -> Any:
        try:
            found = self._ask(find, parameters, budget, projections)
            if _ordered_by_more(find, found):
                raise unsupported("a selection whose order leaves ties", find.span)
        except Refused as error:
            self.refused = self.refused or error
            raise
        return found


def _ordered_by_more(find: ast.Find, found: Any) -> bool:
    """Whether ORDER BY may leave the order of rows to the engine: not where FIND lists its keys and no two rows agree
    in all of them."""
    if not find.order_by or len(found.rows) < 2:
        return False
    places = [find.items.index(key.key) for key in find.order_by if key.key in find.items]
    if len(places) < len(find.order_by):
        return True
    rows = [(row,) if len(find.items) == 1 else row for row in found.rows]
    return len({json.dumps([row[place] for place in places]) for row in rows}) < len(rows)


class LakeProjector(Projector):
    """The Projector of a chunk; `plainly` has the statuses of its plain slots, where that is all that is asked."""

    __slots__ = ("plainly",)
    packed = False

    def __init__(self, view: Any, projections: Projections, asked: Asked, valid_at: int | None, at: int | None) -> None:
        super().__init__(view, projections, asked, valid_at, at)
        self.plain = asked.plain
        self.plainly: Plain | None = None

    def look(self, subject: int, number: Any, definition: "PredicateType") -> Quick | None:
        return None if self.plainly is None else self.plainly.of((self.view.canonical(subject), number))


class LakeReading(Reading):
    """The Reading of one query; `turn` begins a chunk of targets.

    withheld  whether the lake is without what its exporter could not see: beliefs need all that they rest on
    """

    __slots__ = ("_asked", "_lake", "_projections", "_valid_at", "_withheld", "budget")

    def __init__(
        self,
        lake: "LakeView",
        projections: Projections,
        asked: Asked,
        valid_at: int | None,
        budget: Budget,
        withheld: bool,
    ) -> None:
        self._withheld = withheld
        self._lake = lake
        self._projections = projections
        self._asked = asked
        self._valid_at = valid_at
        self.budget = budget
        view: Any = HeldView(lake, self.explains)
        super().__init__(view, projections, asked, valid_at, lake.now)
        self.projector = LakeProjector(view, projections, asked, valid_at, lake.now)

    @property
    def explains(self) -> bool:
        """Whether beliefs are explained, and so read what has ended."""
        return self._asked.explanation != "none" or self._asked.include_historical

    @property
    def view(self) -> HeldView:
        """What the chunk at hand reads."""
        view: Any = self.projector.view
        return view  # type: ignore[no-any-return]

    def turn(self) -> None:
        """Let go of the chunk before, its beliefs counted. Raises UnsupportedCapability where something is withheld."""
        if self._withheld:
            raise unsupported("belief over what a narrowed principal exported", None)
        self._fold(self.budget.limits.projections)
        self.check()
        self.budget.check()
        view: Any = HeldView(self._lake, self.explains)
        self.projector = LakeProjector(view, self._projections, self._asked, self._valid_at, self._lake.now)

    def plainly(self, slots: Iterable[Slot]) -> list[Slot]:
        """Take in what is plain of some slots, by canonical subject and lineage; those that are not."""
        projector = self.projector
        assert isinstance(projector, LakeProjector)
        if not projector.plain:
            return list(slots)
        decides = bool(self._asked.policy.precedence)
        plain = projector.plainly = Plain(self.view.closure, slots, projector.valid_at, decides)
        return [slot for slot in slots if plain.of(slot) is None]

    def check(self) -> None:
        """Raises what a selection was refused for."""
        asking = self._projections.ask
        if isinstance(asking, Asking) and asking.refused is not None:
            raise asking.refused


def reading(
    find: ast.Find,
    lake: "LakeView",
    parameters: Mapping[str, Json],
    budget: Budget,
    projections: Projections,
    withheld: bool = False,
) -> LakeReading:
    """The Reading of a query of a lake. Raises as `kipql.exec.reading.reading`."""
    text = clauses.world_time(find, parameters)
    valid_at = None if text is None else parse_instant(text)
    settled: Any = lake
    asked = UNASKED if find.epistemic is None else asked_of(find.epistemic, settled, parameters, projections)
    return LakeReading(lake, replace(projections, budget=budget), asked, valid_at, budget, withheld)
