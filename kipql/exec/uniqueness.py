"""Whether a plan's proof of distinct solutions holds at a view (see `plan.rules.uniqueness`)."""

from typing import TYPE_CHECKING

from kipql.plan import nodes

if TYPE_CHECKING:
    from kipql.store.view import View


def proven_unique(plan: nodes.Plan, view: "View") -> bool:
    """Whether this plan gives no solution twice at this view.

    Merges join endpoints and renames join lineages: then two tuples can be one solution.
    """
    if plan.unique == "always":
        return True
    return plan.unique == "unmerged" and not view.has_merges and not view.has_renames
