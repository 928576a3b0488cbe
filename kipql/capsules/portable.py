"""One element as a portable record (§6.2, §37.7): what the caller sees of it, in the shape of kip-element.

The local id of a record is its id in the source Space, so that source and local reference are one. Left at home are
what belongs to the source alone: client keys, the audit of supplied references, and what the baseline shape has no
member for, which `handling.left_out` names.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.model import CONCEPT, EVIDENCE, PROPOSITION, Evidence, Proposition, element_id
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View

WITHHELD = "withheld"
"""The channel of an origin that the caller may not see; also the id of a hidden element inside a Facet."""
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(slots=True)
class Assembly:
    """What an export has put together so far.

    records   by element code
    external  ExternalRefs by id
    left_out  id -> members that the baseline shape can not carry
    undated   ids of Evidence without a time of observation: `observed_at` is when the source recorded it
    payloads  "inline", or "omitted": an inline payload is then named by its digest only
    """

    payloads: str = "inline"
    records: dict[int, dict[str, Any]] = field(default_factory=dict)
    external: dict[str, dict[str, Json]] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    undated: list[str] = field(default_factory=list)
    identities: dict[str, str] = field(default_factory=dict)

    def outside(self, name: str, kind: str, locator: Mapping[str, Json] | None = None) -> None:
        """Note an ExternalRef (§40.1)."""
        self.external.setdefault(
            name, {"id": name, "kind": kind, **({} if locator is None else {"locator": dict(locator)})}
        )

    def identity(self, canonical_id: str) -> str:
        """The id of an ExternalRef for an identity that no element of the source carries (§8.2)."""
        name = self.identities.setdefault(canonical_id, f"identity:{len(self.identities) + 1}")
        self.outside(name, "canonical_identity", {"canonical_id": canonical_id})
        return name


def why_outside(view: "View", code: int) -> tuple[str, dict[str, Json]] | None:
    """The ExternalRef kind and locator of an element that no record can carry; None for one that can be.

    A purged element is there no more. A quarantined one is withheld: the shape can not say that it is in quarantine,
    and without saying so a Capsule would release it. Evidence without a digest can not be recognised, so it is named.
    """
    record = view.record(code)
    if record.state == "purged":
        return "unavailable", {"space_id": view.space_id}
    if record.quarantined:
        return "redacted", {"space_id": view.space_id}
    if isinstance(record, Evidence) and (record.payload is None or not _SHA256.fullmatch(record.content_digest or "")):
        located: dict[str, Json] = {"space_id": view.space_id, "evidence_class": record.evidence_class}
        if isinstance(record.payload, Mapping) and "content_ref" in record.payload:
            located["content_ref"] = record.payload["content_ref"]
        return "external_artifact", located
    return None


def portable(view: "View", code: int, assembly: Assembly) -> dict[str, Any]:
    """The record of an element that `why_outside` lets through."""
    found = {name: value for name, value in view.element(code).items() if value is not None}
    found.pop("client_key", None)
    left_out: list[str] = []
    if code & 7 == CONCEPT:
        if "merged_into" in found:
            found["merged_into"] = {"id": found["merged_into"]}
        found["structural"] = {ref: [_plain(edge) for edge in edges] for ref, edges in found["structural"].items()}
    elif found.pop("structural", None):
        left_out.append("structural")
    if code & 7 == PROPOSITION:
        _ends(view, code, found, assembly)
    elif code & 7 == EVIDENCE:
        _evidence(found, assembly)
    if "parameters_digest" in found and not _SHA256.fullmatch(found["parameters_digest"]):
        left_out.append("parameters_digest")
        del found["parameters_digest"]
    found["governance"] = _governance(found["governance"])
    found["retention"] = {name: value for name, value in found["retention"].items() if value is not None}
    found["_system"] = _system(found["_system"])
    if left_out:
        assembly.left_out[found["id"]] = left_out
    return found


def _ends(view: "View", code: int, found: dict[str, Any], assembly: Assembly) -> None:
    record = view.record(code)
    assert isinstance(record, Proposition)
    found.setdefault("object", None)
    for name, term in (("subject", record.subject), ("object", record.object)):
        value = None if term >= 0 else view.literal(term)
        if isinstance(value, Mapping):
            found[name] = {"id": assembly.identity(value["canonical_id"])}


def _evidence(found: dict[str, Any], assembly: Assembly) -> None:
    payload = found["payload"]
    if payload["mode"] == "purged":
        found["payload"] = {"status": "purged"}
    elif payload["mode"] == "inline" and assembly.payloads == "omitted":
        found["payload"] = {"mode": "external", "content_ref": found["content_digest"]}
    if "observed_at" not in found:
        assembly.undated.append(found["id"])
        found["observed_at"] = found["_system"]["created_at"]


def _plain(edge: Mapping[str, Json]) -> dict[str, Json]:
    return {"id": edge["id"]}


def _governance(hook: Mapping[str, Json]) -> dict[str, Json]:
    return {name: hook[name] for name in ("classification", "authority_class") if hook.get(name) is not None}


def _system(found: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in found.items() if name != "input_references"}
    origin = kept["origin"]
    return {**kept, "origin": {**origin, "channel": origin["channel"] or WITHHELD}}


def element_code_of(view: "View", name: str) -> int:
    """The code of an id that the caller named. Raises NotFoundOrNotVisible."""
    code = view.code(name)
    if code is None:
        raise KipError("NotFoundOrNotVisible", f"there is no element {name!r} to export")
    return code


def located(view: "View", code: int, fingerprint: str) -> dict[str, Json]:
    """How a destination may recognise an element of the source that stayed outside (§40.1)."""
    return {"space_id": view.space_id, "id": element_id(code), "fingerprint": fingerprint}
