"""What a session does, as one function from arguments to text: for `kipql memory`, `kipql canon` and the shell."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kipql.memory.canon.address import shown

if TYPE_CHECKING:
    from kipql.memory.canon.articles import Article
    from kipql.memory.canon.canon import Canon
    from kipql.memory.canon.surfacing import CanonSession


def touched(session: "CanonSession", paths: "str | Iterable[str]", projection: str | None = None) -> str:
    """`touch`: which articles it staged."""
    staged = session.touch(paths, projection)
    return f"staged: {', '.join(staged)}" if staged else "nothing new is staged"


def flushed(session: "CanonSession", projection: str | None = None) -> str:
    """`flush`: the message, or a sentence where there is none."""
    return session.flush(projection) or "nothing to surface"


def resolved(canon: "Canon", path: str) -> str:
    """`resolve`: which article governs a path."""
    address = canon.resolve(path)
    return f"{path} -> {address}" if address is not None else f"{path} -> none"


def article_text(article: "Article") -> str:
    """`read`: an article with the journal entries about it."""
    if article.address is None:
        return f"no article governs {shown(article.mount, article.governs)}"
    head = shown(article.mount, article.address)
    lines = [f"# {head}" if article.address == article.governs else f"# {head} (governs {article.governs})"]
    lines += [article.capsule] if article.capsule else []
    lines += ["", article.body] if article.body else []
    if article.journal:
        earlier = f", and {article.earlier} earlier" if article.earlier else ""
        lines += ["", f"Journal: {', '.join(article.journal)}{earlier}"]
    return "\n".join(lines)
