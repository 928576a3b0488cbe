"""A slot's statuses straight from the packed records: the hot path of BELIEF (architecture §3).

It answers for the plain case and says None for everything else, where `Reader` decides: testimony and
observation only, no context, no range for an end, every cited Evidence a root by itself, a Predicate that is
functional or not and declares nothing else, a subject that no merge made of several, nothing to review after an
identity repair. There a claim that has begun holds until its own end, or until a later claim of the same actor that
disagrees has begun (§25.4): nothing is indeterminate, and any root counts. A property test holds it equal to
`Reader`.
"""

from typing import TYPE_CHECKING, NamedTuple

from kipql.belief.core.candidate import ACCEPTED, CONTESTED, INSUFFICIENT, REJECTED, UNCERTAIN
from kipql.belief.core.project import slot_status
from kipql.model import ASSERTION as ASSERTION_KIND
from kipql.model import EVIDENCE, PROPOSITION, Evidence, kind_of
from kipql.store.live import LARGE
from kipql.store.records import (
    ASSERTION,
    BOUNDED,
    CONTEXT,
    EXACT,
    FROM_SHIFT,
    MODE_MASK,
    MODE_SHIFT,
    MODES,
    ROLE_MASK,
    ROLE_SHIFT,
    ROLES,
    SIZE,
    STANCE_MASK,
    UNTIL_SHIFT,
)
from kipql.times import BEGINNING, FOREVER

if TYPE_CHECKING:
    from kipql.store.view import View

_SUPPORT = 0
_MODE = MODE_MASK << MODE_SHIFT
_INFERRED = MODES.index("inferred") << MODE_SHIFT
# A mode from `inferred` on has one of these bits, and so has an end that is a range.
_UNSURE = (MODE_MASK & ~1) << MODE_SHIFT | BOUNDED << FROM_SHIFT | BOUNDED << UNTIL_SHIFT
_FROM = EXACT << FROM_SHIFT
_ROLE = ROLE_MASK << ROLE_SHIFT
_OTHER = {number << ROLE_SHIFT for number, role in enumerate(ROLES) if role not in (None, "support")}
_UNCITED = -1
unpack = ASSERTION.unpack_from

# What the stances that hold on a candidate make of it, as bits 1 << stance.
_STATUS = (INSUFFICIENT, ACCEPTED, REJECTED, CONTESTED, UNCERTAIN, ACCEPTED, REJECTED, CONTESTED)


Held = tuple[int, int, int, int, int, int]  # actor, object, stance, start key, end, Assertion row


class Quick(NamedTuple):
    """statuses and candidate statuses by object term, an object without material left out; `accepted` in the
    order of the slot's Propositions; `standing` are the claims that hold."""

    status: str
    accepted: tuple[int, ...]
    statuses: dict[int, str]
    candidates: dict[int, str]
    next_invalid_at: int | None
    standing: list[Held]


NOTHING = Quick(INSUFFICIENT, (), {}, {}, None, [])
FEW = 8  # claims of one actor that are compared pair by pair


Left = tuple[frozenset[int], frozenset[int]]
NONE: frozenset[int] = frozenset()


def left_out(view: "View") -> Left | None:
    """The Assertions and the Propositions that recall leaves out; None when there are none (nearly always)."""
    if not view.graph.left_seqs:
        return None
    assertions, propositions = view.left_out(ASSERTION_KIND), view.left_out(PROPOSITION)
    return None if assertions is propositions is None else (assertions or NONE, propositions or NONE)


def quick_slot(
    view: "View", subject: int, lineage: int, valid_at: int, left: Left | None, *, functional: bool, decides: bool
) -> Quick | None:
    """The statuses of a slot at a world time, None where the plain case does not hold.

    lineage  number of the Predicate's lineage
    left     what recall leaves out at the view (`left_out`)
    decides  whether the policy has precedence rules, so that a conflict is not settled here
    """
    graph, seq = view.graph, view.seq
    canonical = view.canonical if view.has_merges else None
    if canonical is not None and len(view.same(subject)) > 1:
        return None
    rows = view.slot_assertions(subject, lineage)
    if len(rows) > LARGE:
        rows = view.live_assertions(subject, lineage)
    hot, cited = graph.assertions.hot, graph.assertions.cited
    outputs, reviewed = graph.fields.get("outputs"), graph.reviewed
    held: list[Held] = []
    change = FOREVER
    for row in rows:
        ended, flags, start, until, actor, term, proposition, _ = unpack(hot, row * SIZE)
        if ended <= seq or flags & CONTEXT or (left is not None and (row in left[0] or proposition in left[1])):
            continue
        if flags & _UNSURE:
            if flags & _MODE > _INFERRED:
                continue
            return None
        evidence = cited[row]
        if evidence != _UNCITED and not (evidence >= 0 and (flags & _ROLE in _OTHER or _is_root(view, evidence))):
            return None
        if outputs is not None and _made(view, row * 8 + ASSERTION_KIND, outputs):
            return None
        if reviewed and reviewed.get(row * 8 + ASSERTION_KIND):
            return None
        if start > valid_at:
            if not flags & _FROM:
                return None
            if start < change:
                change = start
            continue
        if valid_at < until < change:
            change = until
        if canonical is not None:
            actor, term = canonical(actor), canonical(term)
        held.append((actor, term, flags & STANCE_MASK, start, until, row))
    if len(held) > 1:
        held = _standing(held, valid_at, functional)
    elif held and held[0][4] <= valid_at:
        held = []
    changes = None if change == FOREVER else change
    return _answer(view, subject, lineage, held, changes, functional, decides)


def _standing(held: list[Held], valid_at: int, functional: bool) -> list[Held]:
    """The claims that hold; every claim of `held` has begun.

    Only claims of one actor end one another: of one functional slot, else of one Proposition."""
    lines: dict[object, list[Held]] = {}
    for claim in held:
        lines.setdefault(claim[0] if functional else claim[:2], []).append(claim)
    standing = []
    for claims in lines.values():
        many = len(claims) > FEW
        for claim in _uncut(claims) if many else claims:
            until = claim[4]
            if until == FOREVER:
                if many or len(claims) == 1 or not _ended(claims, claim):
                    standing.append(claim)
            elif until > valid_at:
                standing.append(claim)
    return standing


def _ended(claims: list[Held], claim: Held) -> bool:
    """Whether a claim of the line disagrees with this one and has begun after it."""
    _, term, stance, start, _, _ = claim
    for _, other, other_stance, later, _, _ in claims:
        if later > start and (other_stance != stance if other == term else other_stance == stance == _SUPPORT):
            return True
    return False


def _uncut(claims: list[Held]) -> list[Held]:
    """The claims of one actor's line that no other one ends, and those with an end of their own: in one pass."""
    latest: dict[tuple[int, int], int] = {}
    top = second = BEGINNING  # the greatest start key of support, and the greatest of another object's
    best = None
    for _, term, stance, start, _, _ in claims:
        if start > latest.get((term, stance), BEGINNING):
            latest[term, stance] = start
        if stance == _SUPPORT:
            if term == best:
                top = max(top, start)
            elif start > top:
                best, top, second = term, start, top
            elif start > second:
                second = start
    kept = []
    for claim in claims:
        _, term, stance, start, until, _ = claim
        later = max(latest.get((term, other), BEGINNING) for other in range(3) if other != stance)
        if stance == _SUPPORT:
            later = max(later, second if term == best else top)
        if until != FOREVER or later <= start:
            kept.append(claim)
    return kept


def _answer(
    view: "View",
    subject: int,
    lineage: int,
    standing: list[Held],
    change: int | None,
    functional: bool,
    decides: bool,
) -> Quick | None:
    """Statuses from the claims that hold: first each candidate, then the conflict of a functional slot (§21.11)."""
    stances: dict[int, int] = {}
    for claim in standing:
        term = claim[1]
        stances[term] = stances.get(term, 0) | 1 << claim[2]
    candidates = {term: _STATUS[stance] for term, stance in stances.items()}
    if len(candidates) < 2:
        for term, status in candidates.items():
            whole = INSUFFICIENT if status == REJECTED else status
            return Quick(whole, (term,) if status == ACCEPTED else (), candidates, candidates, change, standing)
        return Quick(INSUFFICIENT, (), {}, {}, change, standing)
    statuses = candidates
    if functional:
        supported = [term for term, stance in stances.items() if stance & 1]
        if len(supported) > 1:
            if decides:
                return None
            statuses = {**candidates, **dict.fromkeys(supported, CONTESTED)}
    found = [term for term, status in statuses.items() if status == ACCEPTED]
    if len(found) > 1:
        accepted = set(found)
        found = [term for term in candidate_rows(view, subject, lineage) if term in accepted]
    return Quick(slot_status([*statuses.values()]), tuple(found), statuses, candidates, change, standing)


def candidate_rows(view: "View", subject: int, lineage: int) -> dict[int, int]:
    """The candidates of a slot, as canonical object terms with the row of their first Proposition."""
    objects, found = view.objects, dict[int, int]()
    canonical = view.canonical if view.has_merges else None
    for row in view.slot(subject, lineage):
        term = objects[row]
        found.setdefault(term if canonical is None else canonical(term), row)
    return found


def _made(view: "View", code: int, outputs: int) -> bool:
    """Whether an Activity put an element out: it may be derived."""
    return bool(view.graph.referrers.get(view.graph.slot_key(code, outputs), 1 << 60))


def _is_root(view: "View", row: int) -> bool:
    """Whether Evidence is an independent root by itself: uncorrected, and made from nothing else."""
    graph = view.graph
    record = graph.objects[EVIDENCE][row]
    assert isinstance(record, Evidence)
    if record.seq > view.seq or record.status != "active" or record.quarantined or record.generated_by:
        return False
    if record.source and any(kind_of(edge.target) == EVIDENCE for edge in record.source):
        return False
    outputs = graph.fields.get("outputs")
    return outputs is None or not _made(view, row * 8 + EVIDENCE, outputs)
