"""The plain case of belief on a lake: statuses of slots from columns, without a record (`kipql.belief.quick`).

Claims are packed as a store packs them, and the quick projection itself reads them. A slot with anything that is more
than a plain claim has no answer here: who asks goes to the Reader.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlglot import exp

from kipql.belief.quick import NOTHING, Quick, weighed
from kipql.exec.beliefs import declared
from kipql.lake import layout
from kipql.lake.lower.sql import among, col, eq, lit
from kipql.model import ASSERTION, EVIDENCE, PROPOSITION, Evidence
from kipql.store.records import ASSERTION as PACKED
from kipql.store.records import (
    CONTEXT,
    EXACT,
    FROM_SHIFT,
    NEVER,
    ROLE_SHIFT,
    ROLES,
    UNTIL_SHIFT,
    flags_of,
)
from kipql.times import FOREVER, parse_instant

if TYPE_CHECKING:
    from kipql.lake.closure import Closure, Slot

UNCITED, SEVERAL = -1, -2
_ROOT = Evidence(evidence_class="")
_NO_ROOT = Evidence(evidence_class="", status="corrected")
_COLUMNS = (
    "code", "proposition", "asserted_by", "stance", "mode", "asserted_at", "valid_from", "valid_until", "valid_exact",
    "recalled",
)  # fmt: skip


class Cited(NamedTuple):
    """What the edges of claims say: who has a context, and what each cites with which role."""

    contexts: set[int]
    evidence: Mapping[int, list[tuple[int, str | None]]]


class Plain:
    """The plain slots among some, at one world time.

    decides  whether the policy has precedence rules
    """

    def __init__(self, closure: "Closure", slots: Iterable["Slot"], valid_at: int, decides: bool) -> None:
        self._closure = closure
        self._valid_at = valid_at
        self._decides = decides
        self._terms: dict[int, int] = {}  # a canonical code -> its number here: a packed record holds small ones
        self._numbered: list[int] = []
        self._hot = bytearray()
        self._cited: list[int] = []
        self._roots: list[Evidence] = []
        self._rows: dict[Slot, list[int]] = {}
        self._found: dict[Slot, Quick | None] = {}
        lake = closure.lake
        plain = [slot for slot in slots if declared(lake.environment, slot[1])[1] and len(lake.same(slot[0])) == 1]
        closure.outline(plain)
        self._pack([slot for slot in plain if self._recalled(slot)])
        graph = SimpleNamespace(
            assertions=SimpleNamespace(hot=self._hot, cited=self._cited),
            head=lambda code: self._roots[code >> 3],
            fields={},
            reviewed={},
            identity_seqs=(),
        )
        self._view: Any = _View(graph, lake.seq, self)

    def of(self, slot: "Slot") -> Quick | None:
        """The statuses of a slot by its canonical subject; None where it is not plain."""
        if slot not in self._found:
            self._found[slot] = self._weighed(slot) if slot in self._rows else None
        return self._found[slot]

    def _recalled(self, slot: "Slot") -> bool:
        propositions = self._closure.propositions
        return all(propositions[row].unrecalled is None for row in self._closure.slots[slot])

    def _weighed(self, slot: "Slot") -> Quick | None:
        rows = self._rows[slot]
        if not rows:
            return NOTHING
        functional = declared(self._closure.lake.environment, slot[1])[0].functional
        found = weighed(self._view, slot[0], slot[1], rows, self._valid_at, None, functional, self._decides)  # type: ignore[arg-type]
        if found is None:
            return None
        status, accepted, statuses, candidates, change, standing, kept = found
        code = self._numbered.__getitem__
        return Quick(
            status,
            tuple(map(code, accepted)),
            {code(term): each for term, each in statuses.items()},
            {code(term): each for term, each in candidates.items()},
            change,
            standing,
            kept,
        )

    # --- packing

    def _pack(self, slots: Sequence["Slot"]) -> None:
        closure, lake = self._closure, self._closure.lake
        slot_of = {row * 8 + PROPOSITION: slot for slot in slots for row in closure.slots[slot]}
        repaired = exp.GT(
            this=exp.StrPosition(this=col("element"), substr=lit('"recording_validity"')), expression=lit(0)
        )
        active = eq(col("status"), lit("active"))
        claims = sorted(
            closure.rows(layout.ASSERTIONS, _COLUMNS, "proposition", list(slot_of), active, also=(repaired,))
        )
        codes = [claim[0] for claim in claims]
        cited = self._edges(codes)
        evidence = sorted({target for edges in cited.evidence.values() for target, _ in edges})
        made = self._made([*codes, *evidence])
        roots = self._uncorrected(evidence) - self._derived(evidence) - made
        odd: set[Slot] = set()
        rows: dict[Slot, list[int]] = {slot: [] for slot in slots}
        for code, proposition, actor, stance, mode, asserted, start, until, exact, recalled, mended in claims:
            slot = slot_of[proposition]
            edges = cited.evidence.get(code, ())
            if not (recalled and exact) or mended or code in made or code in lake.reviewed:
                odd.add(slot)
                continue
            flags = flags_of(stance, mode) | (CONTEXT if code in cited.contexts else 0)
            flags |= (EXACT << FROM_SHIFT if start else 0) | (EXACT << UNTIL_SHIFT if until else 0)
            source = UNCITED if not edges else SEVERAL
            if len(edges) == 1:
                flags |= ROLES.index(edges[0][1]) << ROLE_SHIFT
                source = len(self._roots)
                self._roots.append(_ROOT if edges[0][0] in roots else _NO_ROOT)
            rows[slot].append(len(self._cited))
            self._cited.append(source)
            begins, ends = parse_instant(start or asserted), parse_instant(until) if until else FOREVER
            object_ = self._number(closure.propositions[proposition >> 3].object)
            self._hot += PACKED.pack(NEVER, flags, begins, ends, self._number(actor), object_, 0, 0)
        self._rows = {slot: held for slot, held in rows.items() if slot not in odd}

    def _number(self, code: int) -> int:
        canonical = self._closure.lake.canonical(code)
        number = self._terms.get(canonical)
        if number is None:
            number = self._terms[canonical] = len(self._numbered)
            self._numbered.append(canonical)
        return number

    def _edges(self, claims: Sequence[int]) -> Cited:
        fields = among(col("field"), [lit("evidence"), lit("context")])
        evidence: dict[int, list[tuple[int, str | None]]] = defaultdict(list)
        contexts = set()
        names = ("code", "field", "target", "role")
        for code, field, target, role in self._closure.rows(layout.EDGES, names, "code", claims, fields):
            if field == "context":
                contexts.add(code)
            elif target & 7 == EVIDENCE:
                evidence[code].append((target, role))
        return Cited({code for code in contexts if code & 7 == ASSERTION}, evidence)

    def _made(self, codes: Sequence[int]) -> set[int]:
        """What some Activity put out."""
        outputs = eq(col("field"), lit("outputs"))
        return {code for (code,) in self._closure.rows(layout.EDGES, ("target",), "target", codes, outputs)}

    def _uncorrected(self, evidence: Sequence[int]) -> set[int]:
        active = (eq(col("status"), lit("active")), col("recalled"))
        return {code for (code,) in self._closure.rows(layout.EVIDENCE, ("code",), "code", evidence, *active)}

    def _derived(self, evidence: Sequence[int]) -> set[int]:
        """Evidence that was made from something."""
        fields = among(col("field"), [lit("source"), lit("generated_by")])
        return {code for (code,) in self._closure.rows(layout.EDGES, ("code",), "code", evidence, fields)}

    # --- what `weighed` asks of a view

    def rows_of(self, slot: "Slot") -> list[int]:
        """The packed claims of a slot."""
        return self._rows[slot]

    def propositions(self, slot: "Slot") -> list[int]:
        """The Propositions of a slot, as they were stored."""
        return self._closure.slots[slot]

    def object_of(self, row: int) -> int:
        """The number of a Proposition's object."""
        return self._number(self._closure.propositions[row].object)


class _View:
    """The packed claims as a view."""

    has_merges = False

    def __init__(self, graph: object, seq: int, plain: Plain) -> None:
        self.graph = graph
        self.seq = seq
        self.objects = _Objects(plain)
        self._plain = plain

    def live_assertions(self, subject: int, lineage: str) -> list[int]:
        return self._plain.rows_of((subject, lineage))

    def slot(self, subject: int, lineage: str) -> list[int]:
        return self._plain.propositions((subject, lineage))


class _Objects:
    def __init__(self, plain: Plain) -> None:
        self._plain = plain

    def __getitem__(self, row: int) -> int:
        return self._plain.object_of(row)
