"""What a check expects of its rows: `empty`, `nonempty`, `rows OP n`, `value OP literal`, `equals FILE`.

`value` is the one value of a query with one column and one row. Comparison is strict as in FILTER (§44.2):
unlike types are not equal and have no order, null equals only null. What a file says is `equals`'s to compare.
"""

import json
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kipql.errors import KipError
from kipql.render.values import compact, many
from kipql.values import Json, Scalar, canonical_literal, json_type

OPERATORS: dict[str, Callable[..., bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_COMPARISON = re.compile(r"(rows|value)\s*(==|!=|<=|>=|<|>)\s*(\S.*)", re.DOTALL)
FORMS = "empty, nonempty, rows OP n, value OP literal, or equals FILE"


@dataclass(frozen=True, slots=True)
class Expectation:
    """`subject` is "rows", "value" or "file"; `empty` and `nonempty` are comparisons of rows with 0, and of a file the
    operand is the name."""

    subject: str
    operator: str
    operand: Scalar
    text: str

    @property
    def rows_are_findings(self) -> bool:
        """Whether each row found is a finding of its own: the check expects none."""
        return self.subject == "rows" and self.operator == "==" and self.operand == 0

    @property
    def file(self) -> str | None:
        """The file that the rows must be those of."""
        return str(self.operand) if self.subject == "file" else None

    def problem(self, rows: Sequence[Sequence[Json]]) -> str | None:
        """What is wrong with `rows`, in words, or None when they are as expected."""
        if self.subject == "rows":
            if OPERATORS[self.operator](len(rows), self.operand):
                return None
            return f"expected {self.text}, found {many(len(rows), 'row')}"
        if len(rows) != 1:
            return f"expected {self.text}, found {len(rows)} rows instead of one value"
        value = rows[0][0]
        return None if _holds(value, self.operator, self.operand) else f"expected {self.text}, found {compact(value)}"


EMPTY = Expectation("rows", "==", 0, "empty")


def parse_expectation(text: str) -> Expectation:
    """An expectation from its directive's value. Raises InvalidSyntax without a span (the caller knows it)."""
    if text == "empty":
        return EMPTY
    if text == "nonempty":
        return Expectation("rows", ">", 0, text)
    if text.startswith("equals ") and (name := text.removeprefix("equals ").strip()):
        return Expectation("file", "==", name, text)
    match = _COMPARISON.fullmatch(text)
    if match is None:
        raise KipError("InvalidSyntax", f"expect: does not understand {compact(text)}", hint=f"write {FORMS}")
    subject, comparison, operand = match.groups()
    literal = _literal(operand)
    if subject == "rows" and (json_type(literal) != "number" or not isinstance(literal, int) or literal < 0):
        raise KipError("InvalidSyntax", f"rows are compared with a whole number, not {operand}")
    if comparison not in ("==", "!=") and (literal is None or isinstance(literal, bool)):
        raise KipError("InvalidSyntax", f"{operand} has no order", hint="compare it with == or !=")
    return Expectation(subject, comparison, literal, text)


def _literal(text: str) -> Scalar:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = {}
    if isinstance(value, dict | list):
        raise KipError(
            "InvalidSyntax", f"{text} is not a literal", hint='write a number, true, false, null or a "string"'
        )
    try:
        return canonical_literal(value)
    except KipError as error:
        raise KipError("InvalidSyntax", error.message) from None


def _holds(value: Json, comparison: str, operand: Scalar) -> bool:
    alike = json_type(value) == json_type(operand)
    if comparison in ("==", "!="):
        return (alike and value == operand) == (comparison == "==")
    return alike and OPERATORS[comparison](value, operand)
