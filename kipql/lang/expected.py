"""What is acceptable at a place of a text: for completion, colours, and to know a whole statement from half of one.

The text before the place is run through the tables without values, as for a syntax error; the state that it ends in
says which terminals can follow and which rules can begin there.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from kipql.lang.driver import Driver
from kipql.lang.parser import driver
from kipql.lang.scanner import BOM, LEXEME, OPERATORS
from kipql.lang.unexpected import acceptable, shift

_PARTIAL = frozenset({"VAR", "PARAM"})


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A lexeme as the parser took it: its terminal (BAD where it took none), and from where to where it stands."""

    terminal: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Expected:
    """What can stand at a place.

    begin      where the piece of a word, a variable, a parameter or a string before the place begins
    terminals  those that can follow what stands before `begin`; none where that is already wrong
    rules      the rules of the grammar that can begin there
    before     the lexemes before `begin`
    phrases    for each keyword that can follow: the words that must come with it (`AS` is `AS OF SEQ`)
    """

    begin: int
    terminals: frozenset[str]
    rules: frozenset[str]
    before: tuple[Lexeme, ...]
    phrases: dict[str, str]


def lexemes(text: str) -> Iterator[Lexeme]:
    """The lexemes of a script, for colours. Behind an error a word counts as a keyword by its spelling alone."""
    for lexeme, _ in _run(driver(), text):
        yield lexeme


def unfinished(text: str) -> bool:
    """Whether a script is right so far and needs more: the parser stops at the end of the text and nowhere else.

    >>> unfinished("FIND(?x) WHERE {"), unfinished("FIND(?x) WHERE { ?x {} }"), unfinished("FIND(")
    (True, False, True)
    """
    run = driver()
    states = [run.begins["script"]]
    for lexeme, after in _run(run, text):
        if lexeme.terminal == "BAD":
            return False
        states = after
    return not shift(run, list(states), "$END")


def expected(text: str, position: int) -> Expected:
    """What can stand at `position` of a script, whatever comes behind it.

    >>> sorted(expected("FIND(?x) WH", 11).terminals), expected("FIND(?x) WH", 11).begin
    (['WHERE'], 9)
    """
    run = driver()
    text = text[:position]
    before: list[Lexeme] = []
    states = [run.begins["script"]]
    for lexeme, after in _run(run, text):
        if lexeme.end == len(text) and _open(text, lexeme):
            return _at(run, states, lexeme.start, before)
        if lexeme.terminal == "BAD":
            if text[lexeme.start] == '"' and "\n" not in text[lexeme.start :]:
                return _at(run, states, lexeme.start, before)
            return Expected(position, frozenset(), frozenset(), tuple(before), {})
        states = after
        before.append(lexeme)
    return _at(run, states, position, before)


def _open(text: str, lexeme: Lexeme) -> bool:
    """Whether a lexeme at the end of the text may be only the beginning of one."""
    if lexeme.terminal in _PARTIAL or text[lexeme.start] in "?:" or text[lexeme.start].isalpha():
        return text[lexeme.start] != ":" or lexeme.end - lexeme.start > 1 or lexeme.terminal == "BAD"
    return text[lexeme.start] == "_"


def _at(run: Driver, states: list[int], begin: int, before: list[Lexeme]) -> Expected:
    terminals = acceptable(run, states)
    rules = frozenset(symbol for symbol in run.rows[states[-1]] if not symbol.isupper())
    phrases = {terminal: _phrase(run, states, terminal) for terminal in terminals if terminal in run.keywords.values()}
    if "SET_RETENTION" in terminals:
        phrases["SET_RETENTION"] = "SET RETENTION"
    return Expected(begin, frozenset(terminals), rules, tuple(before), phrases)


def _phrase(run: Driver, states: list[int], terminal: str) -> str:
    """A keyword with the keywords that can only come behind it."""
    words, states = [_spelled(terminal)], list(states)
    shift(run, states, terminal)
    while len(follow := acceptable(run, states)) == 1:
        (only,) = follow
        if only not in run.keywords.values():
            break
        words.append(_spelled(only))
        shift(run, states, only)
    return " ".join(words)


def _spelled(terminal: str) -> str:
    return terminal.lower() if terminal in ("TRUE", "FALSE", "NULL") else terminal


def _run(run: Driver, text: str) -> Iterator[tuple[Lexeme, list[int]]]:
    """Each lexeme with the states behind it; none that is not accepted changes them."""
    states = [run.begins["script"]]
    at, right = (1 if text.startswith(BOM) else 0), True
    while True:
        found = LEXEME.match(text, at)
        assert found is not None and found.lastgroup is not None
        kind, end = found.lastgroup, found.end()
        if kind == "END":
            return
        begin = end - len(found[kind])
        row = run.rows[states[-1]]
        if right:
            terminal, end = run.terminal(row, kind, found[kind], text, end)
            after = list(states)
            right = terminal != "BAD" and shift(run, after, terminal)
            if right:
                states = after
            yield Lexeme(terminal if right else "BAD", begin, end), states
        else:
            word = run.keywords.get(found[kind].upper()) if kind == "WORD" else OPERATORS.get(found[kind])
            yield Lexeme(word or ("IDENT" if kind == "WORD" else kind), begin, end), states
        at = end
