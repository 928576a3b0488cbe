"""Snapshots that were opened without a look at every number, and what is found when something goes wrong later.

A large snapshot with right checksums is believed (`ranges`). When a reader then meets what can not be, an IndexError
say, the cause may be the file: it is read again and looked through, once. So the caller is told MemoryDamaged with the
path, and not that kipql has a defect.
"""

import weakref
from collections.abc import Iterator
from pathlib import Path
from traceback import walk_tb

from kipql.errors import KipError
from kipql.store import ranges, snapshot
from kipql.store.codec import Invalid
from kipql.store.files import Files
from kipql.store.graph import Graph

_ALL: "weakref.WeakSet[Suspect]" = weakref.WeakSet()


class Suspect:
    """One snapshot that a store believed, and the graph that came of it; it lives as long as the store."""

    __slots__ = ("__weakref__", "_files", "_path", "graph")

    def __init__(self, files: Files, path: Path, graph: Graph) -> None:
        self._files = files
        self._path = path
        self.graph = graph
        _ALL.add(self)

    def verdict(self) -> KipError | None:
        """MemoryDamaged when the file is wrong, or a newer one that took its place and has its tables; None when it is
        right, or there is none."""
        try:
            return look_through(self._files, self._path)
        except FileNotFoundError:
            pass
        except OSError:
            return None
        try:
            names = self._files.names(self._path.parent)
            newest = max((name for name in names if snapshot.seq_of(name) is not None), default=None)
            return None if newest is None else look_through(self._files, self._path.parent / newest)
        except OSError:
            return None


def look_through(files: Files, path: Path) -> KipError | None:
    """MemoryDamaged when a number of a snapshot says what can not be, None when all of it is right. Raises OSError."""
    try:
        found = snapshot.read(files, path)
        ranges.check(found.sections, found.seq)
    except KipError as error:
        return error
    except (Invalid, LookupError, ValueError, TypeError, AttributeError, OverflowError) as error:
        return snapshot.damage(path, f"{type(error).__name__}: {error}")
    return None


def verdict(error: BaseException) -> KipError | None:
    """What is wrong with the snapshot of the memory that an exception came from; one that is right is looked through
    once. Another memory of the process has nothing to do with it: the frames of the exception say which one it is."""
    at_hand = {id(graph) for graph in _graphs(error)}
    for suspect in list(_ALL):
        if id(suspect.graph) not in at_hand:
            continue
        found = suspect.verdict()
        if found is not None:
            return found
        _ALL.discard(suspect)
    return None


def _graphs(error: BaseException) -> Iterator[Graph]:
    """The graphs that the frames of an exception worked on; a hook of the host's is not looked into."""
    for frame, _ in walk_tb(error.__traceback__):
        for value in frame.f_locals.values():
            if isinstance(value, Graph):
                yield value
            elif type(value).__module__.startswith("kipql."):
                graph = getattr(value, "graph", None)
                if isinstance(graph, Graph):
                    yield graph
