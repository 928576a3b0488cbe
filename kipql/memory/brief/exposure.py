"""The exposure log: which memories were shown and which were used, off the graph (specification §66.8).

Reading reinforces nothing, so this never becomes part of the memory. One ExposureRecord a line, appended to a file;
without one the last 10,000 are kept in the process. It holds ids and no contents.
"""

import json
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import kipql
from kipql.memory.brief.reading import Reading
from kipql.memory.graph import now

KEPT = 10_000


class Exposure:
    """The log of one Brain.

    >>> log = Exposure()
    >>> log.records()
    []
    """

    __slots__ = ("_kept", "path")

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._kept: deque[dict[str, Any]] = deque(maxlen=KEPT)

    def retrieved(self, reading: Reading, refs: Iterable[str], recall_ref: str | None = None) -> None:
        """Note what a recall showed. Raises MemoryUnavailable when the file can not be written."""
        self._write(reading.space_id, reading.principal_id, reading.seq, "retrieved", refs, None, recall_ref)

    def used(
        self, space_id: str, principal_id: str, seq: int, refs: Iterable[str], decision_ref: str | None = None
    ) -> None:
        """Note what a decision rested on."""
        self._write(space_id, principal_id, seq, "used", refs, decision_ref, None)

    def records(self) -> list[dict[str, Any]]:
        """The records in order; those of a file where there is one."""
        if self.path is None:
            return list(self._kept)
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines() if line]

    def _write(
        self,
        space_id: str,
        principal_id: str,
        seq: int,
        kind: str,
        refs: Iterable[str],
        decision_ref: str | None,
        recall_ref: str | None,
    ) -> None:
        at = now()
        records = [
            {
                "space_id": space_id,
                "element_id": ref,
                "exposure": kind,
                "snapshot_seq": seq,
                "recorded_at": at,
                "principal_id": principal_id,
                "decision_ref": decision_ref,
                "recall_ref": recall_ref,
            }
            for ref in dict.fromkeys(refs)
        ]
        if self.path is None:
            self._kept.extend(records)
            return
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        except OSError as error:
            raise kipql.KipError("MemoryUnavailable", f"{self.path}: {error.strerror or error}") from None
