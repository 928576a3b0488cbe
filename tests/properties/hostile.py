"""Texts that nobody means well: statements bent out of shape, and statements made to hurt."""

import re
from collections.abc import Callable, Sequence
from random import Random

from tests.properties.sampling import NUMBERS, STRINGS

_STRING, _NUMBER = re.compile(r'"[^"\\]*"'), re.compile(r"(?<![\w\"-])\d[\d.]*")

_PIECES = (
    "\x00", "\ud800", "\udfff\ud800", "\u202e", "\u2028", "\ufeff", "\u0301" * 50, "\U0001f600", "\ufb00", "\u0130",
    "\r", "\x85", "//", "/*", "*/", "// \n", "--", "'", '"', "\\", '\\"', "\\ud800", "\\u0000", "{", "}", "(", ")", "[",
    "]", "?", ":", "?x", ":p", ";", ",", "..", "1e999", "-0", "1e-999", "9007199254740993", "0x10", "1_000", "Infinity",
    "NaN", "1" * 400, "true", "null", "NOT", "OPTIONAL", "UNION", "FIND(", "WHERE {", "MUTATE {", "AS OF SEQ -1",
    "LIMIT 0", "LIMIT 1e3", 'CURSOR "x"', "EXPECT VERSION 0",
)  # fmt: skip
_CLAIM, _MADE = '(?c, "knows", ', 'CREATE CONCEPT ?c { TYPE "Robot" } '
_BASE = 'FIND(?c) WHERE { ?c {type: "Robot"} }'


def mutated(random: Random, corpus: Sequence[str]) -> str:
    """A statement with other strings and numbers in it, or with a few of its words or characters changed."""
    text = random.choice(corpus)
    if random.random() < 0.5:
        for _ in range(random.choice((1, 2, 4))):
            text = _other(random, text)
        return text
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        text = random.choice(_CHANGES)(random, text, corpus)
    return text[:20_000]


def hostile(random: Random) -> str:
    """A text made to hurt."""
    return random.choice(_ATTACKS)(random)


def _other(random: Random, text: str) -> str:
    """Another string where one stands, or another number."""
    pattern, values = random.choice(((_STRING, [f'"{value}"' for value in STRINGS]), (_NUMBER, NUMBERS)))
    spots = [match.span() for match in pattern.finditer(text)]
    if not spots:
        return text
    start, end = random.choice(spots)
    return text[:start] + random.choice(values) + text[end:]


def _cut(random: Random, text: str, _: Sequence[str]) -> str:
    at, length = _spot(random, text), random.choice((1, 1, 2, 8, 40))
    return text[:at] + text[at + length :]


def _insert(random: Random, text: str, _: Sequence[str]) -> str:
    at = _spot(random, text)
    return text[:at] + random.choice(_PIECES) + text[at:]


def _repeat(random: Random, text: str, _: Sequence[str]) -> str:
    at, length = _spot(random, text), random.choice((1, 3, 10, 40))
    return text[:at] + text[at : at + length] * random.choice((2, 2, 30)) + text[at + length :]


def _swap(random: Random, text: str, _: Sequence[str]) -> str:
    words = text.split(" ")
    at, other = random.randrange(len(words)), random.randrange(len(words))
    words[at], words[other] = words[other], words[at]
    return " ".join(words)


def _splice(random: Random, text: str, corpus: Sequence[str]) -> str:
    other = random.choice(corpus)
    return text[: _spot(random, text)] + " " + other[_spot(random, other) :]


def _word(random: Random, text: str, corpus: Sequence[str]) -> str:
    words, others = text.split(" "), random.choice(corpus).split(" ")
    words[random.randrange(len(words))] = random.choice(others)
    return " ".join(words)


def _character(random: Random, text: str, _: Sequence[str]) -> str:
    at = _spot(random, text)
    return (
        text[:at]
        + chr(random.choice((random.randrange(32, 127), random.randrange(0xD800, 0xE000), 0)))
        + text[at + 1 :]
    )


def _spot(random: Random, text: str) -> int:
    return random.randrange(len(text) + 1)


_CHANGES: tuple[Callable[[Random, str, Sequence[str]], str], ...] = (
    _cut, _insert, _repeat, _swap, _splice, _word, _word, _character,
)  # fmt: skip


def _nested(random: Random) -> str:
    deep = random.choice((20, 60, 64, 65, 90, 200, 3_000, 20_000))
    left, right, inner = random.choice(
        (
            ("(", ")", "?c"),
            ("{a: ", "}", "1"),
            ("[", "]", "1"),
            ("!(", ")", "true"),
            ("-(", ")", "1"),
            ("LOWER(", ")", '"x"'),
            ("ADD(1, ", ")", "1"),
        )
    )
    value = left * deep + inner + right * random.choice((deep, deep, deep - 1))
    return random.choice(
        (
            f"FIND({value}) WHERE {{ ?c CONCEPT {{}} }}",
            f"FIND(?c) WHERE {{ ?c CONCEPT {{}} FILTER({value}) }}",
            f'UPDATE "C-1" SET ATTRIBUTES {{x: {value}}}',
            f"FIND(?c) WHERE {{ ?c CONCEPT {{}} {'NOT {' * deep} ?c {{}} {'}' * deep} }}",
            f"FIND(?c) WHERE {{ ?c CONCEPT {{}} {'OPTIONAL {' * deep} ?c {{}} {'}' * deep} }}",
            f'FIND(?c) WHERE {{ {"(" * deep}?c, "knows", ?d{")" * deep} }}',
            f"FIND(?c) WHERE {{ {_CLAIM * deep}?d{')' * deep} }}",
        )
    )


def _long(random: Random) -> str:
    many = random.choice((10, 500, 5_000, 40_000))
    return random.choice(
        (
            f"FIND({'?c.name, ' * min(many, 900)}?c) WHERE {{ ?c CONCEPT {{}} }}",
            f"FIND(?c) WHERE {{ ?c CONCEPT {{}} FILTER({'true && ' * many}true) }}",
            f"FIND(?c) WHERE {{ ?c CONCEPT {{}} FILTER({'?c.x == 1 || ' * min(many, 5_000)}false) }}",
            f"FIND(?{'x' * many}) WHERE {{ ?{'x' * many} CONCEPT {{}} }}",
            f'FIND(?c) WHERE {{ ?c {{type: "{"x" * many}"}} }}',
            f'FIND(?c) WHERE {{ ?c {{name: "{"e" + chr(0x301) * many}"}} }}',
            f'FIND(?c) WHERE {{ ?c CONCEPT {{}} FILTER(REGEX(?c.name, "{"(a*)*" * min(many, 300)}b")) }}',
            f'CREATE CONCEPT ?c {{ TYPE "Robot" NAME "{"n" * many}" }}',
            f"MUTATE {{ {_MADE * min(many, 300)} }}",
            f'FIND(?c) WHERE {{ (?a, "knows"{{0,{many}}}, ?c) }}',
            " " * many + _BASE + "\n" * many,
            ";" * many,
            "//" + "x" * many,
            f"DESCRIBE ERROR {'9' * many}",
        )
    )


def _numbers(random: Random) -> str:
    number = random.choice(
        (
            "1e308",
            "1e309",
            "-1e309",
            "1e-400",
            "9007199254740992",
            "-9007199254740993",
            "1" * 5_000,
            "0.1e1",
            "00",
            "1.",
            ".5",
            "-",
        )
    )
    return random.choice(
        (
            f"FIND(?c) WHERE {{ ?c CONCEPT {{}} }} LIMIT {number}",
            f"FIND(?c) WHERE {{ ?c CONCEPT {{}} }} AS OF SEQ {number}",
            f"FIND(?c) WHERE {{ ?c CONCEPT {{}} FILTER(?c.attributes.size < {number}) }}",
            f'UPDATE "C-1" SET ATTRIBUTES {{size: MUL({number}, 1e300)}}',
            f'UPDATE "C-1" SET ATTRIBUTES {{size: ADD(9007199254740991, {number})}}',
            f'UPDATE "C-1" SET ATTRIBUTES {{size: 1}} EXPECT VERSION {number}',
            f"LIST TYPES LIMIT {number}",
            f"CHANGES AFTER SEQ {number}",
            f'SEARCH CONCEPT "north" THRESHOLD {number}',
            f'FIND(?p) WHERE {{ ?p (?a, "knows"{{{number},{number}}}, ?b) }}',
        )
    )


def _comments(random: Random) -> str:
    return random.choice(
        (
            "FIND(?c) // WHERE\nWHERE { ?c CONCEPT {} // }\n}",
            '// FIND\nPURGE "C-1" // WHERE\nCONFIRM "PURGE"',
            'FIND(?c) WHERE { ?c {name: "// not a comment"} }',
            f"{_BASE} // DELETE",
            f'{_BASE} ; // \n UPDATE "C-1" SET FIELDS {{name: "x"}}',
            f'{_BASE}\r// x\rPURGE "C-1" CONFIRM "PURGE"',
            "//",
            "/",
            "FIND(?c) WHERE { ?c CONCEPT {} } // \ud800",
            'SET // \n RETENTION "C-1" {retention_class: "x"}',
            f"{_BASE}//\x00",
        )
    )


def _soup(random: Random) -> str:
    words = [random.choice(_PIECES) for _ in range(random.randrange(1, 30))]
    return random.choice(("", " ")).join(words)


def _noise(random: Random) -> str:
    return "".join(
        chr(random.choice((random.randrange(128), random.randrange(0x11_0000)))) for _ in range(random.randrange(80))
    )


def _names(random: Random) -> str:
    name = random.choice(
        ("a" * 70_000, "é", "\u202ename", "a\x00b", "__proto__", "__class__", "\ud800", "ß" * 300, "$", "")
    )
    return random.choice(
        (
            f'FIND(?c.attributes["{name}"]) WHERE {{ ?c CONCEPT {{}} }}',
            f'UPDATE "C-1" SET ATTRIBUTES {{"{name}": 1}}',
            f'UPDATE "C-1" UNSET ATTRIBUTES {{"{name}"}}',
            f'DEFINE CONCEPT TYPE "{name}" {{description: "x"}}',
            f'CREATE CONCEPT ?c {{ TYPE "{name}" }}',
            f'SEARCH CONCEPT "{name}"',
            f'DESCRIBE TYPE "{name}"',
            f"FIND(?c.{name}) WHERE {{ ?c CONCEPT {{}} }}",
        )
    )


_ATTACKS: tuple[Callable[[Random], str], ...] = (_nested, _long, _numbers, _comments, _soup, _noise, _names)
