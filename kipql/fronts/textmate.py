"""The TextMate grammar of `.kql` scripts, made from the Lark grammar: `python -m kipql.fronts.textmate` writes it.

Editors colour by regular expressions and do not parse. What they can not know is where a keyword is none, so what the
neighbours tell is told first: a word before a colon is a member, one behind a dot a step of a path. Scopes go by the
classes of `kipql.editing.colours`.
"""

import json
import sys
from typing import Any

from kipql.editing.colours import class_of
from kipql.errors import KipError
from kipql.lang import build, grammar

FILE = "kql.tmLanguage.json"
SCOPES = {
    "keyword": "keyword.other.kql",
    "variable": "variable.other.kql",
    "parameter": "variable.parameter.kql",
    "string": "string.quoted.double.kql",
    "number": "constant.numeric.kql",
    "comment": "comment.line.double-slash.kql",
    "directive": "comment.line.directive.kql",
}
_CONSTANTS = ("TRUE", "FALSE", "NULL")
_ESCAPE = r'\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})'


def textmate(source: str) -> dict[str, Any]:
    """The grammar as JSON data."""
    terminals = build.terminals(source)
    rules = [_directive(), _comment(), _string(), *_names(terminals["IDENT"])]
    rules += [_match(SCOPES[class_of(name)], terminals[name]) for name in ("VAR", "PARAM")]
    rules.append(_match("constant.language.kql", _word("|".join(name.lower() for name in _CONSTANTS))))
    rules.append(_match(SCOPES["keyword"], f"(?i){_word('|'.join(keywords(terminals)))}"))
    rules.append(_match("entity.name.function.kql", rf"{terminals['IDENT']}(?=\s*\()"))
    rules += [_match(SCOPES[class_of(name)], terminals[name]) for name in ("NUMBER", "UINT")]
    rules.append(_match("keyword.operator.kql", "|".join(terminals[name] for name in _operators(terminals))))
    return {
        "$comment": "Made from the Lark grammar by python -m kipql.fronts.textmate; a test holds it current.",
        "name": "KIP",
        "scopeName": "source.kql",
        "fileTypes": ["kql"],
        "patterns": rules,
    }


def keywords(terminals: dict[str, str]) -> list[str]:
    """The spellings of the keywords; SET RETENTION is two of them."""
    found = [name for name in terminals if class_of(name) == "keyword" and name not in _CONSTANTS]
    return sorted(name for name in found if name != "SET_RETENTION")


def text(data: dict[str, Any]) -> str:
    """The file."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _directive() -> dict[str, Any]:
    """`//! name: value`; the name stands out."""
    return {
        "match": r"(//!)\s*([^\s:]*)(.*)$",
        "name": SCOPES["directive"],
        "captures": {"2": {"name": "keyword.other.directive.kql"}},
    }


def _comment() -> dict[str, Any]:
    return {"match": r"//.*$", "name": SCOPES["comment"]}


def _string() -> dict[str, Any]:
    """To the quote or the end of the line: no string of the language goes on behind it."""
    return {
        "begin": '"',
        "end": '"|$',
        "name": SCOPES["string"],
        "patterns": [
            _match("constant.character.escape.kql", _ESCAPE),
            _match("invalid.illegal.escape.kql", r"\\."),
        ],
    }


def _names(word: str) -> list[dict[str, Any]]:
    """A member before its colon, a step behind its dot."""
    return [
        {"match": rf"({word})\s*(:)", "captures": {"1": {"name": "variable.other.member.kql"}}},
        {"match": rf"(\.)\s*({word})", "captures": {"2": {"name": "variable.other.member.kql"}}},
    ]


def _operators(terminals: dict[str, str]) -> list[str]:
    """The longer first, or `<` would hide `<=`."""
    signs = [name for name in terminals if name.endswith("_OP") or name in ("EQ", "NE", "LE", "GE", "LT", "GT")]
    return [*sorted(signs, key=lambda name: (-len(terminals[name]), name)), "BANG", "MINUS", "BAR"]


def _word(words: str) -> str:
    return rf"(?<![A-Za-z0-9_?:])(?:{words})(?![A-Za-z0-9_])"


def _match(scope: str, pattern: str) -> dict[str, Any]:
    return {"match": pattern, "name": scope}


def main() -> int:
    """Write the file beside the grammar; the exit code, 2 where the grammar is missing."""
    source, home = grammar.source(), grammar.folder()
    if source is None or home is None:
        print(KipError("ArtifactUnavailable", "the grammar files are missing"), file=sys.stderr)
        return 2
    (home / FILE).write_text(text(textmate(source)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
