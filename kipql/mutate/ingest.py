"""`ingest.evidence`: observed material enters Evidence without passing through command text (§71.1).

Each entry becomes one Evidence in the transaction of the request, its payload kept as it came, and its key is bound as
a parameter that names it. The form of the entries was checked with the envelope.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.lang import ast
from kipql.model import EVIDENCE, element_id
from kipql.mutate import fields, references
from kipql.mutate.apply import apply
from kipql.mutate.context import WriteContext, unplaced
from kipql.mutate.draft import Draft, Placement
from kipql.mutate.inputs import Scope
from kipql.mutate.plan import Plan, code_of
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store import Transaction

_HERE = ast.Literal(None)
_FIELDS = ("evidence_class", "media_type", "observed_at")


def ingest(entries: Iterable[Mapping[str, Json]], tx: "Transaction", write: WriteContext) -> dict[str, str]:
    """Mint one Evidence per entry and answer what each entry's key stands for.

    entries   `{key, evidence_class, payload, media_type?, observed_at?, source_actor?, client_key?, facets?}`

    Raises as CREATE EVIDENCE would, and leaves `tx` as before; InvalidRequestEnvelope for an entry that has no
    payload or a source that is no reference.
    """
    mark = tx.savepoint()
    try:
        plan = Plan(tx, {}, write, {})
        minted = {str(entry["key"]): _mint(plan, entry) for entry in entries}
        apply(plan)
    except KipError as error:
        tx.restore(mark)
        raise unplaced(error) from None
    return {key: element_id(code_of(target)) for key, target in minted.items()}


def _mint(plan: Plan, entry: Mapping[str, Json]) -> "Draft | int":
    draft, target = plan.created(EVIDENCE, entry.get("client_key"), _HERE.span)
    scope = Scope(plan)
    if "payload" not in entry:
        raise KipError("InvalidRequestEnvelope", f"the entry {entry['key']!r} carries no payload")
    for name in _FIELDS:
        if name in entry:
            fields.assign(scope, draft, name, entry[name], _HERE)
    draft.assign(("fields", "payload"), {"mode": "inline", "inline": entry["payload"]})
    if "source_actor" in entry:
        _source(plan, draft, entry)
    for name, values in entry.get("facets", {}).items():
        facet = plan.environment.facet(name).ref
        for field, value in values.items():
            draft.assign(("facets", facet, field), value)
    draft.created = dict(draft.assigned)
    plan.attribute(target)
    return target


def _source(plan: Plan, draft: Draft, entry: Mapping[str, Json]) -> None:
    actor = entry["source_actor"]
    if not isinstance(actor, Mapping):
        hint = 'give {"id": ...} or {"type": ..., "key": ...}; a name is not a reference (§7.2)'
        raise KipError("InvalidRequestEnvelope", f"source_actor of {entry['key']!r} is no reference", hint=hint)
    target = references.named(plan.view, dict(actor), _HERE)
    draft.assign(("edges", "source", plan.survivor(target, "source")), Placement())
