"""Looking into a Capsule: VERIFY says what matches, opening refuses what does not (specification §37.6, §69.1).

Both judge the bytes: the shape, and the digest that they state. Neither says who sealed them, or whether they are true.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kipql.capsules.artifact import (
    DIGEST_PROFILE,
    FORMAT,
    FORMAT_VERSION,
    Capsule,
    blob_digest,
    content_digest,
    decoded,
)
from kipql.capsules.shape import shape_problems
from kipql.errors import KipError
from kipql.limits import Limits
from kipql.values import Json


def verification(value: object, limits: Limits) -> dict[str, Json]:
    """VERIFY CAPSULE (§69.1): `{valid, content_digest, checks}`.

    A check is "match", "mismatch", "absent", or for signatures "unchecked": this runtime does not advertise
    `capsule_signatures`, so a signature speaks neither for nor against a Capsule here.
    """
    artifact = decoded(value, limits)
    integrity = artifact.get("integrity")
    integrity = integrity if isinstance(integrity, dict) else {}
    payload = artifact.get("payload")
    blobs = payload.get("blobs") if isinstance(payload, dict) else None
    digest = content_digest(artifact, limits)
    named = (artifact.get("format"), artifact.get("format_version"))
    checks = {
        "format": _match(named == (FORMAT, FORMAT_VERSION)),
        "digest_profile": _stated(integrity.get("digest_profile"), DIGEST_PROFILE),
        "digest": _stated(integrity.get("content_digest"), digest),
        "blobs": _blobs(blobs),
        "signatures": "unchecked" if integrity.get("signatures") else "absent",
    }
    valid = "mismatch" not in checks.values() and "absent" not in (checks["digest"], checks["digest_profile"])
    return {"valid": valid, "content_digest": digest, "checks": checks}


def opened(value: object, limits: Limits) -> Capsule:
    """A Capsule that may be looked into: strict JSON, the baseline shape, the digest it states.

    Raises ArtifactTooLarge, ArtifactParseError, CapsuleValidationFailed with `details.path`, DigestMismatch.
    """
    artifact = decoded(value, limits)
    for problem in shape_problems(artifact):
        raise problem.error()
    digest = _checked_digest(artifact, limits)
    payload = artifact["payload"]
    _refuse_many(payload["records"], limits)
    _check_blobs(payload["blobs"])
    records = {record["id"]: record for record in payload["records"]}
    external = {each["id"]: each for each in payload["external_refs"]}
    return Capsule(artifact, digest, records, external)


def _checked_digest(artifact: Mapping[str, Any], limits: Limits) -> str:
    digest = content_digest(artifact, limits)
    stated = artifact["integrity"]["content_digest"]
    if stated != digest:
        raise KipError(
            "DigestMismatch",
            f"the Capsule states the digest {stated}, its content has {digest}",
            hint="get the artifact again; whoever changed it did not seal it",
            details={"path": "/integrity/content_digest", "found": digest},
        )
    return digest


def _refuse_many(records: Sequence[Json], limits: Limits) -> None:
    if len(records) > limits.rows:
        raise KipError(
            "ArtifactTooLarge",
            f"the Capsule has {len(records)} records; the limit rows is {limits.rows}",
            hint="open the memory with Limits(rows=...), or export less at a time",
            details={"limit": "rows", "value": limits.rows},
        )


def _check_blobs(blobs: Mapping[str, str]) -> None:
    for name, text in blobs.items():
        if name != blob_digest(text):
            raise KipError(
                "DigestMismatch", f"the blob {name} has other bytes", details={"path": f"/payload/blobs/{name}"}
            )


def _match(same: bool) -> str:
    return "match" if same else "mismatch"


def _stated(stated: Json, found: str) -> str:
    return "absent" if stated is None else _match(stated == found)


def _blobs(blobs: Json) -> str:
    if not blobs or not isinstance(blobs, dict):
        return "absent"
    return _match(all(isinstance(text, str) and name == blob_digest(text) for name, text in blobs.items()))
