"""`kip_reference`: the pages of kipql's own documentation by document and section, a page of text at a time.

The pages are those of `docs/`: an installed kipql carries them as `kipql/docs`, a checkout has them beside the package.
Nothing is copied into the program.
"""

import functools
import re
from pathlib import Path
from typing import Any

import kipql

PAGE = 6000
_PACKAGE = Path(kipql.__file__).resolve().parent
_HEADING = re.compile(r"^(#{1,6}) (.+?)\s*$")
_FENCE = re.compile(r"^\s*(```|~~~)")


def kip_reference(document: str | None = None, section: str | None = None, page: int = 1) -> dict[str, Any]:
    """The documents, the sections of one, or a section's text, at most 6,000 characters at a time.

    Without `document` the documents with their titles; without `section` a document's sections and its opening.

    Raises ArtifactUnavailable where a distribution left the documents out, NotFoundOrNotVisible for a document, section
    or page that there is not (with the ones that there are).
    """
    known = _documents()
    if document is None:
        return {"documents": [{"document": name, "title": _sections(name)[0][0]} for name in known]}
    name = document.removesuffix(".md")
    if name not in known:
        raise _missing("document", document, list(known))
    sections = _sections(name)
    titles = [title for title, _ in sections]
    if section is None:
        return {"document": name, "sections": titles, **_page(name, sections[0][1], page)}
    wanted = section.casefold().strip("# ").strip()
    for title, text in sections:
        if title.casefold() == wanted:
            return {"document": name, "section": title, **_page(title, text, page)}
    raise _missing("section", section, titles)


def folder() -> Path | None:
    """The folder with the pages, or None when a distribution left them out."""
    for candidate in (_PACKAGE / "docs", _PACKAGE.parent / "docs"):
        if (candidate / "language.md").is_file():
            return candidate
    return None


@functools.cache
def _documents() -> dict[str, Path]:
    home = folder()
    if home is None:
        raise kipql.KipError("ArtifactUnavailable", "this distribution came without its documents")
    return {path.stem: path for path in sorted(home.glob("*.md"))}


@functools.cache
def _sections(name: str) -> tuple[tuple[str, str], ...]:
    """Title and text of each section; a section ends at the next heading of any level."""
    found: list[tuple[str, list[str]]] = [(name, [])]
    fenced = False
    for line in _documents()[name].read_text(encoding="utf-8").splitlines():
        fenced ^= _FENCE.match(line) is not None
        heading = None if fenced else _HEADING.match(line)
        if heading is not None:
            found.append((heading[2], []))
        found[-1][1].append(line)
    kept = [(title, "\n".join(lines).strip()) for title, lines in found if any(line.strip() for line in lines)]
    return tuple(kept) or ((name, ""),)


def _page(title: str, text: str, page: int) -> dict[str, Any]:
    pages = _pages(text)
    if not 1 <= page <= len(pages):
        raise _missing("page", f"{page} of {title}", [str(number) for number in range(1, len(pages) + 1)])
    return {"text": pages[page - 1], "page": page, "pages": len(pages)}


def _pages(text: str) -> list[str]:
    """A text in pieces that end at a line where that is possible; joined they are the text."""
    pages: list[str] = []
    while len(text) > PAGE:
        end = text.rfind("\n", 0, PAGE) + 1 or PAGE
        pages.append(text[:end])
        text = text[end:]
    return [*pages, text]


def _missing(kind: str, asked: str, known: list[str]) -> kipql.KipError:
    return kipql.KipError("NotFoundOrNotVisible", f"there is no {kind} {asked!r}", hint=f"there is: {', '.join(known)}")
