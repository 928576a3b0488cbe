"""Reading postings straight from the store's graph, for generated source (architecture §3, §4.4).

A method call on the view costs more than the posting it fetches. Where the view is the store's own (nothing is
withheld from the caller) and no rename joins lineages, generated source asks the graph's tables with the
view's bounds; everywhere else it asks the view. Both give the same rows.
"""

from typing import TYPE_CHECKING

from kipql.exec.emit import Emitter
from kipql.store.graph import Graph
from kipql.store.postings import NO_ROWS
from kipql.store.view import View

if TYPE_CHECKING:
    from collections.abc import Sequence

SHIFT = Graph("").slot_key(1, 0).bit_length() - 1


def is_direct(view: View) -> bool:
    """Whether generated source may read the graph of this view."""
    return not view.narrowed and not view.has_renames


def slot_rows(subject: str, lineage: str, code: Emitter) -> str:
    """An expression: Propositions with a subject and a Predicate lineage."""
    if not code.direct:
        return f"{code.member('slot')}({subject}, {lineage})"
    slots, rows = code.local("view.graph.slots.get", "slots"), code.local("view.graph.slot_propositions.get", "rows")
    bound, held = code.local("view.bounds[1]", "bound"), code.fresh("s")
    code.namespace["NO_ROWS"] = NO_ROWS
    return f"(NO_ROWS if ({held} := {slots}({subject} << {SHIFT} | {lineage})) is None else {rows}({held}, {bound}))"


def left_out(kind: int, code: Emitter) -> str:
    """A local with the rows that default recall leaves out, None when there are none."""
    if not code.direct:
        return code.local(f"view.left_out({kind})", "hidden")
    seqs = code.local("view.graph.left_seqs", "left")
    return code.local(f"view.left_out({kind}) if {kind} in {seqs} else None", "hidden")


def keyed_concepts(view: View, key: object, lineage: int | None) -> "Sequence[int]":
    """Concepts with a key, of a Type lineage when one is given."""
    if key.__class__ is not str:
        return NO_ROWS
    graph = view.graph
    rows = graph.keyed.get(key, view.bounds[0])
    if lineage is None or not rows:
        return rows
    number, lineages, concepts = graph.symbols.number, graph.symbols.lineage_of, graph.objects[0]
    if len(rows) == 1:
        return rows if lineages[number(concepts[rows[0]].schema)] == lineage else NO_ROWS  # type: ignore[union-attr]
    return [row for row in rows if lineages[number(concepts[row].schema)] == lineage]  # type: ignore[union-attr]


_SCALARS = ("name", "key")


def concept_field(row: str, steps: tuple[str | int, ...], otherwise: str, code: Emitter, guard: str = "") -> str | None:
    """An expression for a Concept's name, key or attribute where its newest state is the one the view sees.

    row        a local or expression with the row
    otherwise  the expression for every other case
    guard      a condition under which the row is one of a Concept

    For comparing only: a container comes as it is kept, not copied. None where there is no such short cut.
    """
    if not code.direct:
        return None
    held = code.fresh("c")
    if len(steps) == 1 and steps[0] in _SCALARS:
        read = f"{held}.{steps[0]}"
    elif len(steps) == 2 and steps[0] == "attributes" and isinstance(steps[1], str):
        read = f"{held}.attributes.get({steps[1]!r})"
    else:
        return None
    concepts, seq = code.local("view.graph.objects[0]", "concepts"), code.local("view.seq", "seq")
    return f"({read} if {guard}({held} := {concepts}[{row}]).seq <= {seq} else {otherwise})"
