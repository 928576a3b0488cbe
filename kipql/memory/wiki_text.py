"""Documents as text: sections by heading, the passage that a question means, and citations of characters."""

import re
import unicodedata
from dataclasses import dataclass

import kipql

_PART = r"[^/@#\s]+"
_WIKI = re.compile(rf"(?:wiki://({_PART})/)?({_PART})(?:@({_PART}))?(?:#(\d+)-(\d+))?")
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_PARAGRAPH = re.compile(r"[^\n](?:.*(?:\n(?!\s*\n).*)*)")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Citation:
    """`wiki://{space}/{doc}@{version}#{start}-{end}`: characters `start` to `end` (exclusive) of one version."""

    space: str
    doc: str
    version: str | None
    start: int | None = None
    end: int | None = None

    def __post_init__(self) -> None:
        for part in (self.space, self.doc, self.version):
            if part is not None and (not isinstance(part, str) or not re.fullmatch(_PART, part)):
                hint = "no `/`, `@`, `#` and no blanks"
                raise kipql.KipError("TypeMismatch", f"{part!r} is no part of a wiki reference", hint=hint)

    def __str__(self) -> str:
        return f"wiki://{self.space}/{self.doc}@{self.version}#{self.start}-{self.end}"

    @classmethod
    def parse(cls, text: str, space: str) -> "Citation":
        """A citation, or a reference to a document of a space. Raises TypeMismatch for anything else."""
        match = _WIKI.fullmatch(text)
        if match is None or (match[4] is not None and match[3] is None):
            hint = "wiki://{space}/{doc}@{version}#{start}-{end}"
            raise kipql.KipError("TypeMismatch", f"{text!r} is no wiki reference", hint=hint)
        start, end = (None if part is None else int(part) for part in (match[4], match[5]))
        return cls(match[1] or space, match[2], match[3], start, end)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it, up to the next heading of its level or above."""

    title: str
    level: int
    start: int
    end: int


def sections(text: str) -> list[Section]:
    """The sections of a document in order; what stands before the first heading has an empty title."""
    fenced = [match.span() for match in _FENCED.finditer(text)]
    heads = [match for match in _HEADING.finditer(text) if not any(low <= match.start() < high for low, high in fenced)]
    found = []
    if text[: heads[0].start() if heads else len(text)].strip():
        found.append(Section("", 0, 0, heads[0].start() if heads else len(text)))
    for at, head in enumerate(heads):
        level = len(head[1])
        end = next((later.start() for later in heads[at + 1 :] if len(later[1]) <= level), len(text))
        found.append(Section(head[2], level, head.start(), end))
    return found


def best_passage(text: str, query: str) -> tuple[int, int, str]:
    """The paragraph that shares most words with a query, the first of equals: its range and its section."""
    wanted = _words(query)
    parts = [match.span() for match in _PARAGRAPH.finditer(text)]
    prose = [part for part in parts if not _HEADING.fullmatch(text[slice(*part)])] or parts or [(0, len(text))]
    around = sections(text)

    def title(part: tuple[int, int]) -> str:
        return next((one.title for one in reversed(around) if one.start <= part[0] < one.end), "")

    def score(part: tuple[int, int]) -> tuple[int, int]:
        return len(wanted & _words(text[slice(*part)])), len(wanted & _words(title(part)))

    best = max(prose, key=score)
    start, end = best
    return start, start + len(text[start:end].rstrip()), title(best)


def _words(text: str) -> set[str]:
    folded = unicodedata.normalize("NFKD", text).casefold()
    return {_stem(word) for word in _WORD.findall(folded)}


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
