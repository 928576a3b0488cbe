"""Temporal succession and world-time status (§25.2, §25.4, §25.5).

An actor's later account of what they witnessed ends the earlier one, at projection time, without rewriting
anything. Two claims are on one line when both take part, share actor and context set, and are either about
one Proposition (any stances) or support different values of one functional partition. On a line, claims that
disagree succeed one another by start key; equal keys never do.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from kipql.belief.core.claims import Claim
from kipql.times import Bound

INSIDE, OUTSIDE, INDETERMINATE = "inside", "outside", "indeterminate"


class Placed(NamedTuple):
    """An eligible claim where succession sees it.

    claim        with its stance toward `proposition`
    proposition  its proposition line's; true and false share one under `boolean_completeness`
    partition    its slot line's
    supported    the value its written stance supports, by which it lies on a slot line; None for another stance
    """

    claim: Claim
    proposition: Hashable
    partition: Hashable
    supported: Hashable


@dataclass(frozen=True, slots=True)
class Effective:
    """A claim's interval after succession; `end` None is open. `cut_by` names the claims that ended it and
    `line` the line they are on."""

    start: Bound
    end: Bound | None
    cut_by: tuple[Hashable, ...] = ()
    line: str | None = None

    def at(self, instant: int) -> str:
        """inside, outside or indeterminate (§25.5); half-open."""
        start, end = self.start, self.end
        if start.earliest is not None and start.earliest > instant:
            return OUTSIDE
        if end is not None and end.latest is not None and end.latest <= instant:
            return OUTSIDE
        begun = start.latest is not None and start.latest <= instant
        lasting = end is None or (end.earliest is not None and end.earliest > instant)
        return INSIDE if begun and lasting else INDETERMINATE

    def next_change(self, instant: int) -> int | None:
        """The first later instant at which `at` answers otherwise."""
        now = self.at(instant)
        sides = (self.start.earliest, self.start.latest, *(self.end or ()))
        return min(
            (side for side in sides if side is not None and side > instant and self.at(side) != now), default=None
        )


def effective_intervals(placed: Sequence[Placed], succeeds: bool) -> dict[Hashable, Effective]:
    """The effective interval of every eligible claim, by claim key."""
    lines = list(_lines(placed, succeeds))
    starts = {item.claim.key: item.claim.start for item in placed}
    for line in lines:
        for key, predecessor in line.predecessors():
            claim = line.claims[key]
            if not claim.start.exact:
                written = claim.start.earliest
                earliest = predecessor if written is None else max(written, predecessor)
                starts[key] = _latest(starts[key], Bound(earliest, claim.start_key))
    ends: dict[Hashable, tuple[Bound, tuple[Hashable, ...], str]] = {}
    for line in lines:
        for key, successors in line.successors():
            if line.claims[key].valid.end is None:
                end = _earliest_of(starts[successor] for successor in successors)
                known = ends.get(key)
                ends[key] = (
                    (end, successors, line.name) if known is None else _sooner(known, (end, successors, line.name))
                )
    return {item.claim.key: _effective(item.claim, starts[item.claim.key], ends.get(item.claim.key)) for item in placed}


def _effective(claim: Claim, start: Bound, cut: tuple[Bound, tuple[Hashable, ...], str] | None) -> Effective:
    return Effective(start, claim.valid.end) if cut is None else Effective(start, *cut)


# --- lines --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Line:
    """The claims of one line, grouped by start key in ascending order; `label` tells who agrees."""

    name: str
    claims: dict[Hashable, Claim]
    groups: list[tuple[int, list[tuple[Hashable, Hashable]]]]  # (start key, [(label, claim key)])

    def successors(self) -> Iterable[tuple[Hashable, tuple[Hashable, ...]]]:
        """Each claim that has successors, with those of the smallest start key."""
        for label, key, nearest in _nearest_other(list(reversed(self.groups))):
            yield key, tuple(other for other_label, other in nearest[1] if other_label != label)

    def predecessors(self) -> Iterable[tuple[Hashable, int]]:
        """Each claim that has a predecessor, with that predecessor's start key."""
        for _label, key, nearest in _nearest_other(self.groups):
            yield key, nearest[0]


_Group = tuple[int, list[tuple[Hashable, Hashable]]]


def _nearest_other(groups: list[_Group]) -> Iterable[tuple[Hashable, Hashable, _Group]]:
    """For each claim, walking in the given order: the nearest group already passed that holds another label.

    Linear: of the groups passed it keeps the last one and the last one that is not all of that one's label.
    """
    last: _Group | None = None
    last_label: Hashable = None
    before: _Group | None = None  # the nearest passed group that holds a label other than `last_label`
    for group in groups:
        if last is not None:
            for label, key in group[1]:
                if last_label is _MIXED or label != last_label:
                    yield label, key, last
                elif before is not None:
                    yield label, key, before
        labels = {label for label, _ in group[1]}
        label_now: Hashable = next(iter(labels)) if len(labels) == 1 else _MIXED
        if last is not None and (last_label is _MIXED or label_now != last_label):
            before = last
        last, last_label = group, label_now


_MIXED = object()


def _lines(placed: Sequence[Placed], succeeds: bool) -> Iterable[_Line]:
    taking_part = [item for item in placed if item.claim.takes_part]
    yield from _collect(
        "proposition",
        (
            ((item.claim.actor, item.claim.context, item.proposition), item.claim.stance, item.claim)
            for item in taking_part
        ),
    )
    if succeeds:
        yield from _collect(
            "slot",
            (
                ((item.claim.actor, item.claim.context, item.partition), item.supported, item.claim)
                for item in taking_part
                if item.supported is not None
            ),
        )


def _collect(name: str, members: Iterable[tuple[Hashable, Hashable, Claim]]) -> Iterable[_Line]:
    lines: dict[Hashable, list[tuple[Hashable, Claim]]] = {}
    for line, label, claim in members:
        lines.setdefault(line, []).append((label, claim))
    for line_members in lines.values():
        if len(line_members) > 1:
            line_members.sort(key=lambda member: member[1].start_key)
            groups = [
                (start_key, [(label, claim.key) for label, claim in group])
                for start_key, group in groupby(line_members, key=lambda member: member[1].start_key)
            ]
            yield _Line(name, {claim.key: claim for _, claim in line_members}, groups)


# --- bounds -------------------------------------------------------------------------------------------


def _latest(one: Bound, other: Bound) -> Bound:
    """The latest of two starts, side by side; an unknown side gives way."""
    return Bound(_later(one.earliest, other.earliest), _later(one.latest, other.latest))


def _earliest_of(bounds: Iterable[Bound]) -> Bound:
    """The earliest of several ends, side by side. An unknown `earliest` is before every instant, an unknown
    `latest` after every instant."""
    known = list(bounds)
    earliest = None if any(bound.earliest is None for bound in known) else min(bound.earliest or 0 for bound in known)
    latest = min((bound.latest for bound in known if bound.latest is not None), default=None)
    return Bound(earliest, latest)


def _later(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


def _sooner(
    one: tuple[Bound, tuple[Hashable, ...], str], other: tuple[Bound, tuple[Hashable, ...], str]
) -> tuple[Bound, tuple[Hashable, ...], str]:
    """Two ends from two lines, combined; the claims named are those of the line that ends it first."""
    end = _earliest_of((one[0], other[0]))
    first = one if (one[0].latest or 0) <= (other[0].latest or 0) else other
    return end, first[1], first[2]
