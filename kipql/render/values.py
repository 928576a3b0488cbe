"""The smallest pieces of a text about values: compact JSON, a number with its noun.

The text is not escaped: each sink does that (`kipql.escape`).
"""

import json

from kipql.values import Json


def compact(value: Json) -> str:
    """Compact JSON; characters stay as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def many(count: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
