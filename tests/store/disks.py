"""Doubles of the disk for the store's tests."""

from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from kipql.store import snapshot
from kipql.store.files import Files
from kipql.store.snapshot import Section


class Unsynced(Files):
    """Real files, without waiting for the disk: for tests in which only the order of the calls counts."""

    def fsync(self, file: BinaryIO) -> None:
        pass

    def sync_folder(self, path: Path) -> None:
        pass


def sealed(files: Files, folder: Path, seq: int, notes: int, sections: Iterable[Section]) -> None:
    """Put a snapshot with these sections, and right checksums over them, into a folder."""
    snapshot.write_draft(files, folder, seq, notes, sections)
    snapshot.publish(files, folder, seq)
