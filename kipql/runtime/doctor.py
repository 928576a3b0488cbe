"""`kipql doctor`: a memory's folder looked at from outside, recovered into a copy, or searched for what was purged.

Nothing here opens a memory for writing, so another process may have it open.
"""

import shutil
from pathlib import Path
from typing import NamedTuple

from kipql.errors import KipError
from kipql.model import parse_id
from kipql.runtime import folder, shipped
from kipql.runtime.arriving import new_folder
from kipql.store.erased import holding, traces
from kipql.store.examining import DAMAGE, Finding, examine
from kipql.store.recovering import Recovered, recover
from kipql.values import Json


class Report(NamedTuple):
    """What was looked at, and what was found; `sound` when no finding is damage."""

    looked_at: list[dict[str, Json]]
    findings: list[Finding]

    @property
    def sound(self) -> bool:
        """No damage."""
        return all(finding.level != DAMAGE for finding in self.findings)

    def to_dict(self) -> dict[str, Json]:
        """For `--json`."""
        found: list[Json] = [{**each._asdict(), "path": str(each.path)} for each in self.findings]
        return {"sound": self.sound, "spaces": list(self.looked_at), "findings": found}


def check(path: Path) -> Report:
    """Verify every Space. Raises NotAMemory, MemoryFormatUnsupported, MemoryUnavailable."""
    looked_at: list[dict[str, Json]] = []
    findings: list[Finding] = []
    for space_id in _spaces(path):
        place = folder.space_folder(path, space_id)
        if not place.is_dir():
            findings.append(Finding(DAMAGE, place, None, f"the Space {space_id!r} was made here, and is gone"))
            continue
        with _reading(place):
            found = examine(place, space_id, shipped.load_schema)
        looked_at.append({"space": space_id, "head": found.head, "frames": found.frames, "snapshots": found.snapshots})
        findings += found.findings
    return Report(looked_at, findings)


def recover_into(path: Path, target: Path) -> dict[str, Recovered]:
    """Write a copy that holds everything up to the damage. Raises MemoryUnavailable when the target exists."""
    spaces = _spaces(path)
    found = {}
    try:
        with new_folder(target) as draft:
            folder.open_folder(draft, readonly=False)
            if folder.is_governed(path):
                folder.remember_governed(draft)
            for space_id in spaces:
                place = folder.space_folder(path, space_id)
                made = folder.space_folder(draft, space_id)
                if place.is_dir():
                    found[space_id] = recover(place, made, space_id, shipped.load_schema)
                else:
                    found[space_id] = Recovered(None, ["all of it: its folder is gone"])
                if found[space_id].head is not None:
                    shutil.rmtree(made / "lock", ignore_errors=True)
                    folder.remember_space(draft, space_id)
    except OSError as error:
        raise KipError(
            "MemoryUnavailable",
            f"the copy could not be written: {error.strerror or error}",
            details={"path": str(target)},
        ) from error
    return found


def prove_erased(path: Path, space_id: str, element: str, text: str | None = None) -> list[Finding]:
    """What is left of a purged element; nothing when it is gone from every file of the memory.

    text  what the element said, to search every file for it as bytes

    Raises NotFoundOrNotVisible, and MemoryDamaged when the Space can not be read.
    """
    code = parse_id(element)
    if code is None or space_id not in _spaces(path):
        raise KipError("NotFoundOrNotVisible", f"there is no {element} in {space_id!r}")
    place = folder.space_folder(path, space_id)
    with _reading(place):
        found = traces(place, space_id, code, shipped.load_schema)
        return [*found, *(holding(path, text) if text else ())]


def _spaces(path: Path) -> list[str]:
    folder.open_folder(path, readonly=True)
    with _reading(path):
        return folder.space_ids(path)


class _reading:
    """OSError becomes MemoryUnavailable."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise KipError(
                "MemoryUnavailable",
                f"{self._path} can not be read: {error.strerror or error}",
                details={"path": str(self._path)},
            ) from error
