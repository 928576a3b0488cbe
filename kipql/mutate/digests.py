"""Digests: of an Evidence payload (§15.3), and of what a creation under a client key said (§7.5)."""

import hashlib
import json
from typing import Any

from kipql.limits import exhausted
from kipql.model import element_id
from kipql.mutate.draft import REMOVED, Draft, Handle, Path, Placement, Target
from kipql.schema.refs import written_lineage
from kipql.values import Json

_REFERENCES = {("fields", "proposition"), ("fields", "asserted_by")}


def content_digest(payload: Json, most: int | None = None) -> str | None:
    """The sha256 of an inline payload: the bytes of a text, the canonical JSON (RFC 8785) of anything else.

    Raises ResourceExhausted for more than `most` bytes.
    """
    if not isinstance(payload, dict) or "inline" not in payload:
        return None
    inline = payload["inline"]
    if isinstance(inline, str):
        content = inline.encode()
    else:
        import rfc8785

        content = rfc8785.dumps(inline)
    if most is not None and len(content) > most:
        exhausted("payload", most, f"the payload of Evidence has {len(content)} bytes")
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def fingerprint(draft: Draft) -> str:
    """A digest of everything a creation assigned; defaults that it left to the engine are not part of it."""
    said = sorted([json.dumps(_path(path)), _said(path, given.value)] for path, given in draft.created.items())
    return digest_of([draft.kind, said])


def _path(path: Path) -> list[Json]:
    """A path with the target of a reference by its id."""
    return [_id(step) if isinstance(step, int | Draft) else step for step in path]


def _said(path: Path, value: Any) -> Json:
    if path[0] == "single" or path in _REFERENCES:
        return _id(value)
    if path == ("fields", "schema"):
        return written_lineage(value)  # a retry under a newer version of the package is a retry
    return _plain(value)


def digest_of(said: Any) -> str:
    """A short digest of a JSON value."""
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _id(target: Target) -> str:
    code = target.code if isinstance(target, Draft) else target
    assert code is not None
    return element_id(code)


def _plain(value: Any) -> Json:
    if isinstance(value, Handle):
        return _id(value.target)
    if isinstance(value, Placement):
        return [value.role, value.index]
    if value is REMOVED:
        return {"removed": True}
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
