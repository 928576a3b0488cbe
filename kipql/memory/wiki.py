"""A wiki of versioned documents: what an authority wrote, found by words and cited to the character.

A version of a document is one Evidence with its text word for word; it never changes, a new text is a new version. A
citation `wiki://{space}/{doc}@{version}#{start}-{end}` names characters of one version, so it can be checked: `read`
answers what it cites. What somebody concludes from a document is a claim that cites it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.brief.queries import query
from kipql.memory.graph import Reader, now, prepare
from kipql.memory.wiki_text import Citation, Section, best_passage, sections

if TYPE_CHECKING:
    from kipql import Nexus

_KEY = re.compile(r"wiki:(?P<space>[^/]+)/(?P<doc>[^#]+)#(?P<ordinal>\d+)@(?P<version>.+)")


@dataclass(frozen=True, slots=True)
class Page:
    """One version of a document; `text` is None where it was erased or is withheld."""

    id: str
    space: str
    doc: str
    version: str
    ordinal: int
    title: str
    text: str | None

    def cited(self, start: int, end: int) -> dict[str, Any]:
        """A range of characters with its citation."""
        if self.text is None:
            raise kipql.KipError("BlobUnavailable", f"the text of {self.doc}@{self.version} was erased or is withheld")
        citation = Citation(self.space, self.doc, self.version, start, end)
        return {"text": self.text[start:end], "citation": str(citation)}


class Wiki:
    """The documents of one space of a memory. The package `kip://kipql/agent` is installed where it is missing.

    >>> import kipql
    >>> wiki = Wiki(kipql.open(), "hr")
    >>> wiki.write("leave", "# Leave\\n\\nEverybody has 25 days a year.")
    'wiki://hr/leave@1'
    >>> wiki.search("How many days of leave?")[0]["citation"]
    'wiki://hr/leave@1#9-38'
    """

    def __init__(self, nexus: "Nexus", space: str = "wiki") -> None:
        Citation(space, "doc", "1")  # the name is checked there
        self.nexus = nexus
        self.space = space
        prepare(nexus)

    def write(self, doc: str, text: str, *, title: str | None = None, version: str | None = None) -> str:
        """Keep a new version of a document; its reference. The text of the latest version is that version.

        Raises TypeMismatch for a name with `/`, `@`, `#` or blanks, ClientKeyConflict for a version that exists with
        another text, ReadonlyViolation.
        """
        Citation(self.space, doc, version)
        with self.nexus.transaction() as tx:
            versions = self._versions(tx, doc)
            last = versions[-1] if versions else None
            if last is not None and last.text == text and version in (None, last.version):
                return self._ref(doc, last.version)
            ordinal = last.ordinal + 1 if last is not None else 1
            named = str(ordinal) if version is None else version
            if any(page.version == named for page in versions):
                raise kipql.KipError("ClientKeyConflict", f"version {named} of {doc} holds another text")
            shown = title or next((one.title for one in sections(text) if one.title), doc)
            tx.execute(
                query("wiki_write"),
                {
                    "key": self._key(doc),
                    "space": self.space,
                    "doc": doc,
                    "title": shown,
                    "client_key": f"wiki:{self.space}/{doc}#{ordinal}@{named}",
                    "payload": {"mode": "inline", "inline": {"title": shown, "text": text}},
                    "at": now(),
                },
            )
        return self._ref(doc, named)

    def documents(self) -> list[dict[str, Any]]:
        """The documents: `{doc, title, versions}`, the latest version last."""
        values = {"space": self.space, "seq": self.nexus.space_seq}
        found: dict[str, dict[str, Any]] = {}
        for identity, key, title in self.nexus.query(query("wiki_documents"), values).rows:
            page = _page(identity, key, None)
            if page is not None:
                found.setdefault(page.doc, {"doc": page.doc, "title": title, "versions": []})["versions"].append(page)
        for entry in found.values():
            entry["versions"] = [page.version for page in sorted(entry["versions"], key=lambda page: page.ordinal)]
        return list(found.values())

    def search(self, text: str, *, limit: int = 5, as_of_seq: int | None = None) -> list[dict[str, Any]]:
        """Passages that a text might mean, best document first: `{ref, doc, version, title, section, text, citation,
        score}`. Only the latest version of a document is searched."""
        seq = self.nexus.space_seq if as_of_seq is None else as_of_seq
        values = {"text": text, "space": self.space, "seq": seq}
        found: list[dict[str, Any]] = []
        for identity, key, payload, score in (
            self.nexus.query(query("wiki_search"), values).rows if text.strip() else ()
        ):
            page = _page(identity, key, payload)
            if page is None or page.text is None or len(found) >= limit:
                continue
            if self._versions(self.nexus, page.doc, seq)[-1].version == page.version:
                start, end, section = best_passage(page.text, text)
                found.append({**_head(page), "section": section, **page.cited(start, end), "score": score})
        return found

    def read(self, ref: str, *, section: str | None = None, view: str | None = None) -> dict[str, Any]:
        """A document, or what a citation cites.

        ref      `doc`, `doc@version`, `wiki://space/doc@version`, or that with `#start-end`
        section  a heading of it
        view     "contents", "section" or "full"; by default what `ref` and `section` ask for, else the contents

        Raises NotFoundOrNotVisible for what there is not, BlobUnavailable for a version whose text was erased,
        TypeMismatch for a malformed reference. A citation is never completed or guessed.
        """
        cited = Citation.parse(ref, self.space)
        page = self._find(cited)
        whole = page.cited(0, len(page.text or ""))
        if cited.start is not None and cited.end is not None:
            if not 0 <= cited.start < cited.end <= len(whole["text"]):
                raise kipql.KipError("NotFoundOrNotVisible", f"{ref} cites characters that this version has not")
            return _head(page) | page.cited(cited.start, cited.end)
        if view == "full":
            return _head(page) | whole
        parts = sections(whole["text"])
        if section is not None or view == "section":
            one = _named(page, parts, section)
            return _head(page) | {"section": one.title, **page.cited(one.start, one.end)}
        contents = [{"title": one.title, "level": one.level, **page.cited(one.start, one.end)} for one in parts]
        return _head(page) | {"contents": [{**one, "text": len(one["text"])} for one in contents]}

    def _find(self, cited: Citation) -> Page:
        if cited.space != self.space:
            raise kipql.KipError("NotFoundOrNotVisible", f"this wiki is {self.space!r}, not {cited.space!r}")
        pages = [page for page in self._versions(self.nexus, cited.doc) if cited.version in (None, page.version)]
        if not pages:
            named = cited.doc if cited.version is None else f"{cited.doc}@{cited.version}"
            raise kipql.KipError("NotFoundOrNotVisible", f"there is no document {named!r} here")
        return pages[-1]

    def _versions(self, reader: Reader, doc: str, seq: int | None = None) -> list[Page]:
        text = query("wiki_versions")
        values: dict[str, Any] = {"key": self._key(doc)}
        if seq is None:
            text = text.replace("AS OF SEQ :seq\n", "")
        else:
            values["seq"] = seq
        pages = [_page(*row) for row in reader.query(text, values).rows]
        return sorted((page for page in pages if page is not None), key=lambda page: page.ordinal)

    def _key(self, doc: str) -> str:
        return f"wiki://{self.space}/{doc}"

    def _ref(self, doc: str, version: str) -> str:
        return f"{self._key(doc)}@{version}"


def _page(identity: str, key: str | None, payload: Any) -> Page | None:
    match = _KEY.fullmatch(key or "")
    if match is None:
        return None
    value = payload.get("inline") if isinstance(payload, Mapping) else None
    held = value if isinstance(value, Mapping) else {}
    doc = match["doc"]
    return Page(
        identity, match["space"], doc, match["version"], int(match["ordinal"]), held.get("title", doc), held.get("text")
    )


def _head(page: Page) -> dict[str, Any]:
    return {"ref": page.id, "doc": page.doc, "version": page.version, "title": page.title}


def _named(page: Page, parts: list[Section], wanted: str | None) -> Section:
    for one in parts:
        if wanted is not None and one.title.casefold() == wanted.casefold():
            return one
    titles = ", ".join(one.title for one in parts)
    raise kipql.KipError("NotFoundOrNotVisible", f"{page.doc} has no section {wanted!r}", hint=f"it has {titles}")
