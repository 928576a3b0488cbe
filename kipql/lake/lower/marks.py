"""The cells of elements and symbols in SQL, by the marks that `kipql.lake.cells` gives them."""

from kipql.lake.cells import ELEMENT, SYMBOL
from kipql.lake.lower.sql import BIG, TEXT, Sql, case, cast, concat, eq, first, lit, rest


def element_cell(code: Sql) -> Sql:
    """The cell of the element with a code."""
    return concat(lit(ELEMENT), cast(code, TEXT))


def is_element_cell(cell: Sql) -> Sql:
    """Whether a cell is an element's; NULL for no cell."""
    return eq(first(cell), lit(ELEMENT))


def element_code(cell: Sql, other: Sql | None = None) -> Sql:
    """The code of the element of a cell; for any other cell `other`, else NULL."""
    return case((is_element_cell(cell), cast(rest(cell.copy()), BIG)), other=other)


def symbol_cell(lineage: Sql, ref: Sql | None = None) -> Sql:
    """The cell of a symbol: what makes two of them one, or with its exact ref what an expression sees."""
    return concat(lit(SYMBOL), lineage) if ref is None else concat(lit(SYMBOL), lineage, lit(" "), ref)


def is_symbol_cell(cell: Sql) -> Sql:
    """Whether a cell is a symbol's; NULL for no cell."""
    return eq(first(cell), lit(SYMBOL))
