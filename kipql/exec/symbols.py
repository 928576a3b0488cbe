"""Symbols in generated source: their lineage numbers, bound before the loops."""

from kipql.exec.emit import Emitter
from kipql.exec.terms import lineage_number, symbol_number
from kipql.plan import nodes


def lineage_local(symbol: nodes.SymbolRef, code: Emitter) -> str:
    """A local with the lineage number of a symbol in the run's view."""
    if symbol.slot is None:
        return code.local(f"{code.helper(lineage_number)}(view, {symbol.lineage!r})", "n")
    where = code.constant(symbol.slot.where, "at")
    value = code.value(symbol.slot)
    return code.local(f"{code.helper(symbol_number)}(view, {symbol.group!r}, {value}, {where})", "n")
