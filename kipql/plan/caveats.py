"""What is legal and hardly meant in a statement, said beside its answer and never in its way (§44.1, §81, §86).

A path that nothing has reads as null in every row, so the answer looks like one. The findings depend on the text
alone: they are made once for a statement, when someone asks for them, and disclose nothing of the memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from kipql.errors import KipError
from kipql.lang import ast
from kipql.plan.lints import lints
from kipql.plan.members import unknown_members
from kipql.plan.unnamed import unnamed
from kipql.spans import Span, position
from kipql.values import Json


@dataclass(frozen=True, slots=True)
class Caveat:
    """A warning about a statement that ran.

    code     the code that an error of the kind would have (§87)
    message  what was found, one sentence
    hint     what was probably meant, or None
    span     where in the statement's text

    >>> import kipql
    >>> result = kipql.open().query('FIND(?a) WHERE { ?a ASSERTION {status: "active"} }')
    >>> result.rows, [(warning.message, warning.hint) for warning in result.warnings]
    ([], [("Assertion has no field 'status': it is null", 'did you mean lifecycle.status?')])
    """

    code: str
    message: str
    hint: str | None
    span: Span

    def to_dict(self, text: str) -> dict[str, Json]:
        """The wire warning (kip-response), with its position in the text."""
        at = position(text, self.span.start)
        details: dict[str, Json] = {} if self.hint is None else {"hint": self.hint}
        details["position"] = {"line": at.line, "column": at.column, "column_utf16": at.column_utf16}
        return {"code": self.code, "message": self.message, "details": details}

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f" ({self.hint})" if self.hint else "")


def findings(statement: ast.Node) -> Iterator[KipError]:
    """Every such place of a statement."""
    yield from unknown_members(statement)
    yield from lints(statement)
    yield from unnamed(statement)


def caveats(statement: ast.Statement) -> tuple[Caveat, ...]:
    """The same as they go with an answer, in order of place."""
    found = [error for part in _asking(statement) for error in findings(part)]
    made = [Caveat(error.code, error.message, error.hint, error.span) for error in found if error.span is not None]
    return tuple(sorted(made, key=lambda caveat: caveat.span.start))


def _asking(statement: ast.Statement) -> list[ast.Node]:
    """The parts of a statement that ask something; what only writes has a form that is checked."""
    parts = statement.statements if isinstance(statement, ast.Mutate) else (statement,)
    return [part for part in parts if getattr(part, "where", None) is not None]
