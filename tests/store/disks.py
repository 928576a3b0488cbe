"""Doubles of the disk for the store's tests."""

from pathlib import Path
from typing import BinaryIO

from kipql.store.files import Files


class Unsynced(Files):
    """Real files, without waiting for the disk: for tests in which only the order of the calls counts."""

    def fsync(self, file: BinaryIO) -> None:
        pass

    def sync_folder(self, path: Path) -> None:
        pass
