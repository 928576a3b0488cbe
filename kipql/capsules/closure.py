"""What a Capsule holds beside its roots (specification §40.1, §40.3, §63.4).

    closed       everything that a record refers to, and every Activity that put one out
    referential  what a record can not stand without, and provenance as deep as `provenance_depth` (1)
    selective    the roots alone, and provenance as deep as `provenance_depth` (0)

What is referred to and stays outside becomes an ExternalRef, never a dangling id. An element that the caller may not
see is neither: no record refers to it.
"""

from collections import deque
from math import inf
from typing import TYPE_CHECKING

from kipql.belief.lineage import producers
from kipql.capsules import references
from kipql.capsules.identity import fingerprint
from kipql.capsules.portable import WITHHELD, Assembly, located, portable, why_outside
from kipql.limits import Budget

if TYPE_CHECKING:
    from kipql.store.view import View

CLOSED, REFERENTIAL, SELECTIVE = CLOSURES = ("closed", "referential", "selective")
DEPTH = {CLOSED: inf, REFERENTIAL: 1, SELECTIVE: 0}
"""How many steps of provenance are followed where nothing is said."""


def collect(
    view: "View", roots: list[int], closure: str, depth: float, payloads: str, source: str, budget: Budget
) -> Assembly:
    """The records of a closure, and what stays outside it; `source` names the memory in fingerprints."""
    assembly = Assembly(payloads)
    left: dict[int, float] = {}
    pending: deque[int] = deque()

    def reach(code: int, steps: float) -> None:
        if steps > left.get(code, -1):
            left[code] = steps
            pending.append(code)

    for root in roots:
        reach(root, depth)
    outside: dict[str, int] = {}
    while pending:
        code = pending.popleft()
        budget.spend()
        why = why_outside(view, code)
        if why is not None:
            continue
        record = assembly.records.get(code)
        if record is None:
            record = assembly.records[code] = portable(view, code, assembly)
            budget.buffer(len(assembly.records))
        steps = left[code]
        for reference in references.of(record, view.environment):
            target = view.code(reference.id)
            if target is None:
                if reference.id not in assembly.external:
                    assembly.outside(reference.id, "redacted" if reference.id == WITHHELD else "unavailable")
                continue
            outside.setdefault(reference.id, target)
            provenance = reference.need == references.PROVENANCE
            if provenance and steps > 0:
                reach(target, steps - 1)
            elif closure == CLOSED or (closure == REFERENTIAL and reference.need == references.REQUIRED):
                reach(target, steps)
        if steps > 0:
            for producer in producers(view, code):
                reach(producer, steps - 1)
    _name_outside(view, outside, assembly, source)
    return assembly


def _name_outside(view: "View", referred: dict[str, int], assembly: Assembly, source: str) -> None:
    for name, code in referred.items():
        if code in assembly.records:
            continue
        why = why_outside(view, code)
        if why is not None:
            assembly.outside(name, *why)
        else:
            record = portable(view, code, Assembly())
            assembly.outside(name, "source_element", located(view, code, fingerprint(record, source)))
