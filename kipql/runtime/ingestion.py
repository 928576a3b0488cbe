"""The `ingest` member: observed material that the transport carries into Evidence (§71.1).

The form of the entries is decided here, and whether the request has a transaction to mint them in; minting
itself belongs to `mutate`. A payload is kept as it came, byte for byte.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from kipql.errors import KipError
from kipql.runtime import form
from kipql.times import parse_instant
from kipql.values import Json, check_json, json_type

Entry: TypeAlias = Mapping[str, Json]

_MEMBERS = (
    "key", "evidence_class", "payload", "payload_artifact", "media_type", "observed_at", "source_actor",
    "client_key", "facets", "extensions",
)  # fmt: skip


def entries(value: Json) -> tuple[Entry, ...]:
    """The entries of `ingest.evidence`. Raises InvalidRequestEnvelope, and ConstraintViolation or TypeMismatch
    for a bad timestamp (§6.5) and for what JSON can not say."""
    if not isinstance(value, list | tuple) or not value:
        form.refuse("ingest.evidence", "must be an array with at least one entry")
    checked = tuple(_entry(check_json(each), f"ingest.evidence[{at}]") for at, each in enumerate(value))
    keys = [entry["key"] for entry in checked]
    if len(set(keys)) < len(keys):
        form.refuse("ingest.evidence", "uses one key twice")
    return checked


def attach(found: Sequence[Entry], writes: int, mode: str | None, parameters: Sequence[Mapping[str, Any]]) -> None:
    """Refuse entries that nothing could hold, or that several transactions would mint twice.

    writes      KML operations other than a standalone DEFINE, which opens no cognitive transaction
    parameters  what each operation is given; an entry's key must be none of them
    """
    if not found:
        return
    if writes == 0:
        form.refuse("ingest", "needs a write to attach its Evidence to", "add the KML that cites it")
    for entry in found:
        if any(entry["key"] in given for given in parameters):
            form.refuse("ingest.evidence", f"has the key {entry['key']}, which is also a parameter")
        if writes > 1 and mode != "atomic" and "client_key" not in entry:
            form.refuse(
                "ingest.evidence",
                f"needs a client_key on {entry['key']}: {writes} transactions would mint it {writes} times",
                "give every entry a client_key, or use one MUTATE",
            )


def _entry(value: Json, where: str) -> Entry:
    entry = form.members(value, where, _MEMBERS, ("key", "evidence_class"))
    if form.NAME.fullmatch(form.string(entry["key"], f"{where}.key")) is None:
        form.refuse(f"{where}.key", "must be a parameter name")
    form.string(entry["evidence_class"], f"{where}.evidence_class", 256)
    form.extensions(entry, where)
    if ("payload" in entry) == ("payload_artifact" in entry):
        form.refuse(where, "needs exactly one of payload and payload_artifact")
    if "payload_artifact" in entry:
        form.string(entry["payload_artifact"], f"{where}.payload_artifact", 8192)
        raise KipError(
            "UnsupportedCapability",
            "artifact handles are not available",
            hint="send the payload inline",
            details={"capability": "artifacts"},
        )
    if "media_type" in entry:
        form.string(entry["media_type"], f"{where}.media_type", 256)
    if "client_key" in entry:
        form.string(entry["client_key"], f"{where}.client_key", 1024)
    if "observed_at" in entry:
        parse_instant(entry["observed_at"], f"{where}.observed_at")
    if "source_actor" in entry:
        _reference(entry["source_actor"], f"{where}.source_actor")
    _facets(entry.get("facets", {}), f"{where}.facets")
    return entry


def _reference(value: Json, where: str) -> None:
    reference = form.members(value, where, ("id", "type", "key"))
    for name, part in reference.items():
        form.string(part, f"{where}.{name}", 1024)
    if not (reference.keys() == {"type", "key"} or ("id" in reference and "key" not in reference)):
        form.refuse(where, 'must be {"id": ...} or {"type": ..., "key": ...}', "a name is never a reference (§7.2)")


def _facets(value: Json, where: str) -> None:
    if not isinstance(value, Mapping):
        form.refuse(where, f"must be an object, not {json_type(value)}")
    for name, fields in value.items():
        if not isinstance(name, str) or not isinstance(fields, Mapping):
            form.refuse(where, "maps Facet names to objects")
