"""`kipql.load_dump`: a new memory from what `nexus.dump` wrote.

A dump may come from anywhere. Each line is read under limits and becomes a frame; the journal is then opened with
every check that a journal has, and the digests are compared. All of it happens in a folder beside the target, which
takes its name when everything was right: there is never half a memory.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from kipql.errors import KipError
from kipql.govern.trust import KIND as TRUST
from kipql.limits import DEFAULT_LIMITS, Limits
from kipql.runtime import folder
from kipql.runtime.arriving import new_folder
from kipql.runtime.dump import ENDED, FORMAT, HEADER, LAST, SPACE
from kipql.runtime.memory import Memory
from kipql.runtime.space import Space
from kipql.store.codec import Invalid
from kipql.store.dumping import Rebuilt
from kipql.values import Json, members_once

_SPACES_MOST = 10_000


def load_dump(source: object, path: object, *, limits: Limits | None = None) -> dict[str, int]:
    """Make a new memory from a dump; the head of each Space.

    source  a path, or a file open for reading
    path    the folder to make; it must not exist
    limits  bounds of the new memory's frames; a line may have four times as many bytes

    Raises ArtifactParseError with `details.line` for what is no dump, MemoryFormatUnsupported for one of a newer
    format, DigestMismatch when a Space is not what the dump says it was, MemoryUnavailable when the folder exists or
    the disk refuses. Then nothing was made.

    >>> import io, tempfile, kipql
    >>> file = io.StringIO()
    >>> kipql.open().dump(file)
    >>> kipql.load_dump(io.StringIO(file.getvalue()), tempfile.mkdtemp() + "/copy")
    {'kip:space:default': 0}
    """
    from kipql.runtime.guard import reraise

    try:
        target = folder.path_of(path)
        try:
            with new_folder(target) as draft:
                return _load(source, draft, limits if limits is not None else DEFAULT_LIMITS)
        except OSError as error:
            raise KipError(
                "MemoryUnavailable",
                f"the dump could not be loaded: {error.strerror or error}",
                details={"path": str(target)},
            ) from error
    except Exception as error:
        reraise(error)


def _load(source: object, draft: Path, limits: Limits) -> dict[str, int]:
    folder.open_folder(draft, readonly=False)
    if hasattr(source, "read"):
        made = _Loading(draft, limits).read(source)
    else:
        with folder.path_of(source).open("rb") as file:
            made = _Loading(draft, limits).read(file)
    _check(draft, limits, made)
    return {each.id: each.journal.head for each in made}


class _Made:
    """A Space as its journal was written."""

    def __init__(self, space_id: str, commits: Json, line: int, journal: Rebuilt) -> None:
        self.id = space_id
        self.commits = commits
        self.line = line
        self.journal = journal
        self.ended = 0
        self.digest: Json = None


class _Loading:
    """Reads the lines of one dump."""

    def __init__(self, draft: Path, limits: Limits) -> None:
        self._draft = draft
        self._limits = limits
        self._number = 0
        self._made: list[_Made] = []

    def read(self, file: Any) -> list[_Made]:
        """Write the journals that the lines say."""
        try:
            return self._read(self._lines(file))
        except (Invalid, LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            plain = isinstance(error, Invalid)
            _wrong(self._number, str(error) if plain else f"it does not say what a dump says ({type(error).__name__})")
        except KipError as error:
            if error.code in ("ConstraintViolation", "TypeMismatch"):
                _wrong(self._number, error.message)
            raise
        finally:
            for made in self._made:
                made.journal.close(durable=False)

    def _read(self, lines: Iterator[dict[str, Json]]) -> list[_Made]:
        wanted = self._header(next(lines, {}))
        for line in lines:
            if LAST in line:
                if line != {LAST: self._number - 1}:
                    raise Invalid(f"{self._number - 1} lines come before this one")
                if next(lines, None) is not None:
                    raise Invalid("something follows the last line")
                break
            self._line(line, wanted)
        else:
            raise Invalid("the dump is cut off: its last line is missing")
        if [made.id for made in self._made] != wanted or not all(made.ended for made in self._made):
            raise Invalid("the Spaces are not those that the first line names")
        return self._made

    def _header(self, line: dict[str, Json]) -> list[str]:
        version = line.get(HEADER)
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise Invalid(f"a dump begins with {HEADER!r} and its format")
        if version > FORMAT:
            raise KipError(
                "MemoryFormatUnsupported",
                f"the dump has format {version}, this kipql knows {FORMAT}",
                hint="use a newer kipql",
                details={"found": version, "supported": FORMAT},
            )
        spaces = line.get("spaces")
        if line.keys() != {HEADER, "spaces", "governed"} or not isinstance(spaces, list) or len(spaces) > _SPACES_MOST:
            raise Invalid("the first line is {kipql_dump, spaces, governed}")
        if not all(isinstance(each, str) and 0 < len(each) <= 512 for each in spaces) or len({*spaces}) != len(spaces):
            raise Invalid("the first line names each Space once")
        if line["governed"] is True:
            folder.remember_governed(self._draft)
        return spaces

    def _line(self, line: dict[str, Json], wanted: list[str]) -> None:
        if SPACE in line:
            self._begin(line, wanted)
            return
        made = self._made[-1] if self._made else None
        if made is None or made.ended:
            raise Invalid("no Space has begun")
        if ENDED not in line:
            made.journal.put(line, self._number)
            return
        if line.keys() - {"digest"} != {ENDED} or line[ENDED] != made.id or made.commits != made.journal.head:
            raise Invalid(f"the Space {made.id!r} ends after {made.commits!r} commits")
        made.ended, made.digest = self._number, line.get("digest")
        made.journal.close(durable=True)

    def _begin(self, line: dict[str, Json], wanted: list[str]) -> None:
        at = len(self._made)
        if at and not self._made[-1].ended:
            raise Invalid(f"the Space {self._made[-1].id!r} has not ended")
        if at >= len(wanted) or line.keys() != {SPACE, "commits"} or line[SPACE] != wanted[at]:
            raise Invalid("this is not the Space that the first line names")
        journal = Rebuilt(folder.space_folder(self._draft, wanted[at]), self._limits.frame)
        self._made.append(_Made(wanted[at], line["commits"], self._number, journal))
        folder.remember_space(self._draft, wanted[at])

    def _lines(self, file: Any) -> Iterator[dict[str, Json]]:
        most = 4 * self._limits.frame
        while text := file.readline(most + 1):
            self._number += 1
            if len(text) > most:
                raise Invalid(f"a line of more than {most} characters; open it with Limits(frame=...)")
            yield _object(text)


def _object(text: str | bytes) -> dict[str, Json]:
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    found = json.loads(text, object_pairs_hook=members_once, parse_constant=_no_number, parse_float=_finite)
    if not isinstance(found, dict):
        raise Invalid("a line is one JSON object")
    return found


def _no_number(text: str) -> NoReturn:
    raise Invalid(f"{text} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0.0:
        raise Invalid(f"{text[:40]} is too large")
    return number


def _check(draft: Path, limits: Limits, made: list[_Made]) -> None:
    """Open everything that was written, once, as any memory is opened."""
    memory = Memory(draft, readonly=False, limits=limits, clock=None, durability="fsync", snapshot_after=8 << 20)
    try:
        for each in made:
            _check_space(memory, each)
    finally:
        memory.close()


def _check_space(memory: Memory, made: _Made) -> None:
    try:
        space = memory.space(made.id, create=False)
        _check_controls(space, made)
        digest = space.store.digest()
    except KipError as error:
        offset = error.details.get("offset")
        line = made.journal.line_at(offset) if isinstance(offset, int) else made.line
        _wrong(line or made.line, error.message.partition(f" at offset {offset}: ")[2] or error.message)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        _wrong(made.line, f"the Space can not be used ({type(error).__name__}: {error})"[:300])
    if made.digest is not None and digest != made.digest:
        raise KipError(
            "DigestMismatch",
            f"line {made.ended}: the Space {made.id!r} has the digest {digest}, the dump says {made.digest!r}",
            hint="the dump was changed; leave its digest out to load it all the same",
            details={"line": made.ended, "space_id": made.id},
        )


def _check_controls(space: Space, made: _Made) -> None:
    """Control changes are read when they are asked for: once now, so that none is wrong later."""
    at = 0
    try:
        for seq, kind, payload in space.store.graph.controls:
            at = seq
            if not isinstance(payload, dict):
                raise Invalid("an object is expected")
            if kind == TRUST:
                _check_trust(payload)
        at = 0
        space.control.policies(space.store.head)
        space.governance.policy  # noqa: B018  # folds the changes
    except (Invalid, KipError, LookupError, TypeError, ValueError, AttributeError) as error:
        what = error.message if isinstance(error, KipError) else f"{type(error).__name__}: {error}"
        _wrong(made.journal.line_of(at) or made.line, f"a control change can not be used: {what}"[:300])


def _check_trust(payload: dict[str, Json]) -> None:
    """Raises Invalid for what is no change of trust."""
    actor, value, note = payload["actor"], payload["value"], payload["note"]
    if not isinstance(actor, str) or not isinstance(note, str | None):
        raise Invalid("trust names an actor")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1):
        raise Invalid("trust is a number from 0 to 1")


def _wrong(line: int, what: str) -> NoReturn:
    raise KipError(
        "ArtifactParseError",
        f"line {line} of the dump: {what}",
        hint="nothing was made",
        details={"line": line},
    )
