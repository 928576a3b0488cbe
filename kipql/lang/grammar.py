"""Where the grammar lives: the `.lark` files of the package `kipql.grammar`, and their digest.

The files are parts of one grammar, joined in the order below: shared rules are shared, and names need no
prefix. (Lark's `%import` would copy a shared rule into every file that imports it.) In a checkout the
folder is `grammar/` beside the package; an installed kipql carries it as `kipql/grammar`.
"""

import hashlib
from pathlib import Path

FILES = ("tokens", "values", "patterns", "kql", "kml", "meta", "kip")
STARTS = ("start", "script")

_PACKAGE = Path(__file__).resolve().parent.parent


def folder() -> Path | None:
    """The folder with the grammar files, or None when a distribution left them out."""
    for candidate in (_PACKAGE / "grammar", _PACKAGE.parent / "grammar"):
        if (candidate / "kip.lark").is_file():
            return candidate
    return None


def source() -> str | None:
    """The text of the whole grammar, with `\\n` line ends."""
    home = folder()
    if home is None:
        return None
    return "\n".join((home / f"{name}.lark").read_text("utf-8") for name in FILES)


def digest(text: str) -> str:
    """What the tables are keyed by."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
