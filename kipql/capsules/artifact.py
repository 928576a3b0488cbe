"""The Capsule artifact: strict JSON in, canonical bytes and their digest out (specification §37.6, §37.7, §9.3, §70.2).

The digest covers every top-level member but `integrity`, as RFC 8785 writes it. That it matches says that the bytes
are the ones that were sealed; it says nothing about who sealed them, or whether they are true.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NoReturn

from kipql.capsules.canonical import canonical_bytes, digest_of
from kipql.errors import KipError
from kipql.limits import Limits
from kipql.values import DEEPEST, Json, check_key, check_number, check_text, json_type, members_once

FORMAT = "KIP-Cognitive-Capsule"
FORMAT_VERSION = "2.0-draft"
DIGEST_PROFILE = "kip-jcs-safe-v1"


@dataclass(frozen=True, slots=True)
class Capsule:
    """A Capsule whose shape and digest are right.

    artifact  the JSON object
    digest    `sha256:...` of its content
    records   its elements by capsule-local id, in their order
    external  its ExternalRefs by id
    """

    artifact: Mapping[str, Json]
    digest: str
    records: Mapping[str, Mapping[str, Json]]
    external: Mapping[str, Mapping[str, Json]]

    @property
    def payload(self) -> Mapping[str, Any]:
        return self.artifact["payload"]  # type: ignore[no-any-return]

    @property
    def source(self) -> str:
        """The Space it came from, as it says; the local ids are ids of that Space (§38.1)."""
        return str(self.payload["source"]["space_id"])

    @property
    def handling(self) -> Mapping[str, Json]:
        return self.payload["handling"]  # type: ignore[no-any-return]


def decoded(value: object, limits: Limits) -> dict[str, Json]:
    """The JSON object in a text, in UTF-8 bytes or in a mapping, copied and with canonical numbers.

    Raises ArtifactTooLarge above `limits.capsule` bytes, ArtifactParseError with `details.path` for what is no
    portable JSON: a member given twice, a number out of range, an unpaired surrogate, nesting too deep.
    """
    if isinstance(value, bytes | bytearray):
        _refuse_large(len(value), limits)
        try:
            value = bytes(value).decode("utf-8")
        except UnicodeDecodeError as error:
            raise _unreadable(f"it is not UTF-8: {error.reason} at byte {error.start}") from None
    if isinstance(value, str):
        _refuse_large(len(value.encode("utf-8", "surrogatepass")), limits)
        try:
            value = json.loads(
                value, object_pairs_hook=members_once, parse_float=_fraction, parse_constant=_no_constant
            )
        except RecursionError:
            raise _unreadable("it nests too deep") from None
        except ValueError as error:
            raise _unreadable(str(error)) from None
    if not isinstance(value, Mapping):
        raise KipError("ArtifactParseError", f"a Capsule is a JSON object, not {json_type(value)}")
    copied: dict[str, Json]
    try:
        copied = _copied(value, DEEPEST)
    except KipError:
        copied = _located(value)
    return copied


def content_digest(artifact: Mapping[str, Json], limits: Limits) -> str:
    """The digest of a decoded Capsule's content."""
    content = canonical_bytes({name: member for name, member in artifact.items() if name != "integrity"})
    _refuse_large(len(content), limits)
    return f"sha256:{sha256(content).hexdigest()}"


def sealed(payload: Mapping[str, Json]) -> dict[str, Json]:
    """The Capsule of a payload, with its digest."""
    artifact: dict[str, Json] = {"format": FORMAT, "format_version": FORMAT_VERSION, "payload": dict(payload)}
    integrity = {"digest_profile": DIGEST_PROFILE, "content_digest": digest_of(artifact), "signatures": []}
    return {**artifact, "integrity": integrity}


def blob_digest(text: str) -> str:
    """The name of a blob: the digest of its bytes."""
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def escaped(key: str) -> str:
    """A key as a step of a JSON Pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def _copied(value: Any, depth: int) -> Any:
    """A copy with canonical numbers. Raises KipError for what is no portable JSON."""
    if value.__class__ is str:
        return value if value.isascii() else check_text(value)
    if value.__class__ is dict and depth > 0:
        return {
            key if key.__class__ is str and key.isascii() else check_key(key): _copied(member, depth - 1)
            for key, member in value.items()
        }
    if value.__class__ is list and depth > 0:
        return [_copied(item, depth - 1) for item in value]
    return _followed(value, depth)


def _located(value: Json) -> Any:
    """The same, for a value that is at fault: the error says where."""
    try:
        return _followed(value, DEEPEST)
    except KipError as error:
        path = error.details.get("path", "")
        raise KipError(
            "ArtifactParseError", f"no portable JSON at {path or '/'}: {error.message}", details={"path": path}
        ) from None


def _followed(value: Json, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return check_text(value)
    if isinstance(value, int | float):
        return check_number(value)
    if depth <= 0:
        raise KipError("ArtifactParseError", "it nests too deep")
    if isinstance(value, Mapping):
        return {check_key(key): _below(member, str(key), depth) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_below(item, str(at), depth) for at, item in enumerate(value)]
    raise KipError("ArtifactParseError", f"{type(value).__name__} is not a JSON value")


def _below(value: Json, step: str, depth: int) -> Any:
    try:
        return _followed(value, depth - 1)
    except KipError as error:
        error.details["path"] = f"/{escaped(step)}{error.details.get('path', '')}"
        raise


def _fraction(text: str) -> float:
    """A number token; a nonzero one that binary64 makes zero has lost its digits (§9.3)."""
    value = float(text)
    if value == 0 and any(digit in "123456789" for digit in text.lower().partition("e")[0]):
        raise ValueError(f"the number {text[:40]} is too small")
    return value


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _unreadable(why: str) -> KipError:
    return KipError("ArtifactParseError", f"the Capsule is not JSON: {why}", details={"path": ""})


def _refuse_large(size: int, limits: Limits) -> None:
    if size > limits.capsule:
        raise KipError(
            "ArtifactTooLarge",
            f"the Capsule has {size} bytes; the limit capsule is {limits.capsule}",
            hint="open the memory with Limits(capsule=...), or export less at a time",
            details={"limit": "capsule", "value": limits.capsule},
        )
