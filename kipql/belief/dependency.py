"""Dependency validity of derived cognition (§57.6, §57.7): computed at every read, never stored.

A derivation carries its input contract, a `DependencyBasis` Facet, on the Activity that put it out. Each pin
is checked against the present: version planes when it names them, else the whole version; lifecycle always;
what a prerequisite was derived from, recursively. A query dependency is selected again, by a function that comes in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from kipql.belief.lineage import inputs_of, producers
from kipql.model import Activity, Assertion, Concept, Evidence, element_id, parse_id

if TYPE_CHECKING:
    from kipql.model import AnyRecord
    from kipql.store.view import View

BASIS_FACET = "kip://profiles/cognitive-memory/DependencyBasis"
_RANK = {"current": 0, "needs_review": 1, "unverifiable": 2}


@dataclass(frozen=True, slots=True)
class Validity:
    """`current`, `needs_review` or `unverifiable`, why, and the next instant at which time may change it."""

    status: str
    reasons: tuple[str, ...] = ()
    next_change: int | None = None


CURRENT = Validity("current")
IDENTITY_REPAIRED = Validity("needs_review", ("identity_repaired",))
UNBASED = Validity("unverifiable", ("missing_dependency_basis",))


@dataclass(frozen=True, slots=True)
class Selected:
    """What a query dependency selects now (§57.7).

    digest       of the selection
    accepted     whether it is about beliefs, has some, and every one of them is accepted
    empty        whether it selects nothing
    next_change  the first later instant at which time alone may select otherwise
    """

    digest: str
    accepted: bool
    empty: bool
    next_change: int | None = None


Evaluate: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any]], Selected | None]
"""(a QueryDependency, the policy basis of its derivation) -> its selection now, None when there is no proof of it."""


def no_evaluation(query: Mapping[str, Any], policy_basis: Mapping[str, Any]) -> Selected | None:
    """Where nothing can be selected."""
    return None


@dataclass(frozen=True, slots=True)
class Checker:
    """The check at one read basis.

    lapses    Assertion code -> (whether its effective interval has ended, when that may change)
    evaluate  what a QueryDependency selects now
    """

    view: "View"
    lapses: Callable[[int], tuple[bool, int | None]]
    evaluate: Evaluate

    def of_claim(self, code: int, record: Assertion) -> Validity:
        """An Assertion's validity; one that is neither inferred nor put out under a basis has none to lose."""
        return self.of(code, record) or CURRENT

    def of(self, code: int, record: "AnyRecord") -> Validity | None:
        """The validity of a derived Assertion or Concept, or of one that an identity repair put up for review; None
        for everything else, which rests on nothing that could change."""
        found = self._derived(code, record, frozenset((code,)))
        if self._awaits_review(code):
            return _worst([found or CURRENT, IDENTITY_REPAIRED])
        return found

    def _derived(self, code: int, record: "AnyRecord", above: frozenset[int]) -> Validity | None:
        """What the input contract of a derivation comes to; without one it is unverifiable."""
        if not isinstance(record, Assertion | Concept):
            return None
        certifying = self._basis(code)
        if certifying is not None:
            return self._check(*certifying, code, above)
        if isinstance(record, Assertion):
            return UNBASED if record.mode == "inferred" else None
        return UNBASED if any(inputs_of(self.view, code)) else None

    def _awaits_review(self, code: int) -> bool:
        """Whether an identity repair put an element up for review and no later validation of this memory's own took it
        out (§11.5)."""
        since = self.view.review_since(code)
        if since is None:
            return False
        made = (self.view.record(producer) for producer in producers(self.view, code))
        return not any(
            isinstance(each, Activity)
            and each.activity_class == "dependency_validation"
            and each.status == "completed"
            and each.origin.import_id is None  # what a Capsule says was validated elsewhere (§39.5)
            and each.seq > since
            for each in made
        )

    def _basis(self, code: int) -> tuple[Mapping[str, Any], Activity] | None:
        """The newest basis that certifies an element, with its Activity: a derivation or a later revalidation.

        One that was imported proves nothing here, so one of this memory's own comes before it, and what was not
        imported itself has no other (§39.5, §41.7)."""
        brought: tuple[Mapping[str, Any], Activity] | None = None
        for producer in reversed(producers(self.view, code)):
            activity = self.view.record(producer)
            assert isinstance(activity, Activity)
            facet = self._facet(activity) if activity.status == "completed" else None
            if facet is None:
                continue
            if activity.origin.import_id is None:
                return facet, activity
            brought = brought or (facet, activity)
        return brought if self.view.record(code).origin.import_id is not None else None

    def _facet(self, activity: Activity) -> Mapping[str, Any] | None:
        """The input contract that an Activity carries."""
        lineage = self.view.environment.lineage
        return next((facet for ref, facet in activity.facets.items() if lineage(ref) == BASIS_FACET), None)

    def _check(self, basis: Mapping[str, Any], activity: Activity, code: int, above: frozenset[int]) -> Validity:
        if activity.origin.import_id is not None:
            return Validity("unverifiable", ("imported_basis",))  # it pins versions of the source (§41.7)
        found = [self._certified(activity, code)]
        found += [self._group(group, above) for group in basis.get("groups", ())]
        found += [self._query(query, basis["policy_basis"]) for query in basis.get("queries", ())]
        return _worst(found)

    def _group(self, group: Mapping[str, Any], above: frozenset[int]) -> Validity:
        if group["role"] == "context":
            return CURRENT
        pins = [self._pin(pin, above) for pin in group["pins"]]
        if group["role"] == "all_of":
            return _worst(pins)
        if any(pin.status == "current" for pin in pins):
            changes = [pin.next_change for pin in pins if pin.next_change is not None]
            return Validity("current", (), min(changes, default=None))
        return _worst([*pins, Validity("needs_review", ("alternatives_lost",))])

    def _certified(self, activity: Activity, code: int) -> Validity:
        """Whether the element is still what its Activity certified, plane by plane."""
        counters = activity.output_plane_versions.get(element_id(code))
        if not counters or not _moved(self.view.record(code), counters):
            return CURRENT
        return Validity("needs_review", ("changed_output",))

    def _pin(self, pin: Mapping[str, Any], above: frozenset[int]) -> Validity:
        code = parse_id(pin["id"])
        if code is None or not self.view.exists(code):
            return Validity("unverifiable", ("source_unavailable",))
        if code in above:
            return Validity("unverifiable", ("circular_derivation",))
        record = self.view.record(code)
        reasons = _revised(record)
        if self._awaits_review(code):
            reasons = (*reasons, *IDENTITY_REPAIRED.reasons)
        if _changed(record, pin):
            reasons = (*reasons, "changed_pin")
        lapsed, change = self.lapses(code) if isinstance(record, Assertion) else (False, None)
        if lapsed:
            reasons = (*reasons, "expired_prerequisite")
        here = Validity("needs_review" if reasons else "current", reasons, change)
        return _worst([here, self._upstream(code, record, above)])

    def _upstream(self, code: int, record: "AnyRecord", above: frozenset[int]) -> Validity:
        """Validity of what a prerequisite was itself derived from."""
        return self._derived(code, record, above | {code}) or CURRENT

    def _query(self, query: Mapping[str, Any], policy_basis: Mapping[str, Any]) -> Validity:
        """A selection that the derivation relied on, made anew (§57.7)."""
        found = self.evaluate(query, policy_basis)
        if found is None:
            return Validity("unverifiable", ("selection_unverifiable",))
        reasons = []
        if found.digest != query["result_digest"]:
            reasons.append("selection_changed")
        expected = query["expectation"]
        if (expected == "accepted" and not found.accepted) or (expected == "empty" and not found.empty):
            reasons.append("expectation_failed")
        return Validity("needs_review" if reasons else "current", tuple(reasons), found.next_change)


def _revised(record: "AnyRecord") -> tuple[str, ...]:
    """Lifecycle of a root: corrected, retracted, superseded, removed."""
    reasons = []
    if isinstance(record, Assertion | Evidence) and record.status != "active":
        reasons.append(f"root_{record.status}")
    if record.state not in ("active", "merged"):
        reasons.append(f"root_{record.state}")
    if record.repaired_by is not None:
        reasons.append("recording_repaired")
    return tuple(reasons)


def _changed(record: "AnyRecord", pin: Mapping[str, Any]) -> bool:
    """Whether the planes that the pin names, or the whole element, moved since it was read."""
    planes = pin.get("planes")
    if not planes:
        return bool(record.version != pin["version"])
    return _moved(record, planes)


def _moved(record: "AnyRecord", planes: Mapping[str, int]) -> bool:
    """Whether one of these plane counters is another by now."""
    counters = {
        "attributes": record.planes.attributes,
        "structural": record.planes.structural,
        "retention": record.planes.retention,
    }
    facets = dict(record.planes.facets)
    facets |= {ref.rsplit("/", 1)[1]: count for ref, count in record.planes.facets.items()}
    for name, count in planes.items():
        symbol = name.split(":", 1)[1] if name.startswith(("facet:", "facets:")) else name.removeprefix("facets.")
        if counters.get(name, facets.get(symbol, 0)) != count:
            return True
    return False


def _worst(found: list[Validity]) -> Validity:
    worst = max((one.status for one in found), key=_RANK.__getitem__, default="current")
    changes = [one.next_change for one in found if one.next_change is not None]
    reasons = tuple(dict.fromkeys(reason for one in found for reason in one.reasons))
    return Validity(worst, reasons, min(changes, default=None))
