"""Exact refs and lineages as small numbers (specification §20.14).

Durable state names the exact symbol, matching uses its lineage. Numbers never change once given: postings are
keyed by the lineage *as written* (`kip://path@1.0.0/Name` is of `kip://path/Name`); a rename that a Schema
Environment declares is laid over them by `Environments`.
"""

from array import array


def written_lineage(ref: str) -> str:
    """The lineage that an exact ref spells: the ref without its version."""
    head, at, tail = ref.partition("@")
    if not at:
        return ref
    _, slash, name = tail.partition("/")
    return f"{head}/{name}" if slash else head


class Symbols:
    """Refs by number and numbers by ref; lineages likewise."""

    __slots__ = ("_lineage_numbers", "_numbers", "lineage_of", "lineages", "refs")

    def __init__(self) -> None:
        self.refs: list[str] = []
        self.lineages: list[str] = []
        self.lineage_of: array[int] = array("i")  # symbol number -> number of its written lineage
        self._numbers: dict[str, int] = {}
        self._lineage_numbers: dict[str, int] = {}

    def number(self, ref: str) -> int:
        """The number of an exact ref, given now if it is new."""
        known = self._numbers.get(ref)
        if known is not None:
            return known
        lineage = self.lineage(written_lineage(ref))
        number = len(self.refs)
        self.refs.append(ref)
        self.lineage_of.append(lineage)
        self._numbers[ref] = number
        return number

    def find(self, ref: str) -> int | None:
        """The number of an exact ref, None when no element ever used it."""
        return self._numbers.get(ref)

    def lineage(self, lineage: str) -> int:
        """The number of a lineage, given now if it is new."""
        known = self._lineage_numbers.get(lineage)
        if known is None:
            known = len(self.lineages)
            self.lineages.append(lineage)
            self._lineage_numbers[lineage] = known
        return known

    def find_lineage(self, lineage: str) -> int | None:
        """The number of a lineage, None when no element ever used it."""
        return self._lineage_numbers.get(lineage)
