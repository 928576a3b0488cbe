"""Which source elements a Space has imported, as what (specification §38.1, §38.2): the retained import mappings.

An import notes, in its own commit and in protected control state, every source element with the element that it
became. A source element is recognised by a fingerprint of its Space, its id and what never changes about it. Space ids
repeat between memories ("kip:space:default"), so a Capsule of kipql also says which memory it is from
(`handling.source_lineage`): two owners' elements are never confused.
"""

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from kipql.model import parse_id
from kipql.schema.refs import written_lineage
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View

_FIXED: Mapping[str, tuple[str, ...]] = {
    "concept": (),
    "proposition": ("subject", "object"),
    "assertion": ("proposition", "asserted_by", "stance", "mode", "asserted_at"),
    "evidence": ("evidence_class",),
    "activity": ("activity_class",),
}
"""Members that are never redacted and never change, by kind."""


class Imported(NamedTuple):
    """One source element and what it became; `code` names the destination element."""

    source: str
    fingerprint: str
    code: int


def source_of(space_id: str, lineage: object) -> str:
    """What names a source: its Space, and its memory where that is known."""
    return f"{space_id}\n{lineage if isinstance(lineage, str) else ''}"


def fingerprint(record: Mapping[str, Any], source: str) -> str:
    """A digest of what names a source element and of what its source never changes; `source` is of `source_of`."""
    system = record["_system"]
    symbol = record.get("schema_ref") or record.get("predicate_ref") or ""
    said = [
        source,
        record["id"],
        record["kind"],
        system.get("created_at"),
        system.get("created_tx"),
        written_lineage(symbol) or symbol,
        [record.get(name) for name in _FIXED[record["kind"]]],
    ]
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def note(import_id: str, source: str, rows: Iterable[Imported]) -> dict[str, Json]:
    """The control payload of an import."""
    return {"imported": {"import_id": import_id, "space_id": source, "rows": [list(row) for row in rows]}}


def imported(view: "View") -> dict[str, int]:
    """Fingerprint -> code, over every import up to the view; a later one wins."""
    found: dict[str, int] = {}
    for seq, kind, payload in view.graph.controls:
        if kind == "identity" and seq <= view.seq and isinstance(payload, Mapping) and "imported" in payload:
            found.update((mark, code) for _, mark, code in payload["imported"]["rows"])
    return found


def code_of(view: "View", name: object) -> int | None:
    """The code of an id that a plan names, None for what is not there."""
    if not isinstance(name, str) or parse_id(name) is None:
        return None
    return view.code(name)
