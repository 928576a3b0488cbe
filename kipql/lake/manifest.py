"""What a lake holds of one Space: the files that count, and up to which commit (docs/scale.md, "On disk").

A manifest is replaced by a rename after its files are on disk. What no manifest names is not read: a crash leaves
files that the next export of the Space removes. It carries a digest of itself; one that was written before there was
one is read without.
"""

import hashlib
import json
import re
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kipql.errors import KipError
from kipql.lake import layout
from kipql.lake.door import damaged, unread
from kipql.lake.naming import is_name, loaded, names, partition, path_of, stray
from kipql.runtime.arriving import new_file
from kipql.values import Json

__all__ = [
    "FORMAT", "RESIDENT", "Manifest", "Part", "check_files", "check_part", "checksum", "is_name", "names", "part_of",
    "partition", "path_of", "read", "write",
]  # fmt: skip

FORMAT = 1
_TEXTS = ("space_id", "coverage", "anchor", "version", "setup")
_MOST = 2**53
_FILE = re.compile(r"part-[0-9a-f-]+\.parquet", re.ASCII)
_TABLES = frozenset(table.name for table in layout.TABLES)


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file of one table."""

    table: str
    path: str  # below the lake's folder
    rows: int
    bytes: int
    crc: int  # CRC-32C of the file


RESIDENT = 64 * 1024 * 1024
"""Bytes of files up to which every byte of a Space is checked when it is opened."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One Space of a lake.

    name      what the Space is called in the lake: its partition, and `space_id` in findings
    space_id  its id in the memory
    head      the last commit that is in the lake
    coverage  whose view it is
    anchor    a digest of its commits: another memory has another (`kipql.lake.anchor`)
    literals  how many Literals the memory had
    erased    elements with erased states, and the commit that last wrote each
    setup     a digest of the rows of `schema`, which also change without a commit
    witness   digests of a few elements: another memory has others
    former    files that only the manifest before named: who has it open reads on
    """

    name: str
    space_id: str
    head: int
    coverage: str
    anchor: str
    literals: int
    version: str
    erased: dict[str, int] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    setup: str = ""
    witness: dict[str, str] = field(default_factory=dict)
    former: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        """Of all its files."""
        return sum(part.bytes for part in self.parts)

    @property
    def named(self) -> set[str]:
        """The files that stay."""
        return {part.path for part in self.parts} | set(self.former)

    def of(self, table: str) -> tuple[Part, ...]:
        """The files of a table."""
        return tuple(part for part in self.parts if part.table == table)


def read(lake: Path, name: str) -> Manifest:
    """The manifest of a Space. Raises NotFoundOrNotVisible, MemoryDamaged, MemoryUnavailable,
    MemoryFormatUnsupported."""
    path = path_of(lake, is_name(name))
    try:
        data = loaded(lake, path)
    except FileNotFoundError:
        raise _missing(lake, name) from None
    return _checked(lake, path, name, data)


def _missing(lake: Path, name: str) -> KipError:
    """What to say of a name without a manifest. Raises MemoryDamaged, MemoryUnavailable."""
    path = stray(lake, name)
    if path is None:
        return KipError("NotFoundOrNotVisible", f"the lake has no Space {name!r}")
    with suppress(FileNotFoundError):  # a link to nowhere
        loaded(lake, path)
    return damaged(lake, path, "it is not called as the Space in it is")


def write(lake: Path, manifest: Manifest) -> None:
    """Publish a manifest. Raises OSError."""
    path = path_of(lake, manifest.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    data: dict[str, Json] = {"kipql_lake": FORMAT, **asdict(manifest)}
    data["digest"] = _digest(data)
    with new_file(path) as draft:
        draft.write_text(json.dumps(data, indent=1, sort_keys=True), encoding="utf-8")


def part_of(lake: Path, table: str, path: Path, rows: int) -> Part:
    """The Part of a file. Raises OSError."""
    return Part(table, path.relative_to(lake).as_posix(), rows, path.stat().st_size, checksum(path))


def checksum(path: Path) -> int:
    """CRC-32C of a file. Raises OSError."""
    from crc32c import crc32c

    found = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found = crc32c(block, found)
    return found


def check_files(lake: Path, held: Manifest, *, whole: bool, links: bool = True) -> None:
    """Raise MemoryDamaged where a file that a manifest names is not there or is not of its size; with `whole`, where a
    byte of it is another; without `links`, where it is one. MemoryUnavailable where the disk refuses."""
    for part in held.parts:
        check_part(lake, part, whole=whole, links=links)


def check_part(lake: Path, part: Part, *, whole: bool, links: bool = True) -> None:
    """The same of one file."""
    path = lake / part.path
    try:
        found = path.stat() if links else path.lstat()
        if not stat.S_ISREG(found.st_mode):
            raise damaged(lake, path, "it is a link" if stat.S_ISLNK(found.st_mode) else "it is no file")
        if found.st_size != part.bytes:
            raise damaged(lake, path, f"it has {found.st_size} bytes, the manifest says {part.bytes}")
        if whole and checksum(path) != part.crc:
            raise damaged(lake, path, "its bytes are not those that were written")
    except (OSError, ValueError) as error:
        raise unread(lake, path, error) from error


def _digest(data: dict[str, Json]) -> str:
    """Of all members of a manifest but the digest."""
    members = {name: value for name, value in data.items() if name != "digest"}
    return hashlib.sha256(json.dumps(members, sort_keys=True).encode()).hexdigest()


def _checked(lake: Path, path: Path, name: str, data: Json) -> Manifest:
    if not isinstance(data, dict) or not _is_count(data.get("kipql_lake")):
        raise damaged(lake, path, "it is no manifest of a lake")
    if data["kipql_lake"] != FORMAT:
        raise KipError(
            "MemoryFormatUnsupported",
            f"the lake's {path.relative_to(lake).as_posix()} has another format than {FORMAT}",
            hint="open it with the kipql that wrote it, or export again into a new folder",
        )
    if data.pop("digest", None) not in (None, _digest(data)):
        raise damaged(lake, path, "it is not what was written")
    del data["kipql_lake"]
    try:
        parts = tuple(Part(**each) for each in data.pop("parts"))
        manifest = Manifest(**{**data, "former": tuple(data.get("former", ()))}, parts=parts)
    except (TypeError, KeyError) as error:
        raise damaged(lake, path, f"a member is missing or unknown: {error}") from error
    texts = all(isinstance(getattr(manifest, member), str) for member in _TEXTS)
    counts = _is_count(manifest.head) and _is_count(manifest.literals)
    if not texts or not counts or manifest.name != name or not _is_erased(manifest) or not _is_told(manifest):
        raise damaged(lake, path, "a member is of the wrong type")
    for part in parts:
        _check_part(lake, path, name, part)
    if len({part.path for part in parts}) < len(parts):
        raise damaged(lake, path, "it names a file twice")
    return manifest


def _is_count(value: object) -> bool:
    return value.__class__ is int and 0 <= value < _MOST


def _is_erased(manifest: Manifest) -> bool:
    held: object = manifest.erased
    return isinstance(held, dict) and all(_is_count(seq) and seq <= manifest.head for seq in held.values())


def _is_told(manifest: Manifest) -> bool:
    witness: object = manifest.witness
    told = [*manifest.former, *(witness.values() if isinstance(witness, dict) else (None,))]
    return all(isinstance(each, str) for each in told)


def _check_part(lake: Path, path: Path, name: str, part: Part) -> None:
    counts = (part.rows, part.bytes, part.crc)
    if not isinstance(part.path, str) or not isinstance(part.table, str) or not all(map(_is_count, counts)):
        raise damaged(lake, path, "a part is of the wrong type")
    table, _, below = part.path.partition("/")
    folder, _, file = below.partition("/")
    if table != part.table or table not in _TABLES or folder != partition(name) or not _FILE.fullmatch(file):
        raise damaged(lake, path, f"a part lies outside its table: {part.path!r}")
