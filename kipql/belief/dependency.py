"""Dependency validity of derived cognition (§57.6, §57.7): computed at every read, never stored.

A derivation carries its input contract, a `DependencyBasis` Facet, on the Activity that put it out. Each pin
is checked against the present: version planes when it names them, else the whole version; lifecycle always;
what a prerequisite was derived from, recursively.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kipql.belief.lineage import producers
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


@dataclass(frozen=True, slots=True)
class Checker:
    """The check at one read basis.

    lapses    Assertion code -> (whether its effective interval has ended, when that may change)
    evaluate  a QueryDependency -> the digest of its selection now, or None when it can not be evaluated
    """

    view: "View"
    lapses: Callable[[int], tuple[bool, int | None]]
    evaluate: Callable[[Mapping[str, Any]], str | None]

    def of_claim(self, code: int, record: Assertion) -> Validity:
        """An Assertion's validity; one that is neither inferred nor put out under a basis has none to lose."""
        certifying = self._basis(code)
        if certifying is not None:
            found = self._check(*certifying, code, frozenset((code,)))
        elif record.mode != "inferred":
            found = CURRENT
        else:
            found = Validity("unverifiable", ("missing_dependency_basis",))
        return _worst([found, IDENTITY_REPAIRED]) if self._awaits_review(code) else found

    def _awaits_review(self, code: int) -> bool:
        """Whether an identity repair put an element up for review and no later validation took it out (§11.5)."""
        since = self.view.review_since(code)
        if since is None:
            return False
        made = (self.view.record(producer) for producer in producers(self.view, code))
        return not any(
            isinstance(each, Activity)
            and each.activity_class == "dependency_validation"
            and each.status == "completed"
            and each.seq > since
            for each in made
        )

    def _basis(self, code: int) -> tuple[Mapping[str, Any], Activity] | None:
        """The newest basis that certifies an element, with its Activity: a derivation or a later revalidation."""
        for producer in reversed(producers(self.view, code)):
            activity = self.view.record(producer)
            assert isinstance(activity, Activity)
            if activity.status == "completed":
                for ref, facet in activity.facets.items():
                    if self.view.environment.lineage(ref) == BASIS_FACET:
                        return facet, activity
        return None

    def _check(self, basis: Mapping[str, Any], activity: Activity, code: int, above: frozenset[int]) -> Validity:
        found = [self._certified(activity, code)]
        found += [self._group(group, above) for group in basis.get("groups", ())]
        found += [self._query(query) for query in basis.get("queries", ())]
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
        if not isinstance(record, Assertion | Concept):
            return CURRENT
        basis = self._basis(code)
        if basis is not None:
            return self._check(*basis, code, above | {code})
        if isinstance(record, Assertion) and record.mode == "inferred":
            return Validity("unverifiable", ("missing_dependency_basis",))
        return CURRENT

    def _query(self, query: Mapping[str, Any]) -> Validity:
        digest = self.evaluate(query)
        if digest is None:
            return Validity("unverifiable", ("selection_unverifiable",))
        return CURRENT if digest == query["result_digest"] else Validity("needs_review", ("selection_changed",))


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
