"""The rules that make a plan fast: an ordered tuple of pure functions from plan to plan.

Each may be left out and the rows stay the same; a test runs every subset.
"""

from collections.abc import Callable

from kipql.plan.nodes import Plan
from kipql.plan.rules.equalities import equalities_into_patterns
from kipql.plan.rules.identity_lists import identities_into_patterns
from kipql.plan.rules.joins import order_joins
from kipql.plan.rules.membership import memberships_into_patterns
from kipql.plan.rules.scans import count_in_columns
from kipql.plan.rules.splitting import split_conjunctions
from kipql.plan.rules.uniqueness import prove_unique

Rule = Callable[[Plan], Plan]

RULES: tuple[Rule, ...] = (
    split_conjunctions,
    equalities_into_patterns,
    memberships_into_patterns,
    identities_into_patterns,
    order_joins,
    prove_unique,
    count_in_columns,
)


def optimised(plan: Plan, rules: tuple[Rule, ...] = RULES) -> Plan:
    """The plan after the rules, in their order."""
    for rule in rules:
        plan = rule(plan)
    return plan
