"""What a touch asks of the memory: look-ups by key, and never more of them for more articles."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import kipql
from kipql.memory.canon.address import key
from kipql.memory.canon.articles import nearest
from kipql.memory.canon.assets import AT_ONCE, known_assets, make_assets
from kipql.memory.canon.queries import query

if TYPE_CHECKING:
    from kipql import Nexus

READING = frozenset(("ReadonlyViolation", "NotAuthorized", "RequiresApproval"))
Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Governing:
    """The articles that govern some paths, each once, in the order of the paths; `queries` is what it took."""

    keys: tuple[str, ...]
    paths: int
    queries: int


class Lookups:
    """The prepared query of one Canon, and which Assets it knows to be there."""

    def __init__(self, nexus: "Nexus", *, make_assets: bool) -> None:
        self._nexus = nexus
        self._asked = nexus.prepare(query("governing"))
        self._known: set[str] = set()
        self._writes = make_assets

    def found(self, keys: Iterable[str]) -> set[str]:
        """Which of some keys are articles'."""
        return set(self.capsules(keys))

    def capsules(self, keys: Iterable[str]) -> dict[str, str]:
        """The capsules of articles by key, "" where one has none."""
        rows = self._asked.query({"keys": list(keys)}).rows
        return {name: capsule if isinstance(capsule, str) else "" for name, _, _, capsule in rows}

    def governing(self, chains: list[list[str]], places: list[Place]) -> Governing:
        """The articles that govern some paths, given the keys that may answer for each, and the place of each."""
        if not chains:
            return Governing((), 0, 0)
        found = self.found(dict.fromkeys(one for chain in chains for one in chain))
        governing = (nearest(found, chain) for chain in chains)
        keys = tuple(dict.fromkeys(one for one in governing if one))
        return Governing(keys, len(chains), 1 + self._make(places))

    def _make(self, places: list[Place]) -> int:
        """Make the Assets that were never named before; how many queries it took to know them.

        What a touch answers does not depend on it: where nothing may be written now, nothing is.
        """
        new = {key(mount, address): (mount, address) for mount, address in places}
        new = {name: place for name, place in new.items() if name not in self._known}
        if not new or not self._writes:
            return 0
        there = known_assets(self._nexus, new)
        missing = [(name, place) for name, place in new.items() if name not in there]
        try:
            for start in range(0, len(missing), AT_ONCE):
                make_assets(self._nexus, missing[start : start + AT_ONCE])
        except kipql.KipError as error:
            self._writes = error.code not in READING
        else:
            self._known.update(new)
        return 1
