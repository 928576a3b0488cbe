"""The texts that statements are from: reading one, and where in it something is."""

import sys
from dataclasses import dataclass
from pathlib import Path

from kipql.errors import KipError
from kipql.escape import terminal_lines
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


def problem_text(problem: Problem) -> str:
    """A problem as `file:line:column: Code: message` with the caret and the hint."""
    space = f"{problem.space_id}: " if problem.space_id is not None else ""
    if not problem.line:
        error, prefix = problem.error, f"{problem.path}: " if problem.path else ""
        hint = f"\nhint: {error.hint}" if error.hint else ""
        return terminal_lines(f"{space}{prefix}{error.code}: {error.message.removeprefix(prefix)}{hint}")
    place = "" if problem.error.span is not None else f"{problem.line}:{problem.column}: "
    prefix = f"{problem.path}:" if problem.path else ""
    return terminal_lines(f"{space}{prefix}{place}{problem.error}")
