"""A `.kql` file read for a run: its statements with their directives, and everything wrong with it.

A syntax error spoils the whole file: nothing of it runs. A directive that is not understood spoils its own
statement only; the rest runs, and the run still counts as one that could not do what was asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import kipql
from kipql.audit.directives import Directive, Directives, find_directives, read_directives
from kipql.audit.lint import lint
from kipql.audit.message import Message, parse_message
from kipql.audit.source import Problem, place, read_text
from kipql.errors import KipError
from kipql.lang import ast
from kipql.spans import position


@dataclass(frozen=True, slots=True)
class Step:
    """One statement of a file. `language` is KQL, KML or META; `columns` are the FIND items as written; `warnings`
    are what is hardly meant in it."""

    path: str
    line: int
    text: str
    start: int
    language: str
    directives: Directives
    columns: tuple[str, ...] = ()
    message: Message | None = None
    warnings: tuple[Problem, ...] = ()

    @property
    def name(self) -> str:
        """The check's name; a check without one is named by its place."""
        return self.directives.check or f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """A file as read: what of it can run, in order, and everything wrong with the rest."""

    path: str
    text: str
    steps: tuple[Step, ...]
    problems: tuple[Problem, ...]


def read_script(path: str) -> ScriptFile:
    """A file as steps; errors are its problems, never raised."""
    try:
        text = read_text(path)
    except KipError as error:
        return ScriptFile(path, "", (), (Problem(path, 0, 0, error),))
    try:
        parts = kipql.split(text)
    except KipError as error:
        return ScriptFile(path, text, (), (place(path, text, error),))
    assigned, errors = _assign(text, parts)
    steps = []
    for part, found in zip(parts, assigned, strict=True):
        directives, wrong = read_directives(found)
        step, unfit = _step(path, text, part, directives)
        errors += [*wrong, *unfit]
        if not wrong and not unfit:
            steps.append(step)
    problems = sorted((place(path, text, error) for error in errors), key=lambda problem: problem.line)
    return ScriptFile(path, text, tuple(steps), tuple(problems))


def _assign(text: str, parts: Sequence[Any]) -> tuple[list[list[Directive]], list[KipError]]:
    """The directives before each statement, and an error for each that stands anywhere else."""
    assigned: list[list[Directive]] = [[] for _ in parts]
    stray = []
    for directive in find_directives(text):
        index = next((i for i, part in enumerate(parts) if directive.span.start < part.span.end), None)
        own_line = not text[text.rfind("\n", 0, directive.span.start) + 1 : directive.span.start].strip("\ufeff \t\r")
        if index is None or directive.span.start >= parts[index].span.start or not own_line:
            stray.append(
                KipError(
                    "InvalidSyntax",
                    "a directive that belongs to no statement",
                    span=directive.span,
                    hint="put it on a line of its own, directly before its statement",
                )
            )
        else:
            assigned[index].append(directive)
    return assigned, stray


def _step(path: str, text: str, part: Any, directives: Directives) -> tuple[Step, list[KipError]]:
    items = part.statement.items if isinstance(part.statement, ast.Find) else ()
    columns = tuple(text[item.span.start : item.span.end] for item in items)
    problems, message = _unfit(part.language, columns, directives), None
    if directives.message is not None and part.language == "KQL":
        try:
            message = parse_message(directives.message.value, columns, directives.message.value_start)
        except KipError as error:
            problems.append(error)
    line = position(text, part.span.start).line
    warnings = tuple(place(path, text, error) for error in lint(part.statement))
    start, language = part.span.start, part.language
    return Step(path, line, part.text, start, language, directives, columns, message, warnings), problems


def _unfit(language: str, columns: Sequence[str], directives: Directives) -> list[KipError]:
    """Directives that can not be meant for this statement."""
    if not directives.is_check:
        return []
    if language == "KML":
        return [KipError("InvalidSyntax", "a mutation can not be a check", span=directives.span)]
    if directives.expect.subject == "value" and len(columns) != 1:
        text = f"expect: value needs a query with one FIND item, here are {len(columns)}"
        return [KipError("InvalidSyntax", text, span=directives.span)]
    return []
