"""Random sentences of the grammar itself: every rule of `grammar/*.lark` is walked, so no form is forgotten.

The words are those of the small world (`vocabulary`), so that a good part of the sentences mean something.
"""

import re
from collections.abc import Callable
from random import Random

from tests.properties.vocabulary import COLORS, KEYS, PREDICATES
from tests.shared import ROOT

_RULE = re.compile(r"^\??(\w+):(.*(?:\n[ \t]+\|.*)*)", re.MULTILINE)
_WORD = re.compile(r"^(\w+)\.\d: /([A-Z]+)\(\?!", re.MULTILINE)
_SIGN = re.compile(r'^(\w+): "(.*)"$', re.MULTILINE)
STRINGS = (
    "Robot", "Place", "Person", "Mood", "part", "seen_with", *PREDICATES, *KEYS, *COLORS, "C-1", "C-2", "P-1", "A-1",
    "E-1", "X-1", "stated", "observed", "support", "reject", "archived", "retracted", "superseded", "completed",
    "PURGE",
    "kip:memory-default", "kip://test/world@1.0.0/Robot", "kip://test/world/at", "keyword", "full", "compact",
    "2026-01-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z", "north", "Zoe\\u0308", "", "deny_if_referenced",
    "InternalError",
)  # fmt: skip
_NAMES = (
    "type", "key", "name", "id", "attributes", "size", "color", "facets", "level", "by", "mode", "stance", "confidence",
    "valid", "from", "until", "evidence_class", "payload", "observed_at", "proposition", "asserted_by", "status",
    "activity_class", "retention_class", "expires_at", "legal_hold", "index", "role", "policy", "explanation", "state",
    "subject", "predicate", "object", "_system", "version", "belief", "retrieval", "score", "description", "closure",
    "COUNT", "SUM", "AVG", "MIN", "MAX", "IS_NULL", "IS_NOT_NULL", "CONTAINS", "REGEX", "ADD", "MUL", "CLAMP",
    "COALESCE", "LOWER", "STARTS_WITH", "ENDS_WITH", "IN", "nothing_has_this",
)  # fmt: skip
NUMBERS = ("0", "1", "2", "5", "-1", "0.5", "2.5", "1e3", "9007199254740991", "1e-7")


class Sampler:
    """Sentences from the rules of the grammar, none deeper than it must be once `depth` is used up."""

    def __init__(self, random: Random, depth: int = 9) -> None:
        self._random = random
        self._depth = depth
        self._rules, self._words = _grammar()
        self._heights = _heights(self._rules)
        self._free: dict[str, Callable[[], str]] = {
            "IDENT": lambda: random.choice(_NAMES),
            "VAR": lambda: f"?{random.choice('abcx')}",
            "PARAM": lambda: f":{random.choice(('id', 'n', 'text', 'what'))}",
            "STRING": lambda: f'"{random.choice(STRINGS)}"',
            "NUMBER": lambda: random.choice(NUMBERS),
            "UINT": lambda: random.choice("0123"),
        }

    def statement(self) -> str:
        """One statement, of a kind chosen evenly."""
        kind = self._random.choice(self._rules["statement"])
        return " ".join(self._walk(kind, self._depth))

    def _walk(self, symbols: tuple[str, ...], depth: int) -> list[str]:
        words: list[str] = []
        for symbol in symbols:
            if symbol in self._free:
                words.append(self._free[symbol]())
            elif symbol in self._words:
                words.append(self._words[symbol])
            else:
                words += self._walk(self._choice(symbol, depth), depth - 1)
        return words

    def _choice(self, symbol: str, depth: int) -> tuple[str, ...]:
        options = self._rules[symbol]
        if depth > 0:
            return self._random.choice(options)
        return min(options, key=lambda option: max((self._heights.get(each, 0) for each in option), default=0))


def _grammar() -> tuple[dict[str, list[tuple[str, ...]]], dict[str, str]]:
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "grammar").glob("*.lark"))]
    source = "\n".join(texts)
    words = {**dict(_SIGN.findall(source)), **dict(_WORD.findall(source))}
    words |= {"TRUE": "true", "FALSE": "false", "NULL": "null", "SET_RETENTION": "SET RETENTION"}
    rules = {}
    for name, right in _RULE.findall(source):
        if name.islower():
            options = re.split(r"\s\|\s|^\|", re.sub(r"//.*", "", right))
            rules[name] = [tuple(re.sub(r"->.*", "", option).split()) for option in options]
    return rules, words


def _heights(rules: dict[str, list[tuple[str, ...]]]) -> dict[str, int]:
    """The least depth of a tree under each symbol; terminals have none."""
    found: dict[str, int] = {}
    for _ in rules:
        for name, options in rules.items():
            known = [
                1 + max((found[each] if each in rules else 0 for each in option), default=0)
                for option in options
                if all(each in found or each not in rules for each in option)
            ]
            if known:
                found[name] = min(found.get(name, 99), min(known))
    assert found.keys() == rules.keys()
    return found
