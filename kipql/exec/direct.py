"""Reading postings straight from the store's graph, for generated source (architecture §3, §4.4).

A method call on the view costs more than the posting it fetches. Where the view is the store's own (nothing is
withheld from the caller) and no rename joins lineages, generated source asks the graph's tables with the
view's bounds; everywhere else it asks the view. Both give the same rows.
"""

from typing import TYPE_CHECKING

from kipql.exec.emit import Emitter
from kipql.exec.fields import reader
from kipql.exec.heads import Memories, SlotTables
from kipql.exec.named import SubjectRows
from kipql.exec.unready import CODES
from kipql.model import CONCEPT
from kipql.store.frozen import UNREAD
from kipql.store.graph import Graph
from kipql.store.lasting import LOOK
from kipql.store.postings import NO_ROWS
from kipql.store.slots import UNKNOWN
from kipql.store.view import View

if TYPE_CHECKING:
    from collections.abc import Sequence

FEW = 64  # rows of a posting that are read as they lie
SHIFT = Graph("").slot_key(1, 0).bit_length() - 1


def is_direct(view: View) -> bool:
    """Whether generated source may read the graph of this view."""
    return not view.narrowed and not view.has_renames


def slot_rows(subject: str, lineage: str, code: Emitter) -> str:
    """An expression: Propositions with a subject and a Predicate lineage."""
    if not code.direct:
        return f"{code.member('slot')}({subject}, {lineage})"
    named = code.named(subject)
    if code.fused and named is not None and code.early(lineage):
        return _named_rows(named, lineage, code)
    slots, bound, held = code.local("view.graph.slots", "slots"), code.local("view.bounds[1]", "bound"), code.fresh("s")
    code.namespace["NO_ROWS"] = NO_ROWS
    # A slot is named by its first row: one past the bound has none below it.
    rows = _dense("slot_propositions", held, bound, code)
    if code.fused and code.early(lineage):
        code.namespace.update(SlotTables=SlotTables, UNKNOWN=UNKNOWN)
        tables = code.local("SlotTables(head)", "tables")
        table = code.local(f"{tables}[{lineage}]", "table")
        size = code.local(f"len({table}) << 3", "size")
        there = f"{table}[{subject} >> 3] if not {subject} & 7 and 0 <= {subject} < {size}"
        asked = f"{held} != UNKNOWN or not 0 <= ({held} := {slots}.look({subject}, {lineage})) < {bound}"
        found = f"{held} := {there} else {slots}[{subject} << {SHIFT} | {lineage}]"
        return f"(NO_ROWS if not 0 <= ({found}) < {bound} and ({asked}) else {rows})"
    return f"(NO_ROWS if not 0 <= ({held} := {slots}[{subject} << {SHIFT} | {lineage}]) < {bound} else {rows})"


def _named_rows(named: str, lineage: str, code: Emitter) -> str:
    """The same for a subject that the caller names: its rows at the head, which a loop reads up to its own bound."""
    code.namespace.update(CODES=CODES, Memories=Memories, SubjectRows=SubjectRows, NO_ROWS=NO_ROWS)
    of_subject = code.local(f"{code.local('Memories(head, SubjectRows)', 'named')}[{lineage}]", "subjects")
    rows, slots = code.local(f"{of_subject}[{named}]", "rows"), code.local("view.graph.slots", "slots")
    bound, get = code.local("view.bounds[1]", "bound"), code.local("view.graph.slot_propositions.get", "get")
    return f"({rows} if {rows} is not None else {get}({slots}.look(CODES[{named}], {lineage}), {bound}))"


def assertion_rows(proposition: str, code: Emitter) -> str:
    """An expression: Assertions on a Proposition row."""
    if not code.direct:
        return f"{code.member('assertions_of')}({proposition})"
    bound = code.local("view.bounds[2]", "bound")
    size = code.local(f"len({code.local('view.graph.of_proposition.tables()[0]', 'heads')})", "size")
    rows = _dense("of_proposition", proposition, bound, code)
    code.namespace["NO_ROWS"] = NO_ROWS
    return f"(NO_ROWS if {proposition} >= {size} else {rows})"


def _dense(posting: str, key: str, bound: str, code: Emitter) -> str:
    """An expression: the rows of a key of a dense posting below a bound, as `Dense.get` finds them.

    What a writer appends meanwhile lies past the bound: an array is copied before its end is looked at, or every row
    of it is."""
    heads = code.local(f"view.graph.{posting}.tables()[0]", "heads")
    more = code.local(f"view.graph.{posting}.tables()[1]", "more")
    get = code.local(f"view.graph.{posting}.get", "get")
    head, run = code.fresh("h"), code.fresh("m")
    if code.fused:  # the loop leaves out what lies past the bound (`bounded`)
        cut = f"len({run}) <= {FEW}"
    else:
        cut = f"({run} := {run}[:]) and {run}[-1] < {bound}"
    many = f"{run} if {head} < -1 and ({run} := {more}[-2 - {head}]) and {cut}"
    return f"({head},) if 0 <= ({head} := {heads}[{key}]) < {bound} else {many} else {get}({key}, {bound})"


def bounded(row: str, kind: int, code: Emitter) -> None:
    """The first line of a loop over what `_dense` found: a short array is read as it lies, with what is newer in it."""
    if code.direct and code.fused:
        with code.block(f"if {row} >= {code.local(f'view.bounds[{kind}]', 'bound')}:"):
            code.line("break")


def left_out(kind: int, code: Emitter) -> str | None:
    """A local with the rows that default recall leaves out, None when there are none; None where that is known."""
    if not code.left:
        return None
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
    types, lineages = graph.types, graph.symbols.lineage_of
    if len(rows) == 1:
        return rows if lineages[types[rows[0]]] == lineage else NO_ROWS
    return [row for row in rows if lineages[types[row]] == lineage]


_SCALARS = ("name", "key")


def record_of(name: str, cell: str, code: Emitter, row: str | None = None) -> str | None:
    """Fetch the newest state of the Concept that a variable is, for all of its fields; None where none is read.

    The local holds what no view sees (`UNREAD`) where the cell stands for anything else; `row` is that of a Concept.
    """
    if not code.direct or not any(map(_own, code.fields.get(name, ()))):
        return None
    if code.fused:
        if row is not None:
            return row
        held = code.fresh("c")
        code.line(f"{held} = {cell} >> 3 if {cell} >= 0 and not {cell} & 7 else None")
        return held
    concepts, held = code.local("view.graph.objects[0]", "concepts"), code.fresh("c")
    if row is not None:
        code.line(f"{held} = {concepts}[{row}]")
        return held
    code.namespace["UNREAD"] = UNREAD
    code.line(f"{held} = {concepts}[{cell} >> 3] if {cell} >= 0 and not {cell} & 7 else UNREAD")
    return held


def _own(steps: tuple[str | int, ...]) -> bool:
    return steps[0] in _SCALARS if len(steps) == 1 else len(steps) == 2 and steps[0] == "attributes"


def concept_field(
    row: str,
    steps: tuple[str | int, ...],
    otherwise: str,
    code: Emitter,
    guard: str = "",
    record: str | None = None,
) -> str | None:
    """An expression for a Concept's name, key or attribute where its newest state is the one the view sees.

    row        a local or expression with the row
    otherwise  the expression for every other case
    guard      a condition under which the row is one of a Concept
    record     a local with the record, where it was fetched

    For comparing only: a container comes as it is kept, not copied. None where there is no such short cut.
    """
    if not code.direct:
        return None
    if code.fused:
        if record is not None:
            row, guard = record, "" if record == row else f"{record} is not None and "
        return _lasting(row, steps, otherwise, code, guard)
    held = record or code.fresh("c")
    if len(steps) == 1 and steps[0] in _SCALARS:
        read = f"{held}.{steps[0]}"
    elif len(steps) == 2 and steps[0] == "attributes" and isinstance(steps[1], str):
        read = f"{held}.attributes.get({steps[1]!r})"
    else:
        return None
    seq = code.local("view.seq", "seq")
    if record is not None:
        return f"({read} if {record}.seq <= {seq} else {otherwise})"
    concepts = code.local("view.graph.objects[0]", "concepts")
    return f"({read} if {guard}({held} := {concepts}[{row}]).seq <= {seq} else {otherwise})"


def _lasting(row: str, steps: tuple[str | int, ...], otherwise: str, code: Emitter, guard: str) -> str | None:
    """The same from the column of the field (`store.lasting`), which has scalars only."""
    if not _own(steps) or not all(isinstance(step, str) for step in steps):
        return None
    code.namespace["LOOK"] = LOOK
    getter = code.constant(reader(CONCEPT, steps), "read")
    column = code.local(f"graph.lasting.column(graph, {steps!r}, {getter}, head.bounds[0])", "column")
    values, read, held = code.local(f"{column}.values", "values"), code.local(f"{column}.read", "look"), code.fresh("h")
    short = f"{held} if {guard}({held} := {values}[{row}]) is not LOOK"
    if not guard:
        return f"({short} else {read}(view, {row}))"
    return f"({short} else {read}(view, {row}) if {guard.removesuffix(' and ')} else {otherwise})"
