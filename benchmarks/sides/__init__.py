"""The engines that answer the six questions, by name: where each is written and the module it needs.

An engine that is not installed is left out; the extra `bench` installs them all.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

_PLACES = {
    "kipql": ("benchmarks.questions_sides", "Kipql", "kipql"),
    "dicts": ("benchmarks.questions_sides", "Dicts", "kipql"),
    "hybrid": ("benchmarks.sides.hybrid", "Hybrid", "numpy"),
    "SQLite": ("benchmarks.questions_sides", "Sqlite", "sqlite3"),
    "DuckDB": ("benchmarks.sides.duck", "Duck", "duckdb"),
    "polars": ("benchmarks.sides.frames", "Frames", "polars"),
    "Cozo": ("benchmarks.sides.cozo", "Cozo", "cozo_embedded"),
    "Oxigraph": ("benchmarks.sides.oxigraph", "Oxigraph", "pyoxigraph"),
    "tiramemsu": ("benchmarks.sides.tira", "Tira", "tiramemsu"),
}
NAMES = tuple(_PLACES)
PACKAGES = {
    "SQLite": None,
    "DuckDB": "duckdb",
    "polars": "polars",
    "Cozo": "cozo-embedded",
    "Oxigraph": "pyoxigraph",
    "tiramemsu": "tiramemsu",
}


def installed() -> tuple[str, ...]:
    """The engines that can run here."""
    return tuple(name for name, (_, _, needed) in _PLACES.items() if find_spec(needed) is not None)


def side(name: str) -> Any:
    """The class of an engine, which takes a World."""
    module, attribute, _ = _PLACES[name]
    return getattr(import_module(module), attribute)
