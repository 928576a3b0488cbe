"""What there is, as text for a model: the map of articles, and what a search finds."""

from typing import TYPE_CHECKING

import kipql
from kipql.memory.canon import prose
from kipql.memory.canon.address import shown, without_extension
from kipql.memory.canon.queries import query

if TYPE_CHECKING:
    from kipql import Nexus

_BRIEF = 200
_MOST = 1_000


def map_text(nexus: "Nexus", mount: str, prefix: str) -> str:
    """The articles at a normal path and below it, a line each."""
    for one in dict.fromkeys((prefix, without_extension(prefix))):
        below = f"{one}/" if one else ""
        rows = nexus.query(query("map"), {"mount": mount, "prefix": one, "below": below}).rows
        if rows:
            return "\n".join(_line(shown(mount, address), capsule) for address, capsule in rows)
    return f"There are no articles {f'at or below {shown(mount, prefix)}' if prefix else 'yet'}."


def search_text(nexus: "Nexus", text: str, *, journal: bool, limit: int) -> str:
    """What a text finds; see `Canon.search`."""
    if not isinstance(text, str):
        raise kipql.KipError("TypeMismatch", f"a search is for text, not {type(text).__name__}")
    if not isinstance(limit, int) or isinstance(limit, bool) or not 0 < limit <= _MOST:
        raise kipql.KipError("ConstraintViolation", f"limit is 1 to {_MOST}, not {limit!r}")
    asked = {"text": text}
    articles = nexus.query(query("search_articles"), asked).rows if text.strip() else []
    entries = nexus.query(query("search_journal"), asked).rows if text.strip() and journal else []
    of_articles, of_entries = _places(len(articles), len(entries), limit)
    lines = [_line(shown(mount, address), capsule) for mount, address, capsule in articles[:of_articles]]
    lines += [_line(f"journal/{name}", _said(said)) for name, said in entries[:of_entries]]
    more = len(articles) + len(entries) - of_articles - of_entries
    if not lines:
        lines.append(
            f"Nothing matches {prose.squeezed(text)[:_BRIEF]!r}." if text.strip() else "There is nothing to search for."
        )
    if more:
        lines.append(f"{more} more matched.")
    if not journal and (size := nexus.query(query("journal_size")).scalar()):
        lines.append(f"The journal was not searched; it holds {size} {'entry' if size == 1 else 'entries'}.")
    return "\n".join(lines)


def _places(articles: int, entries: int, limit: int) -> tuple[int, int]:
    """How many of each are shown: half for each, articles first, and what one does not use is the other's."""
    half = min(entries, limit // 2)
    of_articles = min(articles, limit - half)
    return of_articles, min(entries, limit - of_articles)


def _line(name: str, text: object) -> str:
    brief = prose.squeezed(text)[:_BRIEF] if isinstance(text, str) else ""
    return f"{name}: {brief}" if brief else name


def _said(text: object) -> str:
    return text if isinstance(text, str) else ""
