"""A snippet: the part of a document that the query is found in, on one line (specification §66.4).

Control and direction characters become spaces, so that a snippet can be shown anywhere; what is cut is marked.
It is made from what the caller may see of the element, after ranking.
"""

import re
from collections.abc import Collection, Sequence

from kipql.search.analysis import Analyzer

LONGEST = 160
BEFORE = 40

_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]+")


def snippet(texts: Sequence[str], tokens: Collection[str], analyzer: Analyzer) -> str:
    """Of the text with most of the tokens, at most `LONGEST` characters around the first of them."""
    if len(texts) == 1 and len(texts[0]) <= LONGEST:
        return _cut(texts[0], 0)
    best, found_most, at = "", -1, 0
    for text in texts:
        found, first = _found(text, tokens, analyzer)
        if found > found_most:
            best, found_most, at = text, found, first
            if found == len(tokens):
                break
    return _cut(best, at)


def _found(text: str, tokens: Collection[str], analyzer: Analyzer) -> tuple[int, int]:
    """How many of the tokens a text has, and where the first stands."""
    seen: set[str] = set()
    first = 0
    for start, found in analyzer.located(text):
        for token in found:
            if token in tokens and token not in seen:
                first = start if not seen else first
                seen.add(token)
        if len(seen) == len(tokens):
            break
    return len(seen), first


def _cut(text: str, at: int) -> str:
    if len(text) <= LONGEST:
        return _UNSAFE.sub(" ", text).strip()
    start = max(0, min(at - BEFORE, len(text) - LONGEST))
    if start:
        space = text.find(" ", start, at)
        start = space + 1 if space >= 0 else start
    part = _UNSAFE.sub(" ", text[start : start + LONGEST]).strip()
    return f"{'… ' if start else ''}{part}{' …' if start + LONGEST < len(text) else ''}"
