"""Computed members of the Cognitive Memory Profile: derived when they are read, stored nowhere (§18.2).

The lineage fields are views of Activity provenance, the one authority for derivation; GradingState is a view of the
evaluation behind a Skill's standing. Nothing here has a version plane, and none of it is part of a whole element.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kipql.model import ACTIVITY, CONCEPT, Activity, AnyRecord, Concept, Edge, Evidence, element_id, kind_of, parse_id
from kipql.schema.core import TERMINAL_STATUSES
from kipql.times import format_instant
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View

PROFILE = "kip://profiles/cognitive-memory"
GRADING_STATE = f"{PROFILE}/GradingState"
_COMPILING = ("skill_compilation", "procedural_consolidation")
_CONSOLIDATING = ("semantic_consolidation", "procedural_consolidation", "experience_formation")

Source = Callable[["View", int], Iterator[int]]


# --- Structural Fields: source code -> targets, and target code -> sources ----------------------------


def _derived_from(view: "View", code: int) -> Iterator[int]:
    for _, activity in activities(view, code, "outputs"):
        yield from (edge.target for edge in activity.inputs if edge.target != code)


def _derivations(view: "View", code: int) -> Iterator[int]:
    for _, activity in activities(view, code, "inputs"):
        yield from (edge.target for edge in activity.outputs if edge.target != code)


def _compilations(view: "View", code: int, end: str) -> Iterator[tuple[int, Activity]]:
    for found, activity in activities(view, code, end):
        if activity.activity_class in _COMPILING:
            yield found, activity


def _compiled_from(view: "View", code: int) -> Iterator[int]:
    for _, activity in _compilations(view, code, "outputs"):
        yield from (edge.target for edge in activity.inputs if _is(view, edge.target, f"{PROFILE}/Experience"))


def _compiled_into(view: "View", code: int) -> Iterator[int]:
    for _, activity in _compilations(view, code, "inputs"):
        yield from (edge.target for edge in activity.outputs)


def _compiled_by(view: "View", code: int) -> Iterator[int]:
    for found, _ in _compilations(view, code, "outputs"):
        yield found
        return


def _compiled(view: "View", code: int) -> Iterator[int]:
    activity = view.record(code)
    if (
        isinstance(activity, Activity)
        and activity.status in TERMINAL_STATUSES
        and activity.activity_class in _COMPILING
    ):
        for edge in activity.outputs:
            if next(_compiled_by(view, edge.target), None) == code:
                yield edge.target


def _consolidated_to(view: "View", code: int) -> Iterator[int]:
    for _, activity in activities(view, code, "inputs"):
        if activity.activity_class in _CONSOLIDATING:
            yield from (edge.target for edge in activity.outputs if kind_of(edge.target) == CONCEPT)


def _consolidated_of(view: "View", code: int) -> Iterator[int]:
    for _, activity in activities(view, code, "outputs"):
        if activity.activity_class in _CONSOLIDATING:
            yield from (edge.target for edge in activity.inputs)


FIELDS: Mapping[str, tuple[Source, Source]] = {
    f"{PROFILE}/derived_from": (_derived_from, _derivations),
    f"{PROFILE}/compiled_from": (_compiled_from, _compiled_into),
    f"{PROFILE}/compiled_by": (_compiled_by, _compiled),
    f"{PROFILE}/consolidated_to": (_consolidated_to, _consolidated_of),
}
"""Lineage of a computed field -> (its targets, its sources)."""


def edges(view: "View", code: int, lineage: str) -> tuple[Edge, ...]:
    """The references of an element in a computed field, each target once."""
    if not _carries(view, code, lineage):
        return ()
    return tuple(Edge(target) for target in dict.fromkeys(FIELDS[lineage][0](view, code)))


def sources(view: "View", code: int, lineage: str) -> list[int]:
    """The elements whose computed field refers to an element."""
    found = {source for source in FIELDS[lineage][1](view, code) if _carries(view, source, lineage)}
    return sorted(source for source in found if any(edge.target == code for edge in edges(view, source, lineage)))


def activities(view: "View", code: int, end: str) -> Iterator[tuple[int, Activity]]:
    """The terminal Activities that have an element among their inputs or outputs (`end`), in creation order."""
    for found in view.referrers(code, end):
        activity = view.record(found) if kind_of(found) == ACTIVITY else None
        if isinstance(activity, Activity) and activity.status in TERMINAL_STATUSES:
            yield found, activity


def _carries(view: "View", code: int, lineage: str) -> bool:
    """Whether the field is declared for this element."""
    field = view.environment.find_structural_field(lineage)
    record = view.record(code)
    concept_type = record.schema if isinstance(record, Concept) else None
    return field is not None and field.computed and field.source.admits(kind_of(code), concept_type)


def _is(view: "View", code: int, lineage: str) -> bool:
    record = view.record(code)
    return isinstance(record, Concept) and view.environment.lineage(record.schema) == lineage


# --- Facets -------------------------------------------------------------------------------------------


def facet(view: "View", code: int, name: str) -> Mapping[str, Json] | None:
    """A computed Facet by lineage or local name, None when there is none to compute."""
    if name not in (GRADING_STATE, "GradingState") and not name.startswith(f"{PROFILE}@"):
        return None
    if name.startswith(f"{PROFILE}@") and view.environment.lineage(name) != GRADING_STATE:
        return None
    return _grading(view, code)


def _grading(view: "View", code: int) -> Mapping[str, Json] | None:
    """Counts of independent attempts in the current evaluation, if it graded the current revision."""
    if not _is(view, code, f"{PROFILE}/Skill"):
        return None
    revision, verdict = (
        next((edge.target for edge in view.edges(code, f"{PROFILE}/{name}")), None)
        for name in ("current_revision", "current_evaluation")
    )
    if revision is None or verdict is None or not view.exists(verdict):
        return None
    activity = view.record(verdict)
    evaluation = held(view, activity, "EvaluationRecord")
    if evaluation is None or element_id(revision) not in evaluation["revision_refs"]:
        return None
    statuses = attempt_statuses(view, evaluation)
    ended = activity.ended_at if isinstance(activity, Activity) else None
    created = view.creation(verdict)[0]
    return {
        "success_count": sum(status == "success" for status in statuses.values()),
        "failure_count": sum(status == "failure" for status in statuses.values()),
        "graded_count": len(evaluation["attempt_refs"]),
        "last_verdict_at": format_instant(view.committed_at(created) if ended is None else ended),
        "revision_ref": element_id(revision),
        "evaluation_ref": element_id(verdict),
    }


def attempt_statuses(view: "View", evaluation: Mapping[str, Any]) -> dict[str, str]:
    """Attempt id -> what its selected terminal outcomes say; "unknown" where they disagree or say nothing."""
    found: dict[str, set[str]] = {ref: set() for ref in evaluation["attempt_refs"]}
    for ref in evaluation["outcome_refs"]:
        code = parse_id(ref)
        record = view.record(code) if code is not None and view.exists(code) else None
        outcome = held(view, record, "OutcomeRecord") if isinstance(record, Evidence) else None
        if outcome is not None and outcome["terminal"] and outcome["attempt_ref"] in found:
            found[outcome["attempt_ref"]].add(outcome["outcome_status"])
    return {ref: statuses.pop() if len(statuses) == 1 else "unknown" for ref, statuses in found.items()}


def held(view: "View", record: AnyRecord, name: str) -> Mapping[str, Any] | None:
    """A Facet of the Profile on a record, whatever version of it."""
    lineage = f"{PROFILE}/{name}"
    return next((facet for ref, facet in record.facets.items() if view.environment.lineage(ref) == lineage), None)
