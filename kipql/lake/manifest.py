"""What a lake holds of one Space: the files that count, and up to which commit (docs/scale.md, "On disk").

A manifest is replaced by a rename after its files are on disk. What no manifest names is not read: a crash leaves
files that the next export of the Space removes. It carries a digest of itself; one that was written before there was
one is read without.
"""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from kipql.errors import KipError
from kipql.lake import layout
from kipql.runtime.arriving import new_file
from kipql.values import Json

FORMAT = 1
FOLDER = "spaces"
LONGEST = 512
"""Characters of a name."""
_TEXTS = ("space_id", "coverage", "anchor", "version")
_MOST = 2**53
_FILE = re.compile(r"part-[0-9a-f-]+\.parquet", re.ASCII)
_TABLES = frozenset(table.name for table in layout.TABLES)
_FITS = 200  # characters of a name as it is in a path; the longest in the usual file systems is 255
_SHORT = "%%"  # begins what stands for a longer name; no name reads so, since `%` itself is `%25`


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
    anchor    a digest of the instants of its commits: another memory has another
    literals  how many Literals the memory had
    erased    elements with erased states, and the commit that last wrote each
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

    @property
    def bytes(self) -> int:
        """Of all its files."""
        return sum(part.bytes for part in self.parts)

    def of(self, table: str) -> tuple[Part, ...]:
        """The files of a table."""
        return tuple(part for part in self.parts if part.table == table)


def partition(name: str) -> str:
    """The folder of a Space within a table."""
    return f"space_id={_filed(name)}"


def path_of(lake: Path, name: str) -> Path:
    """Where the manifest of a Space is."""
    return lake / FOLDER / f"{_filed(name)}.json"


def is_name(name: object) -> str:
    """A name of a Space in a lake. Raises TypeMismatch, ConstraintViolation."""
    if not isinstance(name, str):
        raise KipError("TypeMismatch", f"a name in a lake is a string, not {type(name).__name__}")
    if not 0 < len(name) <= LONGEST:
        raise KipError("ConstraintViolation", f"a name in a lake has 1 to {LONGEST} characters, not {len(name)}")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise KipError("ConstraintViolation", f"{name!r} is no name: it holds half of a surrogate pair") from None
    return name


def names(lake: Path) -> list[str]:
    """The Spaces of a lake, ordered. Raises MemoryDamaged where a name is only in a manifest that can not be read."""
    return sorted(_named(path) for path in (lake / FOLDER).glob("*.json"))


def _filed(name: str) -> str:
    """A name as part of a path: itself, or what stands for one that is too long for a path."""
    written = quote(name, safe="")
    return written if len(written) <= _FITS else _SHORT + hashlib.sha256(name.encode()).hexdigest()


def _named(path: Path) -> str:
    if not path.stem.startswith(_SHORT):
        return unquote(path.stem)
    data = _loaded(path)
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        raise damaged(path, "it does not say its name")
    return str(data["name"])


def read(lake: Path, name: str) -> Manifest:
    """The manifest of a Space. Raises NotFoundOrNotVisible, MemoryDamaged, MemoryFormatUnsupported."""
    path = path_of(lake, is_name(name))
    try:
        data = _loaded(path)
    except FileNotFoundError:
        raise KipError("NotFoundOrNotVisible", f"the lake has no Space {name!r}") from None
    return _checked(path, name, data)


def _loaded(path: Path) -> Json:
    """The JSON of a manifest. Raises FileNotFoundError, MemoryDamaged."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(path, str(error)) from error


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


def check_files(lake: Path, held: Manifest, *, whole: bool) -> None:
    """Raise MemoryDamaged where a file that a manifest names is not there or is not of its size; with `whole`, where a
    byte of it is another."""
    for part in held.parts:
        check_part(lake, part, whole=whole)


def check_part(lake: Path, part: Part, *, whole: bool) -> None:
    """The same of one file."""
    path = lake / part.path
    try:
        size = path.stat().st_size
        if size != part.bytes:
            raise damaged(path, f"it has {size} bytes, the manifest says {part.bytes}")
        if whole and checksum(path) != part.crc:
            raise damaged(path, "its bytes are not those that were written")
    except (OSError, ValueError) as error:
        raise damaged(path, getattr(error, "strerror", None) or str(error)) from error


def damaged(path: Path, problem: str) -> KipError:
    """The error of a lake that can not be read as one."""
    return KipError(
        "MemoryDamaged",
        f"the lake's {path.name} is damaged: {problem}",
        details={"path": str(path)},
        hint="export the memory into a new folder",
    )


def _digest(data: dict[str, Json]) -> str:
    """Of all members of a manifest but the digest."""
    members = {name: value for name, value in data.items() if name != "digest"}
    return hashlib.sha256(json.dumps(members, sort_keys=True).encode()).hexdigest()


def _checked(path: Path, name: str, data: Json) -> Manifest:
    if not isinstance(data, dict) or not _is_count(data.get("kipql_lake")):
        raise damaged(path, "it is no manifest of a lake")
    if data["kipql_lake"] != FORMAT:
        raise KipError(
            "MemoryFormatUnsupported",
            f"the lake's {path.name} has another format than {FORMAT}",
            hint="open it with the kipql that wrote it, or export again into a new folder",
        )
    if data.pop("digest", None) not in (None, _digest(data)):
        raise damaged(path, "it is not what was written")
    del data["kipql_lake"]
    try:
        parts = tuple(Part(**each) for each in data.pop("parts"))
        manifest = Manifest(**data, parts=parts)
    except (TypeError, KeyError) as error:
        raise damaged(path, f"a member is missing or unknown: {error}") from error
    texts = all(isinstance(getattr(manifest, member), str) for member in _TEXTS)
    counts = _is_count(manifest.head) and _is_count(manifest.literals)
    if not texts or not counts or manifest.name != name or not _is_erased(manifest):
        raise damaged(path, "a member is of the wrong type")
    for part in parts:
        _check_part(path, name, part)
    if len({part.path for part in parts}) < len(parts):
        raise damaged(path, "it names a file twice")
    return manifest


def _is_count(value: object) -> bool:
    return value.__class__ is int and 0 <= value < _MOST


def _is_erased(manifest: Manifest) -> bool:
    held: object = manifest.erased
    return isinstance(held, dict) and all(_is_count(seq) and seq <= manifest.head for seq in held.values())


def _check_part(path: Path, name: str, part: Part) -> None:
    counts = (part.rows, part.bytes, part.crc)
    if not isinstance(part.path, str) or not isinstance(part.table, str) or not all(map(_is_count, counts)):
        raise damaged(path, "a part is of the wrong type")
    table, _, below = part.path.partition("/")
    folder, _, file = below.partition("/")
    if table != part.table or table not in _TABLES or folder != partition(name) or not _FILE.fullmatch(file):
        raise damaged(path, f"a part lies outside its table: {part.path!r}")
