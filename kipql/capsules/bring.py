"""The import itself: one transaction, all of a Capsule or nothing (specification §41.2).

VERIFY and VALIDATE have been done by whoever opened the Capsule; here it is resolved against the destination as it is
now, built, and judged like any other write by the schema's rules, by Governance and by uniqueness. The commit carries
the import's origin on every element, and the mapping from source elements to what they became.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kipql.capsules import identity, symbols
from kipql.capsules.artifact import Capsule
from kipql.capsules.build import Builder
from kipql.capsules.check import problems
from kipql.capsules.plan import CREATE, ISOLATE, MATCH, ImportPlan
from kipql.capsules.resolve import Resolution, Row, follows
from kipql.capsules.symbols import Symbols
from kipql.errors import KipError
from kipql.model import ACTIVITY, ASSERTION, CONCEPT, EVIDENCE, PROPOSITION, Concept, element_id
from kipql.spans import NOWHERE
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.govern.authority import Authority
    from kipql.govern.scopes import Labels
    from kipql.mutate import WriteContext
    from kipql.store.transaction import Transaction

CHANNEL = "capsule_import"
_ORDER = (CONCEPT, EVIDENCE, ACTIVITY, PROPOSITION, ASSERTION)
_SPEAKING = ("assert", "record_attributed_assertion", "assert_as_actor")


@dataclass(frozen=True, slots=True)
class Importing:
    """One import.

    lineage    which memory the destination is
    self_id    what the destination takes for itself
    labels     the destination's classification
    """

    capsule: Capsule
    plan: ImportPlan
    authority: "Authority"
    labels: "Labels"
    lineage: str | None = None
    self_id: str | None = None

    @property
    def import_id(self) -> str:
        """What `_system.origin.import_id` says: the Capsule's digest."""
        return self.capsule.digest


def settled(importing: Importing, tx: "Transaction", write: "WriteContext") -> tuple[Resolution, list[KipError]]:
    """The rows of an import, and what forbids it altogether."""
    capsule, plan, view = importing.capsule, importing.plan, tx.view
    blocking = [each.error() for each in problems(capsule, view.environment)]
    if not blocking:
        rows = capsule.payload["schema_dependencies"]
        blocking = [each.error() for each in symbols.dependency_problems(view.environment, rows)]
    blocking += _against(importing, view.space_id)
    known = Symbols(view.environment, plan.symbols)
    if not blocking and (missing := known.missing(capsule.records.values())):
        blocking.append(_unmapped(missing))
    if any(error.code == "CapsuleValidationFailed" for error in blocking):
        raise blocking[0]
    seen = view if write.seen is None else write.seen(view)
    resolution = Resolution(
        capsule,
        plan,
        known,
        view=seen,
        whole=view,
        lineage=importing.lineage,
        self_id=importing.self_id,
        budget=write.budget,
    )
    return resolution, blocking


def bring(importing: Importing, tx: "Transaction", write: "WriteContext") -> dict[str, Json]:
    """Write a Capsule into a Transaction, and answer `{import_id, mode, counts, mapping}`.

    Raises CapsuleValidationFailed, SchemaPackageUnavailable, DigestMismatch, ImportPreviewConflict while the plan
    leaves something open, and what writing its elements raises. `finish` must follow.
    """
    resolution, blocking = settled(importing, tx, write)
    if blocking:
        raise blocking[0]
    if open_ := resolution.conflicts():
        raise _undecided(open_)
    _create(importing, resolution, tx, write)
    mapping = {row.id: element_id(row.code) for row in resolution.rows.values() if row.code is not None}
    return {
        "import_id": importing.import_id,
        "mode": importing.plan.mode,
        "counts": _counts(resolution),
        "mapping": mapping,
    }


def foreseen(importing: Importing, tx: "Transaction", write: "WriteContext") -> dict[str, Json]:
    """What `bring` would do, with everything that is still open: `{plan, counts, conflicts, errors}`.

    Where nothing is open the elements are written into `tx`, so that the caller can judge the final state and roll
    back.
    """
    resolution, blocking = settled(importing, tx, write)
    open_ = resolution.conflicts()
    if not blocking and not open_:
        _create(importing, resolution, tx, write)
    rows = [row.to_dict() for row in resolution.rows.values()]
    return {
        "plan": importing.plan.to_dict(importing.capsule.digest, tx.view.space_id, rows),
        "counts": _counts(resolution),
        "conflicts": [row.to_dict() for row in open_],
        "errors": [error.to_dict() for error in blocking],
    }


def _create(importing: Importing, resolution: Resolution, tx: "Transaction", write: "WriteContext") -> None:
    authority, plan = importing.authority, importing.plan
    builder = Builder(
        resolution, tx.literal, plan.mode == ISOLATE, authority.holds("manage_retention"), plan.classification
    )
    made = list(resolution.made())
    _admit(authority, {row.kind for row in made})
    if any(resolution.capsule.records[row.id].get("merged_into") for row in made):
        authority.require("merge_identity")  # a merge is an identity decision of the destination (§11.5)
    if resolution.identified:
        authority.require("merge_identity")  # so is that two elements are one, which later imports follow (§38.2)
    _check_label(importing, made)
    for kind in _ORDER:
        for row in made:
            if row.code is not None and row.code & 7 == kind:
                write.budget.spend()
                _add(builder, row, tx, write)
    for row in made:
        if row.kind == "concept":
            _merge(builder, row, tx)
    for row in resolution.rows.values():
        if follows(resolution.view, row):
            _follow(builder, row, tx, write)
    _note(importing, resolution, tx)


def _note(importing: Importing, resolution: Resolution, tx: "Transaction") -> None:
    """Keep what each source element became, for the imports to come (§38.2)."""
    fresh = [
        identity.Imported(row.id, resolution.marks[row.id], row.code)
        for row in resolution.rows.values()
        if row.code is not None and row.reason not in ("imported before", "the element itself")
    ]
    if fresh:
        tx.control("identity", identity.note(importing.import_id, importing.capsule.source, fresh))


def _admit(authority: "Authority", kinds: set[str]) -> None:
    """Refuse a writer who holds nothing that these elements need before anything hidden can be in the way (§30.4)."""
    if kinds - {"assertion"}:
        authority.require("create")
    if "assertion" in kinds:
        authority.require(*_SPEAKING)


def _add(builder: Builder, row: Row, tx: "Transaction", write: "WriteContext") -> None:
    try:
        record = builder.build(row)
        if isinstance(record, Concept) and record.merged_into is not None:
            record = replace(record, merged_into=None, state="active")
        code = tx.create(record)
    except KipError as error:
        raise _in_record(error, row) from None
    if code != row.code:
        raise KipError("InternalError", f"{row.id} was created as {element_id(code)}")
    write.touched[code] = NOWHERE


def _merge(builder: Builder, row: Row, tx: "Transaction") -> None:
    """A merge is a change of resolution, so it comes when both Concepts are there (§11.1)."""
    assert row.code is not None
    made = tx.view.record(row.code)
    target = builder.merged_into(row)
    assert isinstance(made, Concept)
    if target is not None:
        tx.put(row.code, replace(made, merged_into=target, state="merged"))


def _follow(builder: Builder, row: Row, tx: "Transaction", write: "WriteContext") -> None:
    """A claim that its source has ended since the earlier import ends here too; nothing else of it changes."""
    assert row.code is not None
    held = tx.view.record(row.code)
    said = builder.lifecycle(row, held)
    if said:
        tx.put(row.code, replace(held, **said))
        write.touched.setdefault(row.code, NOWHERE)


def _check_label(importing: Importing, made: list[Row]) -> None:
    """Giving a label lower than a record's own is declassification (§29.11)."""
    label, labels = importing.plan.classification, importing.labels
    if label is None:
        return
    if labels.order and label not in labels.order:
        raise KipError("ConstraintViolation", f"{label!r} is no label of this Space", hint=", ".join(labels.order))
    for row in made:
        own = importing.capsule.records[row.id].get("governance", {}).get("classification")
        if own is not None and own != label and labels.rank(own) >= labels.rank(label):
            importing.authority.require("declassify")


def _against(importing: Importing, space_id: str) -> list[KipError]:
    """A plan is for one Capsule and one Space."""
    plan, found = importing.plan, []
    if plan.capsule_digest is not None and plan.capsule_digest != importing.capsule.digest:
        found.append(KipError("ImportPreviewConflict", "the plan is for another Capsule", hint="preview this one"))
    if plan.space_id is not None and plan.space_id != space_id:
        found.append(KipError("ImportPreviewConflict", f"the plan is for {plan.space_id!r}, this is {space_id!r}"))
    strange = sorted(set(plan.decisions) - set(importing.capsule.records) - set(importing.capsule.external))
    if strange:
        message = f"the plan decides about {strange[0]!r}, which the Capsule does not hold"
        found.append(KipError("ImportPreviewConflict", message, details={"record": strange[0]}))
    return found


def _unmapped(missing: list[str]) -> KipError:
    return KipError(
        "SchemaPackageUnavailable",
        f"there is nothing here for {', '.join(missing[:5])}{' and more' if len(missing) > 5 else ''}",
        hint="install the package; a draft symbol is mapped by `symbols` of the Import Plan (§41.7)",
        details={"symbols": missing},
    )


def _undecided(rows: list[Row]) -> KipError:
    first = rows[0]
    more = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
    return KipError(
        "ImportPreviewConflict",
        f"{first.id} is undecided: {first.problem}{more}",
        hint="PREVIEW IMPORT CAPSULE shows the plan; decide its rows with create, match or skip",
        details={"record": first.id, "conflicts": [row.to_dict() for row in rows[:50]]},
    )


def _in_record(error: KipError, row: Row) -> KipError:
    error.message = f"{row.id}: {error.message}"
    error.details.setdefault("record", row.id)
    return error


def _counts(resolution: Resolution) -> Mapping[str, Any]:
    counts = Counter(row.action for row in resolution.rows.values())
    return {"create": counts[CREATE], "match": counts[MATCH], "skip": counts["skip"], "conflict": counts["conflict"]}
