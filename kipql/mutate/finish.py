"""Final-state validation: what the whole transaction leaves behind must be legal (§32.3, §58.3).

Every element that a statement touched is checked against the schema once, as it will be committed: types, endpoints,
cardinality, required members, mutability. Keys and canonical ids are unique. Activities that became terminal record
the versions of what they used and made (§16.6).
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.exec.references import canonical_concepts, keyed
from kipql.model import ACTIVITY, CONCEPT, Activity, AnyRecord, Concept, Edge, element_code, element_id, kind_of
from kipql.mutate import profile
from kipql.mutate.context import WriteContext, placed
from kipql.mutate.draft import Draft
from kipql.mutate.fields import TERMINAL
from kipql.mutate.final import Final
from kipql.schema import rules
from kipql.spans import Span
from kipql.store.computed import held
from kipql.store.planes import next_planes

if TYPE_CHECKING:
    from kipql.schema.environment import Environment
    from kipql.store import Transaction, View


def finish(tx: "Transaction", write: WriteContext) -> None:
    """Validate everything that the transaction touched, in its final state. Raises the first breach found."""
    for code in list(write.touched):
        if kind_of(code) == ACTIVITY and tx.exists(code):
            _capture(tx, code)
    view = tx.view
    if any(control.kind == "schema" for control in tx.controls):
        _check_joined(tx.base.environment, view)
    elements = Final(view)
    for code, said in write.touched.items():
        if not view.exists(code) or (new := view.record(code)).seq != tx.seq:
            continue  # a statement that failed took it back
        old = tx.base.record(code) if tx.base.exists(code) else None
        try:
            rules.check(view.environment, new, old, elements)
            profile.check(tx, write, code, new, old)
            if isinstance(new, Concept) and new.state != "purged":
                _check_identity(view, code, new, old)
        except KipError as error:
            raise _located(error, said, write) from None


# --- identity -----------------------------------------------------------------------------------------


def _check_identity(view: "View", code: int, new: Concept, old: AnyRecord | None) -> None:
    """A key is unique within its type's lineage, a canonical_id within the Space (§7.3, §7.4)."""
    assert old is None or isinstance(old, Concept)
    if new.key is not None and old is None:
        for other in keyed(view, new.schema, new.key):
            if other != code:
                raise KipError(
                    "IdentityConflict",
                    f"the key {new.key!r} is taken by {element_id(other)}",
                    hint="UPSERT CONCEPT addresses the one that is there",
                )
    if new.canonical_id is not None and (old is None or new.canonical_id != old.canonical_id):
        for other in canonical_concepts(view, new.canonical_id):
            if view.canonical(other) != view.canonical(code):
                message = f"the canonical_id {new.canonical_id!r} is taken by {element_id(other)}"
                raise KipError("IdentityConflict", message, hint="MERGE CONCEPT says that two are one")


def _check_joined(before: "Environment", view: "View") -> None:
    """A rename or promotion makes two types one: their keys must not meet (§7.3, §20.14)."""
    was, now = before.types.lineages, view.environment.types.lineages
    joined = {lineage for ref, lineage in now.items() if was.get(ref, lineage) != lineage}
    for lineage in sorted(joined):
        number = view.lineage_number(lineage)
        held: dict[str, int] = {}
        for row in () if number is None else view.of_type(number):
            code = element_code(CONCEPT, row)
            record = view.record(code)
            assert isinstance(record, Concept)
            if record.key is None or record.state == "purged":
                continue
            other = held.setdefault(record.key, code)
            if view.canonical(other) != view.canonical(code):
                raise KipError(
                    "IdentityConflict",
                    f"{element_id(other)} and {element_id(code)} would both have the key {record.key!r} in {lineage}",
                    hint="MERGE CONCEPT says that two are one",
                )


# --- provenance ---------------------------------------------------------------------------------------


def _capture(tx: "Transaction", code: int) -> None:
    """Record the versions of what an Activity used and made, when it becomes terminal (§16.6); of a derivation or
    its validation also the planes of what it certifies (§57.6)."""
    activity = tx.view.record(code)
    assert isinstance(activity, Activity)
    if activity.status not in TERMINAL:
        return
    before = tx.base.record(code) if tx.base.exists(code) else None
    if isinstance(before, Activity) and before.status in TERMINAL:
        return
    inputs = {element_id(edge.target): _read(tx, edge) for edge in activity.inputs}
    outputs = {element_id(edge.target): _written(tx, edge) for edge in activity.outputs}
    certified = held(tx.view, activity, "DependencyBasis") is not None
    planes = {element_id(edge.target): _certified(tx, edge) for edge in activity.outputs} if certified else {}
    captured = replace(activity, input_versions=inputs, output_versions=outputs, output_plane_versions=planes)
    if captured != activity:
        tx.put(code, captured)


def _read(tx: "Transaction", edge: Edge) -> int:
    """The version at the start; 1 for what the transaction itself made."""
    return tx.base.record(edge.target).version if tx.base.exists(edge.target) else 1


def _written(tx: "Transaction", edge: Edge) -> int:
    """The version that the commit will give it."""
    if not tx.base.exists(edge.target):
        return 1
    before = tx.base.record(edge.target)
    return before.version + (tx.view.record(edge.target) != before)


def _certified(tx: "Transaction", edge: Edge) -> dict[str, int]:
    """The counters, after the commit, of the planes that say what an output is (§57.6)."""
    new = tx.view.record(edge.target)
    planes = next_planes(tx.base.record(edge.target), new) if tx.base.exists(edge.target) else new.planes
    return {"attributes": planes.attributes, "structural": planes.structural}


# --- positions ----------------------------------------------------------------------------------------


def _located(error: KipError, said: "Draft | Span", write: WriteContext) -> KipError:
    """The error with the position of the clause it is about; several statements have several texts, so none."""
    if write.statements > 1:
        return error
    return placed(error, said if isinstance(said, Span) else _blamed(error, said))


def _blamed(error: KipError, draft: Draft) -> Span:
    """The assignment that the message names, else the whole clause."""
    words = set(error.message.replace(".", " ").replace("'", " ").replace(",", " ").split())
    for path, given in draft.assigned.items():
        name = path[1] if path[0] in ("fields", "edges") else path[-1]
        if isinstance(name, str) and name.rpartition("/")[2] in words:
            return given.span
    return draft.span
