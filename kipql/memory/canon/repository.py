"""A repository's `articles/` and `journal/` folders: reading them, and bringing them into a memory.

`articles/src/feed/sync.md` is the article of src/feed/sync; `journal/2026-08-11-vendor-cap.md` is an entry of that
name. Everything is read and checked before anything is written, and bringing it in again changes nothing.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import kipql
from kipql.memory.canon import articles, clock, markdown
from kipql.memory.canon.address import normal
from kipql.memory.canon.paths import Files
from kipql.memory.canon.queries import query

if TYPE_CHECKING:
    from kipql.memory.canon.canon import Canon

MOST = 50_000  # files
_ARTICLE = ("capsule", "updated", "scope")
_ENTRY = re.compile(r"(\d{4}-\d{2}-\d{2})-(.+)\.md", re.ASCII)
Pages = list[tuple[str, markdown.Document]]


@dataclass(frozen=True, slots=True)
class Found:
    """What the folders hold: (address, document) of articles, (name, document) of entries, and the files of the
    journal whose names are no entry's."""

    articles: Pages
    entries: Pages
    left_out: list[str]


@dataclass(frozen=True, slots=True)
class Imported:
    """How many articles were created, updated and unchanged; how many entries were new and known; what was left out."""

    created: int
    updated: int
    unchanged: int
    logged: int
    known: int
    left_out: list[str]


def read_repository(root: Path) -> Found:
    """The folders of a repository.

    Raises the KipError of the first file that can not be taken in; `details.problems` tells of all.
    """
    if not root.is_dir():
        raise kipql.KipError("ArtifactUnavailable", f"{root} is no folder")
    problems: list[kipql.KipError] = []
    left_out: list[str] = []
    pages = _read(root, "articles", problems, lambda path: normal(path.removesuffix(".md")))
    entries = _read(root, "journal", problems, lambda path: _entry_name(path, left_out))
    problems += _unfit(pages, entries)
    if problems:
        first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        listed = [f"{problem.code}: {problem.message}" for problem in problems]
        raise kipql.KipError(first.code, first.message + more, hint=first.hint, details={"problems": listed})
    return Found(pages, sorted(entries, key=lambda entry: (_logged(*entry), entry[0])), left_out)


def import_repository(canon: "Canon", root: Path) -> Imported:
    """Bring the folders of a repository into a Canon, each article and entry a transaction of its own.

    An article governs the file or folder of its address where the repository has one; else it is an orphan. An entry
    that is there already stays; one whose text differs is IdentityConflict, and then nothing is written.
    """
    found = read_repository(root)
    new = [(name, page) for name, page in found.entries if not _known(canon, name, page)]
    today, files = clock.instant(canon.nexus, None)[:10], Files(root)
    statuses = [_write(canon, files, address, page, today) for address, page in found.articles]
    for name, page in new:
        canon.journal(
            page.body,
            page.texts("subject"),
            slug=name[11:].removesuffix(".md"),
            logged=_logged(name, page),
            harness=page.text("harness") or None,
            session=page.text("session") or None,
            name=name,
        )
    counts = {status: statuses.count(status) for status in ("created", "updated", "unchanged")}
    return Imported(**counts, logged=len(new), known=len(found.entries) - len(new), left_out=found.left_out)


def _read(root: Path, folder: str, problems: list[kipql.KipError], named: Callable[[str], str | None]) -> Pages:
    pages: Pages = []
    for count, path in enumerate(_files(root / folder), 1):
        if count > MOST:
            problems.append(kipql.KipError("ArtifactTooLarge", f"{folder} has more than {MOST} files"))
            break
        try:
            name = named(path.relative_to(root / folder).as_posix())
            if name:
                pages.append((name, markdown.read_file(path, root)))
        except kipql.KipError as error:
            problems.append(error)
    return pages


def _files(folder: Path) -> Iterator[Path]:
    """The Markdown files of a folder in order; links to folders are not followed, hidden names are passed over."""
    for where, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.endswith(".md") and not name.startswith("."):
                yield Path(where, name)


def _entry_name(path: str, left_out: list[str]) -> str | None:
    match = _ENTRY.fullmatch(path)
    try:
        date.fromisoformat(match[1] if match else "")
    except ValueError:
        left_out.append(path)
        return None
    return path


def _unfit(pages: Pages, entries: Pages) -> Iterator[kipql.KipError]:
    """What can not be stored although it can be read."""
    seen: set[str] = set()
    for address, page in pages:
        if address in seen:
            yield kipql.KipError("ArtifactParseError", f"two files are the article {address}")
        seen.add(address)
        scope = page.text("scope").strip()
        if scope and scope not in articles.SCOPES:
            yield kipql.KipError("ArtifactParseError", f"articles/{address}.md: {scope!r} is no scope")
    for name, page in entries:
        if not page.body.strip():
            yield kipql.KipError("ArtifactParseError", f"journal/{name} has no text")
        for subject in page.texts("subject"):
            try:
                normal(subject)
            except kipql.KipError as error:
                yield kipql.KipError("ArtifactParseError", f"journal/{name}: {error.message}")


def _logged(name: str, page: markdown.Document) -> str:
    """When an entry was logged: what it says, else the day of its name."""
    try:
        said = datetime.fromisoformat(page.text("logged").strip())
        return clock.canonical(said if said.tzinfo else said.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return f"{name[:10]}T00:00:00.000Z"


def _known(canon: "Canon", name: str, page: markdown.Document) -> bool:
    """Whether the memory has the entry. Raises IdentityConflict where its text is another one."""
    if not canon.nexus.query(query("journal_name"), {"name": name}).rows:
        return False
    if canon.nexus.query(query("journal_body"), {"name": name}).rows != [page.body]:
        raise kipql.KipError(
            "IdentityConflict",
            f"journal/{name} is not what was logged under that name",
            hint="an entry is never rewritten: restore the file, and log what is new as a new entry",
        )
    return True


def _write(canon: "Canon", files: Files, address: str, page: markdown.Document, today: str) -> str:
    carried = {name: value for name, value in page.front.items() if name not in _ARTICLE}
    change = articles.Change(
        capsule=page.text("capsule"),
        body=page.body,
        scope=page.text("scope"),
        front=carried,
        governs=files.stands(address),
        updated=page.text("updated"),
    )
    return articles.write(canon.nexus, canon.mount, address, change, today, canon.form).status
