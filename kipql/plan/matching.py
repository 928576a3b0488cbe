"""REGEX: Python's `regex` dialect, version 0, that can not hold the process (specification §44.2, docs/limits.md).

A search stops at its time, the searches of a call at theirs together. Compiling can not be stopped, so what a pattern
becomes is bounded before: its length, and its size once its counts are written out, which compiling does. Patterns
that call themselves are refused.
"""

import re
from functools import lru_cache
from typing import Any

from kipql.errors import KipError
from kipql.limits import Budget, exhausted

_SMALL = 2_000  # patterns up to this size are kept by the hundred, larger ones by the handful
_MOST = 10**12
_COUNT = re.compile(r"(\)?)[ \t]*\{(\d+)")
_CALL = re.compile(r"(?<!\\)(?:\\\\)*\(\?(?:R|[+-]?\d|&|P>)")
_VERBOSE = re.compile(r"\(\?[\w-]*x")


def regex_search(budget: Budget, text: object, pattern: object) -> bool | None:
    """Whether the pattern is found anywhere in the text."""
    if not isinstance(text, str) or not isinstance(pattern, str):
        return None
    limits = budget.limits
    compiled = compiled_regex(pattern, limits.regex_pattern, limits.regex_size)
    if len(text) > limits.regex_subject:
        exhausted("regex_subject", limits.regex_subject, f"REGEX meets a text of {len(text)} characters")
    return budget_search(budget, compiled, text)


def budget_search(budget: Budget, compiled: Any, text: str) -> bool:
    """One search, timed: per match and for the whole call."""
    from time import monotonic

    limits = budget.limits
    left = limits.regex_total - budget.regex_seconds
    began = monotonic()
    try:
        found = compiled.search(text, timeout=max(min(limits.regex_match, left), 1e-6)) is not None
    except TimeoutError:
        name, value = (
            ("regex_match", limits.regex_match) if left > limits.regex_match else ("regex_total", limits.regex_total)
        )
        exhausted(name, value, "REGEX takes too long")
    budget.regex_seconds += monotonic() - began
    return found


def compiled_regex(pattern: str, longest: int, largest: int) -> Any:
    """The compiled pattern. Raises InvalidSyntax for an invalid one, ResourceExhausted for a long or large one."""
    return _small(pattern, longest, largest) or _large(pattern, longest, largest)


def size_of(pattern: str) -> int:
    """A bound for the parts of a pattern when its counts are written out: `(a{9}){9}` has 81 times an `a`.

    Counts multiply only where a group has one. So the length, times the counts of groups, times the largest other
    count, is a bound whatever the brackets mean. A verbose pattern may hide what is a group, and hide counts.
    """
    verbose = _VERBOSE.search(pattern) is not None
    if verbose and "{" in pattern and "#" in pattern:
        return _MOST
    groups, largest = 1, 1
    for after, digits in _COUNT.findall(re.sub(r"\s", "", pattern) if verbose else pattern):
        count = max(1, int(digits[:13]))
        if after or verbose:
            groups = min(groups * count, _MOST)
        else:
            largest = max(largest, count)
    return min(len(pattern) * groups * largest, _MOST)


@lru_cache(maxsize=256)
def _small(pattern: str, longest: int, largest: int) -> Any:
    if len(pattern) > longest:
        exhausted("regex_pattern", longest, f"the regular expression has {len(pattern)} characters")
    if (size := size_of(pattern)) > largest:
        exhausted("regex_size", largest, f"the regular expression may have {size} parts, its counts written out")
    return _compiled(pattern) if size <= _SMALL else None


@lru_cache(maxsize=4)
def _large(pattern: str, longest: int, largest: int) -> Any:
    return _compiled(pattern)


def _compiled(pattern: str) -> Any:
    import regex

    if _CALL.search(pattern):
        raise KipError(
            "InvalidSyntax",
            "the regular expression calls itself or a part of itself",  # without end that takes all memory
            hint="write the part out; (?R), (?1), (?&name) and (?P>name) are not accepted",
        )
    try:
        return regex.compile(pattern, regex.VERSION0, cache_pattern=False)
    except (regex.error, OverflowError, RecursionError, ValueError, IndexError) as error:
        raise KipError(
            "InvalidSyntax",
            f"the regular expression is invalid: {error}",
            hint="REGEX(text, pattern) uses the dialect of Python's `regex` module",
        ) from None
