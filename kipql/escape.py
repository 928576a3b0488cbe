"""Escaping for every sink: what a memory holds is data there too, never a command to what shows it.

A payload can hold terminal controls, bidirectional overrides, spreadsheet formulas, CI annotation commands
and markup. Each function here makes a text safe for one sink and changes nothing that is harmless there.
"""

import re

_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_FORMULA = re.compile(r"[=+\-@\t\r\n]")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def _visible(match: re.Match[str]) -> str:
    character = match.group()
    return _SHORT.get(character) or (f"\\x{ord(character):02x}" if character < "\x80" else f"\\u{ord(character):04x}")


def terminal(text: str) -> str:
    """One line for a terminal: controls, escape sequences and bidirectional overrides become visible.

    >>> terminal("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return text if text.isprintable() and text.isascii() else _CONTROLS.sub(_visible, text)


def terminal_lines(text: str) -> str:
    """As `terminal`, with the line breaks kept: for texts of several lines such as an error's caret."""
    return "\n".join(
        "\t".join(terminal(piece) for piece in line.split("\t")) for line in text.replace("\r\n", "\n").split("\n")
    )


def csv_cell(text: str) -> str:
    """A CSV cell that no spreadsheet takes for a formula; quoting is the CSV writer's.

    >>> csv_cell("=1+1"), csv_cell("-5")
    ("'=1+1", '-5')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def annotation(text: str) -> str:
    """The message of a CI annotation (`::error ...::message`): its line breaks can not end the command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def annotation_property(text: str) -> str:
    """A property of a CI annotation (`file=...`), in which `:` and `,` separate too."""
    return annotation(text).replace(":", "%3A").replace(",", "%2C")


def xml(text: str) -> str:
    """Text or a quoted attribute of XML 1.0; characters that XML can not hold at all become U+FFFD."""
    return _NOT_XML.sub("\ufffd", text).translate(_MARKUP)


def html(text: str) -> str:
    """Text or a quoted attribute of HTML; bidirectional overrides become visible, as in a terminal."""
    kept = _CONTROLS.sub(lambda match: match.group() if match.group() in "\n\t" else _visible(match), text)
    return kept.translate(_MARKUP)
