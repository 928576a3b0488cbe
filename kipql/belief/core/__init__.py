"""Epistemic Projection over frozen records: no store, no clock, no schema objects.

    from kipql.belief.core import Candidate, Claim, Request, SlotRules, project

`project(candidates, rules, request)` is the whole of it; everything else explains a part.
"""

from kipql.belief.core.claims import Candidate, Claim, Request, SlotRules
from kipql.belief.core.conflicts import Belief
from kipql.belief.core.policy import BASELINE, MEMORY_DEFAULT, STRUCTURAL, Policy
from kipql.belief.core.project import Slot, project
from kipql.belief.core.roots import RootGroup, Side

__all__ = [
    "BASELINE",
    "MEMORY_DEFAULT",
    "STRUCTURAL",
    "Belief",
    "Candidate",
    "Claim",
    "Policy",
    "Request",
    "RootGroup",
    "Side",
    "Slot",
    "SlotRules",
    "project",
]
