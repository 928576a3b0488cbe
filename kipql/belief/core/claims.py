"""What belief is projected from: claims, candidates, the slot's declarations and the request.

A *claim* is an Assertion as projection sees it; a *candidate* is one canonical Proposition with its claims;
a *slot* is the candidates of one subject and Predicate. Identities (claims, actors, contexts, roots) are any
hashable values: element codes in the engine, names in a test.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

from kipql.model import STANCES
from kipql.times import ALWAYS, Bound, Interval

SUPPORT, REJECT, UNCERTAIN = STANCES


@dataclass(frozen=True, slots=True)
class Claim:
    """One Assertion.

    key          its identity
    actor        the canonical actor
    asserted_at  when the actor made the claim, an instant
    valid        as written
    context      canonical context references
    status       active | retracted | superseded
    barred       why the caller's world leaves it out ("quarantined", "invalidated", "not_recalled"), or None
    roots        independent provenance roots, `("actor", actor)` being an actor's own claim; None when it cites
                 nothing and stands on its own actor's, empty when what it cites gives no root (corrected, a cycle)
    evidence     the Evidence behind those roots, for the explanation
    dependency   current | needs_review | unverifiable: validity of a derivation (§57.6); current when it is none
    reasons      why the dependency is not current
    revised_by   the claims that superseded it
    """

    key: Hashable
    actor: Hashable
    stance: str
    mode: str
    asserted_at: int
    confidence: float | None = None
    valid: Interval = ALWAYS
    context: frozenset[Hashable] = frozenset()
    status: str = "active"
    barred: str | None = None
    roots: frozenset[Hashable] | None = None
    evidence: tuple[Hashable, ...] = ()
    dependency: str = "current"
    reasons: tuple[str, ...] = ()
    revised_by: tuple[Hashable, ...] = ()

    @property
    def start(self) -> Bound:
        """The written start; a missing one is `{latest: asserted_at}` (§25.2)."""
        return self.valid.start if self.valid.start is not None else Bound(None, self.asserted_at)

    @property
    def start_key(self) -> int:
        """The latest instant by which it claims to have begun (§25.4)."""
        latest = self.start.latest
        return self.asserted_at if latest is None else latest

    @property
    def takes_part(self) -> bool:
        """Whether it lies on succession lines (§25.4): testimony or observation, or a written start."""
        return self.mode in ("stated", "observed") or self.valid.start is not None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One canonical Proposition of the slot.

    key        its identity; None when it was never stored
    value      its object
    claims     every Assertion on it, in any order
    partition  what `functional_by` partitions by: the object's Concept Type lineage
    truth      the object when it is true or false, for `boolean_completeness`
    """

    key: Hashable
    value: object
    claims: tuple[Claim, ...] = ()
    partition: Hashable = None
    truth: bool | None = None


@dataclass(frozen=True, slots=True)
class SlotRules:
    """What the Predicate declares (§20.15)."""

    functional: bool = False
    functional_by: bool = False
    open_world: bool = True
    complete: bool = False
    boolean_completeness: bool = False
    temporal_conflict: bool = True

    @property
    def exclusive(self) -> bool:
        """Whether two supported values of one partition conflict at all (§21.11)."""
        return (self.functional or self.functional_by or self.complete) and self.temporal_conflict

    @property
    def succeeds(self) -> bool:
        """Whether an actor's later value ends the earlier one of the same partition (§25.4)."""
        return self.functional or self.functional_by


MODES = frozenset(("observed", "stated", "inferred"))


@dataclass(frozen=True, slots=True)
class Request:
    """The caller's coordinates: world time, context set, admitted modes, the slot's subject."""

    valid_at: int
    context: frozenset[Hashable] = frozenset()
    modes: frozenset[str] = field(default=MODES)
    subject: Hashable = None
