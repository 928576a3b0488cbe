"""`kipql.lake.export`: a memory's Space into a lake, whole or by what is new (docs/scale.md, "Export").

A further export of the same Space writes only what commits added, and an end for each older state that they ended.
What was purged since is taken out of every file that has it. Another view of the Space (another principal, or one
whose rights changed) is written anew, since what it may see of the past has changed too.
"""

import hashlib
import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from kipql.errors import KipError
from kipql.extras import need
from kipql.govern.reads import admit
from kipql.govern.view import within
from kipql.lake import layout, manifest, states
from kipql.lake.door import guarded
from kipql.lake.manifest import Manifest, Part
from kipql.nexus import Nexus, session_of
from kipql.runtime.folder import path_of
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View

Progress = Callable[[int, int], None]
"""(states written, states in all, as far as it is known)."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export did.

    space    what the Space is called in the lake
    head     the last commit that is in it
    since    the commit up to which it was there before, 0 for a whole export
    rows     rows written, all tables together
    bytes    bytes of the Space's files now
    erased   elements whose erased states were taken out of older files
    """

    space: str
    head: int
    since: int
    rows: int
    bytes: int
    erased: int


def export(nexus: Nexus, folder: object, *, name: str | None = None, progress: Progress | None = None) -> Exported:
    """Write the Space of a Nexus into a lake, as far as its Principal may see it.

    folder    the lake's folder; made if missing
    name      what the Space is called there, its id if none is given. Memories whose Spaces have the same id (they
              are all `kip:space:default` unless told otherwise) need names of their own
    progress  called now and then with the states written so far and in all

    Raises NotAMemory for a folder with something else in it, TypeMismatch or ConstraintViolation for what is no name,
    NotAuthorized without the permission `export`, IdentityConflict where the lake holds another memory under
    the name, MemoryLocked while another export of it runs, MemoryDamaged, MemoryUnavailable when the disk refuses,
    UnsupportedCapability without the extra `lake`.
    """
    need("lake", "pyarrow")
    session = session_of(nexus)
    admit(session.authority, ("discover", "read", "export"))
    view = within(session.view(), "export")
    lake, called = path_of(folder), manifest.is_name(view.space_id if name is None else name)
    try:
        _check_folder(lake)
        with guarded(), _alone(lake, called):
            return _export(view, session.space.store.notes.get("schema", ()), lake, called, progress)
    except OSError as error:
        raise KipError(
            "MemoryUnavailable",
            f"the lake could not be written: {error.strerror or error}",
            details={"path": str(lake)},
        ) from error


def _export(view: "View", setup: Sequence[Json], lake: Path, name: str, progress: Progress | None) -> Exported:
    from kipql.lake.parts import Parts

    before = _before(view, lake, name)
    found = states.States(view)
    erased = {} if view.narrowed else states.erased(found, view)
    since = 0 if before is None else before.head
    if before is not None:
        manifest.check_files(lake, before, whole=False)
    known = {} if before is None else before.erased
    again = [_code(view, key) for key, seq in erased.items() if known.get(key) != seq] if before is not None else []
    if before is not None and since == view.seq and not again:
        return Exported(name, view.seq, since, 0, before.bytes, 0)
    parts = Parts(lake, name, f"{since + 1}-{view.seq}-{os.urandom(4).hex()}")
    try:
        kept = () if before is None else _kept(lake, before, again, bool(again))
        states.write_states(found, _told(found, since, again, progress), parts.put)
        for table, found_rows in (
            (layout.ENDS, found.ended(since, again)),
            (layout.IDENTITIES, states.identities(view, found)),
            (layout.REVIEWS, states.reviews(view)),
            (layout.LITERALS, states.literals(view, 0 if before is None or again else before.literals)),
            (layout.COMMITS, states.commits(view, since)),
            (layout.SCHEMA, states.schema(view, setup)),
        ):
            for row in found_rows:
                parts.put(table, row)
        written = parts.close()
    except BaseException:
        parts.abandon()
        raise
    made = Manifest(
        name=name,
        space_id=view.space_id,
        head=view.seq,
        coverage=view.coverage,
        anchor=_anchor(view, view.seq),
        literals=len(view.graph.literals),
        version=_version(),
        erased=erased,
        parts=(*kept, *written),
    )
    manifest.write(lake, made)
    _tidy(lake, made, before if before is not None and not again else None)
    rows = sum(part.rows for part in written)
    return Exported(name, view.seq, since, rows, sum(part.bytes for part in made.parts), len(again))


def _before(view: "View", lake: Path, name: str) -> Manifest | None:
    """What the lake has of this view already; None when it has to be written whole."""
    if not os.path.lexists(manifest.path_of(lake, name)):
        return None
    before = manifest.read(lake, name)
    same = before.space_id == view.space_id and before.head <= view.seq
    if not same or before.anchor != _anchor(view, before.head):
        raise KipError(
            "IdentityConflict",
            f"the lake holds another memory under the name {name!r}",
            hint="give this one a name of its own",
        )
    if view.narrowed or before.coverage != view.coverage or before.version != _version():
        return None
    return before


def _kept(lake: Path, before: Manifest, again: list[int], literals_too: bool) -> tuple[Part, ...]:
    """The files of earlier exports that still hold, without the rows of `again`."""
    from kipql.lake.parts import without

    anew = {table.name for table in layout.WHOLE} | ({layout.LITERALS.name} if literals_too else set())
    found: list[Part | None] = []
    for part in before.parts:
        if part.table in anew:
            continue
        rewritten = part.table != layout.COMMITS.name and part.table != layout.LITERALS.name
        found.append(without(lake, part, again, os.urandom(4).hex()) if again and rewritten else part)
    return tuple(part for part in found if part is not None)


def _told(
    found: states.States, since: int, again: list[int], progress: Progress | None
) -> Iterator[tuple[int, int, int | None]]:
    total = found.count(since)
    for done, each in enumerate(found.since(since, again)):
        if progress is not None and not done % 10_000:
            progress(done, max(total, done))
        yield each
    if progress is not None:
        progress(total, total)


def _code(view: "View", key: str) -> int:
    code = view.code(key)
    assert code is not None
    return code


def _anchor(view: "View", head: int) -> str:
    """A digest of the commits up to a sequence: their instants, and how many elements of each kind there were after
    them. No purge changes it."""
    history = view.graph.history
    told = array("q", (number for seq in range(1, head + 1) for number in (history.at(seq), *history.bounds(seq))))
    return hashlib.sha256(told.tobytes()).hexdigest()


@contextmanager
def _alone(lake: Path, name: str) -> Iterator[None]:
    path = manifest.path_of(lake, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(path.with_suffix(".lock"), timeout=0):
            yield
    except Timeout:
        raise KipError("MemoryLocked", f"another export of {name!r} into this lake is running") from None


def _tidy(lake: Path, made: Manifest, before: Manifest | None) -> None:
    """Remove the files of the Space that its manifest does not name, and that the one before did not: who has that one
    open reads on. Nothing is looked for behind a link: what it leads to is no file of the lake."""
    named = {part.path for held in (made, before) if held is not None for part in held.parts}
    for table in layout.TABLES:
        folder = lake / table.name / manifest.partition(made.name)
        if folder.is_symlink() or folder.parent.is_symlink():
            continue
        for path in folder.glob("*.parquet"):
            if path.relative_to(lake).as_posix() not in named:
                path.unlink()


def _check_folder(lake: Path) -> None:
    """Raises NotAMemory for a folder with something else than a lake in it."""
    if lake.is_dir() and not (lake / manifest.FOLDER).is_dir() and any(lake.iterdir()):
        raise KipError(
            "NotAMemory",
            f"{lake} is not empty, and is no lake",
            hint="give a lake, or a folder that is empty or does not exist",
            details={"path": str(lake)},
        )


def _version() -> str:
    import kipql

    return kipql.__version__
