"""Whether the numbers of a snapshot point at something: rows that exist, symbols, Literals, commits.

Right checksums say that a file is as it was written, not that kipql wrote it. Accidents are found by checksums
alone, so a large snapshot is not looked through when it opens: there, a number that points nowhere is found when it
is followed, and what follows from it is explained by a look then (`suspects`).
"""

from array import array
from collections.abc import Callable, Iterable, Mapping
from itertools import compress, islice
from operator import ge
from typing import Any

from kipql.model import MODES, STANCES
from kipql.store.codec import Invalid
from kipql.store.frozen import decoded
from kipql.store.history import Bounds
from kipql.store.records import (
    ASSERTION,
    BOUNDED,
    CONTEXT,
    END_MASK,
    FROM_SHIFT,
    MODE_MASK,
    MODE_SHIFT,
    NEVER,
    ROLE_MASK,
    ROLE_SHIFT,
    ROLES,
    STANCE_MASK,
    UNTIL_SHIFT,
)
from kipql.times import BEGINNING, FIRST, FOREVER, LAST

MOST = 1 << 17  # numbers that are looked through when a memory opens: some milliseconds
Sections = Mapping[str, Any]
_CONCEPT, _PROPOSITION, _ASSERTION, _EVIDENCE = range(4)
_ROWS_OF = {
    "slot_propositions": _PROPOSITION, "slot_assertions": _ASSERTION, "of_proposition": _ASSERTION,
    "cited_by": _ASSERTION, "outgoing": _PROPOSITION, "incoming": _PROPOSITION, "by_actor": _ASSERTION,
    "by_predicate": _PROPOSITION, "of_type": _CONCEPT, "keyed": _CONCEPT, "named": _CONCEPT,
}  # fmt: skip


def is_small(sections: Sections) -> bool:
    """Whether a snapshot is looked through when it opens."""
    return sum(len(each) for each in sections.values() if isinstance(each, array)) <= MOST


def check(sections: Sections, seq: int, bounds: Bounds | None = None) -> None:
    """Look through every table; the bounds are what the last commit says. Raises Invalid; LookupError, TypeError,
    ValueError for what is no table at all."""
    _Check(sections, seq, bounds or _bounds(sections, seq)).everything()


def _bounds(sections: Sections, seq: int) -> Bounds:
    one, two, three, four, five = (sections[f"history.bounds.{kind}"][seq - 1] if seq else 0 for kind in range(5))
    return one, two, three, four, five


class _Check:
    def __init__(self, sections: Sections, seq: int, bounds: Bounds) -> None:
        self._sections = sections
        self._seq = seq
        self._bounds = bounds
        self._rows = (*bounds, 0, 0, 0)  # a code has three bits for its kind
        self._symbols = len(sections["symbols"]["refs"])
        self._lineages = len(sections["symbols"]["lineages"])
        self._literals = len(sections["literals.starts"]) - 1

    def everything(self) -> None:
        for name, section in self._sections.items():
            if name.endswith(".starts"):
                self._ascending(name, section)
            elif name.endswith(".order"):
                self._within(name, section, 0, len(self._sections[name.removesuffix("order") + "starts"]) - 1)
                if name != "literals.order":
                    self._sorted_texts(name.removesuffix(".order"), section)
            elif name.endswith(".keys"):
                self._rising(name, section)
            elif name.endswith(".rows"):
                self._runs(name, section)
        self._history()
        self._columns()
        self._claims()
        self._postings()

    def _history(self) -> None:
        for name in ("changed_in", "changed_end", "makers_from"):
            self._ascending(name, self._sections[f"history.{name}"])
        for name in ("changed_in", "makers_from"):
            self._within(name, self._sections[f"history.{name}"], 1, self._seq + 1)
        self._within(
            "changed_end", self._sections["history.changed_end"], 1, len(self._sections["history.changed"]) + 1
        )
        for kind in range(5):
            self._ascending("bounds", self._sections[f"history.bounds.{kind}"])
            self._within("bounds", self._sections[f"history.bounds.{kind}"], 0, self._bounds[kind] + 1)
            self._within("ever_left", self._sections[f"ever_left.{kind}"], 0, self._bounds[kind])
            self._within("left_seqs", self._sections[f"left_seqs.{kind}"], 0, self._seq + 1)
        self._within("at", self._sections["history.at"], FIRST, LAST + 1)
        self._within("identity_seqs", self._sections["identity_seqs"], 1, self._seq + 1)
        self._codes("changed", self._sections["history.changed"])
        ends, changed = self._sections["history.changed_end"], self._sections["history.changed"]
        makers = self._sections["history.makers_from"]
        if (ends[-1] if ends else 0) != len(changed) or (self._seq and (not makers or makers[0] != 1)):
            raise Invalid("commits do not agree")
        self._within("literals.erased", self._sections["literals.erased"], 0, self._literals)

    def _columns(self) -> None:
        sections = self._sections
        self._codes("subjects", sections["propositions.subjects"])
        self._within("predicates", sections["propositions.predicates"], 0, self._symbols)
        self._terms("objects", sections["propositions.objects"])
        self._within("types", sections["types"], 0, self._symbols)
        self._within("cited", sections["assertions.cited"], -2, self._bounds[_EVIDENCE])
        self._within("asserted_at", sections["assertions.asserted_at"], BEGINNING, FOREVER + 1)
        if any(not 0 <= number <= 1 and number == number for number in sections["assertions.confidence"]):
            raise Invalid("a confidence that is no number from 0 to 1")  # NaN, unequal to itself, is none
        for name in ("citations", "contexts", "intervals"):
            self._within(name, sections[f"assertions.{name}.keys"], 0, self._bounds[_ASSERTION])
        for kind in (_PROPOSITION, _ASSERTION):
            for name in ("side", "keys"):
                self._within(name, sections[f"{name}.{kind}.keys"], 0, self._bounds[kind])

    def _claims(self) -> None:
        sections = self._sections
        bounded, context = set(sections["assertions.intervals.keys"]), set(sections["assertions.contexts.keys"])
        several, cited = set(sections["assertions.citations.keys"]), sections["assertions.cited"]
        actors, terms = list[int](), list[int]()
        for row, packed in enumerate(ASSERTION.iter_unpack(sections["assertions.hot"])):
            ended, flags, start, until, actor, term, proposition, lineage = packed
            forms = flags >> FROM_SHIFT & END_MASK, flags >> UNTIL_SHIFT & END_MASK
            if (
                proposition >= self._bounds[_PROPOSITION]
                or not (0 < ended <= self._seq or ended == NEVER)
                or not BEGINNING <= start <= FOREVER
                or not BEGINNING <= until <= FOREVER
                or lineage >= self._lineages
                or (flags & STANCE_MASK) >= len(STANCES)
                or (flags >> MODE_SHIFT & MODE_MASK) >= len(MODES)
                or (flags >> ROLE_SHIFT & ROLE_MASK) >= len(ROLES)
                or max(forms) > BOUNDED
                or (BOUNDED in forms and row not in bounded)
                or (flags & CONTEXT and row not in context)
                or (cited[row] == -2 and row not in several)
            ):
                raise Invalid(f"Assertion {row} points nowhere")
            actors.append(actor)
            terms.append(term)
        self._codes("actors", actors)
        self._terms("terms", terms)

    def _postings(self) -> None:
        sections = self._sections
        for name, kind in _ROWS_OF.items():
            for part in ("", ".concepts", ".literals", ".others", ".runs"):
                rows, heads = sections.get(f"{name}{part}.rows"), sections.get(f"{name}{part}.heads")
                if rows is not None:
                    self._within(name, rows, 0, self._bounds[kind])
                if heads is not None:
                    runs = len(sections[f"{name}{part}.starts"]) - 1
                    self._within(name, heads, -1 - runs, self._bounds[kind])
        self._codes("referrers", sections["referrers.rows"])
        for kind in range(5):
            self._within("slots", sections[f"slots.firsts.{kind}"], -1, self._bounds[_PROPOSITION])
        if any(not -1 <= older < row for row, older in enumerate(sections["slots.nexts"])):
            raise Invalid("slots that go round in circles")
        for target, rows in sections["merged_from"]:
            self._codes("merged_from", (target,))
            self._within("merged_from", rows, 0, self._bounds[_CONCEPT])

    # one table

    def _sorted_texts(self, name: str, order: "array[int]") -> None:
        starts, data = self._sections[f"{name}.starts"], self._sections[f"{name}.bytes"]
        texts = [data[starts[at] : starts[at + 1]] for at in order]
        if texts != sorted(texts):
            raise Invalid(f"{name} is out of order")
        for text in texts:
            decoded(text)

    def _within(self, name: str, table: "Iterable[int]", low: int, high: int) -> None:
        for number in (min(table, default=low), max(table, default=low)):
            if not low <= number < max(high, low + 1) or (high <= low and any(True for _ in table)):
                raise Invalid(f"{name} points nowhere: {number}")

    def _ascending(self, name: str, table: "array[int]") -> None:
        if list(table) != sorted(table):
            raise Invalid(f"{name} is out of order")

    def _rising(self, name: str, table: "array[int]") -> None:
        if any(map(ge, table, islice(table, 1, None))):
            raise Invalid(f"{name} is out of order, or has a key twice")

    def _runs(self, name: str, rows: "array[int]") -> None:
        """Rows ascend but where a run begins."""
        starts = set(self._sections[f"{name.removesuffix('rows')}starts"])
        falls = compress(range(1, len(rows)), map(ge, rows, islice(rows, 1, None)))
        if not starts.issuperset(falls):
            raise Invalid(f"{name} is out of order")

    def _codes(self, name: str, table: Iterable[int]) -> None:
        rows = self._rows
        _all(name, table, lambda code: 0 <= code >> 3 < rows[code & 7])

    def _terms(self, name: str, table: Iterable[int]) -> None:
        rows, least = self._rows, -self._literals
        _all(name, table, lambda term: least <= term < 0 or 0 <= term >> 3 < rows[term & 7])


def _all(name: str, table: Iterable[int], holds: Callable[[int], bool]) -> None:
    for number in table:
        if not holds(number):
            raise Invalid(f"{name} points nowhere: {number}")
