"""A `.kql` file read for a run: its statements with their directives, and everything wrong with it.

A syntax error spoils the whole file: nothing of it runs. A directive that is not understood spoils its own
statement only; the rest runs, and the run still counts as one that could not do what was asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import kipql
from kipql.audit.directives import Directive, Directives, find_directives, read_directives
from kipql.audit.equals import Expected, read_expected
from kipql.audit.keys import key_columns
from kipql.audit.lint import lint
from kipql.audit.message import Message, parse_message
from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.walk import parameters
from kipql.runtime.standing import takes_as_of
from kipql.runtime.texts import Problem, place, read_text
from kipql.spans import position


@dataclass(frozen=True, slots=True)
class Step:
    """One statement of a file.

    language     KQL, KML or META
    columns      the FIND items as written, none for another statement
    key          the numbers of the columns that `key:` names
    expected     the rows of `expect: equals FILE`
    parameters   the names of its placeholders
    takes_as_of  whether AS OF SEQ may be added
    present      whether it can only answer for the present
    ordered      whether it says in what order its rows come
    warnings     what is hardly meant in it
    """

    path: str
    line: int
    text: str
    start: int
    language: str
    directives: Directives
    columns: tuple[str, ...] = ()
    message: Message | None = None
    key: tuple[int, ...] = ()
    expected: Expected | None = None
    parameters: tuple[str, ...] = ()
    takes_as_of: bool = False
    present: bool = False
    ordered: bool = False
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
    return parse_script(path, text)


def parse_script(path: str, text: str) -> ScriptFile:
    """A text as steps, under the name that reports give it; errors are its problems, never raised."""
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
    statement = part.statement
    items = statement.items if isinstance(statement, ast.Find) else ()
    columns = tuple(text[item.span.start : item.span.end] for item in items)
    step = Step(
        path,
        position(text, part.span.start).line,
        part.text,
        part.span.start,
        part.language,
        directives,
        columns,
        parameters=tuple(param.name for param in parameters(statement)),
        takes_as_of=takes_as_of(statement),
        present=part.language == "META" and not takes_as_of(statement) and not _says_when(statement),
        ordered=bool(getattr(statement, "order_by", ())),
        warnings=tuple(place(path, text, error) for error in lint(statement)),
    )
    problems = _unfit(step)
    for complete in (_with_message, _with_key, _with_expected):
        try:
            step = complete(step)
        except KipError as error:
            problems.append(error)
    return step, problems


def _says_when(statement: ast.Statement) -> bool:
    return any(getattr(statement, name, None) is not None for name in ("as_of", "at_time"))


def _with_message(step: Step) -> Step:
    directive = step.directives.message
    if directive is None or step.language != "KQL":
        return step
    return replace(step, message=parse_message(directive.value, step.columns, directive.value_start))


def _with_key(step: Step) -> Step:
    directive = step.directives.key
    if directive is None or step.language != "KQL":
        return step
    return replace(step, key=key_columns(directive.value, step.columns, directive.value_start))


def _with_expected(step: Step) -> Step:
    directive, name = step.directives.expect_at, step.directives.expect.file
    if directive is None or name is None:
        return step
    try:
        return replace(step, expected=read_expected(step.path, name))
    except KipError as error:
        error.span = error.span or directive.value_span
        raise


def _unfit(step: Step) -> list[KipError]:
    """Directives that can not be meant for this statement."""
    directives = step.directives
    if not directives.is_check:
        return []
    if step.language == "KML":
        return [KipError("InvalidSyntax", "a mutation can not be a check", span=directives.span)]
    if directives.expect.subject == "value" and len(step.columns) != 1:
        text = f"expect: value needs a query with one FIND item, here are {len(step.columns)}"
        return [KipError("InvalidSyntax", text, span=directives.span)]
    if directives.as_of_at is not None and not step.takes_as_of:
        text = "as_of: needs a statement that takes AS OF SEQ and says none"
        return [KipError("InvalidSyntax", text, span=directives.as_of_at.span)]
    if unused := sorted(set(directives.parameters or ()) - set(step.parameters)):
        text = f"params: gives {', '.join(unused)}, which the statement does not use"
        return [KipError("InvalidSyntax", text, span=directives.span)]
    return []
