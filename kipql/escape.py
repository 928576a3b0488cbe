"""Escaping for every sink: what a memory holds is data there too, never a command to what shows it.

A payload can hold terminal controls, bidirectional overrides, characters that nobody sees, spreadsheet formulas,
commands to a build server and markup. Each function makes a text safe for one sink and changes nothing that is
harmless there; docs/security.md says which output goes through which.
"""

import json
import re

# Controls, line breaks by other names, halves of characters, and the format characters (category Cf) that nobody sees:
# soft hyphens, what turns the direction of writing, what has no width, tags. Two kinds of format characters stay: the
# joiners U+200C and U+200D, with which words and emoji are written, and the Arabic, Syriac and Kaithi signs that are
# seen before a number or a name.
_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
# Build servers obey the log they show: `::error::` at the start of a line; `##[`, `##vso[`, `##teamcity[` anywhere.
_AT_START = re.compile(r"^(\s*):(?=:[A-Za-z])", re.MULTILINE)
_ANYWHERE = re.compile(r"#(?=#(?:\[|vso\[|teamcity\[))")
_MARKDOWN = re.compile(r"[\\`*_\[\]<>&|~#@:$!]")
_MARKDOWN_START = re.compile(r"\s*(?:[+\-=](?=.)|\d+(?=[.)]))")


def _visible(match: re.Match[str]) -> str:
    character = match.group()
    if character in _SHORT:
        return _SHORT[character]
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x80 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def terminal(text: str) -> str:
    """One line for a terminal or a log: what is not seen becomes visible, and no line is a build server's command.

    >>> terminal("a\\x1b[31mb"), terminal("::error::x")
    ('a\\\\x1b[31mb', '\\\\x3a:error::x')
    """
    if not (text.isprintable() and text.isascii()):
        text = _CONTROLS.sub(_visible, text)
    if "::" in text or "##" in text:
        text = _uncommanded(text)
    return text


def terminal_lines(text: str) -> str:
    """As `terminal`, with the line breaks kept: for texts of several lines such as an error's caret."""
    return "\n".join(
        "\t".join(terminal(piece) for piece in line.split("\t")) for line in text.replace("\r\n", "\n").split("\n")
    )


def json_text(value: object, indent: int | None = None, *, sort: bool = False) -> str:
    """JSON for a terminal, a log or a program: the same value, with what is not seen as `\\u` escapes; `sort` puts
    the members of every object in the order of their names.

    >>> json_text({"a": "é\\x9b"})
    '{"a":"é\\\\u009b"}'
    """
    separators = None if indent else (",", ":")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators, sort_keys=sort)
    if not text.isascii():
        text = _CONTROLS.sub(_escaped, text)
    elif "\x7f" in text:
        text = text.replace("\x7f", "\\u007f")
    return _ANYWHERE.sub(r"\\u0023", text) if "##" in text else text


def csv_cell(text: str) -> str:
    """A CSV cell that no spreadsheet takes for a formula; quoting is the CSV writer's. Controls other than line breaks
    and tabs become visible: JSON is the form that loses nothing.

    >>> csv_cell("=1+1"), csv_cell("-5")
    ("'=1+1", '-5')
    """
    if not (text.isprintable() and text.isascii()):
        text = _CONTROLS.sub(_visible_in_lines, text.replace("\r\n", "\n"))
    if "::" in text or "##" in text:
        text = _uncommanded(text)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def annotation(text: str) -> str:
    """The message of a CI annotation (`::error ...::message`): its line breaks can not end the command."""
    kept = _CONTROLS.sub(lambda match: match.group() if match.group() in "\r\n\t" else _visible(match), text)
    return kept.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def annotation_property(text: str) -> str:
    """A property of a CI annotation (`file=...`), in which `:` and `,` separate too."""
    return annotation(text).replace(":", "%3A").replace(",", "%2C")


def xml(text: str) -> str:
    """Text or a quoted attribute of XML 1.0, such as a JUnit report; characters that XML can not hold at all become
    U+FFFD, other unseen ones visible."""
    return _CONTROLS.sub(_visible_in_lines, _NOT_XML.sub("\ufffd", text)).translate(_MARKUP)


def visible(text: str) -> str:
    """Text for a sink that quotes by itself (a text node of a document): what is not seen becomes visible, no more."""
    return _CONTROLS.sub(_visible_in_lines, text)


def html(text: str) -> str:
    """Text or a quoted attribute of HTML; bidirectional overrides become visible, as in a terminal."""
    return visible(text).translate(_MARKUP)


def markdown(text: str) -> str:
    """Text within a line of Markdown: no markup, no link, no mention, no HTML, no further line.

    >>> markdown("[x](javascript:y) <b>")
    '\\\\[x\\\\](javascript\\\\:y) \\\\<b\\\\>'
    """
    kept = _MARKDOWN.sub(r"\\\g<0>", text)
    if start := _MARKDOWN_START.match(kept):
        at = start.end()
        at -= kept[at - 1] in "+-="
        kept = f"{kept[:at]}\\{kept[at:]}"
    return _CONTROLS.sub(_visible, kept)


def _uncommanded(text: str) -> str:
    return _ANYWHERE.sub(r"\\x23", _AT_START.sub(r"\1\\x3a", text))


def _visible_in_lines(match: re.Match[str]) -> str:
    return match.group() if match.group() in "\n\t" else _visible(match)


def _escaped(match: re.Match[str]) -> str:
    """A JSON escape; line breaks between the members of an indented text stay."""
    character = match.group()
    if character in "\n\t\r":
        return character
    number = ord(character)
    if number < 0x10000:
        return f"\\u{number:04x}"
    number -= 0x10000
    return f"\\u{0xD800 + (number >> 10):04x}\\u{0xDC00 + (number & 0x3FF):04x}"
