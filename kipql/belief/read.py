"""Belief over a view: gather a slot's candidates at a snapshot and project them (§21, §46, §47).

One Reader serves one query: a snapshot, a world time, a context set, a policy. It remembers the slots it has
projected, so a candidate and its slot are one projection and always agree.
"""

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from kipql.belief.core import Candidate, Claim, Request, Slot, SlotRules, project
from kipql.belief.core.conflicts import Belief
from kipql.belief.core.project import effective_times
from kipql.belief.dependency import CURRENT, Checker, Evaluate, Validity, no_evaluation
from kipql.belief.lineage import claim_roots
from kipql.belief.output import Names, Shown, validity_json
from kipql.belief.settings import Settings as Settings
from kipql.belief.settings import basis as basis
from kipql.model import (
    ASSERTION,
    CONCEPT,
    EVIDENCE,
    PROPOSITION,
    Assertion,
    Concept,
    Proposition,
    element_code,
    element_id,
    kind_of,
)
from kipql.store.live import LARGE
from kipql.values import Json, value_key

if TYPE_CHECKING:
    from kipql.schema.definitions import PredicateType
    from kipql.store.postings import Rows
    from kipql.store.view import View


class Absent:
    """A term that no element and no stored Literal is: what a grounded question may name all the same (§46.4)."""

    __slots__ = ("_key", "json")

    def __init__(self, json: Json) -> None:
        self.json = json
        self._key = value_key(json)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Absent) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key)


Term: TypeAlias = int | Absent


class Reader:
    """Projects slots of one view under one set of settings.

    evaluate  selects a query dependency again (§57.7)
    """

    def __init__(self, view: "View", settings: Settings, evaluate: Evaluate = no_evaluation) -> None:
        self.view = view
        self.settings = settings
        self._evaluate = evaluate
        self._slots: dict[tuple[Term, str, Term | None], Slot] = {}
        self._dependency_changes: dict[Hashable, int] = {}
        self._standings: dict[tuple[int, int], dict[int, list[int]]] = {}

    # --- projections ----------------------------------------------------------------------------------

    def slot(self, subject: Term, predicate: "PredicateType", also: Term | None = None) -> Slot:
        """The projection of a subject and Predicate. `also` is an object that need not be stored: a candidate
        that was never claimed takes part in nothing but a closed or complete slot. Nothing can be claimed of a
        subject that is no element (§47.4)."""
        subject = self._object(subject)
        key = (subject, predicate.lineage, None)
        slot = self._slots.get(key)
        if slot is None:
            slot = self._slots[key] = self._projected(subject, predicate, None)
        if also is None or _find(slot, self._object(also)) is not None:
            return slot
        extended = (subject, predicate.lineage, self._object(also))
        slot = self._slots.get(extended)
        if slot is None:
            slot = self._slots[extended] = self._projected(subject, predicate, extended[2])
        return slot

    def belief(self, subject: Term, predicate: "PredicateType", object_term: Term) -> tuple[Belief, Slot]:
        """One candidate of a slot, stored or not."""
        slot = self.slot(subject, predicate, object_term)
        belief = _find(slot, self._object(object_term))
        assert belief is not None
        return belief, slot

    def _projected(self, subject: Term, predicate: "PredicateType", also: Term | None) -> Slot:
        propositions = self._propositions(subject, predicate)
        if also is not None:
            propositions.setdefault(also, [])
        candidates = [
            self._candidate(
                object_term,
                rows,
                tuple(self._claim(code, barred) for row in rows for code, barred in self._recorded(row)),
            )
            for object_term, rows in propositions.items()
        ]
        request = self._request(subject if isinstance(subject, int) else None)
        return project(candidates, slot_rules(predicate), request, self.settings.policy, self.settings.trust)

    @property
    def names(self) -> Names:
        """How identities of this view read."""
        return Names(element_id, self._value)  # type: ignore[arg-type]

    def dependency_validity(self, code: int) -> dict[str, Any] | None:
        """`_system.dependency_validity` of an element as it reads; None for what was derived from nothing (§57.6)."""
        found = Checker(self.view, self._lapses, self._evaluate).of(code, self.view.record(code))
        if found is None:
            return None
        return validity_json(found.status, found.reasons, self.basis(found.next_change))

    # --- wire shapes ----------------------------------------------------------------------------------

    def shown_slot(self, subject: Term, predicate: "PredicateType") -> Shown:
        """A slot on its way to the wire."""
        slot = self.slot(subject, predicate)
        read = subject.json if isinstance(subject, Absent) else {"id": element_id(subject)}
        basis = self.basis(self.next_invalid_at(slot))
        settings = self.settings
        return Shown(
            slot,
            basis,
            self.names,
            settings.explanation,
            subject=read,
            predicate_ref=predicate.ref,
            historical=settings.include_historical,
        )

    def shown_belief(
        self, subject: Term, predicate: "PredicateType", object_term: Term, proposition: int | None
    ) -> Shown:
        """A candidate on its way to the wire; `proposition` is the one that was asked for, when it is stored."""
        belief, slot = self.belief(subject, predicate, object_term)
        asked = None if proposition is None else element_id(proposition)
        basis = self.basis(self.next_invalid_at(slot))
        settings = self.settings
        return Shown(
            slot, basis, self.names, settings.explanation, belief, asked, historical=settings.include_historical
        )

    def basis(self, next_invalid_at: int | None) -> dict[str, Any]:
        """The ProjectionBasis of these settings (§21.12)."""
        return basis(self.view, self.settings, next_invalid_at)

    def next_invalid_at(self, slot: Slot) -> int | None:
        """The first later instant at which time alone may change the slot."""
        claims = (claim.key for belief in slot.beliefs for claim in belief.candidate.claims)
        changes = [self._dependency_changes[key] for key in claims if key in self._dependency_changes]
        if slot.next_invalid_at is not None:
            changes.append(slot.next_invalid_at)
        return min(changes, default=None)

    # --- gathering ------------------------------------------------------------------------------------

    def _propositions(self, subject: Term, predicate: "PredicateType") -> dict[Term, list[int]]:
        """The Proposition rows of a slot by canonical object, in the order they were first stored."""
        lineage = self.view.lineage_number(predicate.lineage)
        if lineage is None or isinstance(subject, Absent):
            return {}
        by_object: dict[Term, list[int]] = {}
        for row in sorted({row for same in self.view.same(subject) for row in self.view.slot(same, lineage)}):
            by_object.setdefault(self._object(self.view.objects[row]), []).append(row)
        return by_object

    def _candidate(self, object_term: Term, propositions: list[int], claims: tuple[Claim, ...]) -> Candidate:
        key = element_code(PROPOSITION, propositions[0]) if propositions else None
        return Candidate(key, object_term, claims, self._partition(object_term), self._truth(object_term))

    def _recorded(self, proposition_row: int) -> Iterable[tuple[int, str | None]]:
        """The Assertions on a Proposition, each with why this world leaves it out, or None.

        What has ended is looked at only where an explanation names it."""
        view = self.view
        state = view.unrecalled(element_code(PROPOSITION, proposition_row))
        barred = None if state is None else f"proposition_{state}"
        left_out = view.left_out(ASSERTION) or frozenset()
        explained = self.settings.explanation != "none" or self.settings.include_historical
        seq = view.seq
        rows = view.assertions_of(proposition_row)
        if not explained and len(rows) > LARGE:
            rows = self._standing(proposition_row)
        for row in rows:
            if explained or view.assertion(row).ended > seq:
                code = element_code(ASSERTION, row)
                if barred is None and row in left_out:
                    yield code, view.unrecalled(code)
                else:
                    yield code, barred or ("recording_invalidated" if view.invalidated(code) else None)

    def _standing(self, proposition_row: int) -> "Rows":
        """The Assertions on a Proposition that have not ended, without a look at those that have."""
        view = self.view
        slot = (view.subjects[proposition_row], view.lineage_of[view.predicates[proposition_row]])
        if slot not in self._standings:
            found: dict[int, list[int]] = {}
            for row in view.live_assertions(*slot):
                found.setdefault(view.assertion(row).proposition, []).append(row)
            self._standings[slot] = found
        return self._standings[slot].get(proposition_row, [])

    def _claim(self, code: int, barred: str | None) -> Claim:
        """An Assertion with its roots and the validity of what it was derived from."""
        record = self._assertion(code)
        roots = claim_roots(self.view, code, record)
        validity = CURRENT
        if barred is None:
            validity = Checker(self.view, self._lapses, self._evaluate).of_claim(code, record)
        if validity.next_change is not None:
            self._dependency_changes[code] = validity.next_change
        cited = [root for root in roots or () if isinstance(root, int) and kind_of(root) == EVIDENCE]
        return self._testimony(code, record, barred, roots, tuple(sorted(cited)), validity)

    def _testimony(
        self,
        code: int,
        record: Assertion,
        barred: str | None,
        roots: frozenset[Hashable] | None = None,
        evidence: tuple[int, ...] = (),
        validity: Validity = CURRENT,
    ) -> Claim:
        """An Assertion; without roots, as far as eligibility and succession look at it."""
        return Claim(
            code,
            self.view.canonical(record.asserted_by),
            record.stance,
            record.mode,
            record.asserted_at,
            record.confidence,
            record.valid,
            frozenset(self.view.canonical(context) for context in record.context),
            record.status,
            barred,
            roots,
            evidence,
            validity.status,
            validity.reasons,
            record.superseded_by,
        )

    def _lapses(self, code: int) -> tuple[bool, int | None]:
        """Whether a prerequisite's effective interval has ended at `valid_at`, and when that may change."""
        proposition = self.view.record(self._assertion(code).proposition)
        assert isinstance(proposition, Proposition)
        predicate = self.view.environment.predicate(proposition.predicate)
        candidates = [
            self._candidate(
                object_term,
                rows,
                tuple(
                    self._testimony(claim, self._assertion(claim), barred)
                    for row in rows
                    for claim, barred in self._recorded(row)
                ),
            )
            for object_term, rows in self._propositions(self.view.canonical(proposition.subject), predicate).items()
        ]
        effective = effective_times(candidates, slot_rules(predicate), self._request(None)).get(code)
        if effective is None:
            return False, None
        end = effective.end.latest if effective.end is not None else None
        return end is not None and end <= self.settings.valid_at, effective.next_change(self.settings.valid_at)

    # --- small things ---------------------------------------------------------------------------------

    def _object(self, term: Term) -> Term:
        return term if isinstance(term, Absent) or term < 0 else self.view.canonical(term)

    def _partition(self, term: Term) -> str | None:
        if isinstance(term, Absent) or term < 0 or kind_of(term) != CONCEPT:
            return None
        record = self.view.record(term)
        assert isinstance(record, Concept)
        return self.view.environment.lineage(record.schema)

    def _value(self, term: object) -> object:
        if isinstance(term, Absent):
            return term.json
        assert isinstance(term, int)
        return self.view.literal(term) if term < 0 else {"id": element_id(term)}

    def _truth(self, term: Term) -> bool | None:
        value = self._value(term) if isinstance(term, Absent) or term < 0 else None
        return value if isinstance(value, bool) else None

    def _assertion(self, code: int) -> Assertion:
        record = self.view.record(code)
        assert isinstance(record, Assertion)
        return record

    def _request(self, subject: int | None) -> Request:
        extra = ("predicted", "hypothetical") if self.settings.include_hypothetical else ()
        modes = self.settings.policy.modes.union(extra)
        return Request(self.settings.valid_at, self.settings.context, modes, subject=subject)


def slot_rules(predicate: "PredicateType") -> SlotRules:
    """The slot rules that a Predicate declares (§20.15)."""
    return SlotRules(
        functional=predicate.functional,
        functional_by=predicate.functional_by is not None,
        open_world=predicate.open_world,
        complete=predicate.complete,
        boolean_completeness=predicate.boolean_completeness,
        temporal_conflict=predicate.temporal_conflict != "none",
    )


def _find(slot: Slot, object_term: Term) -> Belief | None:
    return next((belief for belief in slot.beliefs if belief.candidate.value == object_term), None)
