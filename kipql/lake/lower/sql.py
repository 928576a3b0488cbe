"""A short way to say the SQL trees that lowering needs; every text in them is a value of the tree, never pasted."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TypeAlias

from sqlglot import exp

Sql: TypeAlias = exp.Expr
BIG, TEXT, DOUBLE = "BIGINT", "VARCHAR", "DOUBLE"


def col(name: str, table: str | None = None) -> Sql:
    """A column."""
    return exp.column(name, table=table, quoted=True)


def lit(value: str | int | float | bool | None) -> Sql:
    """A constant."""
    if value is None:
        return exp.null()
    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, float):
        return cast(exp.Literal.number(repr(value)), DOUBLE)
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


def null(kind: str) -> Sql:
    """A NULL of a type."""
    return cast(exp.null(), kind)


def cast(value: Sql, kind: str) -> Sql:
    """A conversion that must succeed."""
    return exp.Cast(this=value, to=_type(kind).copy())


@cache
def _type(kind: str) -> exp.DataType:
    return exp.DataType.build(kind)


def call(name: str, *args: Sql) -> Sql:
    """A function by its name, such as one of `cells.FUNCTIONS`."""
    return exp.Anonymous(this=name, expressions=list(args))


def eq(left: Sql, right: Sql) -> Sql:
    return exp.EQ(this=left, expression=right)


def same(left: Sql, right: Sql) -> Sql:
    """Equality in which NULL equals NULL."""
    return exp.NullSafeEQ(this=left, expression=right)


def le(left: Sql, right: Sql) -> Sql:
    return exp.LTE(this=left, expression=right)


def gt(left: Sql, right: Sql) -> Sql:
    return exp.GT(this=left, expression=right)


def is_null(value: Sql) -> Sql:
    return exp.Is(this=value, expression=exp.null())


def not_null(value: Sql) -> Sql:
    return exp.Not(this=is_null(value))


def holds(seq: int) -> Sql:
    """Whether a row of a table with `seq_from` holds at a sequence: `[seq_from, seq_to)`."""
    return every((le(col("seq_from"), lit(seq)), some((is_null(col("seq_to")), gt(col("seq_to"), lit(seq))))))


def among(value: Sql, values: Sequence[Sql]) -> Sql:
    """`value IN (...)`; FALSE for no values."""
    return exp.In(this=value, expressions=list(values)) if values else exp.false()


def every(parts: Iterable[Sql]) -> Sql:
    """A conjunction; TRUE of nothing."""
    found = list(parts)
    return exp.and_(*found, copy=False) if found else exp.true()


def some(parts: Iterable[Sql]) -> Sql:
    """A disjunction; FALSE of nothing."""
    found = list(parts)
    return exp.or_(*found, copy=False) if found else exp.false()


def case(*branches: tuple[Sql, Sql], other: Sql | None = None) -> Sql:
    """CASE WHEN ... THEN ... ELSE other END."""
    found = exp.Case(ifs=[exp.If(this=when, true=then) for when, then in branches])
    if other is not None:
        found.set("default", other)
    return found


def coalesce(first: Sql, *others: Sql) -> Sql:
    return exp.Coalesce(this=first, expressions=list(others)) if others else first


def concat(*parts: Sql) -> Sql:
    """NULL where a part is."""
    found = parts[0]
    for part in parts[1:]:
        found = exp.DPipe(this=found, expression=part)
    return exp.Paren(this=found)


def first(text: Sql) -> Sql:
    """The first character of a text."""
    return exp.Substring(this=text, start=exp.Literal.number(1), length=exp.Literal.number(1))


def rest(text: Sql) -> Sql:
    """A text without its first character."""
    return exp.Substring(this=text, start=exp.Literal.number(2))


def entry(fields: Sql, key: str) -> Sql:
    """A value of a map; NULL where the key is not there."""
    return exp.Bracket(this=fields, expressions=[exp.Literal.string(key)])


def unless_null_text(text: Sql) -> Sql:
    """A cell, NULL for the null that is written as one."""
    return exp.Nullif(this=text, expression=exp.Literal.string("null"))


def shown_id(code: Sql) -> Sql:
    """The public id of a code, as text."""
    kind = exp.BitwiseAnd(this=code.copy(), expression=exp.Literal.number(7))
    letter = exp.Substring(
        this=exp.Literal.string("CPAEX"),
        start=exp.Add(this=exp.Paren(this=kind), expression=exp.Literal.number(1)),
        length=exp.Literal.number(1),
    )
    row = exp.Add(
        this=exp.Paren(this=exp.BitwiseRightShift(this=code.copy(), expression=exp.Literal.number(3))),
        expression=exp.Literal.number(1),
    )
    return concat(letter, exp.Literal.string("-"), cast(exp.Paren(this=row), TEXT))


def json_of_plain(text: Sql) -> Sql:
    """The JSON of a text that needs no escapes."""
    mark = exp.Literal.string('"')
    return concat(mark, text, mark.copy())


def everything() -> exp.Select:
    """SELECT *; what `exp.select("*")` makes, which reads a text."""
    return exp.Select(expressions=[exp.Star()])


def crossed(select: exp.Select, other: exp.Table) -> exp.Select:
    """The SELECT, every row with every row of another table."""
    select.append("joins", exp.Join(this=other, kind="CROSS"))
    return select


def left_joined(select: exp.Select, other: exp.Table, on: Sql) -> exp.Select:
    """The SELECT, with the row of another table where there is one."""
    select.append("joins", exp.Join(this=other, side="LEFT", on=on))
    return select


def named(value: Sql, name: str) -> Sql:
    """`value AS name`."""
    return exp.alias_(value, name, quoted=True)


def table(name: str, alias: str | None = None) -> exp.Table:
    """A table, a view or a step before."""
    as_ = exp.TableAlias(this=exp.to_identifier(alias, quoted=True)) if alias else None
    return exp.Table(this=exp.to_identifier(name, quoted=True), alias=as_)
