"""`nexus.load`: many records, every check on, one commit per batch.

The form of a record is that of `kipql.mutate.load`; a name given with `as` holds for the whole load.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from kipql.errors import KipError
from kipql.limits import Limits, cancelled
from kipql.runtime.session import Session
from kipql.runtime.work import Work
from kipql.values import Json

BATCH = 1_000
_LARGEST = 1 << 30
_AT_ONCE = 1_000  # records read before the caller's flag is looked at


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load did.

    records    how many records were read
    commits    how many transactions changed something
    space_seq  the head afterwards
    ids        `as` name -> element id
    """

    records: int
    commits: int
    space_seq: int
    ids: Mapping[str, str]


def load(
    session: Session,
    records: Iterable[Mapping[str, Json]],
    batch: int,
    limits: Limits | None = None,
    cancel: threading.Event | None = None,
) -> Loaded:
    """Write records in batches, each a transaction of its own.

    Raises KipError with `details.record`, the number of the record from 0 (of the first of its batch when the
    final state is at fault); the batches before it stay.
    """
    if not isinstance(batch, int):
        raise KipError("TypeMismatch", f"batch is a number of records, not {batch!r}")
    if not isinstance(records, Iterable):
        raise KipError("TypeMismatch", f"records are an iterable of objects, not {type(records).__name__}")
    session.budget(limits, cancel)  # what is wrong with them is said before a record is read
    ids: dict[str, str] = {}
    count = commits = 0
    for part in _batches(records, min(max(batch, 1), _LARGEST), cancel):
        try:
            with Work(session, session.budget(limits, cancel)) as work:
                work.load(part, ids)
                commits += work.commit().space_seq is not None
        except KipError as error:
            error.details["record"] = error.details.get("record", 0) + count
            error.details["batch"] = [count, count + len(part)]
            raise
        count += len(part)
    return Loaded(count, commits, session.space.store.head, ids)


def _batches(
    records: Iterable[Mapping[str, Json]], size: int, cancel: threading.Event | None
) -> Iterator[list[Mapping[str, Json]]]:
    source, part = iter(records), list[Mapping[str, Json]]()
    while more := list(islice(source, min(size - len(part), _AT_ONCE))):
        if cancel is not None and cancel.is_set():
            cancelled()
        part += more
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part
