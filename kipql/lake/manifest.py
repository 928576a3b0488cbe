"""What a lake holds of one Space: the files that count, and up to which commit (docs/scale.md, "On disk").

A manifest is replaced by a rename after its files are on disk. What no manifest names is not read: a crash leaves
files that the next export of the Space removes.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from urllib.parse import quote, unquote

from kipql.errors import KipError
from kipql.runtime.arriving import new_file
from kipql.values import Json

FORMAT = 1
FOLDER = "spaces"
_TEXTS = ("space_id", "coverage", "anchor", "version")


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file of one table."""

    table: str
    path: str  # below the lake's folder
    rows: int
    bytes: int
    crc: int  # CRC-32C of the file


RESIDENT = 64 * 1024 * 1024
"""Bytes of files up to which an engine reads a Space once, when it is opened, and checks every byte of them."""


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

    def with_parts(self, parts: tuple[Part, ...]) -> "Manifest":
        """The same with other files."""
        return replace(self, parts=parts)


def partition(name: str) -> str:
    """The folder of a Space within a table."""
    return f"space_id={quote(name, safe='')}"


def path_of(lake: Path, name: str) -> Path:
    """Where the manifest of a Space is."""
    return lake / FOLDER / f"{quote(name, safe='')}.json"


def names(lake: Path) -> list[str]:
    """The Spaces of a lake, ordered."""
    return sorted(unquote(path.stem) for path in (lake / FOLDER).glob("*.json"))


def every(lake: Path) -> Iterator[Manifest]:
    """The manifests of a lake, in the order of their names."""
    for name in names(lake):
        yield read(lake, name)


def read(lake: Path, name: str) -> Manifest:
    """The manifest of a Space. Raises NotFoundOrNotVisible, MemoryDamaged, MemoryFormatUnsupported."""
    path = path_of(lake, name)
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise KipError("NotFoundOrNotVisible", f"the lake has no Space {name!r}") from None
    except (OSError, ValueError) as error:
        raise damaged(path, str(error)) from error
    return _checked(path, name, data)


def write(lake: Path, manifest: Manifest) -> None:
    """Publish a manifest. Raises OSError."""
    path = path_of(lake, manifest.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"kipql_lake": FORMAT, **asdict(manifest)}
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
    except OSError as error:
        raise damaged(path, error.strerror or str(error)) from error


def damaged(path: Path, problem: str) -> KipError:
    """The error of a lake that can not be read as one."""
    return KipError(
        "MemoryDamaged",
        f"the lake's {path.name} is damaged: {problem}",
        details={"path": str(path)},
        hint="export the memory into a new folder",
    )


def _checked(path: Path, name: str, data: Json) -> Manifest:
    if not isinstance(data, dict) or not isinstance(data.get("kipql_lake"), int):
        raise damaged(path, "it is no manifest of a lake")
    if data.pop("kipql_lake") != FORMAT:
        raise KipError(
            "MemoryFormatUnsupported",
            f"the lake's {path.name} has another format than {FORMAT}",
            hint="open it with the kipql that wrote it, or export again into a new folder",
        )
    try:
        parts = tuple(Part(**each) for each in data.pop("parts"))
        manifest = Manifest(**data, parts=parts)
    except (TypeError, KeyError) as error:
        raise damaged(path, f"a member is missing or unknown: {error}") from error
    texts = all(isinstance(getattr(manifest, member), str) for member in _TEXTS)
    counts = all(isinstance(count, int) for count in (manifest.head, manifest.literals))
    if not texts or not counts or manifest.name != name or not isinstance(manifest.erased, dict):
        raise damaged(path, "a member is of the wrong type")
    for part in parts:
        _check_place(path, part)
    return manifest


def _check_place(path: Path, part: Part) -> None:
    if not isinstance(part.path, str) or not isinstance(part.table, str) or not isinstance(part.rows, int):
        raise damaged(path, "a part is of the wrong type")
    steps = Path(part.path)
    if steps.is_absolute() or ".." in steps.parts or steps.parts[:1] != (part.table,):
        raise damaged(path, f"a part lies outside its table: {part.path!r}")
