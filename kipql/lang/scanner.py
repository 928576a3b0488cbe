"""Lexemes: one regular expression for the whole language; the parser state says which keyword a word is.

A lexeme has a class (`WORD`, `VAR`, `STRING`, an operator, ...). Which terminal it becomes depends on what
the parser accepts next, exactly as with Lark's contextual lexer: a word is a keyword where that keyword is
acceptable and an identifier elsewhere; `:name` is a parameter, or a colon and a word; digits are a number,
or a bound of hops; SET before RETENTION may be one terminal.

Decisions (docs/language.md): blanks are space, tab, LF and CR, nothing else; a comment ends at LF or CR,
so a lone CR cannot hide what an editor shows on its own line; one BOM at the start of a text is skipped.
"""

import re
from collections.abc import Mapping

# No group is repeated possessively: Python 3.11.2 leaves the place wrong where one begins to match and fails.
SKIP = r"(?:[ \t\r\n]++|//[^\n\r]*+)*"
STRING = r'"[^"\\\x00-\x1f]*+(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*+)*"'
NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![A-Za-z0-9_.])"

LEXEME = re.compile(
    SKIP
    + rf"""(?:
    (?P<WORD>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<OPERATOR>[(){{}}\[\],.;]|\|\|?|&&|[=!<>]=|[!<>])
  | (?P<VAR>\?[A-Za-z_][A-Za-z0-9_]*)
  | (?P<PARAM>:[A-Za-z_][A-Za-z0-9_]*)
  | (?P<COLON>:)
  | (?P<STRING>{STRING})
  | (?P<NUMBER>{NUMBER})
  | (?P<UINT>[0-9]++(?![A-Za-z0-9_.]))
  | (?P<MINUS>-)
  | (?P<END>\Z)
  | (?P<BAD>.)
    )""",
    re.ASCII | re.DOTALL | re.VERBOSE,
)

KINDS = ("", *LEXEME.groupindex)  # by the number of the group

OPERATORS: Mapping[str, str] = {
    "(": "LPAR",
    ")": "RPAR",
    "{": "LBRACE",
    "}": "RBRACE",
    "[": "LSQB",
    "]": "RSQB",
    ",": "COMMA",
    ".": "DOT",
    ";": "SEMICOLON",
    "|": "BAR",
    "||": "OR_OP",
    "&&": "AND_OP",
    "!": "BANG",
    "==": "EQ",
    "!=": "NE",
    "<=": "LE",
    ">=": "GE",
    "<": "LT",
    ">": "GT",
}

CLASSES = frozenset({"IDENT", "VAR", "PARAM", "COLON", "STRING", "NUMBER", "UINT", "MINUS", *OPERATORS.values()})
LOWER_CASE = {"true": "TRUE", "false": "FALSE", "null": "NULL"}

_RETENTION = SKIP + r"(?i:RETENTION)(?![A-Za-z0-9_])"


def retention(source: str, at: int) -> int | None:
    """Where the word RETENTION ends, if it is the next one."""
    found = re.compile(_RETENTION, re.ASCII).match(source, at)
    return None if found is None else found.end()


BOM = "\ufeff"


def keywords(terminals: set[str]) -> dict[str, str]:
    """From the spelling of a keyword (upper case, or the lower case of true, false, null) to its terminal."""
    words = {name: name for name in terminals - CLASSES if name not in LOWER_CASE.values()}
    words.pop("SET_RETENTION", None)
    words.pop("$END", None)
    return words | LOWER_CASE
