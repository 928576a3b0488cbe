"""The texts that statements are from: reading one, and where in it something is."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kipql.errors import KipError
from kipql.escape import terminal, terminal_lines
from kipql.spans import Span, position


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not run, with its place; line and column are 0 when there is no text, the path is "" when
    there is no file. `space_id` is where, when several Spaces are audited together."""

    path: str
    line: int
    column: int
    error: KipError
    space_id: str | None = None


def read_text(path: str, *, mark: bool = False) -> str:
    """The text of a file, `-` is standard input; a byte order mark is kept only when asked for, since canonical JSON
    has none (§37.7). Raises ArtifactUnavailable or ArtifactParseError."""
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return content.decode("utf-8" if mark else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise KipError("ArtifactParseError", f"{path} is not UTF-8: byte {error.start}") from None
    except OSError as error:
        raise KipError("ArtifactUnavailable", f"{path}: {error.strerror}") from None


def place(path: str, text: str, error: KipError, start: int = 0) -> Problem:
    """An error with its place in a text."""
    at = position(text, error.span.start if error.span is not None else start)
    return Problem(path, at.line, at.column, error.in_text(text))


def place_of(path: str, line: int, error: KipError) -> Problem:
    """An error about a statement whose line is known."""
    return Problem(path, line, 1, error)


def moved(error: KipError, text: str, start: int) -> KipError:
    """An error of a statement that begins at `start`, as an error of the whole text."""
    span = None if error.span is None else Span(error.span.start + start, error.span.end + start)
    return KipError(
        error.code, error.message, span=span, hint=error.hint, details=error.details, text=text if span else None
    )


NAMED = 3
"""How many of the Spaces with one problem are named."""


def problem_texts(problems: Iterable[Problem]) -> Iterator[str]:
    """Problems as `problem_text`, in order; what several Spaces say in the same words is said once, and in which."""
    same: dict[tuple[object, ...], list[Problem]] = {}
    for problem in problems:
        error = problem.error
        words = (problem.path, problem.line, problem.column, error.code, error.message, error.hint)
        same.setdefault((id(problem),) if problem.space_id is None else words, []).append(problem)
    for first, *others in same.values():
        spaces = list(dict.fromkeys(str(problem.space_id) for problem in (first, *others)))
        if len(spaces) == 1:
            yield problem_text(first)
        else:
            named = ", ".join((*map(terminal, spaces[:NAMED]), *(("...",) if len(spaces) > NAMED else ())))
            yield f"{problem_text(replace(first, space_id=None))}\nin {len(spaces):,} Spaces: {named}"


def problem_text(problem: Problem) -> str:
    """A problem as `file:line:column: Code: message` with the caret and the hint."""
    space = f"{terminal(problem.space_id)}: " if problem.space_id is not None else ""
    path, error = problem.path, problem.error
    if not problem.line:
        prefix = f"{path}: " if path else ""
        hint = f"\nhint: {terminal(error.hint)}" if error.hint else ""
        return f"{space}{terminal(prefix)}{error.code}: {terminal(error.message.removeprefix(prefix))}{hint}"
    place = "" if error.span is not None else f"{problem.line}:{problem.column}: "
    return f"{space}{terminal(f'{path}:') if path else ''}{place}{error_text(error)}"


def error_text(error: KipError) -> str:
    """An error with the caret and the hint. What it says is one line each: a name in it may hold line breaks, and
    would write lines of its own."""
    hint = None if error.hint is None else terminal(error.hint)
    shown = KipError(error.code, terminal(error.message), span=error.span, hint=hint, text=error.text)
    return terminal_lines(str(shown))
