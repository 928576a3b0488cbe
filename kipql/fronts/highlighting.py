"""The Pygments lexer of `.kql` scripts, an entry point of the package: Pygments finds it by name and by ending.

Pygments' own Kusto lexer has the name `kql`, too, and is found first: by name this one is `kip` or `kml`. Of a file
that ends in `.kql` the text decides, and without a text this one is taken.

It runs the parser's own lexemes (`kipql.editing.colours`): a keyword is one only where the grammar accepts it.
"""

from collections.abc import Iterator
from typing import ClassVar

from pygments.lexer import Lexer
from pygments.token import Comment, Error, Keyword, Name, Number, Punctuation, String, Text, Whitespace, _TokenType

from kipql.editing.colours import pieces

TOKENS: dict[str, _TokenType] = {
    "keyword": Keyword,
    "variable": Name.Variable,
    "parameter": Name.Variable.Magic,
    "string": String.Double,
    "number": Number,
    "comment": Comment.Single,
    "directive": Comment.Special,
    "wrong": Error,
}

_LOOKED_AT = 2_000  # characters


class KqlLexer(Lexer):  # type: ignore[misc]
    """KQL, KML and META of the Knowledge Interaction Protocol."""

    name: ClassVar[str] = "KIP"
    aliases: ClassVar[list[str]] = ["kip", "kml", "kql"]
    filenames: ClassVar[list[str]] = ["*.kql"]
    mimetypes: ClassVar[list[str]] = ["text/x-kql"]
    version_added: ClassVar[str] = ""
    priority: ClassVar[float] = 0.1

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """Each piece with where it begins and its token."""
        at = 0
        for kind, piece in pieces(text):
            yield at, TOKENS.get(kind) or _plain(piece), piece
            at += len(piece)

    @staticmethod
    def analyse_text(text: str) -> float:
        """How surely a text is one of ours: where the parser takes all of its beginning."""
        kinds = [kind for kind, piece in pieces(text[:_LOOKED_AT]) if piece.strip()]
        named = [kind for kind in kinds if kind not in ("comment", "directive")]
        if not named or named[0] != "keyword":
            return 0.0
        return 0.9 if "wrong" not in named[:20] else 0.1


def _plain(piece: str) -> _TokenType:
    if piece.isspace():
        return Whitespace
    if piece[:1].isalpha() or piece.startswith("_"):
        return Name
    return Punctuation if piece.strip() else Text
