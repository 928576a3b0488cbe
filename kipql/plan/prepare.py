"""Preparing a statement: static checks, shape, lowering, rules; plans are cached by shape (architecture §4.4)."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.lang import ast
from kipql.limits import exhausted
from kipql.plan import bindings, cost, lower, nodes, rules, scope, shape
from kipql.plan.calls import calls_of
from kipql.plan.rules import joins
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.schema.environment import Environment

Fetch = Callable[[tuple[object, ...], Mapping[str, Json]], tuple[Json, ...]]

MOST_OPERATORS = 200
MOST_PLANS = 1_024


@dataclass(slots=True, eq=False)
class Planned:
    """One shape in one environment.

    plan       with every rule applied
    written    without any rule, operators as written
    constants  literals that stayed in the plan
    entries    operators of the first run among which the run chooses its start
    variants   plans by chosen start; `compiled` holds what an engine made of a plan
    broad      the operator that the plan starts with, where only its posting tells how much that is
    calls      calls with a constant argument, checked before any row
    fetch      (lifted literals, parameters) -> the values of the slots
    """

    plan: nodes.Plan
    written: nodes.Plan
    constants: tuple[object, ...]
    entries: tuple[int, ...]
    first: tuple[nodes.Operator, ...]
    variants: dict[int, nodes.Plan]
    compiled: dict[object, object]
    fetch: Fetch
    broad: nodes.Elements | nodes.Triple | None
    calls: tuple[nodes.Apply, ...] = ()
    runs: int = 0

    def started_at(self, entry: int) -> nodes.Plan:
        """The plan that starts at an entry."""
        plan = self.variants.get(entry)
        if plan is None:
            plan = self.variants[entry] = joins.started_at(self.plan, entry)
        return plan


class _Key:
    """A shape in an environment, hashed once: the hash of a tree is dear."""

    __slots__ = ("_hash", "environment", "shape")

    def __init__(self, shape: object, environment: int) -> None:
        self.shape, self.environment = shape, environment
        self._hash = hash((shape, environment))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.environment == other.environment and self.shape == other.shape


_plans: OrderedDict[_Key, tuple["Environment", Planned]] = OrderedDict()
_lock = Lock()


def planned_find(find: ast.Find, environment: "Environment") -> Planned:
    """The plan of a FIND's shape, from the cache where it was made for the same environment."""
    return _cached(_Key(find, id(environment)), environment, lambda: lower.lower_find(find, environment))


def planned_block(shaped: shape.Shaped, environment: "Environment", visible: tuple[str, ...]) -> Planned:
    """The plan of a WHERE block's shape for the variables that are read."""
    assert isinstance(shaped.node, ast.Block)
    block = shaped.node
    return _cached(
        _Key((block, visible), id(environment)), environment, lambda: lower.lower_block(block, environment, visible)
    )


def _cached(key: _Key, environment: "Environment", make: Callable[[], lower.Lowered]) -> Planned:
    with _lock:
        known = _plans.get(key)
        if known is not None and known[0] is environment:
            _plans.move_to_end(key)
            return known[1]
    planned = _planned(make())
    with _lock:
        _plans[key] = (environment, planned)
        while len(_plans) > MOST_PLANS:
            _plans.popitem(last=False)
    return planned


def _planned(lowered: lower.Lowered) -> Planned:
    plan = rules.optimised(lowered.plan)
    first = joins.first_run(plan)
    entries = cost.entries(first)
    fetch = _fetch(lowered)
    broad = cost.broad(plan.block.operators)
    return Planned(plan, lowered.plan, lowered.constants, entries, first, {}, {}, fetch, broad, calls_of(lowered.plan))


def _fetch(lowered: lower.Lowered) -> Fetch:
    """One expression that gathers the values of a run."""
    parts = {"literal": "literals[{}]", "parameter": "parameters[{!r}]", "constant": "constants[{}]"}
    listed = "".join(parts[source].format(key) + ", " for source, key in lowered.plan.slots)
    made: Fetch = _gathering(listed)(lowered.constants)
    return made


@lru_cache(maxsize=MOST_PLANS)
def _gathering(listed: str) -> Any:
    return eval(f"lambda constants: lambda literals, parameters: ({listed})", {})


def check_size(block: ast.Block) -> None:
    """A query has a bounded number of clauses, so that no engine recurses without bound."""
    count = _clauses(block)
    if count > MOST_OPERATORS:
        exhausted("clauses", MOST_OPERATORS, f"the query has {count} clauses")


def _clauses(block: ast.Block) -> int:
    count = 0
    stack = [block]
    while stack:
        for clause in stack.pop().clauses:
            count += 1
            if isinstance(clause, ast.Not | ast.Optional | ast.Union):
                stack.append(clause.block)
    return count


def checked_find(find: ast.Find) -> None:
    """The static checks of a FIND."""
    check_size(find.where)
    scope.check(find)


def checked_block(block: ast.Block, visible: tuple[str, ...]) -> None:
    """The static checks of a WHERE block; every variable that is read needs a binding site."""
    check_size(block)
    scope.check_block(block)
    sites = bindings.exported(block)
    for name in visible:
        if name not in sites:
            raise KipError(
                "InvalidSyntax",
                f"nothing in WHERE binds ?{name}",
                span=block.span,
                hint=f"add a pattern that binds ?{name} outside NOT",
            )
