"""What may be written at a place: from the state of the grammar, the live schema, the text and the parameters.

The grammar says which terminals and which rules can stand there; the rule and the lexemes before it say which names
belong there: a Predicate in the middle of a tuple, a Type behind `type:`, a field behind `?a.`.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from kipql.errors import CODES
from kipql.lang.expected import Expected, expected, lexemes
from kipql.lang.words import name as english
from kipql.plan.functions import AGGREGATES, FUNCTIONS
from kipql.repl import members
from kipql.repl.vocabulary import Symbols, Vocabulary

_SIGNS = frozenset({"RPAR", "RBRACE", "RSQB"})
_SIGN = {"RPAR": ")", "RBRACE": "}", "RSQB": "]"}


class Offer(NamedTuple):
    """A word that may stand from `begin` on, and what it is."""

    text: str
    begin: int
    what: str


def offers(text: str, position: int, words: Vocabulary, parameters: Iterable[str] = ()) -> list[Offer]:
    """The words that may stand at a position and begin like what is written there, the likeliest first."""
    place = expected(text, position)
    if not place.terminals:
        return []
    written = text[place.begin : position]
    found: dict[str, Offer] = {}
    for word, what in _words(text, position, written, place, words, parameters):
        if _begins(word, written) and word != written:
            found.setdefault(word, Offer(word, place.begin, what))
    return list(found.values())


def _begins(word: str, written: str) -> bool:
    """Case does not count; neither does the quote that a person has not typed yet."""
    if word.startswith('"') and not written.startswith('"'):
        word = word[1:]
    return word.casefold().startswith(written.casefold())


def _words(
    text: str, position: int, written: str, place: Expected, words: Vocabulary, parameters: Iterable[str]
) -> Iterator[tuple[str, str]]:
    terminals, rules = place.terminals, place.rules
    tokens = [(each.terminal, text[each.start : each.end]) for each in place.before]
    if "STRING" in terminals and not written.startswith(("?", ":")):
        for word, what in _strings(rules, tokens, written, words):
            yield json.dumps(word, ensure_ascii=False), what
    if "VAR" in terminals and not (written and written[0] not in "?"):
        for name in _spelled(text, "VAR", position):
            yield name, "variable"
    if "IDENT" in terminals:
        yield from _names(rules, tokens, words)
    if "PARAM" in terminals and not (written and written[0] not in ":"):
        for name in dict.fromkeys([*(f":{each}" for each in parameters), *_spelled(text, "PARAM", position)]):
            yield name, "parameter"
    if not written.startswith(('"', "?", ":")):
        for terminal in sorted(place.phrases, key=lambda each: (each not in _CLOSING, place.phrases[each])):
            yield place.phrases[terminal], english(terminal) if terminal in ("TRUE", "FALSE", "NULL") else "keyword"
    if not written:
        for terminal in sorted(terminals & _SIGNS):
            yield _SIGN[terminal], "close"


_CLOSING = frozenset({"WHERE", "LIMIT", "ORDER", "AS", "FOR", "WITH", "CURSOR"})


def _spelled(text: str, terminal: str, position: int) -> Iterator[str]:
    """The variables or parameters of a text, without the one being written."""
    seen: dict[str, None] = {}
    for each in lexemes(text):
        if each.terminal == terminal and not each.start < position <= each.end:
            seen[text[each.start : each.end]] = None
    yield from seen


# --- names without quotes -----------------------------------------------------------------------------

Tokens = list[tuple[str, str]]


def _names(rules: frozenset[str], tokens: Tokens, words: Vocabulary) -> Iterator[tuple[str, str]]:
    last = tokens[-1][0] if tokens else ""
    if last == "DOT":
        yield from _steps(tokens, words)
    elif "member_name" in rules:
        yield from ((name, "member") for name in _members(tokens, words))
    elif last != "COLON":
        if not _conditional(tokens):
            yield from ((f"{name}(", "aggregate") for name in AGGREGATES)
        yield from ((f"{name}(", "function") for name in FUNCTIONS)


def _conditional(tokens: Tokens) -> bool:
    """Whether a FILTER is open: a condition holds no aggregate."""
    return next((each for each, _ in reversed(tokens) if each in ("FILTER", "FIND", "BY")), "") == "FILTER"


def _steps(tokens: Tokens, words: Vocabulary) -> Iterator[tuple[str, str]]:
    """The next step of `?x.a.`: fields of the kind that the variable has in the text, then what lies below."""
    at = len(tokens) - 1
    path: list[str] = []
    while at > 1 and tokens[at][0] == "DOT" and tokens[at - 1][0] == "IDENT":
        path.insert(0, tokens[at - 1][1])
        at -= 2
    if at < 1 or tokens[at - 1][0] != "VAR":
        return
    if path == ["attributes"]:
        known = words.symbols
        for name in dict.fromkeys(each for names in known.attributes.values() for each in names):
            yield name, "attribute"
        return
    if path == ["facets"]:
        return
    for name in members.below(path) if path else members.read(members.kinds(tokens, tokens[at - 1][1])):
        yield name, "field"


def _members(tokens: Tokens, words: Vocabulary) -> Iterable[str]:
    """The members of the object that is open, less those it has."""
    opened = _opened(tokens)
    if opened is None:
        return ()
    given = {text for terminal, text in tokens[opened + 1 :] if terminal == "IDENT"}
    head = [terminal for terminal, _ in tokens[:opened]]
    if head[-1:] == ["ATTRIBUTES"]:
        names: Iterable[str] = dict.fromkeys(each for group in words.symbols.attributes.values() for each in group)
    else:
        names = members.of_object(tokens[:opened])
    return [name for name in names if name not in given]


def _opened(tokens: Tokens) -> int | None:
    """Where the innermost open brace stands."""
    depth = 0
    for at in range(len(tokens) - 1, -1, -1):
        depth += {"RBRACE": 1, "LBRACE": -1}.get(tokens[at][0], 0)
        if depth < 0:
            return at
    return None


# --- names in quotes ----------------------------------------------------------------------------------

_AFTER: dict[str, Callable[[Symbols], Iterable[str]]] = {
    "TYPE": lambda known: known.types,
    "PREDICATE": lambda known: known.predicates,
    "FACET": lambda known: known.facets,
    "FIELD": lambda known: known.fields,
    "PACKAGE": lambda known: known.packages,
    "ERROR": lambda known: CODES,
    "TO": lambda known: members.TRANSITIONS,
    "MODE": lambda known: members.SEARCH_MODES,
    "CONFIRM": lambda known: ("PURGE",),
}


def _strings(rules: frozenset[str], tokens: Tokens, written: str, words: Vocabulary) -> Iterator[tuple[str, str]]:
    known = words.symbols
    last = tokens[-1][0] if tokens else ""
    if "predicate" in rules:
        yield from ((name, "Predicate") for name in known.predicates)
    elif (
        last in _AFTER
        and not (last == "TO" and "RECORD" in rules)
        and "DEFINE" not in (each for each, _ in tokens[-3:])
    ):
        yield from ((name, last.lower()) for name in _AFTER[last](known))
    elif "symbol" in rules and last in ("LPAR", "COMMA"):
        yield from ((name, "structural field") for name in (*members.STRUCTURAL, *known.fields))
    elif last == "COLON" and len(tokens) > 1:
        yield from _values(tokens, written, known, words)
    elif last in ("EQ", "NE"):
        yield from ((name, "value") for name in members.VALUES.get(tokens[-2][1], ()))


def _values(tokens: Tokens, written: str, known: Symbols, words: Vocabulary) -> Iterator[tuple[str, str]]:
    member = tokens[-2][1].strip('"')
    if member == "type":
        yield from ((name, "Type") for name in known.types)
    elif member in ("predicate", "predicate_ref"):
        yield from ((name, "Predicate") for name in known.predicates)
    elif member in ("key", "name"):
        opened = _opened(tokens)
        given = dict(_given(tokens[opened + 1 :])) if opened is not None else {}
        yield from ((name, member) for name in words.stored(member, written.removeprefix('"'), given.get("type")))
    else:
        yield from ((name, "value") for name in members.VALUES.get(member, ()))


def _given(tokens: Tokens) -> Iterator[tuple[str, str]]:
    """The members of an object that have a string."""
    for (first, name), (second, _), (third, text) in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if first == "IDENT" and second == "COLON" and third == "STRING":
            yield name, json.loads(text)
