"""Members of elements as SQL over the columns of the lake's tables (specification §44.1).

A typed column where it says exactly what the member reads; the map of attributes and Facets; else the element's JSON.
"""

import json
from collections.abc import Callable, Mapping

from sqlglot import exp

from kipql.lake import layout
from kipql.lake.lower.sql import (
    Sql,
    call,
    case,
    cast,
    coalesce,
    col,
    concat,
    entry,
    is_null,
    json_of_plain,
    lit,
    not_null,
    null,
    shown_id,
    some,
    unless_null_text,
)
from kipql.lake.lower.wants import BOUNDS, Want
from kipql.lake.states import DEEPEST, pointer
from kipql.model import ASSERTION, EVIDENCE, PROPOSITION
from kipql.plan.cells import WRITTEN
from kipql.store.elements import MEMBERS

Steps = tuple[str | int, ...]

_COMMON = ("id", "kind", "space_id", "client_key", "governance", "retention", "facets", "structural", "_system")
_ENDS = {
    PROPOSITION: {"subject": "subject", "canonical_subject": "csubject", "canonical_object": "cobject"},
    ASSERTION: {"proposition": "proposition", "asserted_by": "asserted_by"},
}


def has(kind: int, steps: Steps) -> bool:
    """Whether elements of a kind can have a member at a path."""
    head = steps[0]
    return head in _COMMON or head in MEMBERS[kind] or head in _ENDS.get(kind, {})


def member(kind: int, steps: Steps, at: str, facets: Mapping[str, tuple[str, ...]], *, there: bool = False) -> Sql:
    """The cell of a member of the row `at` of a state table; with `there`, a null that is written is a cell too."""
    found = _end(kind, steps, at) or _typed(kind, steps, at) or _entered(steps, at, facets)
    if found is None:
        asked = "kip_there" if there else "kip_member"
        source = col("payload", "payload") if steps[0] == "payload" else col("element", at)
        within = steps[1:] if steps[0] == "payload" else steps
        if not within:
            found = source
        else:
            found = call(asked, source, lit(json.dumps(list(within))))
    return found if there else unless_null_text(found)


def raw(kind: int, steps: Steps, at: str) -> Sql | None:
    """A member as bare text, where a column says it; None where none does."""
    for column in layout.STATE_TABLES[kind].columns:
        if column.path == steps and column.kind == "string":
            return col(column.name, at)
    return None


def want(kind: int, wanted: Want, at: str, facets: Mapping[str, tuple[str, ...]]) -> Sql:
    """The column that goes along with an element of a kind, from its row."""
    match wanted.what:
        case "member":
            return member(kind, wanted.steps, at, facets) if has(kind, wanted.steps) else null("VARCHAR")
        case "bound":
            return col(BOUNDS[wanted.steps], at) if kind == ASSERTION else null("VARCHAR")
        case "whole":
            return col("element", at)
        case "payload":
            return col("payload", "payload") if kind == EVIDENCE else null("VARCHAR")
        case _:
            return null("VARCHAR")


def reads_payload(wanted: Want) -> bool:
    """Whether a column needs the payloads."""
    return wanted.what == "payload" or (wanted.what == "member" and wanted.steps[0] == "payload")


def _end(kind: int, steps: Steps, at: str) -> Sql | None:
    """The element that a reference names: `{id}` or its id."""
    name = _ENDS.get(kind, {}).get(str(steps[0]))
    if name is None and (kind, steps[0]) != (PROPOSITION, "object"):
        return None
    code = col(name or "object", at)
    if len(steps) == 1:
        if steps[0] in ("object", "canonical_object"):
            return None if steps[0] == "object" else _term(code, at)
        return concat(lit('{"id":'), json_of_plain(shown_id(code)), lit("}"))
    if steps[1:] == ("id",):
        return case((_is_element(code), json_of_plain(shown_id(code.copy()))))
    return null("VARCHAR")


def _term(code: Sql, at: str) -> Sql:
    """The object of a Proposition by its canonical identity; a Literal is as it is in the element."""
    written = call("kip_member", col("element", at), lit('["object"]'))
    return case(
        (_is_element(code), concat(lit('{"id":'), json_of_plain(shown_id(code.copy())), lit("}"))), other=written
    )


def _is_element(code: Sql) -> Sql:
    return exp.GTE(this=code.copy(), expression=lit(0))


def _typed(kind: int, steps: Steps, at: str) -> Sql | None:
    if kind == ASSERTION and tuple(map(str, steps)) in BOUNDS:
        exact = json_of_plain(col(BOUNDS[tuple(map(str, steps))], at))
        written = call("kip_member", col("element", at), lit(json.dumps(list(steps))))
        return case((col("valid_exact", at), exact), other=written)
    for column in layout.STATE_TABLES[kind].columns:
        if column.path == steps:
            value = col(column.name, at)
            return json_of_text(value) if column.free else _CELLS[column.kind](value)
    return None


def json_of_text(value: Sql) -> Sql:
    """The JSON of a text that may need escapes."""
    marks = [exp.StrPosition(this=value.copy(), substr=lit(mark)) for mark in '"\\']
    special: list[Sql] = [exp.GT(this=mark, expression=lit(0)) for mark in marks]
    special.append(exp.RegexpLike(this=value.copy(), expression=lit("[\\x00-\\x1f]")))
    written = case((some(special), call("kip_quoted", value.copy())), other=json_of_plain(value.copy()))
    return case((is_null(value), null("VARCHAR")), other=written)


_CELLS: Mapping[str, Callable[[Sql], Sql]] = {
    "string": json_of_plain,
    "int64": lambda value: cast(value, "VARCHAR"),
    "double": lambda value: call("kip_number", value),
    "bool": lambda value: cast(value, "VARCHAR"),
}


def _entered(steps: Steps, at: str, facets: Mapping[str, tuple[str, ...]]) -> Sql | None:
    """A member of attributes, Facets or a payload, from the map."""
    head = steps[0]
    if head not in WRITTEN or len(steps) == 1:
        return None
    below = [step for step in steps if isinstance(step, str)]
    entered = tuple(below[: DEEPEST + 1]) if len(below) == len(steps) else tuple(_leading(steps))
    fields = col("fields", "payload" if head == "payload" else at)
    if len(entered) < 2:
        return None
    if head == "facets":
        held = _facet(entered, fields, facets.get(entered[1], ()))
    else:
        held = entry(fields, pointer(entered))
    further = steps[len(entered) :]
    return call("kip_there", held, lit(json.dumps(list(further)))) if further else held


def _leading(steps: Steps) -> list[str]:
    found = []
    for step in steps:
        if not isinstance(step, str):
            break
        found.append(step)
    return found


def _facet(steps: tuple[str, ...], fields: Sql, refs: tuple[str, ...]) -> Sql:
    """A Facet's member; of several refs of one lineage an element has one, or the name is ambiguous (§44.1)."""
    values = [entry(fields.copy(), pointer(("facets", ref, *steps[2:]))) for ref in refs]
    if not values:
        return null("VARCHAR")
    if len(values) == 1:
        return values[0]
    held = [cast(not_null(entry(fields.copy(), pointer(("facets", ref)))), "INTEGER") for ref in refs]
    total = held[0]
    for one in held[1:]:
        total = exp.Add(this=total, expression=one)
    return case((exp.EQ(this=exp.Paren(this=total), expression=lit(1)), coalesce(*values)))
