"""Symbols in generated source: their lineage numbers, bound before the loops."""

from kipql.exec.emit import Emitter
from kipql.plan import nodes


def lineage_local(symbol: nodes.SymbolRef, code: Emitter) -> str:
    """A local with the lineage number of a symbol in the run's view."""
    return code.symbol(symbol)
