"""What goes along with a variable that a step bound without its row at hand: found by its cell, in a further step."""

import json
from dataclasses import replace

from sqlglot import exp

from kipql.lake import layout
from kipql.lake.lower import members
from kipql.lake.lower.marks import is_element_cell
from kipql.lake.lower.sql import Sql, call, case, col, eq, everything, left_joined, lit, named, null, table
from kipql.lake.lower.steps import ALL_KINDS, Lowering, Relation
from kipql.lake.lower.wants import Want
from kipql.model import ASSERTION, EVIDENCE


def filled(low: Lowering, relation: Relation, variable: str, later: set[str]) -> Relation:
    """The relation with what goes along with a variable, found by its cell; the columns `later` are not there yet."""
    wants = [(want, name) for want, name in low.along(variable) if want.what != "ref"]
    found: dict[str, Sql] = {name: null("VARCHAR") for _, name in wants}
    select = exp.select(*(col(name, "r") for name in _kept(low, relation, variable, later)))
    select = _of_element(low, select.from_(table(relation.name, "r")), variable, wants, found)
    select = _of_literal(low, select, variable, wants, found)
    if low.shapes[variable] == "any":
        _inside(low, variable, wants, found)
    columns = [named(value, name) for name, value in found.items()]
    return replace(relation, name=low.step(select.select(*columns, copy=False)))


def _kept(low: Lowering, relation: Relation, variable: str, later: set[str]) -> list[str]:
    """The columns that are there already."""
    others = [name for name in relation.scope if name != variable]
    kept = [name for name in low.all_columns(others) if name not in later]
    kept += [low.columns[variable], *(name for want, name in low.along(variable) if want.what == "ref")]
    return [*kept, *relation.carry]


def _of_element(
    low: Lowering, select: exp.Select, variable: str, wants: list[tuple[Want, str]], found: dict[str, Sql]
) -> exp.Select:
    """Join the states of the elements that the variable may be, as `e`."""
    wants = [(want, name) for want, name in wants if want.what in ("member", "bound", "whole", "payload")]
    kinds = sorted(kind for kind in low.narrowed.get(variable, ALL_KINDS) if any(_has(kind, want) for want, _ in wants))
    if not kinds:
        return select
    if len(kinds) == 1:
        # members are made of the rows that were found, not of the whole table before
        (kind,) = kinds
        source = low.base(layout.STATE_TABLES[kind].name)
        found.update({name: _want(low, kind, want, "e") for want, name in wants})
    else:
        source = _elements(low, kinds, wants)
        found.update({name: col(name, "e") for _, name in wants})
    left_joined(select, table(source, "e"), eq(col("code", "e"), low.code(variable)))
    if kinds == [EVIDENCE] and any(members.reads_payload(want) for want, _ in wants):
        select = with_payload(low, select, "e")
    return select


def _has(kind: int, want: Want) -> bool:
    match want.what:
        case "member":
            return members.has(kind, want.steps)
        case "bound":
            return kind == ASSERTION
        case "payload":
            return kind == EVIDENCE
        case _:
            return want.what == "whole"


def _elements(low: Lowering, kinds: list[int], wants: list[tuple[Want, str]]) -> str:
    """(code, wants) of the elements of several kinds."""
    parts = []
    for kind in kinds:
        source = low.base(layout.STATE_TABLES[kind].name)
        part = exp.select(col("code", "k")).from_(table(source, "k"))
        if kind == EVIDENCE and any(members.reads_payload(want) for want, _ in wants):
            part = with_payload(low, part, "k")
        part = part.select(*(named(_want(low, kind, want, "k"), name) for want, name in wants))
        parts.append(part)
    whole = parts[0] if len(parts) == 1 else exp.union(*parts, distinct=False)
    return low.step(everything().from_(whole.subquery("u")))


def _want(low: Lowering, kind: int, want: Want, at: str) -> Sql:
    reads = kind != EVIDENCE and members.reads_payload(want)
    return null("VARCHAR") if reads else members.want(kind, want, at, low.view.facet_refs())


def with_payload(low: Lowering, select: exp.Select, at: str) -> exp.Select:
    """Join the payloads of Evidence rows as `payload`."""
    on = eq(col("code", "payload"), col("code", at))
    return left_joined(select, table(low.base(layout.PAYLOADS.name), "payload"), on)


def _of_literal(
    low: Lowering, select: exp.Select, variable: str, wants: list[tuple[Want, str]], found: dict[str, Sql]
) -> exp.Select:
    """Join the Literal that the variable may be."""
    for want, name in wants:
        if want.what == "literal" and low.shapes[variable] == "term":
            on = eq(col("code", f"l{name}"), col(low.columns[variable], "r"))
            left_joined(select, table(layout.LITERALS.name, f"l{name}"), on)
            found[name] = col("json", f"l{name}")
    return select


def _inside(low: Lowering, variable: str, wants: list[tuple[Want, str]], found: dict[str, Sql]) -> None:
    """Members of a cell that is a value or an edge are inside it."""

    cell = col(low.columns[variable], "r")
    for want, name in wants:
        if want.what != "member":
            continue
        steps = lit(json.dumps(list(want.steps)))
        inside = call("kip_member", cell.copy(), steps)
        found[name] = case((is_element_cell(cell.copy()), found[name]), other=inside)
