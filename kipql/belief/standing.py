"""Which claims of a plain slot hold at a world time: succession over packed records (§25.4; see `belief.quick`).

Only claims of one actor end one another: of one functional slot, else of one Proposition. A claim without an end of
its own ends when a later one of its line that disagrees has begun.
"""

from kipql.store.records import STANCE_MASK
from kipql.times import BEGINNING, FOREVER

Claim = tuple[int, int, int, int, int, int]
"""The first six fields of a packed record (`store.records`): ended, flags, start, until, actor, object; the last two
canonical."""
FLAGS, START, UNTIL, ACTOR, TERM = 1, 2, 3, 4, 5
FEW = 8  # claims that are compared pair by pair
_SUPPORT = 0


def ends(later: Claim, claim: Claim, functional: bool) -> bool:
    """Whether a claim of the same line disagrees with this one and begins after it (§25.4)."""
    _, flags, start, until, actor, term = claim
    if until != FOREVER or later[START] <= start or later[ACTOR] != actor:
        return False
    if later[TERM] == term:
        return bool((later[FLAGS] ^ flags) & STANCE_MASK)
    return functional and not (later[FLAGS] | flags) & STANCE_MASK


def standing_of(held: list[Claim], valid_at: int, functional: bool) -> list[int]:
    """Which claims hold; every claim of `held` has begun. Each is compared with those that came later, the newest
    first; many of them an actor's line at a time.

    Only claims of one actor end one another: of one functional slot, else of one Proposition."""
    if len(held) > FEW:
        return _standing_lines(held, valid_at, functional)
    newest = held[::-1]
    return [
        at
        for at, claim in enumerate(held)
        if claim[UNTIL] > valid_at and not any(ends(other, claim, functional) for other in newest)
    ]


def _standing_lines(held: list[Claim], valid_at: int, functional: bool) -> list[int]:
    lines: dict[object, list[int]] = {}
    for at, claim in enumerate(held):
        actor = claim[ACTOR]
        lines.setdefault(actor if functional else (actor, claim[TERM]), []).append(at)
    return sorted(
        at
        for places in lines.values()
        for at in _uncut(held, places)
        if held[at][UNTIL] == FOREVER or held[at][UNTIL] > valid_at
    )


def _uncut(held: list[Claim], places: list[int]) -> list[int]:
    """The claims of one actor's line that no other one ends, and those with an end of their own: in one pass."""
    latest: dict[tuple[int, int], int] = {}
    top = second = BEGINNING  # the greatest start key of support, and the greatest of another object's
    best = None
    for at in places:
        _, flags, start, _, _, term = held[at]
        stance = flags & STANCE_MASK
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
    for at in places:
        _, flags, start, until, _, term = held[at]
        stance = flags & STANCE_MASK
        later = max(latest.get((term, other), BEGINNING) for other in range(3) if other != stance)
        if stance == _SUPPORT:
            later = max(later, second if term == best else top)
        if until != FOREVER or later <= start:
            kept.append(at)
    return kept
