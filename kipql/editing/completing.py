"""What may be written at a place: from the state of the grammar, the live schema, the text and the parameters.

The grammar says which terminals and which rules can stand there; the rule and the lexemes before it say which names
belong there: a Predicate in the middle of a tuple, a Type behind `type:`, a field behind `?a.`.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from kipql.editing import members
from kipql.editing.vocabulary import Symbols, Vocabulary
from kipql.errors import CODES
from kipql.lang.expected import Expected, expected, lexemes
from kipql.lang.words import name as english
from kipql.plan.functions import AGGREGATES, FUNCTIONS

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
    variable, path = _path(tokens[:-1])
    if variable is None:
        return
    known = words.symbols
    if path == ["attributes"]:
        for name in dict.fromkeys(each for names in known.attributes.values() for each in names):
            yield name, "attribute"
    elif len(path) == 2 and path[0] == "facets":
        yield from ((name, "Facet field") for name in _facet_fields(known, path[1]))
    elif path != ["facets"]:
        for name in members.below(path) if path else members.read(members.kinds(tokens, variable)):
            yield name, "field"


def _path(tokens: Tokens) -> tuple[str | None, list[str]]:
    """The path that the tokens end with, `?x.a["b"]`: its variable, None where there is none, and its steps."""
    at, path = len(tokens) - 1, list[str]()
    while at > 0:
        if tokens[at][0] == "IDENT" and tokens[at - 1][0] == "DOT":
            path.insert(0, tokens[at][1])
            at -= 2
        elif [each for each, _ in tokens[at - 2 : at + 1]] == ["LSQB", "STRING", "RSQB"]:
            path.insert(0, json.loads(tokens[at - 1][1]))
            at -= 3
        else:
            break
    return (tokens[at][1], path) if at >= 0 and tokens[at][0] == "VAR" else (None, path)


def _facet_fields(known: Symbols, facet: str) -> tuple[str, ...]:
    """The fields of a Facet by its short name or its ref."""
    return known.facet_fields.get(facet.rpartition("/")[2], ())


_COMPUTED = ("effective_strength",)  # read and never written (§59.1)


def _members(tokens: Tokens, words: Vocabulary) -> Iterable[str]:
    """The members of the object that is open, less those it has."""
    opened = _opened(tokens)
    if opened is None:
        return ()
    given = {text for terminal, text in tokens[opened + 1 :] if terminal == "IDENT"}
    head = [terminal for terminal, _ in tokens[:opened]]
    if head[-1:] == ["ATTRIBUTES"] or _member(tokens[:opened]) == "attributes":
        names: Iterable[str] = dict.fromkeys(each for group in words.symbols.attributes.values() for each in group)
    elif head[-2:] in (["FACET", "STRING"], ["STRING", "COLON"]):
        facet = json.loads(tokens[opened - 2 if head[-1] == "COLON" else opened - 1][1])
        names = (name for name in _facet_fields(words.symbols, facet) if name not in _COMPUTED)
    elif _member(tokens[:opened]) == "facets":
        return ()
    else:
        names = members.of_object(tokens[:opened])
    return [name for name in names if name not in given]


def _member(tokens: Tokens) -> str:
    """The member whose value comes next, `name:`."""
    if len(tokens) > 1 and tokens[-1][0] == "COLON" and tokens[-2][0] == "IDENT":
        return tokens[-2][1]
    return ""


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
    elif (last == "LSQB" and _path(tokens[:-1])[1] == ["facets"]) or _in_facets(rules, tokens):
        yield from ((name, "Facet") for name in known.facets)
    elif last == "COLON" and len(tokens) > 1:
        yield from _values(tokens, written, known, words)
    elif last in ("EQ", "NE"):
        yield from ((name, "value") for name in members.VALUES.get(tokens[-2][1], ()))


def _in_facets(rules: frozenset[str], tokens: Tokens) -> bool:
    """Whether a member of `facets: {` comes next."""
    opened = _opened(tokens)
    return "member_name" in rules and opened is not None and _member(tokens[:opened]) == "facets"


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
