"""What is legal and hardly meant: the findings of `kipql check`, the warnings of `run`, `query`, `exec` and the shell.

A path that nothing has reads as null in every row (§44.1), so the answer looks like one and an audit stays clean.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.lang import ast
from kipql.plan.caveats import findings
from kipql.runtime.texts import moved

if TYPE_CHECKING:
    from kipql.lang.script import Part


def lint(statement: ast.Statement) -> list[KipError]:
    """Every such place of a statement, its span in the text that the statement was parsed from."""
    return list(findings(statement))


@contextmanager
def warned(part: "Part", say: Callable[[KipError], None]) -> Iterator[None]:
    """Say what is hardly meant in a statement, as errors of its own text, once it ran; of one that failed, all but what
    its error says itself."""
    found = [moved(error, part.text, -part.span.start) for error in lint(part.statement)]
    try:
        yield
    except KipError as error:
        found = [warning for warning in found if (warning.code, warning.span) != (error.code, error.span)]
        raise
    finally:
        for warning in found:
            say(warning)
