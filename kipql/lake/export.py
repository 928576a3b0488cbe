"""`kipql.lake.export`: a memory's Space into a lake, whole or by what is new (docs/scale.md, "Export").

A further export of the same Space writes only what commits added, and an end for each older state that they ended.
What was purged since is taken out of every file that has it. Another view of the Space (another principal, or one
whose rights changed) is written anew, since what it may see of the past has changed too. Every export, also one of
nothing new, removes what no manifest names: one before may have been killed before it did.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.extras import need
from kipql.govern.reads import admit
from kipql.govern.view import within
from kipql.lake import layout, manifest, place, states
from kipql.lake.anchor import anchor, is_witnessed, witness
from kipql.lake.cells import text
from kipql.lake.door import damaged, guarded
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

    space     what the Space is called in the lake
    head      the last commit that is in it
    since     the commit up to which it was there before, 0 for a whole export
    rows      rows written, all tables together
    bytes     bytes of the Space's files now
    erased    elements whose erased states were taken out of older files
    replaced  whether another view of the Space was there, whose files are gone
    """

    space: str
    head: int
    since: int
    rows: int
    bytes: int
    erased: int
    replaced: bool = False


def export(
    nexus: Nexus, folder: object, *, name: str | None = None, whole: bool = False, progress: Progress | None = None
) -> Exported:
    """Write the Space of a Nexus into a lake, as far as its Principal may see it.

    folder    the lake's folder; made if missing
    name      what the Space is called there, its id if none is given. Memories whose Spaces have the same id (they
              are all `kip:space:default` unless told otherwise) need names of their own
    whole     write the Space anew and replace its files, damaged ones too; other Spaces stay as they are
    progress  called now and then with the states written so far and in all; what it raises leaves as it is

    Raises NotAMemory for a folder with something else in it, TypeMismatch or ConstraintViolation for what is no name,
    NotAuthorized without the permission `export`, IdentityConflict where the lake holds another memory under
    the name, MemoryLocked while another export of it runs, MemoryDamaged, MemoryUnavailable when the disk refuses,
    UnsupportedCapability without the extra `lake`.
    """
    need("lake", "pyarrow")
    _check(nexus, whole, progress)
    session = session_of(nexus)
    admit(session.authority, ("discover", "read", "export"))
    view = within(session.view(), "export")
    lake, called = path_of(folder), manifest.is_name(view.space_id if name is None else name)
    try:
        place.check(lake, called)
        with guarded(), place.alone(lake, called):
            return _export(view, session.space.store.notes.get("schema", ()), lake, called, whole, progress)
    except _FromCaller as told:
        raise told.error from told.error.__cause__
    except OSError as error:
        raise KipError(
            "MemoryUnavailable",
            f"the lake could not be written: {error.strerror or error}",
            details={"path": str(lake)},
        ) from error


def _check(nexus: object, whole: object, progress: object) -> None:
    if not isinstance(nexus, Nexus):
        raise KipError("TypeMismatch", f"an export is of an open memory, a Nexus, not {type(nexus).__name__}")
    if not isinstance(whole, bool):
        raise KipError("TypeMismatch", f"whole is True or False, not {type(whole).__name__}")
    if progress is not None and not callable(progress):
        raise KipError("TypeMismatch", f"progress is a function, not {type(progress).__name__}")


class _FromCaller(BaseException):
    """Carries an error of the caller's own out, past what makes errors of others a KipError."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def _export(
    view: "View", notes: Sequence[Json], lake: Path, name: str, whole: bool, progress: Progress | None
) -> Exported:
    from kipql.lake.parts import Parts

    found = states.States(view)
    erased = {} if view.narrowed else states.erased(found, view)
    present = _present(view, lake, name, whole)
    before = None if present is None or whole or not _is_same_view(view, present) else present
    if present is not None and _is_same_view(view, present) and not is_witnessed(view, present.witness, erased):
        raise _is_another(name)
    since = 0 if before is None else before.head
    if before is not None:
        manifest.check_files(lake, before, whole=False, links=False)
    known = {} if before is None else before.erased
    again = [_code(view, key) for key, seq in erased.items() if known.get(key) != seq] if before is not None else []
    schema = list(states.schema(view, notes))
    setup = hashlib.sha256(text(schema).encode()).hexdigest()
    if before is not None and since == view.seq and not again and before.setup == setup:
        place.tidy(lake, name, before.named)
        return Exported(name, view.seq, since, 0, before.bytes, 0)
    parts = Parts(lake, name, f"{since + 1}-{view.seq}-{os.urandom(4).hex()}")
    try:
        kept = () if before is None else _kept(before, again, parts.kept)
        states.write_states(found, _told(found, since, again, progress), parts.put)
        for table, found_rows in (
            (layout.ENDS, found.ended(since, again)),
            (layout.IDENTITIES, states.identities(view, found)),
            (layout.REVIEWS, states.reviews(view)),
            (layout.LITERALS, states.literals(view, 0 if before is None or again else before.literals)),
            (layout.COMMITS, states.commits(view, since)),
            (layout.SCHEMA, schema),
        ):
            for row in found_rows:
                parts.put(table, row)
        written = parts.close()
    except BaseException:
        parts.abandon()
        raise
    stay = {part.path for part in kept}
    former = () if before is None or again else tuple(part.path for part in before.parts if part.path not in stay)
    made = Manifest(
        name=name,
        space_id=view.space_id,
        head=view.seq,
        coverage=view.coverage,
        anchor=anchor(view, view.seq),
        literals=len(view.graph.literals),
        version=_version(),
        erased=erased,
        parts=(*kept, *written),
        setup=setup,
        witness={} if view.narrowed else witness(view, erased),
        former=former,
    )
    manifest.write(lake, made)
    place.tidy(lake, name, made.named)
    return Exported(
        name,
        view.seq,
        since,
        sum(part.rows for part in written),
        made.bytes,
        len(again),
        present is not None and present.coverage != view.coverage,
    )


def _present(view: "View", lake: Path, name: str, whole: bool) -> Manifest | None:
    """What the lake has of this Space. None where it has nothing, or nothing that can be read and is written anew.

    Raises IdentityConflict where it has another memory, MemoryDamaged.
    """
    path = manifest.path_of(lake, name)
    if not os.path.lexists(path):
        return None
    try:
        if path.is_symlink():
            raise damaged(lake, path, "it is a link, which leads out of the lake")
        present = manifest.read(lake, name)
    except KipError as error:
        if whole and error.code == "MemoryDamaged":
            return None
        raise
    same = present.space_id == view.space_id and present.head <= view.seq
    if not same or present.anchor != anchor(view, present.head):
        raise _is_another(name)
    return present


def _is_same_view(view: "View", present: Manifest) -> bool:
    """Whether the lake has what this view would write up to its head. A view that withholds something may show more
    or less of the past without another commit."""
    return not view.narrowed and present.coverage == view.coverage and present.version == _version()


def _is_another(name: str) -> KipError:
    return KipError(
        "IdentityConflict",
        f"the lake holds another memory under the name {name!r}",
        hint="give this one a name of its own",
    )


def _kept(
    before: Manifest, again: Sequence[int], without: Callable[[Part, Sequence[int]], Part | None]
) -> tuple[Part, ...]:
    """The files of earlier exports that still hold, without the rows of `again`."""
    anew = {table.name for table in layout.WHOLE} | ({layout.LITERALS.name} if again else set())
    found: list[Part | None] = []
    for part in before.parts:
        if part.table not in anew:
            has_codes = part.table not in (layout.COMMITS.name, layout.LITERALS.name)
            found.append(without(part, again if has_codes else ()))
    return tuple(part for part in found if part is not None)


def _told(
    found: states.States, since: int, again: list[int], progress: Progress | None
) -> Iterator[tuple[int, int, int | None]]:
    total = found.count(since)
    for done, each in enumerate(found.since(since, again)):
        if not done % 10_000:
            _tell(progress, done, max(total, done))
        yield each
    _tell(progress, total, total)


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        try:
            progress(done, total)
        except Exception as error:
            raise _FromCaller(error) from error


def _code(view: "View", key: str) -> int:
    code = view.code(key)
    assert code is not None
    return code


def _version() -> str:
    import kipql

    return kipql.__version__
