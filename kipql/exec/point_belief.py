"""One slot that the call names: its status, its accepted values, or the whole of it (§47), on the ready path.

`FIND(?b.accepted_values) WHERE { ?b BELIEF SLOT (:s, :p) }` is what an agent asks most. Where it stands alone, the
slot is read and answered in place: no binding, no Reading and no Budget for one look at one posting. What is not
plain there (`belief.quick`), or not an id of something that exists, is left to the general path.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from kipql.belief.control import Control
from kipql.belief.core.candidate import ACCEPTED, INSUFFICIENT, UNCERTAIN
from kipql.belief.details import Details
from kipql.belief.quick import FROM, Weighed, candidate_rows, left_out, weighed
from kipql.errors import KipError
from kipql.exec.beliefs import declared, value_of
from kipql.exec.beside import CLAIM, Candidates, Claims, Elsewhere, slots_at, weighed_in
from kipql.exec.fused import REFUSED, indented, module
from kipql.exec.reading import UNASKED, Projections, Reading
from kipql.exec.rows import Columns, Rows
from kipql.exec.unready import CODES, Unready
from kipql.lang import ast
from kipql.model import PROPOSITION
from kipql.plan import nodes
from kipql.store.records import STANCE_MASK
from kipql.times import BEGINNING, FOREVER, format_instant
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.exec.ready import Writing
    from kipql.store.view import View

_MOST = 1_024
READABLE = ("status", "accepted_values")


class Point(NamedTuple):
    """A plan that asks about one slot; `items` name a member each, or None for the whole."""

    operator: nodes.SlotBelief
    subject: nodes.Constant
    items: tuple[str | None, ...]


class Site(NamedTuple):
    """A Predicate at one head.

    number      of its lineage in the Space
    functional  whether only one value can be accepted
    claims      of its slots, by the id of their subject (`beside`)
    candidates  of the same, where all of them are to be read there
    ref         its exact ref
    alone       whether no rename joins other lineages to it
    schema      the version of the Schema Environment
    """

    number: int
    functional: bool
    claims: Claims | Elsewhere
    candidates: Candidates | None
    ref: str
    alone: bool
    schema: int


def point(plan: nodes.Plan, find: ast.Find) -> Point | None:
    """The slot that a query asks about, None for any other query."""
    operators = plan.block.operators
    if len(operators) != 1 or plan.order or plan.grouped or find.limit is not None:
        return None
    operator = operators[0]
    if not isinstance(operator, nodes.SlotBelief) or not isinstance(operator.subject, nodes.Constant):
        return None
    if isinstance(operator.predicate, nodes.Variable):
        return None
    items: list[str | None] = []
    for item in plan.items:
        match item:
            case nodes.Member(name=operator.variable, steps=(member,)) if member in READABLE:
                items.append(str(member))
            case nodes.Load(name=operator.variable):
                items.append(None)
            case _:
                return None
    return Point(operator, operator.subject, tuple(items))


def source(asked: Point, code: "Writing") -> str:
    """The module of a ready path (`exec.fused`) whose function reads one slot and writes the row.

    Where nothing in the Space needs a second look the graph's own posting is read.
    """
    predicate, find = asked.operator.predicate, code.find
    assert isinstance(predicate, nodes.SymbolRef)
    subject, named = code.slot(asked.subject.slot.index), repr(predicate.lineage)
    if predicate.slot is not None:
        named = _shown(code.slot(predicate.slot.index))
    subject = _shown(subject)
    decides = bool(UNASKED.policy.precedence)
    code.namespace.update(
        CODES=CODES, KipError=KipError, STATUS=STATUS, Sites=Sites, SlotRows=SlotRows, each=CLAIM.iter_unpack,
        left_out=left_out, value_of=value_of, weighed=weighed,
        weighed_in=weighed_in, whole=whole,
    )  # fmt: skip
    once = [f"sites = Sites(head, {predicate.slot is None})"]
    if predicate.slot is None:
        once.append(f"number, functional, claims_of = sites[{named}][:3]")
        found = ""
    else:
        found = f"number, functional, claims_of, _, _, _, _ = sites[{named}]"
    direct = code.kind.direct
    lines = f"""
        try:
            {INSIDE}
            {found or "pass"}
            {f"claims = claims_of[{subject}]" if direct else f"subject = CODES[{subject}]"}
        except {REFUSED}:
            raise Unready from None
        change = quick = None
    """
    if find.for_time is None:
        lines += "    w = projections.clock()\n"
    if direct:
        lines += f"""
        if claims is not None:
            bound, seq = view.bounds[2], view.seq
{_alone(asked, decides)}
        """
    lines += f"""
        if quick is None:
            subject = CODES[{subject}]
            if subject >> 3 >= view.bounds[0]:
                raise Unready
            rows = view.slot_assertions(subject, number)
            quick = weighed(view, subject, number, rows, w, left_out(view), functional, {decides})
            if quick is None:
                raise Unready
        if quick:
            status, accepted, change = quick[0], quick[1], quick[4]
    """
    stated = code.value(find.for_time) if find.for_time is not None else "None"
    if "accepted_values" in asked.items:
        lines += """
        if accepted.__class__ is int and accepted >= 0 and not accepted & 7:
            accepted = [{"id": f"C-{(accepted >> 3) + 1}"}]
        elif accepted.__class__ is int:
            accepted = [value_of(head, accepted)]
        else:
            accepted = [value_of(head, term) for term in accepted]
        """
    written = f"whole(view, {subject}, sites[{named}], quick, projections, w, {stated})"
    cells = [written if item is None else _CELLS[item] for item in asked.items]
    row = cells[0] if len(cells) == 1 else f"({', '.join(cells)})"
    lines += f"""
        result = new(kind)
        result.described = False
        result.rows = rows = [{row}]
        result.held = (SlotRows, COLUMNS, rows, view, {stated}, projections, w, change)
        return result
    """
    call = [line[8:] for line in lines.splitlines() if line.strip()]
    at = call.index(f"    {INSIDE}")
    return module(once, [*call[:at], *indented(code.lines), *call[at + 1 :]])


INSIDE = "PARAMETERS"
_CELLS = {"status": "status", "accepted_values": "accepted"}


def _alone(asked: Point, decides: bool) -> str:
    """Read the claims of the slot in one pass (`beside`).

    Where only the status and the values are asked for and one claim at a time stands, that is done in place and
    `quick` stays empty; what is not so simple starts again in `weighed_in`, which it repeats.
    """
    every = f"quick = weighed_in(claims, bound, seq, w, functional, {decides})"
    if None in asked.items:
        return f"            {every}"
    return f"""
            who, last, until_next = -1, {BEGINNING}, {FOREVER}
            for ended, flags, start, until, actor, term, row in each(claims):
                if ended <= seq or row >= bound:
                    continue
                if start > w:
                    if not flags & {FROM}:
                        break
                    if start < until_next:
                        until_next = start
                    continue
                if who >= 0 and (
                    who != actor
                    or last == start
                    or end != {FOREVER}
                    or ((stance ^ flags) & {STANCE_MASK} == 0 if value == term
                        else not functional or (stance | flags) & {STANCE_MASK})
                ):
                    if until > w:
                        break
                else:
                    who = -1
                    if until > w:
                        who, stance, value, end = actor, flags, term, until
                        if until < until_next:
                            until_next = until
                last = start
            else:
                quick = ()
                change = None if until_next == {FOREVER} else until_next
                stance = stance & {STANCE_MASK} if who >= 0 else 3
                status, accepted = STATUS[stance], value if not stance else ()
            if quick is None:
                {every}"""


STATUS = (ACCEPTED, INSUFFICIENT, UNCERTAIN, INSUFFICIENT)  # of the stance that stands alone; the last of none


def _shown(value: str | tuple[Any]) -> str:
    return value if isinstance(value, str) else repr(value[0])


def whole(
    view: "View",
    named: str,
    found: Site,
    quick: Weighed,
    projections: Projections,
    instant: int,
    stated: str | None,
) -> dict[str, Json]:
    """Every member of the slot at a view (§47.3); its subject, and the instant if `stated`, are as the caller wrote."""
    graph, seq, change, policy = view.graph, view.seq, quick[4], UNASKED.policy
    control = projections.control or Control(graph)
    basis = {
        "space_id": graph.space_id,
        "snapshot_seq": seq,
        "schema_environment_version": found.schema,
        "identity_version": view.identity_version if graph.identity_seqs else 1,
        "policy": {"id": policy.id, "version": policy.version},
        "trust_version": control.trust_version(seq),
        "authorization_view": projections.authorization_view,
        "context_refs": [],
        "purpose": projections.purpose,
        "risk": projections.risk,
        "valid_at": format_instant(instant) if stated is None else stated,
        "next_invalid_at": None if change is None else format_instant(change),
    }
    propositions = candidates(view, named, found)
    return Details(view, propositions, quick, found.functional, policy.scored, basis).slot(CODES[named], found.ref)


def candidates(view: "View", named: str, found: Site) -> dict[int, int]:
    """The candidates of the slot, by object term, with the row of their first Proposition."""
    if found.candidates is None:
        return candidate_rows(view, CODES[named], found.number)
    bound = view.bounds[PROPOSITION]
    return {term: row for term, row in found.candidates[named] if row < bound}


class Sites(dict[str, Site]):
    """What Predicates are at a head, by their lineage or as the caller names them.

    Raises Unready for a name that is none, for a Predicate that nothing uses yet, and for one whose slots are not
    plain by what it declares.
    """

    def __init__(self, head: "View", lineage: bool) -> None:
        super().__init__()
        self._head, self._lineage = head, lineage

    def __missing__(self, name: str) -> Site:
        environment = self._head.environment
        if name.__class__ is not str:
            raise Unready
        try:
            known = name if self._lineage else environment.predicate(name).lineage
        except KipError:
            raise Unready from None
        definition, plain = declared(environment, known)
        number = self._head.lineage_number(known)
        if number is None or not plain:
            raise Unready
        alone = not self._head.has_renames
        claims, candidates = slots_at(self._head, number)
        found = Site(number, definition.functional, claims, candidates, definition.ref, alone, environment.version)
        if len(self) < _MOST:
            self[name] = found
        return found


class SlotRows(Rows):
    """The row of one slot. What its context says about the projection is made when it is asked for."""

    __slots__ = ("_change", "_instant", "_projections")

    def __init__(
        self,
        columns: Columns,
        cells: list[Any],
        view: "View",
        valid_at: str | None,
        projections: Projections,
        instant: int,
        change: int | None,
    ) -> None:
        self.columns = columns
        self._ready = self._cells = cells
        self._view = view
        self._cursor = None
        self.truncated = False
        self.valid_at = valid_at
        self._reading: Reading | None = None
        self._projections = projections
        self._instant = instant
        self._change = change

    @property
    def context(self) -> dict[str, Json]:
        if self._reading is None:
            self._reading = Reading(self._view, self._projections, UNASKED, self._instant, self._instant)
            self._reading.note(self._change)
        return super().context
