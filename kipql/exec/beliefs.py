"""Beliefs as bindings: a target and the run's basis, with members that are computed when they are read (§46.2).

Nothing is projected when a belief is bound. `status` and `accepted_values` come from the packed records where
the plain case holds (`belief.quick`); every other member, and the whole value, from the Reader of the run.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kipql.belief.core.candidate import INSUFFICIENT
from kipql.belief.details import Details
from kipql.belief.output import BELIEF, SLOT, Shown, whole
from kipql.belief.quick import NOTHING, Quick
from kipql.belief.read import Absent, Term
from kipql.model import element_id
from kipql.plan.cells import Virtual
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.exec.reading import Projector
    from kipql.schema.definitions import PredicateType
    from kipql.schema.environment import Environment
    from kipql.store.view import View


def value_of(view: "View", term: int) -> Json:
    """An object term as it reads."""
    return {"id": element_id(term)} if term >= 0 else view.literal(term)


@dataclass(frozen=True, slots=True)
class Predicate:
    """A Predicate in one run.

    number  of its lineage in the Space, None when nothing uses it
    quick   whether the plain case is possible: what it declares, the view, and WITH EPISTEMIC allow it
    """

    definition: "PredicateType"
    number: int | None
    quick: bool

    @classmethod
    def of(cls, lineage: str, projector: "Projector") -> "Predicate":
        """The Predicate of a lineage as a run sees it."""
        view = projector.view
        definition, plain = declared(view.environment, lineage)
        return cls(definition, view.lineage_number(lineage), plain and projector.plain)


@lru_cache(maxsize=256)
def declared(environment: "Environment", lineage: str) -> "tuple[PredicateType, bool]":
    """A Predicate, and whether it declares nothing about its slot but that it may be functional."""
    definition = environment.predicate(lineage)
    more = (
        definition.functional_by is not None
        or not definition.open_world
        or definition.complete
        or definition.boolean_completeness
        or definition.temporal_conflict == "none"
    )
    return definition, not more


class _Belief(Virtual):
    """What both kinds share: the run, the Predicate, the subject, and a look at the packed records."""

    __slots__ = ("_quick", "_shown", "predicate", "projector", "subject")
    tag = "belief"

    def __init__(self, projector: "Projector", predicate: Predicate, subject: Term) -> None:
        self.projector = projector
        self.predicate = predicate
        self.subject = subject
        self._quick: Quick | bool | None = False  # False until looked
        self._shown: Shown | None = None

    def quick(self) -> Quick | None:
        """The statuses of the slot in the plain case."""
        found = self._quick
        if found is False:
            found = self._quick = self._look()
        return found  # type: ignore[return-value]

    def _look(self) -> Quick | None:
        predicate, subject = self.predicate, self.subject
        if not predicate.quick or predicate.number is None or isinstance(subject, Absent):
            return NOTHING if predicate.quick else None
        return self.projector.look(subject, predicate.number, predicate.definition)

    def _details(self) -> Details | None:
        """What writes the whole of it in the plain case, when no explanation is asked for."""
        quick, predicate, projector = self.quick(), self.predicate, self.projector
        if (
            quick is None
            or not projector.packed
            or projector.asked.explanation != "none"
            or isinstance(self.subject, Absent)
        ):
            return None
        if predicate.number is None:
            return None
        return Details.of(
            projector.view,
            self.subject,
            predicate.number,
            quick,
            predicate.definition.functional,
            projector.asked.policy.scored,
            projector.basis(quick.next_invalid_at),
        )

    @property
    def _subject_key(self) -> Term:
        subject = self.subject
        return subject if isinstance(subject, Absent) else self.projector.view.canonical(subject)


class SlotBinding(_Belief):
    """A BELIEF SLOT variable (§47)."""

    __slots__ = ()

    @property
    def key(self) -> tuple[Any, ...]:
        return ("slot", self.predicate.definition.lineage, self._subject_key)

    @property
    def next_invalid_at(self) -> int | None:
        """The first later instant at which time may change it."""
        quick = self.quick()
        if quick is not None:
            return quick.next_invalid_at
        reader = self.projector.reader
        return reader.next_invalid_at(reader.slot(self.subject, self.predicate.definition))

    def member(self, name: str) -> Json:
        if name == "status":
            quick = self.quick()
            if quick is not None:
                return quick.status
        elif name == "accepted_values":
            quick = self.quick()
            if quick is not None:
                value = self.projector.value
                return [value(term) for term in quick.accepted]
        member = SLOT.get(name)
        if member is None:
            return None
        return self.json()[name] if name in _WRITTEN and self.quick() is not None else member(self._projected())

    def json(self) -> dict[str, Json]:
        details = self._details()
        if details is None:
            return whole(SLOT, self._projected())
        return details.slot(self.subject, self.predicate.definition.ref)  # type: ignore[arg-type]

    def _projected(self) -> Shown:
        if self._shown is None:
            self._shown = self.projector.reader.shown_slot(self.subject, self.predicate.definition)
        return self._shown


class CandidateBinding(_Belief):
    """A BELIEF variable (§46); `proposition` is the one asked for, None where only its tuple is."""

    __slots__ = ("object", "proposition")

    def __init__(
        self, projector: "Projector", predicate: Predicate, subject: Term, object_: Term, proposition: int | None
    ) -> None:
        super().__init__(projector, predicate, subject)
        self.object = object_
        self.proposition = proposition

    @property
    def key(self) -> tuple[Any, ...]:
        object_ = self.object
        if not isinstance(object_, Absent):
            object_ = self.projector.view.canonical(object_)
        return ("belief", self.predicate.definition.lineage, self._subject_key, object_, self.proposition)

    @property
    def next_invalid_at(self) -> int | None:
        """The first later instant at which time may change it."""
        quick = self.quick()
        if quick is not None:
            return quick.next_invalid_at
        return self.projector.reader.next_invalid_at(self._projected().slot)

    def member(self, name: str) -> Json:
        if name in _QUICK:
            quick = self.quick()
            if quick is not None:
                if name == "slot_status":
                    return quick.status
                statuses = quick.statuses if name == "status" else quick.candidates
                return statuses.get(self.object, INSUFFICIENT)  # type: ignore[arg-type]
        member = BELIEF.get(name)
        if member is None:
            return None
        return self.json()[name] if name in _WRITTEN and self.quick() is not None else member(self._projected())

    def json(self) -> dict[str, Json]:
        details = self._details()
        return whole(BELIEF, self._projected()) if details is None else details.candidate(self.object, self.proposition)

    def _projected(self) -> Shown:
        if self._shown is None:
            definition = self.predicate.definition
            self._shown = self.projector.reader.shown_belief(self.subject, definition, self.object, self.proposition)
        return self._shown


_QUICK = frozenset(("status", "candidate_status", "slot_status"))
# What is dearer to read one by one from the Reader than to write with everything else.
_WRITTEN = frozenset(
    ("candidate_projections", "support", "opposition", "leading", "conflict_refs", "conflict_reasons", "proposition_id")
)
