"""Identity repair: a merge decision is withdrawn, and what was written under it is put up for review (§11.5).

The source stands by itself again from this commit on; tuples and Assertions are not moved, and the decision stays in
history. A write that supplied the source by itself says what it meant; one that supplied the survivor may have meant
either, and no one can tell: both stay `needs_review` until someone looks.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.exec.references import canonical_concepts, keyed
from kipql.model import (
    ACTIVITY,
    ASSERTION,
    CONCEPT,
    EVIDENCE,
    KINDS,
    Activity,
    AnyRecord,
    Assertion,
    Concept,
    Evidence,
    Proposition,
    element_code,
    element_id,
    kind_of,
)
from kipql.mutate import references
from kipql.mutate.context import WriteContext
from kipql.spans import NOWHERE
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store import Transaction, View
    from kipql.store.identity import Decision


@dataclass(frozen=True, slots=True)
class Affected:
    """A write made under a withdrawn decision; `supplied` is what it named, None when that is not known."""

    code: int
    path: str
    supplied: int | None

    def to_dict(self) -> dict[str, Json]:
        """A row of the review set."""
        return {
            "id": element_id(self.code),
            "kind": KINDS[kind_of(self.code)],
            "path": self.path,
            "supplied": None if self.supplied is None else element_id(self.supplied),
            "status": "needs_review" if self.supplied is None else "attributed",
        }


def withdraw(
    tx: "Transaction", write: WriteContext, decision_id: str, expected_identity_version: int, reason_evidence: str
) -> dict[str, Json]:
    """Withdraw a merge decision, and answer the review set.

    Raises NotFoundOrNotVisible for a decision or Evidence that is not there, VersionConflict when the identity version
    is another, IdentityConflict when a key or canonical_id would be held twice. A decision that was withdrawn before is
    left as it is.
    """
    view = tx.view
    decision = next((each for each in view.decisions() if each.decision_id == decision_id), None)
    if decision is None:
        raise KipError("NotFoundOrNotVisible", f"there is no identity decision {decision_id!r}")
    reason = references.lookup(view, reason_evidence)
    if reason is None or kind_of(reason) != EVIDENCE:
        raise KipError("NotFoundOrNotVisible", f"{reason_evidence!r} is no Evidence that can be seen")
    if decision.withdrawn is not None:
        return {**_named(decision), "identity_version": view.identity_version, "review": []}
    if view.identity_version != expected_identity_version:
        raise KipError(
            "VersionConflict",
            f"the identity version is {view.identity_version}, not {expected_identity_version}",
            hint="read the decisions again and decide on what they say now",
            details={"expected": expected_identity_version, "found": view.identity_version},
        )
    review = sorted(affected(view, decision), key=lambda each: (each.code, each.path))
    _restore(tx, write, decision)
    _check_identity(tx.view, decision.source)
    codes = sorted({each.code for each in review})
    payload = {"withdrawn": decision_id, "reason_evidence": element_id(reason), "review": codes}
    version = tx.control("identity", payload)
    return {
        **_named(decision),
        "identity_version": int(version),
        "review": [each.to_dict() for each in review],
    }


def _named(decision: "Decision") -> dict[str, Json]:
    return {
        "decision_id": decision.decision_id,
        "source": element_id(decision.source),
        "target": element_id(decision.target),
    }


def _restore(tx: "Transaction", write: WriteContext, decision: "Decision") -> None:
    """The source as it was before the merge, with what changed since."""
    merged = tx.view.record(decision.source)
    before: AnyRecord | None = merged
    while isinstance(before, Concept) and before.merged_into is not None:
        before = before.prev  # type: ignore[assignment]
    assert isinstance(merged, Concept)
    state = "active" if before is None else before.state
    tx.put(decision.source, replace(merged, merged_into=None, state=state))
    write.touched.setdefault(decision.source, NOWHERE)


def _check_identity(view: "View", code: int) -> None:
    """Raise IdentityConflict when another living Concept holds the source's key or canonical_id."""
    record = view.record(code)
    assert isinstance(record, Concept)
    holders = [] if record.key is None else list(keyed(view, record.schema, record.key))
    if record.canonical_id is not None:
        holders += canonical_concepts(view, record.canonical_id)
    for other in holders:
        if view.canonical(other) != view.canonical(code) and view.state(other) != "purged":
            raise KipError(
                "IdentityConflict",
                f"{element_id(other)} has the key or canonical_id of {element_id(code)} by now",
                hint="change it there first",
            )


# --- the review set -----------------------------------------------------------------------------------


def affected(view: "View", decision: "Decision") -> Iterator[Affected]:
    """The writes since a decision that named its source or whatever the source resolved to."""
    chain = frozenset(_chain(view, decision.target))
    given = {code: _given(view, code, decision.seq) for code in list(view.graph.inputs)}
    for code, paths in given.items():
        for path, supplied in paths.items():
            if decision.source in _chain(view, supplied):
                yield Affected(code, path, supplied)
    for code in _created_since(view, decision.seq):
        known = given.get(code, {})
        for path, target in _references(view, view.record(code)):
            if target in chain and path not in known:
                yield Affected(code, path, None)


def _given(view: "View", code: int, since: int) -> Mapping[str, int]:
    return {each.path: each.supplied for each in view.input_references(code) if each.seq > since}


def _chain(view: "View", code: int) -> Iterator[int]:
    """An element and everything it resolves through."""
    record = view.record(code)
    yield code
    while isinstance(record, Concept) and record.merged_into is not None:
        yield record.merged_into
        record = view.record(record.merged_into)


def _created_since(view: "View", seq: int) -> Iterator[int]:
    """Assertions, Evidence, Activities and Concepts created after a commit; a Proposition claims nothing."""
    bounds = view.graph.history.bounds(seq)
    for kind in (CONCEPT, ASSERTION, EVIDENCE, ACTIVITY):
        for row in range(bounds[kind], view.rows(kind).stop):
            code = element_code(kind, row)
            if view.state(code) != "purged":
                yield code


def _references(view: "View", record: AnyRecord) -> Iterator[tuple[str, int]]:
    """The references of a record that new writes resolve to survivors, by path."""
    match record:
        case Assertion():
            ends = view.record(record.proposition)
            assert isinstance(ends, Proposition)
            yield from (("subject", ends.subject), ("object", ends.object), ("asserted_by", record.asserted_by))
            yield from (("context_refs", code) for code in record.context)
        case Evidence():
            yield from (("source", edge.target) for edge in record.source)
        case Activity():
            yield from (("associated_actors", edge.target) for edge in record.associated_actors)
    for ref, edges in record.structural.items():
        yield from ((ref.rpartition("/")[2], edge.target) for edge in edges)
