"""Whether a lake holds this memory or another one (docs/scale.md, "Export").

A Space has no identity but its id, which memories share. What tells them apart is what they hold: of every commit what
no purge changes, and of a few elements, those that were not purged, the first state. The latter is compared for one
view and one kipql alone, since another may write an element otherwise.
"""

import hashlib
from array import array
from collections.abc import Container, Mapping
from typing import TYPE_CHECKING

from kipql.lake.cells import text
from kipql.model import EVIDENCE, KINDS, element_id
from kipql.store.elements import element

if TYPE_CHECKING:
    from kipql.store.view import View

_FIRST, _LAST = 4, 12  # elements of each kind that are looked at


def anchor(view: "View", head: int) -> str:
    """A digest of the commits up to a sequence: their instants, who made them and of which class they are, how many
    elements of each kind there were after them and which older ones they changed."""
    history = view.graph.history
    found = hashlib.sha256()
    before = None
    for seq in range(1, head + 1):
        changed = history.changed(seq)
        found.update(array("q", (history.at(seq), *history.bounds(seq), len(changed), *changed)).tobytes())
        maker = history.origin(seq), history.transaction_class(seq)
        if maker != before:
            before = maker
            origin, of_class = maker
            told = [seq, origin.principal_id, origin.channel, origin.import_id, of_class]
            found.update(text(told).encode())
    return found.hexdigest()


def witness(view: "View", erased: Container[str]) -> dict[str, str]:
    """Digests of the first and the last elements of each kind, by id; none of an erased one."""
    found = {}
    for kind in range(len(KINDS)):
        rows = view.rows(kind)
        for row in sorted({*rows[:_FIRST], *rows[-_LAST:]}):
            code = row * 8 + kind
            if element_id(code) not in erased:
                found[element_id(code)] = _told(view, code)
    return found


def is_witnessed(view: "View", witnessed: Mapping[str, str], erased: Container[str]) -> bool:
    """Whether a view's elements are those of an older witness, as far as they were not erased."""
    for public, told in witnessed.items():
        if public not in erased:
            code = view.code(public)
            if code is None or not view.exists(code) or _told(view, code) != told:
                return False
    return True


def _told(view: "View", code: int) -> str:
    """A digest of the first state of an element."""
    at = view.at(view.graph.history.created_in(code & 7, code >> 3))
    wire = element(at, code, at.record(code))
    if code & 7 == EVIDENCE:
        wire.pop("payload", None)
    return hashlib.sha256(text(wire).encode()).hexdigest()
