"""Plans to SQL: the logical plan of a FIND as one relational tree, and its rows (docs/scale.md, "How a query runs")."""

from typing import TYPE_CHECKING, Any

from kipql.lake.lower.answers import rows
from kipql.lake.lower.blocks import block
from kipql.lake.lower.refusing import check
from kipql.lake.lower.steps import Lowering
from kipql.limits import Budget
from kipql.plan import nodes
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.lake.engines import Engine
    from kipql.lake.view import LakeView


def answer(
    plan: nodes.Plan, values: tuple[Json, ...], view: "LakeView", engine: "Engine", wanted: int | None, budget: Budget
) -> list[Any]:
    """The rows of a plan as written, all of them or the first `wanted`. Raises what the plan's run in the process
    raises, and UnsupportedCapability for what a lake can not say."""
    low = Lowering(plan, values, view, engine)
    check(low)
    return rows(low, block(low, plan.block, low.unit()), engine, wanted, budget)


READING = nodes.READING
"""The parameter under which a plan gets its reading."""

__all__ = ["READING", "answer"]
