"""What can be read off prose without understanding it: rules, values, links.

A *rule line* says must, never, always, require, do not or don't. A *value* is what a rewrite loses without a trace:
a number, an id, something quoted, a spelled duration. `42` is not kept by `142` nor by `42.5`.
"""

import re
from collections.abc import Iterator

_RULE = re.compile(r"(?<!\w)(must|never|always|requires?|required|do\s+not|don['’]t)(?!\w)", re.IGNORECASE)
_COUNT = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety"
_UNIT = "milliseconds?|seconds?|minutes?|hours?|days?|weeks?|months?|quarters?|years?"
_VALUE = re.compile(
    rf"""
      (?P<quoted>`[^`\n]{{1,60}}` | "[^"\n]{{1,60}}" | “[^”\n]{{1,60}}”)
    | (?P<id>(?<![\w./-])(?=[\w#-]{{0,40}}\d)(?=[\w#-]{{0,40}}[^\W\d_])
        \w[\w#-]{{1,60}}(?:\.\d[\w-]{{0,20}}){{0,6}}(?![\w/]))
    | (?P<number>(?<![\w.,-])-?\d{{1,30}}(?:[.,:-]\d{{1,20}}){{0,8}}%?(?!\w))
    | (?P<spelled>(?<!\w)(?:{_COUNT})\s+(?:{_UNIT})(?!\w))
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BULLET = re.compile(r"^\s*(?:[-*+>]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)*")
_FENCE = re.compile(r"^(?: {0,3})(```|~~~)")
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\[\[([^\[\]|#\n]{1,300})(?:#[^\[\]|\n]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]")
_WORD = re.compile(r"[^\W\d_]{4,}")


def one_line(text: str) -> str:
    """A text on one line: its line breaks are blanks."""
    return " ".join(part.strip() for part in text.splitlines() if part.strip())


def squeezed(text: str) -> str:
    """A text with every run of white space as one blank."""
    return " ".join(text.split())


def rule_lines(body: str) -> list[str]:
    """The lines that state a rule, as they stand, without the white space around them."""
    return [line.strip() for line in body.splitlines() if _RULE.search(line)]


def dropped_rules(before: str, after: str) -> list[str]:
    """The rule lines of one text that another one does not hold any more. A line that moved, or was wrapped
    otherwise, is still held."""
    kept = squeezed(after).casefold()
    lines = dict.fromkeys(rule_lines(before))
    return [line for line in lines if squeezed(_BULLET.sub("", line)).casefold() not in kept]


def values(text: str) -> list[str]:
    """The values in a text, each once, in order; of something quoted, what is inside."""
    found = dict.fromkeys(_value(match) for match in _VALUE.finditer(text))
    found.pop("", None)
    return list(found)


def _value(match: re.Match[str]) -> str:
    whole = match.group()
    return whole[1:-1].strip() if match.lastgroup == "quoted" else squeezed(whole)


def holds(text: str, value: str) -> bool:
    """Whether a text has a value as a whole word or number."""
    pattern = r"(?<!\w)(?<!\d[.,])" + r"\s+".join(map(re.escape, value.split())) + r"(?!\w|[.,]\d)"
    return re.search(pattern, text, re.IGNORECASE) is not None


def echoes(text: str, line: str) -> bool:
    """Whether a text still says what a line said: word for word, or with at least half of its longer words."""
    if squeezed(_BULLET.sub("", line)).casefold() in squeezed(text).casefold():
        return True
    said, asked = _words(text), _words(_RULE.sub(" ", line))
    return bool(asked) and 2 * len(asked & said) >= len(asked)


def _words(text: str) -> set[str]:
    """The longer words of a text, a plural as its singular."""
    return {word.casefold().removesuffix("s") for word in _WORD.findall(text)}


def links(body: str) -> list[str]:
    """The targets of the wikilinks of a text, each once, in order; those in code are none."""
    found: dict[str, None] = {}
    for line in _outside_code(body):
        for match in _LINK.finditer(_CODE.sub(" ", line)):
            if target := match[1].strip():
                found[target] = None
    return list(found)


def _outside_code(body: str) -> Iterator[str]:
    fence = ""
    for line in body.splitlines():
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        elif not fence:
            yield line
