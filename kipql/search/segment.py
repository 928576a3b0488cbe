"""A segment: documents, and the postings from tokens and names to them (specification §66).

A document is one state of one element, numbered in the order it was added: its *entry*. It holds from the commit
that wrote it until the commit that replaced its text, so the same postings serve every snapshot, and which
entries count at one is a mask (`corpus`). Postings ascend and are append-only; a reader that knows how many
entries there are cuts them there and needs no lock.
"""

from array import array
from bisect import bisect_left, insort
from typing import TYPE_CHECKING

from kipql.search.documents import Document
from kipql.search.fold import phrase
from kipql.store.postings import appended

if TYPE_CHECKING:
    from kipql.search.analysis import Analyzer

FOREVER = 1 << 62
LONGEST_START = 64  # characters of a name, from a word on, that a prefix may have
MOST_STARTS = 8  # words of a name that a prefix may begin at


class Posting:
    """The entries of one token, and how often it stands in each."""

    __slots__ = ("counts", "entries")

    def __init__(self) -> None:
        self.entries: array[int] = array("i")
        self.counts: array[int] = array("i")

    def add(self, entry: int, count: int) -> None:
        self.counts = appended(self.counts, count)
        self.entries = appended(self.entries, entry)  # last: what a reader finds here has its count


class Names:
    """Names whole, and what they begin with at each of their words."""

    __slots__ = ("_starting", "_starts", "_whole")

    def __init__(self) -> None:
        self._whole: dict[str, array[int]] = {}
        self._starting: dict[str, array[int]] = {}
        self._starts: list[str] = []  # the keys of `_starting`, sorted

    def add(self, name: str, entry: int, *, fresh: bool) -> None:
        """Add a name (a phrase); with `fresh` the caller sorts afterwards."""
        _append(self._whole, name, entry)
        at = 0
        for _ in range(MOST_STARTS):
            start = name[at : at + LONGEST_START]
            if _append(self._starting, start, entry):
                if fresh:
                    self._starts.append(start)
                else:
                    insort(self._starts, start)
            at = name.find(" ", at) + 1
            if not at:
                break

    def sort(self) -> None:
        """After adding with `fresh`."""
        self._starts.sort()

    def exact(self, name: str) -> "array[int]":
        """Entries that have exactly this name."""
        return self._whole.get(name, _NONE)

    def starting(self, prefix: str) -> "list[array[int]]":
        """Entries of names that begin with `prefix` at one of their words."""
        starts = self._starts
        low = bisect_left(starts, prefix)
        high = bisect_left(starts, prefix + "\U0010ffff", low)
        return [self._starting[start] for start in starts[low:high]]


class Segment:
    """Documents of one kind."""

    __slots__ = ("ends", "lengths", "names", "postings", "rows", "starts")

    def __init__(self) -> None:
        self.rows: array[int] = array("i")
        self.starts: array[int] = array("q")
        self.ends: array[int] = array("q")  # the commit that replaced the text; FOREVER until one does
        self.lengths: array[int] = array("i")
        self.postings: dict[str, Posting] = {}
        self.names = Names()

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, row: int, seq: int, document: Document, analyzer: "Analyzer", *, fresh: bool = False) -> int:
        """Add a document that holds from `seq` on; its entry."""
        counts, length = analyzer.document(document.texts)
        entry = len(self.rows)
        postings = self.postings
        for token, count in counts.items():
            posting = postings.get(token)
            if posting is None:
                posting = postings[token] = Posting()
            posting.add(entry, count)
        for name in dict.fromkeys(map(phrase, document.names)):
            if name:
                self.names.add(name, entry, fresh=fresh)
        self.starts = appended(self.starts, seq)
        self.ends = appended(self.ends, FOREVER)
        self.lengths = appended(self.lengths, length)
        self.rows = appended(self.rows, row)
        return entry


def _append(table: "dict[str, array[int]]", key: str, entry: int) -> bool:
    """Whether the key is new."""
    held = table.get(key)
    if held is None:
        table[key] = array("i", (entry,))
        return True
    if held[-1] != entry:
        table[key] = appended(held, entry)
    return False


_NONE: "array[int]" = array("i")
