"""The LALR tables, shipped as data beside this file and checked against the grammar by digest.

`tables.json` holds, for every state, a row from symbol to action: a number from 0 shifts to (or goes to)
that state, a negative one reduces by rule `~action`. It is written by `python -m kipql.lang.build` and
read without lark.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from kipql.errors import KipError
from kipql.lang import grammar

PATH = Path(__file__).with_name("tables.json")


@dataclass(frozen=True, slots=True)
class Rule:
    """A production: its left side, the length of its right side, and the builder's name for it."""

    symbol: str
    size: int
    name: str


@dataclass(frozen=True, slots=True)
class Tables:
    """What the driver runs on. `begins` and `ends` are the first and the accepting state per start symbol."""

    rows: list[dict[str, int]]
    rules: list[Rule]
    begins: dict[str, int]
    ends: dict[str, int]


def load() -> Tables:
    """Read the tables. Raises InternalError when they do not belong to the grammar at hand."""
    data = json.loads(PATH.read_text("utf-8"))
    source = grammar.source()
    if source is not None and grammar.digest(source) != data["digest"]:
        raise KipError(
            "InternalError",
            "the parser tables do not belong to the grammar",
            hint="run python -m kipql.lang.build",
        )
    rows = data["rows"]
    return Tables(
        rows=[rows[index] for index in data["states"]],
        rules=[Rule(*rule) for rule in data["rules"]],
        begins=data["begins"],
        ends=data["ends"],
    )
