"""A slot's statuses straight from the packed records: the hot path of BELIEF (architecture §3).

It answers for the plain case and says None for everything else, where `Reader` decides: testimony and
observation only, no context, no range for an end, every cited Evidence a root by itself, a Predicate that is
functional or not and declares nothing else, a subject that no merge made of several, nothing to review after an
identity repair. There a claim that has begun holds until its own end, or until a later claim of the same actor that
disagrees has begun (§25.4): nothing is indeterminate, and any root counts. A property test holds it equal to
`Reader`.
"""

import struct
from typing import TYPE_CHECKING, NamedTuple

from kipql.belief.core.candidate import ACCEPTED, CONTESTED, INSUFFICIENT, REJECTED, UNCERTAIN
from kipql.belief.core.conflicts import slot_status
from kipql.belief.standing import FLAGS, TERM, UNTIL, Claim, ends, standing_of
from kipql.model import ASSERTION as ASSERTION_KIND
from kipql.model import EVIDENCE, MODES, PROPOSITION, Evidence, kind_of
from kipql.store.live import LARGE
from kipql.store.postings import NO_ROWS
from kipql.store.records import (
    ASSERTION,
    BOUNDED,
    CONTEXT,
    EXACT,
    FROM_SHIFT,
    MODE_MASK,
    MODE_SHIFT,
    ROLE_MASK,
    ROLE_SHIFT,
    ROLES,
    SIZE,
    STANCE_MASK,
    UNTIL_SHIFT,
)
from kipql.times import BEGINNING, FOREVER

if TYPE_CHECKING:
    from kipql.store.graph import Graph
    from kipql.store.postings import Rows
    from kipql.store.view import View

_STANCE = STANCE_MASK
_MODE = MODE_MASK << MODE_SHIFT
_INFERRED = MODES.index("inferred") << MODE_SHIFT
# A mode from `inferred` on has one of these bits, and so has an end that is a range.
_UNSURE = (MODE_MASK & ~1) << MODE_SHIFT | BOUNDED << FROM_SHIFT | BOUNDED << UNTIL_SHIFT
# Nearly every claim has none of these.
RARE = CONTEXT | _UNSURE
FROM = EXACT << FROM_SHIFT
_ROLE = ROLE_MASK << ROLE_SHIFT
_OTHER = {number << ROLE_SHIFT for number, role in enumerate(ROLES) if role not in (None, "support")}
_UNCITED = -1
unpack = ASSERTION.unpack_from
placed = struct.Struct("<IIqqii").unpack_from  # all but the last two: what succession looks at

# What the stances that hold on a candidate make of it, as bits 1 << stance.
_STATUS = (INSUFFICIENT, ACCEPTED, REJECTED, CONTESTED, UNCERTAIN, ACCEPTED, REJECTED, CONTESTED)


class Quick(NamedTuple):
    """statuses and candidate statuses by object term, an object without material left out; `accepted` in the
    order of the slot's Propositions; `standing` are the claims that hold, and `rows` theirs."""

    status: str
    accepted: tuple[int, ...]
    statuses: dict[int, str]
    candidates: dict[int, str]
    next_invalid_at: int | None
    standing: list[Claim]
    rows: list[int]


Weighed = tuple[str, tuple[int, ...], dict[int, str], dict[int, str], int | None, list[Claim], list[int]]
"""The members of a Quick, before anyone needs their names."""

NOTHING = Quick(INSUFFICIENT, (), {}, {}, None, [], [])


Left = tuple[frozenset[int], frozenset[int]]
NONE: frozenset[int] = frozenset()


def left_out(view: "View") -> Left | None:
    """The Assertions and the Propositions that recall leaves out; None when there are none (nearly always)."""
    if not view.graph.left_seqs:
        return None
    assertions, propositions = view.left_out(ASSERTION_KIND), view.left_out(PROPOSITION)
    return None if assertions is propositions is None else (assertions or NONE, propositions or NONE)


def special(graph: "Graph") -> bool:
    """Whether a claim of the Space may be merged, left out, derived or to be reviewed, so that each needs a look."""
    return bool(graph.identity_seqs or graph.left_seqs or graph.reviewed) or "outputs" in graph.fields


def quick_slot(
    view: "View", subject: int, lineage: int, valid_at: int, left: Left | None, *, functional: bool, decides: bool
) -> Quick | None:
    """The statuses of a slot at a world time, None where the plain case does not hold.

    lineage  number of the Predicate's lineage
    left     what recall leaves out at the view (`left_out`)
    decides  whether the policy has precedence rules, so that a conflict is not settled here
    """
    if view.has_renames:
        rows = view.slot_assertions(subject, lineage)
    else:
        slot = view.graph.slots[view.graph.slot_key(subject, lineage)]
        rows = NO_ROWS if slot < 0 else view.graph.slot_assertions.get(slot, view.bounds[ASSERTION_KIND])
    found = weighed(view, subject, lineage, rows, valid_at, left, functional, decides)
    return None if found is None else Quick._make(found)


def weighed(
    view: "View",
    subject: int,
    lineage: int,
    rows: "Rows",
    valid_at: int,
    left: Left | None,
    functional: bool,
    decides: bool,
) -> Weighed | None:
    """The same from the rows of the slot's Assertions at hand."""
    graph, seq = view.graph, view.seq
    canonical = None
    if graph.identity_seqs and view.has_merges:
        canonical = view.canonical
        if len(view.same(subject)) > 1:
            return None
    if len(rows) > LARGE:
        rows = view.live_assertions(subject, lineage)
    outputs, reviewed = graph.fields.get("outputs"), graph.reviewed
    looked = canonical is not None or left is not None or outputs is not None or bool(reviewed)
    if not looked:
        found = in_order(graph, seq, rows, valid_at, functional, decides)
        if found is not None:
            return found
    hot, cited = graph.assertions.hot, graph.assertions.cited
    held: list[Claim] = []
    kept: list[int] = []
    change = FOREVER
    for row in rows:
        ended, flags, start, until, actor, term, proposition, _ = unpack(hot, row * SIZE)
        if ended <= seq:
            continue
        if flags & RARE:
            if flags & CONTEXT:
                continue
            if flags & _UNSURE:
                if flags & _MODE > _INFERRED:
                    continue
                if left is None or not (row in left[0] or proposition in left[1]):
                    return None
        evidence = cited[row]
        if looked or evidence != _UNCITED:
            if left is not None and (row in left[0] or proposition in left[1]):
                continue
            if evidence != _UNCITED and not (
                evidence >= 0 and (flags & _ROLE in _OTHER or _is_root(graph, seq, evidence))
            ):
                return None
            if outputs is not None and _made(graph, row * 8 + ASSERTION_KIND, outputs):
                return None
            if reviewed and reviewed.get(row * 8 + ASSERTION_KIND):
                return None
            if canonical is not None:
                actor, term = canonical(actor), canonical(term)
        if start > valid_at:
            if not flags & FROM:
                return None
            if start < change:
                change = start
            continue
        if valid_at < until < change:
            change = until
        held.append((ended, flags, start, until, actor, term))
        kept.append(row)
    changes = None if change == FOREVER else change
    count = len(held)
    if count > 1:
        standing = standing_of(held, valid_at, functional)
        if len(standing) < count:
            held, kept = [held[at] for at in standing], [kept[at] for at in standing]
    elif count and held[0][UNTIL] <= valid_at:
        held, kept = [], []
    found = answered(held, kept, changes, functional, decides)
    if found is None or len(found[1]) < 2:
        return found
    ordered = tuple([term for term in candidate_rows(view, subject, lineage) if term in found[1]])
    return (found[0], ordered, *found[2:])


def in_order(graph: "Graph", seq: int, rows: "Rows", valid_at: int, functional: bool, decides: bool) -> Weighed | None:
    """The same in one pass, where nothing in the Space asks for a second look (`special`) and no claim begins before
    the one that was recorded before it: then a claim can only end those before it. None elsewhere.

    One claim at a time is what nearly always stands: it is held apart, and lists are made for more."""
    if len(rows) > LARGE:
        return None
    columns = graph.assertions
    hot, cited = columns.hot, columns.cited
    lone: Claim | None = None
    place = -1
    standing: list[Claim] = []
    kept: list[int] = []
    change, last = FOREVER, BEGINNING
    for row in rows:
        claim = placed(hot, row * SIZE)
        ended, flags, start, until, actor, term = claim
        if ended <= seq:
            continue
        if flags & RARE:
            if flags & CONTEXT or flags & _MODE > _INFERRED:
                continue
            return None
        evidence = cited[row]
        if evidence != _UNCITED and not (evidence >= 0 and (flags & _ROLE in _OTHER or _is_root(graph, seq, evidence))):
            return None
        if start > valid_at:
            if not flags & FROM:
                return None
            if start < change:
                change = start
            continue
        if start < last:
            return None
        last = start
        if lone is not None:
            _, before, begun, end, who, value = lone
            if (  # as `ends`, without the call
                who == actor
                and begun < start
                and end == FOREVER
                and ((before ^ flags) & _STANCE if value == term else functional and not (before | flags) & _STANCE)
            ):
                lone = None
        elif standing:
            left = [at for at, each in enumerate(standing) if not ends(claim, each, functional)]
            if len(left) < len(standing):
                standing, kept = [standing[at] for at in left], [kept[at] for at in left]
        if until > valid_at:
            if until < change:
                change = until
            if lone is not None:
                standing, kept, lone = [lone, claim], [place, row], None
            elif standing:
                standing.append(claim)
                kept.append(row)
            else:
                lone, place = claim, row
    changes = None if change == FOREVER else change
    if lone is not None:
        term, status = lone[TERM], _STATUS[1 << (lone[FLAGS] & _STANCE)]
        if status is ACCEPTED:
            statuses = {term: status}
            return (status, (term,), statuses, statuses, changes, [lone], [place])
        return lone_answer(lone, [place], changes)
    found = answered(standing, kept, changes, functional, decides)
    return found if found is not None and len(found[1]) < 2 else None


def lone_answer(claim: Claim, rows: list[int], change: int | None) -> Weighed:
    """Statuses from the one claim that holds."""
    term, status = claim[TERM], _STATUS[1 << (claim[FLAGS] & STANCE_MASK)]
    candidates = {term: status}
    if status is ACCEPTED:
        return (status, (term,), candidates, candidates, change, [claim], rows)
    return (INSUFFICIENT if status is REJECTED else status, (), candidates, candidates, change, [claim], rows)


def answered(
    standing: list[Claim], rows: list[int], change: int | None, functional: bool, decides: bool
) -> Weighed | None:
    """Statuses from the claims that hold: first each candidate, then the conflict of a functional slot (§21.11).

    What is accepted comes in no order yet. None where precedence rules decide."""
    if not standing:
        return (INSUFFICIENT, (), {}, {}, change, standing, rows)
    if len(standing) == 1:
        return lone_answer(standing[0], rows, change)
    stances: dict[int, int] = {}
    for _, flags, _, _, _, term in standing:
        stances[term] = stances.get(term, 0) | 1 << (flags & STANCE_MASK)
    candidates = {term: _STATUS[stance] for term, stance in stances.items()}
    statuses = candidates
    if functional and len(stances) > 1:
        supported = [term for term, stance in stances.items() if stance & 1]
        if len(supported) > 1:
            if decides:
                return None
            statuses = {**candidates, **dict.fromkeys(supported, CONTESTED)}
    found = tuple([term for term, status in statuses.items() if status == ACCEPTED])
    return (slot_status([*statuses.values()]), found, statuses, candidates, change, standing, rows)


def candidate_rows(view: "View", subject: int, lineage: int) -> dict[int, int]:
    """The candidates of a slot, as canonical object terms with the row of their first Proposition."""
    objects, found = view.objects, dict[int, int]()
    canonical = view.canonical if view.has_merges else None
    for row in view.slot(subject, lineage):
        term = objects[row]
        found.setdefault(term if canonical is None else canonical(term), row)
    return found


def _made(graph: "Graph", code: int, outputs: int) -> bool:
    """Whether an Activity put an element out: it may be derived."""
    return bool(graph.referrers.get(graph.slot_key(code, outputs), 1 << 60))


def _is_root(graph: "Graph", seq: int, row: int) -> bool:
    """Whether Evidence is an independent root by itself: uncorrected, and made from nothing else."""
    record = graph.head(row * 8 + EVIDENCE)
    assert isinstance(record, Evidence)
    if record.seq > seq or record.status != "active" or record.quarantined or record.generated_by:
        return False
    if record.source and any(kind_of(edge.target) == EVIDENCE for edge in record.source):
        return False
    outputs = graph.fields.get("outputs")
    return outputs is None or not _made(graph, row * 8 + EVIDENCE, outputs)
