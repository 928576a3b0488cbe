"""Cells as text, and what an engine calls where SQL can not say what KQL means (specification §42.4, §44.2).

A variable that can hold anything is one text column: JSON for a value, `@12` for an element by its code, `$lineage`
for a symbol, `>{...}` for an edge, `%[...]` for a belief by what makes two of them one. Two cells are one when their
texts are. What an expression sees of a symbol is `$lineage ref`, since it reads as the exact ref (§43.3).

The functions here are the engine's own logic over such texts, so that there is one implementation of it; SQL's NULL
is unknown, absent and unbound alike.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

from kipql.errors import KipError
from kipql.exec.fields import matches as value_matches
from kipql.exec.fields import walk
from kipql.exec.sorting import unordered
from kipql.limits import Budget, Limits
from kipql.model import parse_id
from kipql.plan.cells import NULL, Ref, Symbol, Virtual, kind_told
from kipql.plan.functions import registered
from kipql.plan.logic import equal, ordered
from kipql.schema.refs import written_lineage
from kipql.spans import Span
from kipql.strength import effective_strength
from kipql.values import Json, canonical_string

ELEMENT, SYMBOL, EDGE, BELIEF = "@", "$", ">", "%"
Text = str | None
_ENCODE = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


class Projected(Virtual):
    """A belief inside an expression, known by its cell; its members come along in columns of their own."""

    __slots__ = ("key",)
    tag = "belief"

    def __init__(self, cell: str) -> None:
        self.key = cell  # type: ignore[misc, assignment]


class Edge(Projected):
    """An edge where it is no JSON: what aggregates and ORDER BY meet."""

    __slots__ = ()
    tag = "edge"


def text(value: Json) -> str:
    """The one text of a JSON value."""
    return _ENCODE(value)


def value(cell: Text) -> Any:
    """What an expression sees of a cell: JSON, a Ref, a Symbol; None for null and for nothing."""
    if cell is None:
        return None
    mark = cell[:1]
    if mark == ELEMENT:
        return Ref(int(cell[1:]))
    if mark == SYMBOL:
        lineage, _, ref = cell[1:].partition(" ")
        return Symbol(ref or lineage, lineage)
    if mark == BELIEF:
        return Projected(cell)
    return json.loads(cell[1:] if mark == EDGE else cell)


def bound(cell: Text) -> Any:
    """What an aggregate or ORDER BY meets in a cell: as `value`, but an edge is one."""
    return Edge(cell) if cell is not None and cell[:1] == EDGE else value(cell)


def exact(cell: Text) -> Any:
    """As `value`, with NULL for a null that is there."""
    found = value(cell)
    return NULL if found is None and cell is not None else found


# --- what engines call: texts in, a text or a truth value out ------------------------------------------


def cell_equal(left: Text, right: Text) -> bool | None:
    """`left == right`."""
    return equal(value(left), value(right))


def cell_ordered(op: str, left: Text, right: Text) -> bool | None:
    """`left op right` for `<`, `<=`, `>`, `>=`."""
    return ordered(op, value(left), value(right))


def cell_matches(cell: Text, pattern: str) -> bool:
    """Whether a field that is there matches a constant of a pattern (§43.1)."""
    found = value(cell)
    return found is not None and value_matches(found, json.loads(pattern))


def cell_member(cell: Text, steps: str) -> Text:
    """The member of a JSON value at a path, a JSON list of steps; absent and null are NULL."""
    if cell is None or cell[:1] in (ELEMENT, SYMBOL, BELIEF):
        return None
    found = walk(value(cell), tuple(json.loads(steps)))
    return None if found is None else text(found)


def cell_there(cell: Text, steps: str) -> Text:
    """As `cell_member`, but a null that is written is `null`."""
    if cell is None:
        return None
    path = json.loads(steps)
    holder = walk(value(cell), tuple(path[:-1]))
    last = path[-1]
    if isinstance(holder, Mapping):
        return text(holder[last]) if last in holder else None
    if isinstance(holder, list) and isinstance(last, int):
        return text(holder[last]) if last < len(holder) else None
    return None


def cell_length(cell: Text) -> int | None:
    """How many items an array has; NULL for what is no array."""
    found = value(cell)
    return len(found) if isinstance(found, list) else None


def cell_string(cell: Text) -> Text:
    """The text that a JSON string says; NULL for what is no string."""
    return json.loads(cell) if cell is not None and cell[:1] == '"' else None


def cell_quoted(raw: Text) -> Text:
    """The JSON string of a text."""
    return None if raw is None else text(raw)


def cell_number(number: float | None) -> Text:
    """The JSON of a number."""
    if number is None:
        return None
    return text(int(number) if number.is_integer() else number)


def cell_boxed(cell: Text, bounds: str) -> Text:
    """The cell of a field's value: `{id}` is the element, if there is one below the `bounds` of the kinds."""
    if cell is None or not cell.startswith('{"id":'):
        return cell
    found = json.loads(cell)
    code = parse_id(found["id"]) if set(found) == {"id"} and isinstance(found["id"], str) else None
    return cell if code is None or code >> 3 >= json.loads(bounds)[code & 7] else f"{ELEMENT}{code}"


def cell_symbol(cell: Text, renames: str) -> Text:
    """As an expression sees a member that may hold an exact ref (§20.14); `renames` are lineages that none spells."""
    ref = cell_string(cell)
    if ref is None or not ref.startswith("kip://"):
        return cell
    lineage = json.loads(renames).get(ref) or written_lineage(ref)
    return cell if lineage is None else f"{SYMBOL}{lineage} {ref}"


def cell_code(cell: Text, bounds: str) -> int | None:
    """The code of the element that an id names, if there is one."""
    found = value(cell)
    code = parse_id(found) if isinstance(found, str) else None
    return None if code is None or code >> 3 >= json.loads(bounds)[code & 7] else code


def cell_literal(cell: Text) -> Text:
    """The JSON by which `literals` would know a cell's value; NULL for what no Literal is."""
    if cell is None or cell[:1] in (ELEMENT, SYMBOL, EDGE, BELIEF, "["):
        return None
    found = json.loads(cell)
    if isinstance(found, str):
        return text(canonical_string(found))
    if isinstance(found, dict):
        named = set(found) == {"canonical_id"} and isinstance(found["canonical_id"], str)
        return text({"canonical_id": canonical_string(found["canonical_id"])}) if named else None
    return cell


def cell_call_1(named: str, limits: str, cell: Text) -> Text:
    """A registered function of one value; its answer as a text. `named` is its name and where it is called."""
    return _called(named, limits, cell)


def cell_call_2(named: str, limits: str, left: Text, right: Text) -> Text:
    """A registered function of two values."""
    return _called(named, limits, left, right)


def _called(named: str, limits: str, *cells: Text) -> Text:
    name, start, end = named.split(" ")
    function = registered(name)
    values = [exact(cell) if function.exact else value(cell) for cell in cells]
    given = [_budget(limits)] if function.budget else [_budget(limits).spend] if function.spends else []
    try:
        found = function.call(*given, *values)
    except KipError as error:
        error.span = error.span or Span(int(start), int(end))
        raise
    return None if found is None else text(found)


def cell_unordered(cell: Text, where: str) -> int | None:
    """What ORDER BY says of a value that has no order (§44.7): an error, told through the engine."""
    if cell is None:
        return None
    told = {"code": "TypeMismatch", "message": unordered(kind_told(bound(cell))), "span": json.loads(where)}
    raise ValueError(f"{TOLD}{json.dumps(told)}{TOLD}")


TOLD = "\x01"
"""Stands around the JSON of an error of ours in the text of an engine's."""


def cell_strength(facet: Text, now: int) -> Text:
    """The computed `effective_strength` of a MnemonicState at an instant (§59.1)."""
    found = value(facet)
    strength = effective_strength(found, now) if isinstance(found, Mapping) else None
    return None if strength is None else text(strength)


@lru_cache(maxsize=16)
def _budget(limits: str) -> Budget:
    _, pattern, size, subject, match, total = json.loads(limits)
    return Budget(
        Limits(regex_pattern=pattern, regex_size=size, regex_subject=subject, regex_match=match, regex_total=total)
    )


_runs = count()


def limits_text(limits: Limits) -> str:
    """The limits that the functions of one run are held to together, as an engine hands them on."""
    held = (limits.regex_pattern, limits.regex_size, limits.regex_subject, limits.regex_match, limits.regex_total)
    return json.dumps([next(_runs), *held])


@dataclass(frozen=True, slots=True)
class Called:
    """A function that an engine registers: its name there, what it takes and gives in SQL types."""

    name: str
    call: Callable[..., Any]
    takes: tuple[str, ...]
    gives: str


FUNCTIONS = (
    Called("kip_equal", cell_equal, ("VARCHAR", "VARCHAR"), "BOOLEAN"),
    Called("kip_ordered", cell_ordered, ("VARCHAR", "VARCHAR", "VARCHAR"), "BOOLEAN"),
    Called("kip_matches", cell_matches, ("VARCHAR", "VARCHAR"), "BOOLEAN"),
    Called("kip_member", cell_member, ("VARCHAR", "VARCHAR"), "VARCHAR"),
    Called("kip_there", cell_there, ("VARCHAR", "VARCHAR"), "VARCHAR"),
    Called("kip_length", cell_length, ("VARCHAR",), "BIGINT"),
    Called("kip_string", cell_string, ("VARCHAR",), "VARCHAR"),
    Called("kip_quoted", cell_quoted, ("VARCHAR",), "VARCHAR"),
    Called("kip_number", cell_number, ("DOUBLE",), "VARCHAR"),
    Called("kip_boxed", cell_boxed, ("VARCHAR", "VARCHAR"), "VARCHAR"),
    Called("kip_symbol", cell_symbol, ("VARCHAR", "VARCHAR"), "VARCHAR"),
    Called("kip_code", cell_code, ("VARCHAR", "VARCHAR"), "BIGINT"),
    Called("kip_literal", cell_literal, ("VARCHAR",), "VARCHAR"),
    Called("kip_unordered", cell_unordered, ("VARCHAR", "VARCHAR"), "INTEGER"),
    Called("kip_strength", cell_strength, ("VARCHAR", "BIGINT"), "VARCHAR"),
    Called("kip_call_1", cell_call_1, ("VARCHAR", "VARCHAR", "VARCHAR"), "VARCHAR"),
    Called("kip_call_2", cell_call_2, ("VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR"), "VARCHAR"),
)
"""Everything an engine registers before it runs a lowered plan."""
