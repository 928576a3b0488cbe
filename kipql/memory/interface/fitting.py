"""A response within its budget: mandatory items are never dropped, the others are paged (§6)."""

from collections.abc import Mapping
from typing import Any

import kipql
from kipql.memory.interface.pieces import Tokenizer, serialized
from kipql.memory.interface.recalling import Briefing, Recaller
from kipql.memory.interface.wire import MOST

MINIMUM = 300
"""What an empty answer takes at least, in pieces; a test holds it to that."""


def fit(recaller: Recaller, head: Mapping[str, Any], made: Briefing, count: Tokenizer, most: int) -> dict[str, Any]:
    """The largest response within the budget. Raises ResultLimitExceeded where the mandatory part is too large."""

    def fitting(items: int) -> dict[str, Any] | None:
        response = _shown(recaller, head, made, items)
        return response if count(serialized(response)) <= most else None

    low, high = made.mandatory, min(len(made.items), MOST)
    whole = fitting(max(low, high)) if low <= MOST else None
    if whole is not None:
        return whole
    found = fitting(low) if low <= MOST else None
    while found is not None and high - low > 1:  # `low` items fit and `high` do not
        middle = (low + high) // 2
        better = fitting(middle)
        low, high, found = (low, middle, found) if better is None else (middle, high, better)
    if found is None:
        raise kipql.KipError(
            "ResultLimitExceeded",
            "what a recall may not leave out does not fit the budget",
            hint=f"ask for more than {most} tokens, at least {MINIMUM}",
            details={"max_output_tokens": most},
        )
    return found


def _shown(recaller: Recaller, head: Mapping[str, Any], made: Briefing, count: int) -> dict[str, Any]:
    items = made.fitting(count)
    cut = len(items) < len(made.items)
    whole = made.coverage
    if cut and whole.channels["evidence"] != "unresolved_source":
        made.coverage = whole.cut()
    try:
        basis, continuation = recaller.keep(made, items, cut)
        made.basis_ref = basis
        return {**head, "status": made.status, "result": made.result(items, basis, continuation)}
    finally:
        made.coverage = whole
