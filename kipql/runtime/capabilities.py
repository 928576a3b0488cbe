"""The capability registry (§67.4): what `requires` may name and DESCRIBE CAPABILITIES reports.

An entry is `{supported, available}` and, where the registry gives one, a `value`. A name that is neither in
the registry nor ours fails exactly like one that is not supported.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.lang.words import near
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.govern.authority import Authority

# Outcomes of idempotency keys live as long as the memory; JSON wants a number, so: a hundred years.
_RETENTION = {"seconds": 100 * 365 * 24 * 60 * 60}

_SUPPORTED: Mapping[str, Json] = {
    "serializable_isolation": None,
    "atomic_batch": None,
    "idempotency_retention": _RETENTION,
    "historical_reads": None,
    "historical_search": None,
    "search_index_freshness": {"mode": "synchronous"},
    "change_stream": None,
    "ingestion_context": None,
    "payload_purge": None,
    "version_planes": None,
    "transition": None,
    "symbol_lineage": None,
    "weighted_projection": None,
    "belief_slot": None,
    "list_dependents": None,
    "materialized_projection": None,
    "snapshot_tokens": None,
    "draft_vocabulary": None,
    "identity_repair": None,
    "recording_repair": None,
    "watch_evaluation": None,
    "capsule_export": None,
    "capsule_import": None,
    "derive_permission": None,
    "record_outcome_permission": None,
}
_ABSENT = (
    "semantic_search", "hybrid_search",
    "signed_receipts", "streaming", "artifacts", "filtered_delivery", "exposure_log",
    "capsule_signatures", "capsule_delta", "capsule_restore", "kip1_migration", "memory_interface",
    "durable_brain_runtime", "receiver_fencing", "prospective_trials", "ast",
)  # fmt: skip

_WRITING = {
    "atomic_batch", "ingestion_context", "payload_purge", "transition", "draft_vocabulary", "identity_repair",
    "recording_repair", "watch_evaluation", "capsule_import",
}  # fmt: skip

_EMBEDDING = {"semantic_search", "hybrid_search"}


def capabilities(*, readonly: bool = False, embedder: bool = False) -> dict[str, Json]:
    """Every entry of the registry and ours, by name; `embedder` tells whether the host gave one (§66.3)."""
    entries: dict[str, Json] = {}
    for name in sorted({*_SUPPORTED, *_ABSENT}):
        here = name in _SUPPORTED or (embedder and name in _EMBEDDING)
        entries[name] = {"supported": here, "available": here and not (readonly and name in _WRITING)}
        if _SUPPORTED.get(name) is not None:
            entries[name]["value"] = _SUPPORTED[name]
    return entries


_NEEDS: Mapping[str, tuple[str, ...]] = {
    "historical_reads": ("read",),
    "historical_search": ("search",),
    "snapshot_tokens": ("read",),
    "semantic_search": ("search",),
    "hybrid_search": ("search",),
    "search_index_freshness": ("search",),
    "change_stream": ("read",),
    "belief_slot": ("project",),
    "weighted_projection": ("project",),
    "list_dependents": ("read",),
    "atomic_batch": ("create", "update", "assert", "record_attributed_assertion"),
    "ingestion_context": ("create",),
    "payload_purge": ("purge",),
    "transition": ("update", "retract_own", "supersede_own", "archive", "tombstone"),
    "draft_vocabulary": ("propose_schema",),
    "identity_repair": ("merge_identity",),
    "recording_repair": ("repair_recording",),
    "derive_permission": ("derive",),
    "record_outcome_permission": ("record_outcome",),
    "capsule_export": ("export",),
    "capsule_import": ("import",),
}
"""What a caller must hold, one of these, for a capability to be available (§67.2)."""


def available(entries: Mapping[str, Json], authority: "Authority") -> Mapping[str, Json]:
    """The entries as a caller's permissions leave them; the same mapping where nothing is withheld."""
    if authority.full:
        return entries
    found = {}
    for name, entry in entries.items():
        needs = _NEEDS.get(name)
        here = entry["available"] and (needs is None or not authority.permissions.isdisjoint(needs))
        found[name] = {**entry, "available": here}
    return found


def require(wanted: Mapping[str, Any], entries: Mapping[str, Json]) -> None:
    """Refuse a request whose `requires` names what is not there (§71). Raises UnsupportedCapability.

    `true` asks for support; an object asks for at least these values (`{"seconds": 86400}`); `false` asks
    for nothing, but its name must still be known.
    """
    for name, demand in wanted.items():
        entry = entries.get(name)
        if entry is None or (demand is not False and not _meets(demand, entry)):
            close = near(name, entries) if entry is None else None
            raise KipError(
                "UnsupportedCapability",
                f"the capability {name} is {'unknown' if entry is None else 'not supported'} here",
                hint=f"did you mean {close}?" if close else "DESCRIBE CAPABILITIES lists what is supported",
                details={"capability": name},
            )


def _meets(demand: Any, entry: Mapping[str, Json]) -> bool:
    if not entry["supported"]:
        return False
    if not isinstance(demand, Mapping):
        return True
    value = entry.get("value", {})
    return all(name in value and _enough(value[name], wanted) for name, wanted in demand.items())


def _enough(value: Json, wanted: Json) -> bool:
    if isinstance(value, bool) or isinstance(wanted, bool) or not isinstance(wanted, int | float):
        return bool(value == wanted)
    return isinstance(value, int | float) and value >= wanted
