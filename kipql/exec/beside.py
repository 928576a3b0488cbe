"""The claims of slots side by side, as one head has them (specification §25.2, §25.4).

The claims of a slot were recorded at different times, so their records lie in different lines and pages of memory:
reading five of them costs more than what is done with them. Here the hot fields of a slot's claims are one string of
bytes, made when the slot is first asked for by name and gone with the next commit; what a commit adds or ends is not
in it and need not be, and a view of the past leaves out what it does not see. A slot has such a string only where
nothing in it needs a second look: no context, no range for an end, no mode from `inferred` on, no citation, and
beginnings that come in the order of recording.
"""

import struct
from typing import TYPE_CHECKING

from kipql.belief.quick import FROM, RARE, Weighed, answered, lone_answer, special
from kipql.belief.standing import Claim, ends
from kipql.exec.direct import is_direct
from kipql.exec.heads import Memory, shared
from kipql.exec.loose import loosely_cited
from kipql.exec.unready import CODES
from kipql.model import PROPOSITION
from kipql.store.live import LARGE
from kipql.store.records import ROLE_MASK, ROLE_SHIFT, SIZE, STANCE_MASK
from kipql.store.slots import LINEAGES
from kipql.times import BEGINNING, FOREVER

if TYPE_CHECKING:
    from kipql.store.view import View

ROLE = ROLE_MASK << ROLE_SHIFT  # set where the claim cites one Evidence and says as what
CLAIM = struct.Struct("<IIqqiiI")  # the beginning of a record (`store.records`), and its row
_ROW_AT = CLAIM.size - 4
_row = struct.Struct("<I").pack


class Claims(Memory[bytes | None]):
    """The claims of the slots of a Predicate by the id of their subject; None where a slot is to be read otherwise."""

    def find(self, text: str) -> bytes | None:
        return packed(self.head, self.head.graph.slots[CODES[text] << LINEAGES | self.number])


class Candidates(Memory[tuple[tuple[int, int], ...]]):
    """The candidates of those slots by the id of their subject: object terms, each with its first Proposition row."""

    def find(self, text: str) -> tuple[tuple[int, int], ...]:
        graph = self.head.graph
        slot, objects = graph.slots[CODES[text] << LINEAGES | self.number], graph.propositions.objects
        first: dict[int, int] = {}
        for row in graph.slot_propositions.get(slot, self.head.bounds[PROPOSITION]):
            first.setdefault(objects[row], row)
        return tuple(first.items())


class Elsewhere:
    """Slots that are all to be read otherwise."""

    def __getitem__(self, text: str) -> None:
        CODES[text]  # raises Unready for what is no id


def slots_at(head: "View", number: int) -> tuple[Claims | Elsewhere, Candidates | None]:
    """Those of a Predicate at a head, by the number of its lineage."""
    if special(head.graph) or not is_direct(head):
        return Elsewhere(), None
    held = shared(head)
    return held.of(Claims, number), held.of(Candidates, number)


def packed(head: "View", slot: int) -> bytes | None:
    """The claims of a slot up to a head."""
    graph, bound = head.graph, head.bounds[2]
    rows = graph.slot_assertions.get(slot, bound)
    if len(rows) > LARGE:
        return None
    columns = graph.assertions
    if loosely_cited(graph, bound) and any(columns.cited[row] != -1 for row in rows):
        return None
    hot, last = columns.hot, BEGINNING
    pieces: list[bytes | bytearray] = []
    for row in rows:
        at = row * SIZE
        pieces += hot[at : at + _ROW_AT], _row(row)
    found = b"".join(pieces)
    for _, flags, start, _, _, _, _ in CLAIM.iter_unpack(found):
        if flags & (RARE | ROLE) or start < last:
            return None
        last = start
    return found


def weighed_in(claims: bytes, bound: int, seq: int, valid_at: int, functional: bool, decides: bool) -> Weighed | None:
    """The statuses of a slot as `quick.in_order` finds them; None where what is accepted has to be put in order."""
    lone: Claim | None = None
    place = -1
    standing: list[Claim] = []
    kept: list[int] = []
    change = FOREVER
    for ended, flags, start, until, actor, term, row in CLAIM.iter_unpack(claims):
        if row >= bound or ended <= seq:
            continue
        if start > valid_at:
            if not flags & FROM:
                return None
            if start < change:
                change = start
            continue
        if lone is not None:
            _, before, begun, end, who, value = lone
            if (  # as `ends`, without the call
                who == actor
                and begun < start
                and end == FOREVER
                and (
                    (before ^ flags) & STANCE_MASK
                    if value == term
                    else functional and not (before | flags) & STANCE_MASK
                )
            ):
                lone = None
        elif standing:
            claim = (ended, flags, start, until, actor, term)
            left = [at for at, each in enumerate(standing) if not ends(claim, each, functional)]
            if len(left) < len(standing):
                standing, kept = [standing[at] for at in left], [kept[at] for at in left]
        if until > valid_at:
            if until < change:
                change = until
            claim = (ended, flags, start, until, actor, term)
            if lone is not None:
                standing, kept, lone = [lone, claim], [place, row], None
            elif standing:
                standing.append(claim)
                kept.append(row)
            else:
                lone, place = claim, row
    changes = None if change == FOREVER else change
    if lone is not None:
        return lone_answer(lone, [place], changes)
    found = answered(standing, kept, changes, functional, decides)
    return found if found is not None and len(found[1]) < 2 else None
