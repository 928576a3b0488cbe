"""What is wrong with a text while it is written: an editor's squiggles.

A syntax error spoils a script for `kipql run`; somebody who writes one wants to hear of the other statements, too. So
behind an error the text is read on from the next line that begins with a statement's word, and what stood before it is
read without it.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kipql.audit.checking import check_all
from kipql.audit.script import ScriptFile, parse_script
from kipql.editing.around import BEGIN
from kipql.errors import KipError
from kipql.spans import Span

if TYPE_CHECKING:
    from kipql import Nexus

_MOST = 20  # syntax errors that are looked behind
_WORD = re.compile(r"[^\r\n]")

Schema = Callable[[], AbstractContextManager["tuple[Nexus, bool]"]]


@dataclass(frozen=True, slots=True)
class Finding:
    """A place of a text and what is wrong there; `sure` is false where it is only hardly meant."""

    span: Span
    error: KipError
    sure: bool = True


def findings(path: str, text: str, schema: Schema | None = None) -> list[Finding]:
    """Everything wrong with a text, in order of place; nothing is raised.

    path    the file, for what lies beside it
    schema  opens a memory whose symbols are the ones to use, and says whether it is the check's own
    """
    found: dict[tuple[Span, str], Finding] = {}
    for part in pieces(path, text):
        for finding in part if isinstance(part, list) else _of(part, schema):
            found.setdefault((finding.span, finding.error.message), finding)
    return sorted(found.values(), key=lambda finding: finding.span)


def _of(script: ScriptFile, schema: Schema | None) -> list[Finding]:
    doubts = {_key(problem.error) for step in script.steps for problem in step.warnings}
    try:
        if schema is None:
            problems = check_all(script)
        else:
            with schema() as (nexus, own):
                problems = check_all(script, nexus, own=own)
    except KipError as error:  # the memory itself
        return [Finding(Span(0, 0), error)]
    return [
        Finding(_place(script.text, problem.error), problem.error, _key(problem.error) not in doubts)
        for problem in problems
    ]


def _key(error: KipError) -> tuple[str, str]:
    return error.code, error.message


def _place(text: str, error: KipError) -> Span:
    """Where an error stands: its span, at least a character where the text has one; else the first line."""
    if error.span is None:
        return Span(0, len(text.split("\n", 1)[0]))
    start = min(error.span.start, max(0, len(text) - 1))
    return Span(start, min(max(start + 1, error.span.end), len(text)))


def pieces(path: str, text: str) -> Iterator[ScriptFile | list[Finding]]:
    """A text as the scripts between its syntax errors, and these errors."""
    rest = text
    for _ in range(_MOST):
        error = _unreadable(rest)
        if error is None:
            yield parse_script(path, rest)
            return
        begins = [0] if error.span is None else [match.start() for match in BEGIN.finditer(rest)]
        place = _place(rest, error)
        own = max((begin for begin in begins if begin <= place.start), default=0)
        behind = next((begin for begin in begins if begin > place.start), None)
        above = _unreadable(rest[:own])
        if above is not None and _unreadable(rest[own:behind]) is None:  # right by itself: what stands above it is not
            error, place, behind = above, _place(rest[:own].rstrip(), above), own
            own = max((begin for begin in begins if begin <= place.start), default=0)
            above = _unreadable(rest[:own])
        if above is None and rest[:own].strip():
            yield parse_script(path, rest[:own])
        yield [Finding(place, error)]
        if behind is None:
            return
        rest = _WORD.sub(" ", rest[:behind]) + rest[behind:]


def _unreadable(text: str) -> KipError | None:
    from kipql.lang import split

    try:
        split(text)
    except KipError as error:
        return error
    return None
