"""The journal of a Space that another process writes, followed: the frames that came since it was read.

A place in the file is known by the bytes before it, never by an inode: a file system gives their numbers out again.
What is torn at the end is being written, and never taken. Nothing is written here, and no file is held open.
"""

import time
from pathlib import Path

from kipql.errors import KipError
from kipql.store.files import Files
from kipql.store.frames import instant_of
from kipql.store.journal import FRAME_HEADER, NAME, Base, Frame, Journal, Mark, torn, whole_frames

_TRIES = 5  # to read a frame that is written, or a file that is cut, at this moment
_PAUSE = 0.002


class Follower:
    """Follows a journal that was `read` to its end."""

    def __init__(self, folder: Path, files: Files, read: Journal) -> None:
        self._folder = folder
        self._path = folder / NAME
        self._files = files
        self._mark = read.mark
        self._base = read.base
        self._notes = read.notes
        self._seen: object = None  # the file when it was last looked at

    def changed(self) -> bool:
        """Whether there may be something new. Raises OSError."""
        return self._files.stamp(self._path) != self._seen

    @property
    def base(self) -> Base:
        """What came before the journal, as far as it was looked at."""
        return self._base

    def frames(self, seq: int, instant: int) -> list[Frame] | None:
        """The whole frames after commit `seq`, which was at `instant`; None when the Space has to be read anew.

        Raises MemoryDamaged, MemoryFormatUnsupported, OSError.
        """
        for left in reversed(range(_TRIES)):
            stamp = self._files.stamp(self._path)
            found = self._appended()
            if found is None:
                try:
                    found = self._replaced(Base(seq, self._notes), instant)
                except KipError as error:
                    if error.code != "MemoryDamaged" or not left:
                        raise
                    time.sleep(_PAUSE)  # the file was cut or replaced while it was read
                    continue
                if found is None:
                    return None
            self._seen = stamp
            self._notes += sum(not frame.seq for frame in found)
            return found
        raise AssertionError

    def _appended(self) -> list[Frame] | None:
        """What stands behind the mark; None when that is another file, or more than a torn tail is wrong with it."""
        mark, files = self._mark, self._files
        file = files.open_to_read(self._path)
        try:
            size = files.size(file)
            if size < mark.end:
                return None
            header, data = bytearray(len(mark.header)), bytearray(size - mark.anchor)
            data = data[: files.read_into(file, data, mark.anchor)]
            files.read_into(file, header, 0)
        finally:
            files.close(file)
        if header != mark.header or not data.startswith(mark.last) or len(data) < mark.end - mark.anchor:
            return None
        found, end = whole_frames(memoryview(data), mark.end - mark.anchor)
        if end < len(data) and not torn(data, end):
            return None
        if found:
            last = found[-1].offset
            self._mark = Mark(
                mark.anchor + end, mark.header, mark.anchor + last, bytes(data[last : last + FRAME_HEADER])
            )
        return found

    def _replaced(self, head: Base, instant: int) -> list[Frame] | None:
        """What another file, or this one read from its start, says after `head`; None when it does not continue it."""
        journal = Journal(self._folder, self._files, "fsync", 0, readonly=True)
        base = journal.read()
        if base.seq > head.seq or base.notes > head.notes:
            return None
        found, seq, notes = list[Frame](), base.seq, base.notes
        for frame in journal.frames():
            seq, notes = frame.seq or seq, notes + (not frame.seq)
            if frame.seq == head.seq and frame.seq and instant_of(frame.payload) != instant:
                return None
            if frame.seq > head.seq or (not frame.seq and notes > head.notes):
                found.append(frame)
        if seq < head.seq or notes < head.notes:
            return None
        self._mark, self._base = journal.mark, base
        return found
