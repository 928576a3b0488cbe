"""Skill and SkillRevision: behaviour is immutable, standing moves only by a recorded evaluation (Profile §5.8, §14).

A Skill is created `proposed`. Its status, its current revision, trial and evaluation are guarded: a transaction that
moves one of them states the version of every plane it changes. Selecting another revision puts the Skill back to
`proposed`; every other move comes with a `lifecycle_verdict` whose EvaluationRecord says exactly this move.
"""

import hashlib
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.model import Concept, element_id
from kipql.mutate import verdict
from kipql.mutate.context import WriteContext
from kipql.mutate.verdict import pointer

if TYPE_CHECKING:
    from kipql.store import Transaction, View

_POINTERS = ("current_revision", "current_trial", "current_evaluation")


def check_revision(tx: "Transaction", write: WriteContext, code: int, new: Concept, old: Concept | None) -> None:
    """The digest is that of the behaviour, and a revision stays with its Skill. Raises ConstraintViolation."""
    if old is not None:
        if pointer(tx.view, new, "revision_of") != pointer(tx.view, old, "revision_of"):
            raise KipError("ConstraintViolation", "revision_of never changes", hint="make another revision")
        return
    stated, found = new.attributes.get("behavior_digest"), behavior_digest(new)
    if stated != found:
        raise KipError(
            "ConstraintViolation",
            "behavior_digest is not the digest of the behaviour",
            hint=f"the canonical JSON of its other attributes has {found}",
            details={"found": found},
        )


def behavior_digest(revision: Concept) -> str:
    """sha256 of the canonical JSON of the behaviour: every attribute but the digest itself."""
    import rfc8785

    behavior = {name: value for name, value in revision.attributes.items() if name != "behavior_digest"}
    return f"sha256:{hashlib.sha256(rfc8785.dumps(behavior)).hexdigest()}"


def check_skill(tx: "Transaction", write: WriteContext, code: int, new: Concept, old: Concept | None) -> None:
    """Raises ConstraintViolation for a move that nothing entitles to, VersionConflict for an unguarded one."""
    view = tx.view
    revision = pointer(view, new, "current_revision")
    assert revision is not None  # the package requires it
    status = new.attributes.get("status")
    if old is None:
        _check_new(view, code, new, revision)
        return
    before = {name: pointer(view, old, name) for name in _POINTERS}
    after = {name: pointer(view, new, name) for name in _POINTERS}
    moved = status != old.attributes.get("status")
    if not moved and before == after:
        return
    _check_guards(write, code, new, old, moved=moved, pointed=before != after, view=view)
    if after["current_revision"] != before["current_revision"]:
        _check_selection(view, code, new, revision)
    elif moved or after["current_evaluation"] != before["current_evaluation"]:
        _check_evaluated(tx, code, new, old, fresh=after["current_evaluation"] != before["current_evaluation"])
    elif after["current_trial"] is None:
        raise KipError("ConstraintViolation", "current_trial is cleared only where a new revision is selected")
    else:
        verdict.trial_of(view, after["current_trial"], revision)


def _check_new(view: "View", code: int, new: Concept, revision: int) -> None:
    _check_owned(view, code, revision)
    if new.attributes.get("status") != "proposed" or _standing(view, new):
        raise KipError(
            "ConstraintViolation",
            "a new Skill is proposed; it has no trial and no evaluation yet",
            hint="a trial and a lifecycle_verdict move it (Profile §14)",
        )


def _check_selection(view: "View", code: int, new: Concept, revision: int) -> None:
    """Another revision has no standing of its own yet."""
    _check_owned(view, code, revision)
    if new.attributes.get("status") != "proposed" or _standing(view, new):
        raise KipError(
            "ConstraintViolation",
            "selecting a revision puts the Skill back to proposed, without trial and evaluation",
            hint='SET ATTRIBUTES {status: "proposed"} and UNSET STRUCTURAL current_trial and current_evaluation',
        )


def _standing(view: "View", record: Concept) -> bool:
    return pointer(view, record, "current_trial") is not None or pointer(view, record, "current_evaluation") is not None


def _check_owned(view: "View", code: int, revision: int) -> None:
    record = view.record(revision)
    if not isinstance(record, Concept) or pointer(view, record, "revision_of") != code:
        raise KipError("ConstraintViolation", f"{element_id(revision)} is no revision of {element_id(code)}")


def _check_evaluated(tx: "Transaction", code: int, new: Concept, old: Concept, *, fresh: bool) -> None:
    view = tx.view
    evaluation = pointer(view, new, "current_evaluation")
    if evaluation is None or not fresh:
        raise KipError(
            "ConstraintViolation",
            f"{element_id(code)} changes its standing without an evaluation",
            hint="commit a lifecycle_verdict with an EvaluationRecord, and point current_evaluation at it (§14)",
        )
    verdict.check(tx, code, new, old, evaluation)


def _check_guards(
    write: WriteContext, code: int, new: Concept, old: Concept, *, moved: bool, pointed: bool, view: "View"
) -> None:
    """Every plane that the transaction writes beside a move of standing is guarded (Learning §4)."""
    guarded = write.guarded.get(code, set())
    if "" in guarded:
        return
    wanted = {"attributes": moved, "structural": pointed}
    facets = [ref for ref in {*new.facets, *old.facets} if new.facets.get(ref) != old.facets.get(ref)]
    wanted |= {view.environment.lineage(ref): True for ref in facets}
    for plane, written in wanted.items():
        if written and plane not in guarded:
            name = plane.rpartition("/")[2]
            raise KipError(
                "VersionConflict",
                f"{element_id(code)} changes its standing without a guard on {name}",
                hint="close the UPDATE with EXPECT VERSION for every plane it writes",
                details={"plane": plane if "/" not in plane else "facets"},
            )
