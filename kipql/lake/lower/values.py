"""Values in SQL and how they compare, with KQL's three outcomes (specification §44.2); SQL's NULL is unknown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from kipql.lake.cells import EDGE, ELEMENT, SYMBOL
from kipql.lake.cells import text as json_of
from kipql.lake.lower.marks import element_cell, is_symbol_cell, symbol_cell
from kipql.lake.lower.members import json_of_text
from kipql.lake.lower.sql import Sql, among, call, case, cast, eq, first, lit, not_null, null, some
from kipql.plan.logic import equal, lineage_of, ordered
from kipql.values import json_type

ORDERS: dict[str, Callable[..., Sql]] = {"<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE}


@dataclass(frozen=True, slots=True)
class Val:
    """A value in SQL. `kind` says what `sql` is: a cell, bare text, a number, a truth, the code of an element, the
    exact ref of a symbol, which has its `lineage` beside it, or a constant, which is `constant`."""

    kind: str  # cell | text | number | truth | code | symbol | constant
    sql: Sql
    constant: Any = None
    lineage: Sql | None = None


def cell_of(value: Val) -> Sql:
    """The text of a value; NULL for null."""
    match value.kind:
        case "cell":
            return value.sql
        case "text":
            return json_of_text(value.sql)
        case "number":
            return call("kip_number", value.sql)
        case "truth":
            return case((value.sql, lit("true")), (exp.Not(this=exp.Paren(this=value.sql.copy())), lit("false")))
        case "code":
            return element_cell(value.sql)
        case "symbol":
            assert value.lineage is not None
            return symbol_cell(value.lineage, value.sql)
        case _:
            return null("VARCHAR") if value.constant is None else value.sql


def is_equal(left: Val, right: Val) -> Sql:
    """`left == right`, NULL for unknown."""
    if left.kind == "constant" and right.kind == "constant":
        known = equal(left.constant, right.constant)
        return null("BOOLEAN") if known is None else lit(known)
    if left.kind == "constant":
        left, right = right, left
    if right.kind == "constant":
        return _equals_constant(left, right.constant)
    if left.kind == right.kind == "symbol":
        assert left.lineage is not None and right.lineage is not None
        return eq(left.lineage, right.lineage)  # symbols match by lineage (§20.14)
    if left.kind == right.kind and left.kind in ("text", "number", "code", "truth"):
        return eq(exp.Paren(this=left.sql), exp.Paren(this=right.sql))
    return call("kip_equal", cell_of(left), cell_of(right))


def _equals_constant(value: Val, constant: Any) -> Sql:
    kind = json_type(constant)
    if constant is None:
        return null("BOOLEAN")
    if value.kind == "text":
        return eq(value.sql, lit(constant)) if kind == "string" else null("BOOLEAN")
    if value.kind == "number" and kind == "number":
        return eq(value.sql, lit(float(constant)))
    if value.kind == "symbol":
        assert value.lineage is not None
        spelled = dict.fromkeys((constant, lineage_of(constant))) if kind == "string" else ()
        return among(value.lineage, [lit(text) for text in spelled]) if spelled else null("BOOLEAN")
    if value.kind == "cell" and kind in ("string", "number", "boolean"):
        return _cell_equals(value.sql, constant, kind)
    return call("kip_equal", cell_of(value), lit(json_of(constant)))


def _cell_equals(cell: Sql, constant: Any, kind: str) -> Sql:
    written = lit(json_of(constant))
    if kind == "number":
        return case((_is_number(cell), eq(cell.copy(), written)))
    if kind == "boolean":
        return case((among(cell, [lit("true"), lit("false")]), eq(cell.copy(), written)))
    mark = first(cell)
    others = among(mark.copy(), [lit(one) for one in ("{", ELEMENT, SYMBOL, EDGE)])
    return case(
        (eq(mark, lit('"')), eq(cell.copy(), written)), (others, call("kip_equal", cell.copy(), written.copy()))
    )


SCALARS = ("string", "number", "boolean")


def is_among(cell: Sql, constants: Sequence[Any], called: Sql) -> Sql:
    """`cell` IN many constants: a scalar is one of them by its text, and where it is none, constants of another kind
    leave it unknown; what is no scalar is `called`."""
    kinds = {json_type(constant) for constant in constants}
    if not kinds <= {*SCALARS, "null"}:
        return called
    marks = (eq(first(cell.copy()), lit('"')), _is_number(cell.copy()), among(cell.copy(), [lit("true"), lit("false")]))
    found = among(cell.copy(), [lit(json_of(one)) for one in constants if one is not None])
    missed = [null("BOOLEAN") if kinds - {kind} else exp.false() for kind in SCALARS]
    one = case((found, exp.true()), other=case(*zip((mark.copy() for mark in marks), missed, strict=True)))
    return case((some(marks), one), (not_null(cell.copy()), called))


def is_ordered(op: str, left: Val, right: Val) -> Sql:
    if left.kind == "constant" and right.kind == "constant":
        known = ordered(op, left.constant, right.constant)
        return null("BOOLEAN") if known is None else lit(known)
    compare = ORDERS[op]
    kinds = {_scalar(left), _scalar(right)}
    if kinds == {"text"} or ("text" in kinds and kinds <= {"text", "cell"} and "constant" in (left.kind, right.kind)):
        return compare(this=text_of(left), expression=text_of(right))
    if kinds == {"number"} or ("number" in kinds and kinds <= {"number", "cell"}):
        return compare(this=number_of(left), expression=number_of(right))
    if kinds & {"text", "number"} and "cell" not in kinds:
        return null("BOOLEAN")
    return call("kip_ordered", lit(op), cell_of(left), cell_of(right))


def text_of(value: Val) -> Sql:
    """Bare text, of a symbol its exact ref; NULL for what is no string."""
    if value.kind in ("text", "symbol"):
        return value.sql
    if value.kind == "constant":
        return lit(value.constant)
    cell = value.sql
    plain = case(
        (eq(exp.StrPosition(this=cell.copy(), substr=lit("\\")), lit(0)), inside_quotes(cell.copy())),
        other=call("kip_string", cell.copy()),
    )
    return case((eq(first(cell), lit('"')), plain), (is_symbol_cell(cell.copy()), ref_of(cell.copy())))


def number_of(value: Val) -> Sql:
    """A DOUBLE; NULL for what is no number."""
    if value.kind == "number":
        return value.sql
    if value.kind == "constant":
        return lit(float(value.constant)) if json_type(value.constant) == "number" else null("DOUBLE")
    if value.kind != "cell":
        return null("DOUBLE")
    return case((_is_number(value.sql), cast(value.sql.copy(), "DOUBLE")))


def _scalar(value: Val) -> str:
    if value.kind != "constant":
        return "text" if value.kind == "symbol" else value.kind
    return {"string": "text", "number": "number"}.get(json_type(value.constant), "other")


def _is_number(cell: Sql) -> Sql:
    return among(first(cell.copy()), [lit(mark) for mark in "-0123456789"])


def inside_quotes(cell: Sql) -> Sql:
    """The text between the quotes of a JSON string without escapes."""
    size = exp.Sub(this=exp.Length(this=cell.copy()), expression=lit(2))
    return exp.Substring(this=cell, start=lit(2), length=size)


def ref_of(cell: Sql) -> Sql:
    """The exact ref in the cell of a symbol as an expression sees it."""
    start = exp.Add(this=exp.StrPosition(this=cell.copy(), substr=lit(" ")), expression=lit(1))
    return exp.Substring(this=cell, start=start)


def truth_of(cell: Sql) -> Sql:
    return case((eq(cell, lit("true")), exp.true()), (eq(cell.copy(), lit("false")), exp.false()))
