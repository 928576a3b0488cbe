"""Tokens of a response: the tokenizer that a binding counts with where the host supplies none (§6).

`kipql:pieces-1` cuts a text into pieces: at most four letters or digits in a row, or one other character that is no
space. It is a tokenizer of its own with one count for one text, and no estimate of another.
"""

import json
import re
from collections.abc import Callable
from typing import Any

NAME = "kipql:pieces-1"
Tokenizer = Callable[[str], int]
_PIECE = re.compile(r"[^\W_]{1,4}|[^\w\s]|_")


def pieces(text: str) -> int:
    """The pieces of a text.

    >>> pieces("Alice lives here."), pieces("")
    (6, 0)
    """
    return sum(1 for _ in _PIECE.finditer(text))


def serialized(value: Any) -> str:
    """A response as it goes to a model."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
