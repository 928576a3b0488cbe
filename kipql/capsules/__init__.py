"""Cognitive Capsules: portable artifacts of cognition, out of a Space and into another (specification §37-§41, §63.4).

A Capsule is bytes to judge, never authority. It is opened and verified (`opening`), validated (`shape`, `check`),
resolved against a destination under a plan (`plan`, `resolve`) and written as one transaction (`bring`); `export` makes
one from what its caller may see.
"""

from kipql.capsules.artifact import Capsule
from kipql.capsules.bring import Importing, bring
from kipql.capsules.check import problems
from kipql.capsules.export import Request, export, request
from kipql.capsules.opening import opened, verification
from kipql.capsules.plan import ImportPlan, read_plan

__all__ = [
    "Capsule",
    "ImportPlan",
    "Importing",
    "Request",
    "bring",
    "export",
    "opened",
    "problems",
    "read_plan",
    "request",
    "verification",
]
