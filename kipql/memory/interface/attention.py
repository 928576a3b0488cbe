"""Attention: what commits raised, after the host's cursor (§4). Reading it changes nothing and grants nothing.

An item is a `watch_fire` or `commitment_review` Activity; its place is the sequence of that commit and its ref.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.interface.intake import sequence_of
from kipql.memory.interface.reading import Reading
from kipql.memory.interface.scopes import FACET
from kipql.memory.interface.sources import digest
from kipql.memory.interface.wire import MOST

if TYPE_CHECKING:
    from kipql import Nexus

KINDS = {"watch_fire": "watch_fired", "commitment_review": "commitment_due"}
_TYPES = {"watch_fire": "Watch", "commitment_review": "Commitment"}
_RAISED = "?x ACTIVITY {activity_class: :class}"
_ABOUT = "?c CONCEPT {id: :id}"
_DUE = """FIND(?c.id, ?c.attributes.due_at) WHERE {
  ?c {type: "kip://profiles/cognitive-memory/Commitment"}
  FILTER(IN(?c.attributes.status, ["pending", "blocked"]) && ?c.attributes.due_at <= :now)
} ORDER BY ?c.id"""
_REVIEW = """CREATE ACTIVITY ?x {
  CLIENT KEY :key
  SET FIELDS {activity_class: "commitment_review", status: "completed"}
  SET STRUCTURAL { ("inputs", :commitment) }
}"""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of attention and the cursor after it, None where there is no position yet."""

    items: list[dict[str, Any]]
    cursor: str | None
    more: bool


def page(reading: Reading, cursor: str | None) -> Page:
    """What was raised in a scope after a cursor. Raises CursorInvalid for a cursor that this Space did not give."""
    after = _position(reading.nexus, cursor)
    columns = "?x.id, ?x.activity_class, ?x.inputs, ?x._system.created_tx"
    rows = [row for kind in KINDS for row in reading.find(columns, _RAISED, {"class": kind}).rows]
    placed = [(sequence_of(row[3]), row[0], row) for row in rows]
    found: list[dict[str, Any]] = []
    last, more = after, False
    for seq, ref, row in sorted(placed, key=lambda each: each[:2]):
        if (seq, ref) <= after or (item := _item(reading, seq, row)) is None:
            continue
        if len(found) == MOST:
            more = True
            break
        found.append(item)
        last = (seq, ref)
    return Page(found, cursor if last == after else _cursor(reading.nexus, last), more)


def review(nexus: "Nexus", now: str) -> list[str]:
    """Raise what is due: Watches that fire, and Commitments whose time has come; the ids of the Activities."""
    raised = [each.activity for each in nexus.watches.evaluate() if each.activity is not None]
    for commitment, due_at in nexus.query(_DUE, {"now": now}).rows:
        key = f"commitment_review:{commitment}:{due_at}"
        if not nexus.query("FIND(?x.id) WHERE { ?x ACTIVITY {client_key: :key} }", {"key": key}).rows:
            receipt = nexus.execute(_REVIEW, {"key": key, "commitment": commitment})
            assert isinstance(receipt, kipql.Receipt)
            raised.append(receipt.handles["x"])
    return raised


def _item(reading: Reading, seq: int, row: Any) -> dict[str, Any] | None:
    """An item, None where what it is about is in another scope or may not be seen."""
    ref, activity_class, inputs, _ = row
    ids = [each["id"] for each in inputs]
    for each in (each for each in ids if each[0] == "C"):
        found = reading.find("?c", _ABOUT, {"id": each}).rows
        if found and found[0]["schema_ref"].rsplit("/", 1)[-1] == _TYPES[activity_class]:
            about: Mapping[str, Any] = found[0]
            break
    else:
        return None
    if not reading.scope.admits(_facet(about)):
        return None
    attributes = about["attributes"]
    item = {"ref": ref, "kind": KINDS[activity_class], "summary": _cut(attributes.get("summary")), "raised_seq": seq}
    item |= {"due_at": attributes["due_at"]} if attributes.get("due_at") else {}
    item |= {"priority": attributes["priority"]} if "priority" in attributes else {}
    return {**item, "target_refs": list(dict.fromkeys(ids))[:MOST]}


def _facet(element: Mapping[str, Any]) -> Any:
    lineage = FACET.rsplit("/", 1)[-1]
    return next((value for name, value in element["facets"].items() if name.rsplit("/", 1)[-1] == lineage), None)


def _cut(text: Any) -> str:
    return str(text or "attention was raised")[:4096]


def _cursor(nexus: "Nexus", place: tuple[int, str]) -> str:
    text = f"{place[0]}:{place[1]}"
    return base64.urlsafe_b64encode(f"{text}:{_mark(nexus, text)}".encode()).decode()


def _position(nexus: "Nexus", cursor: str | None) -> tuple[int, str]:
    if cursor is None:
        return (0, "")
    try:
        text, _, mark = base64.urlsafe_b64decode(cursor.encode()).decode().rpartition(":")
        seq, _, ref = text.partition(":")
        if mark == _mark(nexus, text) and seq.isdecimal():
            return (int(seq), ref)
    except (binascii.Error, ValueError):
        pass
    raise kipql.KipError("CursorInvalid", "this attention cursor was not given here")


def _mark(nexus: "Nexus", text: str) -> str:
    return digest("attention", nexus.space_id, text)[-12:]
