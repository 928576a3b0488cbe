"""Strings and numbers from their source tokens (§9.2, §9.3, §9.6).

A number is judged by its spelling before it becomes a float, so that no spelling hides lost digits: finite,
integral values safe, no underflow of what is not zero. A string is JSON, then NFC.
"""

import json
import math
import re
import unicodedata

from kipql.errors import KipError
from kipql.spans import Span
from kipql.values import MAX_SAFE_INTEGER

# Compiled at first use (re keeps them): most texts have no escapes.
_ESCAPE = r'\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}|(?P<bad>u[0-9A-Fa-f]{0,3}|.))'
_SURROGATE = (
    r"\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}"  # a pair
    r"|\\(?P<lone>u[dD][89a-fA-F][0-9A-Fa-f]{2})|\\."
)
_SIGNIFICANT = frozenset("123456789")
_SAFE_DIGITS = len(str(MAX_SAFE_INTEGER)) + 1


def number(token: str, start: int, end: int) -> int | float:
    """The canonical value of a NUMBER. Raises InvalidSyntax for what is not portable (§9.3)."""
    if "." in token or "e" in token or "E" in token:
        value = float(token)
        if not math.isfinite(value):
            raise _not_portable(token, start, end, "is not finite in binary64")
        if value == 0:
            mantissa = token.lower().partition("e")[0]
            if not _SIGNIFICANT.isdisjoint(mantissa):
                raise _not_portable(token, start, end, "is not zero but underflows to zero")
            return 0
        if not value.is_integer():
            return value
        if abs(value) <= MAX_SAFE_INTEGER:
            return int(value)
    elif len(token) <= _SAFE_DIGITS:
        whole = int(token)
        if -MAX_SAFE_INTEGER <= whole <= MAX_SAFE_INTEGER:
            return whole
    raise _not_portable(token, start, end, "is an integer beyond +/-9007199254740991")


def _not_portable(token: str, start: int, end: int, why: str) -> KipError:
    shown = token if len(token) <= 40 else token[:37] + "..."
    return KipError(
        "InvalidSyntax",
        f"the number {shown} {why}",
        span=Span(start, end),
        hint="write it as a string to keep its digits",
    )


def string(token: str, start: int) -> str:
    """The value of a STRING, in NFC. Raises InvalidSyntax for a bad escape or an unpaired surrogate."""
    if "\\" not in token:
        text = token[1:-1]
        return text if text.isascii() else unicodedata.normalize("NFC", text)
    for escape in re.finditer(_ESCAPE, token):
        if escape["bad"] is not None:
            raise KipError(
                "InvalidSyntax",
                f"\\{escape['bad'][:1]} is not an escape of a JSON string",
                span=Span(start + escape.start(), start + escape.end()),
                hint='the escapes are \\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal digits',
            )
    for escape in re.finditer(_SURROGATE, token):
        if escape["lone"] is not None:
            raise KipError(
                "InvalidSyntax",
                f"\\{escape['lone']} is half of a surrogate pair",
                span=Span(start + escape.start(), start + escape.end()),
                hint="write both halves of the pair, or the character itself",
            )
    text = json.loads(token)
    return text if text.isascii() else unicodedata.normalize("NFC", text)
