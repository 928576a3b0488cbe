"""A Canon as the Markdown folders of a repository: `articles/` and `journal/`, as `import_repository` reads them.

Bringing the folders in again changes nothing. A journal file that is there with another text is never rewritten, and
nothing is written then.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.canon import markdown
from kipql.memory.canon.address import shown
from kipql.memory.canon.queries import query

if TYPE_CHECKING:
    from kipql.memory.canon.canon import Canon


@dataclass(frozen=True, slots=True)
class Exported:
    """How many articles and entries were written, how many files stood there as they are, and what was left out: an
    entry whose text was erased."""

    articles: int
    entries: int
    unchanged: int
    left_out: list[str]


@dataclass(slots=True)
class _Page:
    path: str
    front: dict[str, markdown.Value] = field(default_factory=dict)
    body: str | None = ""


def export_repository(canon: "Canon", root: Path) -> Exported:
    """Write the articles of a Canon's mount, and the journal, below a folder.

    Raises ArtifactUnavailable for what can not be written or leads out of the folder, ArtifactParseError for an article
    that a file can not hold as it is, IdentityConflict for a journal file with another text.
    """
    articles, entries = list(_articles(canon)), list(_entries(canon))
    held = [page for page in (*articles, *entries) if page.body is not None]
    texts = {page.path: _rendered(page) for page in held}
    standing = {path: _standing(root, path) for path in texts}
    for page in entries:
        there = standing.get(page.path)
        if there is not None and page.body is not None and markdown.parse(there).body != page.body:
            raise kipql.KipError("IdentityConflict", f"{page.path} is not what was logged under that name")
    new = [path for path, text in texts.items() if standing[path] != text and not _kept(path, standing[path])]
    for path in new:
        _written(root, path, texts[path])
    logged = sum(path.startswith("journal/") for path in new)
    left_out = [page.path for page in entries if page.body is None]
    return Exported(len(new) - logged, logged, len(texts) - len(new), left_out)


def _articles(canon: "Canon") -> Iterator[_Page]:
    for address, capsule, body, updated, scope, front in canon.nexus.query(query("pages"), {"mount": canon.mount}).rows:
        known = {"capsule": capsule, "updated": updated, "scope": scope}
        carried = front if isinstance(front, Mapping) else {}
        members = {name: value for name, value in {**known, **carried}.items() if value not in (None, "", [])}
        yield _Page(f"articles/{address}.md", members, body or "")


def _entries(canon: "Canon") -> Iterator[_Page]:
    pages: dict[str, _Page] = {}
    for name, logged, harness, session, text, mount, address in canon.nexus.query(query("entries")).rows:
        members = {"logged": logged, "harness": harness, "session": session}
        page = pages.setdefault(
            name,
            _Page(f"journal/{name}", {key: value for key, value in members.items() if value}, text),
        )
        if address is not None:
            subjects = page.front.setdefault("subject", [])
            assert isinstance(subjects, list)
            subjects.append(shown(mount or "", address))
    yield from pages.values()


def _rendered(page: _Page) -> str:
    """A page as a file. Raises ArtifactParseError where reading it would not give the page back."""
    lines = [_member(name, value) for name, value in page.front.items()]
    text = "\n".join(["---", *lines, "---", "", page.body or ""])
    if markdown.parse(text) != markdown.Document(page.front, page.body or ""):
        raise kipql.KipError(
            "ArtifactParseError",
            f"{page.path} can not be written so that it reads back the same",
            hint="a body that begins with an empty line, or a front-matter member of another form, can not be kept",
        )
    return text


def _member(name: str, value: Any) -> str:
    if isinstance(value, list):
        return f"{name}: [{', '.join(_quoted(str(item)) for item in value)}]"
    first, several, rest = str(value).partition("\n")
    if not several:
        return f"{name}: {_quoted(first)}"
    return f"{name}:\n{value}" if first[:1].isspace() else f"{name}: {first}\n{rest}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _kept(path: str, standing: str | None) -> bool:
    """Whether a file stays although its front matter is written otherwise: an entry is never rewritten."""
    return standing is not None and path.startswith("journal/")


def _standing(root: Path, path: str) -> str | None:
    file = root / path
    try:
        if not file.resolve().is_relative_to(root.resolve()):
            raise kipql.KipError("ArtifactUnavailable", f"{path} leads out of {root}")
        with file.open(encoding="utf-8", newline="") as opened:
            return opened.read()
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RuntimeError) as error:
        raise kipql.KipError("ArtifactUnavailable", f"{file}: {getattr(error, 'strerror', None) or error}") from None


def _written(root: Path, path: str, text: str) -> None:
    file = root / path
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8", newline="") as opened:
            opened.write(text)
    except (OSError, ValueError) as error:
        raise kipql.KipError("ArtifactUnavailable", f"{file}: {getattr(error, 'strerror', None) or error}") from None
