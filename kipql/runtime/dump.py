"""`nexus.dump`: a memory as lines of JSON, every Space with all its history (docs/storage.md, "The dump").

The first line says the format and the Spaces; each Space begins with a line of its own and ends with its digest; the
last line counts them all, so that a file that was cut off is told from a whole one.
"""

import io
from collections.abc import Callable, Iterator
from typing import IO, Any

from kipql.errors import KipError
from kipql.escape import json_text
from kipql.limits import Cancel
from kipql.runtime.arriving import new_file
from kipql.runtime.folder import is_governed, path_of
from kipql.runtime.memory import Memory
from kipql.runtime.space import CURSOR_KEY, Space
from kipql.store.dumping import lines
from kipql.values import Json

FORMAT = 1
HEADER, SPACE, ENDED, LAST = "kipql_dump", "space", "ended", "lines"


def dump(memory: Memory, target: object, cancel: Cancel) -> None:
    """Write a memory to a path, whole or not at all, or to an open file.

    Raises TypeMismatch, ExecutionTimeout, SerializationConflict inside a transaction, MemoryUnavailable when the disk
    refuses.
    """
    if hasattr(target, "write"):
        _write(memory, _sink(target), cancel)
        return
    path = path_of(target)
    try:
        with new_file(path) as draft, draft.open("wb") as file:
            _write(memory, file.write, cancel)
    except OSError as error:
        raise KipError(
            "MemoryUnavailable",
            f"the dump could not be written: {error.strerror or error}",
            details={"path": str(path)},
        ) from error


def _sink(file: Any) -> Callable[[bytes], object]:
    if isinstance(file, io.TextIOBase):
        return lambda data: file.write(data.decode("utf-8"))
    stream: IO[bytes] = file
    return stream.write


def _write(memory: Memory, write: Callable[[bytes], object], cancel: Cancel) -> None:
    count = 0
    for line in _lines(memory, cancel):
        cancel.look()
        count += 1
        write(json_text(line, sort=True).encode() + b"\n")
    write(json_text({LAST: count}).encode() + b"\n")


def _lines(memory: Memory, cancel: Cancel) -> Iterator[dict[str, Json]]:
    ids = memory.ids()
    governed = memory.path is not None and is_governed(memory.path)
    yield {HEADER: FORMAT, "spaces": ids, "governed": governed}
    for space_id in ids:
        space = memory.space(space_id, create=False)
        with space.still():
            yield from _space(space, cancel)


def _space(space: Space, cancel: Cancel) -> Iterator[dict[str, Json]]:
    store = space.store
    yield {SPACE: space.id, "commits": store.head}
    yield from lines(store, without=(CURSOR_KEY,))
    yield {ENDED: space.id, "digest": store.digest(look=cancel.look)}
