"""A Space copied up to its damage. The original is only read.

The journal is cut at the first frame that is wrong; of the snapshots those that are whole come along, and one whose
postings alone are damaged is made again from its records (`salvaging`). Whatever then
still can not be read is cut off as well, until what is left opens and every record in it can be read.
"""

import shutil
from pathlib import Path
from typing import NamedTuple

from kipql.errors import KipError
from kipql.store import journal, snapshot
from kipql.store.dumping import lines
from kipql.store.environments import SchemaLoader
from kipql.store.examining import DAMAGE, frames_of, snapshot_names, whole_after
from kipql.store.files import Files
from kipql.store.journal import NAME, START, Base, Frame
from kipql.store.salvaging import salvage
from kipql.store.store import Store

_ROUNDS = 1_000


class Recovered(NamedTuple):
    """What was kept of a Space: its head, None when nothing was; and what was lost, a sentence each."""

    head: int | None
    lost: list[str]


def recover(source: Path, target: Path, space_id: str, schema: SchemaLoader) -> Recovered:
    """Copy a Space as far as it is right. Raises OSError, MemoryFormatUnsupported."""
    lost: list[str] = []
    target.mkdir(parents=True)
    whole, wrong = _snapshots(source, target, lost)
    data = Files().read(source / NAME) if (source / NAME).exists() else b""
    frames, findings = frames_of(source) if data else ([], [])
    end = len(data)
    for finding in findings:
        if finding.offset is not None:
            end = min(end, finding.offset)
        if finding.level == DAMAGE:
            lost.append(f"the journal from offset {finding.offset}: {finding.what}")
    if not data:
        lost.append("the journal, which is gone")
    (target / NAME).write_bytes(data[:end] if frames or end else b"")
    if wrong and (not whole or wrong[0] > whole[0].seq) and _base(source).seq > (whole[0].seq if whole else 0):
        _salvaged(source, target, space_id, schema, wrong[0], frames, lost)
    head = _settle(target, space_id, schema, whole, lost)
    if head is None:
        shutil.rmtree(target)
        lost.append("all of it: no snapshot and no journal is left to begin with")
    return Recovered(head, lost)


def _base(folder: Path) -> Base:
    """What a journal continues; the start where that can not be read, since then it adds nothing."""
    try:
        return journal.Journal(folder, Files(), "fsync", 0, readonly=True).read()
    except KipError:
        return START


def _salvaged(
    source: Path, target: Path, space_id: str, schema: SchemaLoader, seq: int, frames: list[Frame], lost: list[str]
) -> None:
    """Put a journal that says a damaged snapshot and the frames after it in the place of the one that continues it."""
    name = snapshot.name_of(seq)
    made = target / "salvaged"
    found = salvage(source / name, made, space_id, schema)
    if found is None:
        shutil.rmtree(made, ignore_errors=True)
        return
    rest, notes = [], _base(source).notes
    for each in frames:
        notes += not each.seq
        if each.seq > seq or (not each.seq and notes > found.notes):
            rest.append(journal.frame(each.seq, bytes(each.payload)))
    (target / NAME).write_bytes((made / NAME).read_bytes() + b"".join(rest))
    shutil.rmtree(made)
    lost[:] = [f"{each}; all of it was made again from its records" if each.startswith(name) else each for each in lost]


def _snapshots(source: Path, target: Path, lost: list[str]) -> tuple[list[Base], list[int]]:
    """Copy the whole snapshots; what each covers, newest first, and the sequences of the others."""
    whole, wrong = [], []
    for name in snapshot_names(source):
        try:
            snapshot.verify(Files(), source / name)
            found = snapshot.read(Files(), source / name)
        except KipError as error:
            if error.code != "MemoryDamaged":
                raise
            wrong.append(snapshot.seq_of(name) or 0)
            lost.append(f"{name}: {error.message.partition(' is damaged: ')[2] or error.message}")
            continue
        shutil.copyfile(source / name, target / name)
        whole.append(Base(found.seq, found.notes))
    return whole, wrong


def _settle(target: Path, space_id: str, schema: SchemaLoader, whole: list[Base], lost: list[str]) -> int | None:
    path = target / NAME
    for _ in range(_ROUNDS):
        try:
            with Store(target, space_id=space_id, readonly=True, schema=schema) as store:
                try:
                    for _line in lines(store):
                        pass
                    return store.head
                except KipError as error:  # a record that is wrong although its checksum is right
                    wrong = error
        except KipError as error:
            wrong = error
        if wrong.code != "MemoryDamaged":
            raise wrong
        offset = wrong.details.get("offset")
        if isinstance(offset, int) and 0 < offset < path.stat().st_size:
            after = whole_after(path, offset)
            span = f", commits {after[0]} to {after[-1]}" if after and after[-1] else ""
            lost.append(f"the journal from offset {offset}{span}: {wrong.message}")
            _cut(path, offset)
            continue
        if not whole:
            return None
        base = whole[0]
        if path.stat().st_size and _continues(path, base):  # then the snapshot itself is wrong
            lost.append(f"{snapshot.name_of(base.seq)}: {wrong.message}")
            (target / snapshot.name_of(base.seq)).unlink(missing_ok=True)
            whole.pop(0)
            continue
        path.write_bytes(journal.header(base))
        lost.append(f"every commit after {base.seq}")
    return None


def _continues(path: Path, base: Base) -> bool:
    data = path.read_bytes()
    return any(data.startswith(journal.header(each)) for each in (base, START))


def _cut(path: Path, offset: int) -> None:
    with path.open("r+b") as file:
        file.truncate(offset)
