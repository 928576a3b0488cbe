"""What a run reads beside its view: the instant of the read, and beliefs at a world time (specification §27.1, §49).

One clock reading serves a whole query: it is the default of FOR TIME and the instant at which computed strength is
read. WITH EPISTEMIC is settled once per run, whether or not any row reaches a projection.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kipql.belief.control import DEFAULT, Control
from kipql.belief.core.claims import MODES
from kipql.belief.core.policy import SHIPPED, Policy
from kipql.belief.output import copied_basis
from kipql.belief.quick import Quick, left_out, quick_slot
from kipql.belief.read import Reader, Settings, basis
from kipql.errors import KipError
from kipql.exec.references import resolve
from kipql.govern.view import within
from kipql.lang import ast
from kipql.limits import Budget, exhausted
from kipql.model import element_id
from kipql.plan import clauses
from kipql.times import format_instant, now, parse_instant
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.exec.operators.search import Retrieved
    from kipql.exec.selection import Mark
    from kipql.plan import nodes
    from kipql.plan.cells import Virtual
    from kipql.schema.definitions import PredicateType
    from kipql.store.view import View


@dataclass(frozen=True, slots=True)
class Projections:
    """What a caller brings to the beliefs of its queries.

    clock               read at most once per query
    control             policies and trust of the Space; from the view's graph by default
    authorization_view  what two callers share who see the same (§21.12)
    purpose, risk       of the request, where WITH EPISTEMIC names none
    holds               whether the caller holds a permission somewhere
    above, budget       of a selection that is made again: the ones that led to it, and who pays (`exec.selection`)
    ask                 answers such a selection where the view is no store's own
    """

    clock: Callable[[], int] = now
    control: Control | None = None
    authorization_view: str = "full"
    purpose: str = "unspecified"
    risk: str = "unspecified"
    holds: Callable[[str], bool] = lambda permission: True
    above: "frozenset[Mark]" = frozenset()
    budget: Budget | None = None
    ask: "Callable[[ast.Find, Any, Mapping[str, Json], Budget, Projections], Any] | None" = None


@dataclass(frozen=True, slots=True)
class Asked:
    """WITH EPISTEMIC, settled at a view. `plain` is what a quick projection can answer."""

    policy: Policy
    context: frozenset[int] = frozenset()
    include_hypothetical: bool = False
    include_historical: bool = False
    explanation: str = "none"
    purpose: str | None = None
    risk: str | None = None

    @property
    def plain(self) -> bool:
        """Whether nothing but the standard modes, no context, no past and no weights is asked for."""
        policy, more = self.policy, self.include_hypothetical or self.include_historical
        return not self.context and not more and not policy.weights and policy.modes == MODES


_HELD = 1_024
UNASKED = Asked(SHIPPED[DEFAULT])
DEFAULTS = Projections()


class Projector:
    """Projects for the beliefs of one run; each of them holds it, and it holds none of them.

    asked  WITH EPISTEMIC as settled
    plain  whether a slot may be answered from the packed records (`belief.quick`)
    left   what recall leaves out, for them
    """

    packed = True  # whether whole beliefs may be written from them too

    __slots__ = (
        "_basis",
        "_now",
        "_projections",
        "_read",
        "_reader",
        "_settings",
        "_valid_at",
        "asked",
        "budget",
        "left",
        "plain",
        "view",
    )

    def __init__(
        self, view: "View", projections: Projections, asked: Asked, valid_at: int | None, at: int | None
    ) -> None:
        self._read = view
        self.view = view = within(view, "project") if view.narrowed else view
        self.budget: Budget | None = projections.budget
        self.asked = asked
        self.plain = (asked is UNASKED or asked.plain) and not view.narrowed
        self.left = left_out(view) if self.plain else None
        self._projections = projections
        self._valid_at = valid_at
        self._now = at
        self._reader: Reader | None = None
        self._settings: Settings | None = None
        self._basis: dict[str, Json] | None = None

    def look(self, subject: int, number: int, definition: "PredicateType") -> Quick | None:
        """The statuses of a slot in the plain case."""
        functional, decides = definition.functional, bool(self.asked.policy.precedence)
        return quick_slot(self.view, subject, number, self.valid_at, self.left, functional=functional, decides=decides)

    @property
    def now(self) -> int:
        """The read's instant."""
        if self._now is None:
            self._now = self._projections.clock()
        return self._now

    @property
    def valid_at(self) -> int:
        """The world time of beliefs."""
        if self._valid_at is None:
            self._valid_at = self.now
        return self._valid_at

    @property
    def reader(self) -> Reader:
        """The full projection."""
        if self._reader is None:
            from kipql.exec.selection import Selections

            selections = Selections(self._read, self._projections, self.valid_at, self._spent)
            self._reader = Reader(self.view, self._settled(), selections)
        return self._reader

    def _spent(self) -> Budget:
        """Who pays for a selection that is made again."""
        if self.budget is None:
            self.budget = Budget()
        return self.budget

    def value(self, term: int) -> Json:
        """An object term as it reads."""
        return {"id": element_id(term)} if term >= 0 else self.view.literal(term)

    def basis(self, next_invalid_at: int | None) -> dict[str, Json]:
        """The ProjectionBasis; all but the last member is one for the run (§21.12)."""
        if self._basis is None:
            self._basis = basis(self.view, self._settled(), None)
        changes = None if next_invalid_at is None else format_instant(next_invalid_at)
        return {**self._basis, "next_invalid_at": changes}

    def _settled(self) -> Settings:
        if self._settings is None:
            self._settings = self._settle()
        return self._settings

    def _settle(self) -> Settings:
        asked, projections, view = self.asked, self._projections, self.view
        control = projections.control or Control(view.graph)
        return Settings(
            self.valid_at,
            asked.policy,
            asked.context,
            asked.include_hypothetical,
            asked.include_historical,
            asked.explanation,
            asked.purpose or projections.purpose,
            asked.risk or projections.risk,
            control.trust(view) if asked.policy.weights else {},  # type: ignore[arg-type]
            control.trust_version(view.seq),
            projections.authorization_view,
        )


class Reading:
    """What one run reads: its instant, its beliefs, what its Search Patterns found.

    believes  whether the query has a projection at all
    searches  what each Search Pattern of the run found
    """

    __slots__ = ("_count", "_first", "_touched", "believes", "projector", "searches")

    def __init__(
        self,
        view: "View",
        projections: Projections = DEFAULTS,
        asked: Asked = UNASKED,
        valid_at: int | None = None,
        at: int | None = None,
    ) -> None:
        """`at` is the read's instant when it is known already: in a transaction, or for a later page."""
        self.projector = Projector(view, projections, asked, valid_at, at)
        self._touched: list[Virtual] = []  # what belief variables were bound to, the last of `_count`
        self._count = 0
        self._first: int | None = None  # when time may first change what was bound before them
        self.searches: dict[nodes.Search, Retrieved] = {}
        self.believes = False

    @property
    def now(self) -> int:
        """The read's instant."""
        return self.projector.now

    def dependency_validity(self, code: int, budget: Budget) -> dict[str, Json] | None:
        """`_system.dependency_validity` of an element; what may not be projected has none to see (§29.4)."""
        projector = self.projector
        projector.budget = budget
        return projector.reader.dependency_validity(code) if projector.view.exists(code) else None

    def touch(self, binding: "Virtual", most: int) -> None:
        """Note what a belief variable was bound to. Raises ResourceExhausted past `most`."""
        touched = self._touched
        touched.append(binding)
        if len(touched) >= _HELD or self._count + len(touched) > most:
            self._fold(most)

    def note(self, change: int | None) -> None:
        """Note a belief that needed no binding: when time may first change it."""
        self.believes = True
        self._count += 1
        if change is not None and (self._first is None or change < self._first):
            self._first = change

    def _fold(self, most: int) -> None:
        """Count what was noted and let go of it: a scan holds no belief longer than its row."""
        self._count += len(self._touched)
        self._first = self._next_invalid_at()
        self._touched = []
        if self._count > most:
            exhausted("projections", most, "the query projects too many beliefs")

    def _next_invalid_at(self) -> int | None:
        changes = [self._first, *(binding.next_invalid_at for binding in self._touched)]  # type: ignore[attr-defined]
        return min((change for change in changes if change is not None), default=None)

    def context(self) -> dict[str, Json]:
        """What a result says about the projections in it (§50): policy, world time, and the shared basis."""
        shared = copied_basis(self.projector.basis(self._next_invalid_at()))
        return {
            "epistemic_policy": dict(shared["policy"]),
            "valid_at": shared["valid_at"],
            "basis": shared,
        }


def reading(
    find: ast.Find,
    view: "View",
    parameters: Mapping[str, Json],
    projections: Projections = DEFAULTS,
    at: int | None = None,
) -> Reading:
    """The Reading of a query at a view.

    Raises ProjectionPolicyUnavailable for a policy that was not in force at the snapshot, NotFoundOrNotVisible for
    a context that names nothing there.
    """
    valid_at = clauses.world_time(find, parameters)
    asked = UNASKED if find.epistemic is None else asked_of(find.epistemic, view, parameters, projections)
    return Reading(view, projections, asked, None if valid_at is None else parse_instant(valid_at), at)


def asked_of(epistemic: ast.Object, view: "View", parameters: Mapping[str, Json], projections: Projections) -> Asked:
    """WITH EPISTEMIC at a view, its form already checked (`clauses.check_epistemic`)."""
    given = {member.name: clauses.value_of(member.value, parameters) for member in epistemic.members}
    spans = {member.name: member.value.span for member in epistemic.members}
    try:
        name = "policy"
        control = projections.control or Control(view.graph)
        policy = control.policy(given[name], view.seq) if name in given else UNASKED.policy
        name = "context_refs"
        context = frozenset(_context(view, reference) for reference in given.get(name, ()))
    except KipError as error:
        error.span = error.span or spans[name]
        raise
    return Asked(
        policy,
        context,
        given.get("include_hypothetical", False),
        given.get("include_historical", False),
        given.get("explanation", "none"),
        given.get("purpose"),
        given.get("risk"),
    )


def _context(view: "View", reference: Any) -> int:
    """The canonical element of a context reference (§25.3)."""
    code = resolve(view, reference)
    if code is None:
        raise KipError(
            "NotFoundOrNotVisible",
            f"the context {reference!r} names nothing to see",
            hint="a context is named by its id; an unknown one is never a wider scope",
        )
    return view.canonical(code)
