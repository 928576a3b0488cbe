"""Where a statement begins while a text is written: at a line that begins with a statement's word, or the comments
before it. It needs no parser, so it holds in a text that is wrong elsewhere."""

import re

from kipql.lang.words import STATEMENTS
from kipql.spans import Span

BEGIN = re.compile(rf"^(?:[ \t]*//[^\r\n]*\r?\n)*(?:{'|'.join(sorted(STATEMENTS))})(?![A-Za-z0-9_])", re.M | re.I)


def around(text: str, position: int) -> Span:
    """The part of a text that a position is to be read in: from the beginning of its statement to that of the next."""
    start, end = 0, len(text)
    for match in BEGIN.finditer(text):
        if match.start() > position:
            end = match.start()
            break
        start = match.start()
    return Span(start, end)
