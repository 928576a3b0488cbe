"""A syntax error that says what was acceptable (§87.1 InvalidSyntax).

The driver stops with a position only. Here the text is run again without values, up to that lexeme, and
every terminal of the state is tried: an LALR table accepts some only to refuse them after a reduction, and
those must not be named.
"""

from kipql.errors import KipError
from kipql.lang import words
from kipql.lang.driver import Driver
from kipql.lang.scanner import BOM, LEXEME
from kipql.spans import Span, position

_CLAUSES = ("AS OF", "FOR TIME", "WITH EPISTEMIC", "ORDER BY", "LIMIT", "CURSOR")
_FOREIGN = {
    "AND": "write && for and",
    "OR": "write || for or",
    "TRUE": "true, false and null are lower case",
    "FALSE": "true, false and null are lower case",
    "NULL": "true, false and null are lower case",
    "DEFINE": "DEFINE stands alone; it is no part of MUTATE (§20.16)",
    "MUTATE": "a MUTATE holds no other MUTATE",
    "EXPECT": "EXPECT VERSION closes a mutation: after WHERE and LIMIT (§52.8)",
    "COGNITION": "a search names one kind: CONCEPT, PROPOSITION, ASSERTION, EVIDENCE or ACTIVITY",
    "SELECT": "a query begins with FIND(...) WHERE {...}",
    "INSERT": "to write, use CREATE, UPSERT or ENSURE, and ASSERT for a claim",
    "SHOW": "LIST TYPES, LIST PREDICATES and DESCRIBE SPACE show what there is",
    "KEY": "a key is a field: SET FIELDS {key: ...}; CLIENT KEY is what makes a retry safe",
    "DELETE": 'to remove, use TRANSITION ... TO "tombstoned" or PURGE',
    "DETACH": 'to remove, use TRANSITION ... TO "tombstoned" or PURGE',
    "RETRACT": 'write TRANSITION ... TO "retracted"',
    "SUPERSEDE": 'write TRANSITION ... TO "superseded" BY ...',
    "CORRECT": 'write TRANSITION ... TO "corrected" BY ...',
    "ARCHIVE": 'write TRANSITION ... TO "archived"',
    "TOMBSTONE": 'write TRANSITION ... TO "tombstoned"',
    "STATE": "there is no EXPECT STATE: TRANSITION checks the state itself (§35.3)",
}
_SEARCHED = {"CONCEPT", "PROPOSITION", "ASSERTION", "EVIDENCE", "ACTIVITY"}


class Stop:
    """Where the parser stopped: its states before the lexeme, the lexeme, and what came before it.

    `before` is the terminal before it, which stood at `before_begin` to `last` and met the states `earlier`;
    `opened` are the brackets still open.
    """

    __slots__ = ("before", "before_begin", "begin", "earlier", "end", "kind", "last", "opened", "states", "text")

    def __init__(self) -> None:
        self.states: list[int] = []
        self.earlier: list[int] = []
        self.opened: list[tuple[str, int]] = []
        self.before = ""
        self.kind = "$END"
        self.text = ""
        self.begin = self.end = self.last = self.before_begin = 0


def shift(driver: Driver, states: list[int], terminal: str) -> bool:
    """Whether the parser can shift `terminal`; `states` are then those after it, else undefined."""
    action = driver.rows[states[-1]].get(terminal)
    while action is not None and action < 0:
        symbol, size, _ = driver.steps[~action]
        if size:
            del states[-size:]
        states.append(driver.rows[states[-1]][symbol])
        if terminal == "$END" and states[-1] in driver.ends.values():
            return True
        action = driver.rows[states[-1]].get(terminal)
    if action is None:
        return False
    states.append(action)
    return True


def acceptable(driver: Driver, states: list[int]) -> set[str]:
    """The terminals that can really follow."""
    row = driver.rows[states[-1]]
    return {symbol for symbol in row if (symbol.isupper()) and shift(driver, list(states), symbol)}


def stop(driver: Driver, source: str, start: str) -> Stop:
    """Run without values to the first lexeme that is not accepted."""
    found = Stop()
    states = [driver.begins[start]]
    at = 1 if source.startswith(BOM) else 0
    found.last = at
    while True:
        lexeme = LEXEME.match(source, at)
        assert lexeme is not None
        kind = lexeme.lastgroup
        assert kind is not None
        text, end = lexeme[kind], lexeme.end()
        begin = end - len(text)
        found.states = list(states)
        kind, end = driver.terminal(driver.rows[states[-1]], kind, text, source, end)
        found.kind, found.text, found.begin, found.end = kind, source[begin:end], begin, end
        if kind == "$END" or not shift(driver, states, kind):
            return found
        if text in "([{":
            found.opened.append((text, begin))
        elif text in ")]}" and found.opened:
            found.opened.pop()
        found.before, found.before_begin, found.last, at = kind, begin, end, end
        found.earlier = found.states


def syntax_error(driver: Driver, source: str, start: str) -> KipError:
    """The InvalidSyntax for a text that the driver refused."""
    found = stop(driver, source, start)
    terminals = acceptable(driver, found.states)
    span, hint = Span(found.begin, found.end), None
    if found.before == "IDENT" and terminals == {"LPAR"}:
        # A bare word began an expression and could only be a function: the word is what is wrong.
        span = Span(found.before_begin, found.last)
        terminals = acceptable(driver, found.earlier)
        word = _short(source[span.start : span.end])
        message, hint = f"`{word}` is not a value", _bare_word(word)
    elif found.kind == "$END":
        span = Span(found.last, found.last)
        message = "the text ends too early" if found.before else "the text holds no statement"
        hint = _unclosed(source, found)
    elif found.kind == "BAD":
        message, hint, width = _bad(source, found.begin)
        return _error(source, message, Span(found.begin, found.begin + width), hint, terminals)
    else:
        message = f"unexpected {_shown(found)}"
        hint = _hint(source, found, terminals)
    return _error(source, f"{message}: expected {words.listed(words.names(terminals))}", span, hint, terminals)


def _error(source: str, message: str, span: Span, hint: str | None, terminals: set[str]) -> KipError:
    details = {"expected": words.names(terminals)}
    return KipError("InvalidSyntax", message, span=span, hint=hint, details=details, text=source)


def _bare_word(word: str) -> str:
    if word.lower() in ("true", "false", "null"):
        return "true, false and null are lower case"
    return f'put it in double quotes: "{word}"'


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def _shown(found: Stop) -> str:
    text = _short(found.text)
    if found.kind == "STRING":
        return f"string {text}"
    if found.kind in ("NUMBER", "UINT"):
        return f"number {text}"
    return f"`{text}`"


def _unclosed(source: str, found: Stop) -> str | None:
    if not found.opened:
        return None
    bracket, offset = found.opened[-1]
    at = position(source, offset)
    return f"the `{bracket}` at {at.line}:{at.column} is not closed"


def _hint(source: str, found: Stop, terminals: set[str]) -> str | None:
    """What to do, when that is known."""
    if found.text[:1].isalpha() or found.text[:1] == "_":
        return _word_hint(found, terminals)
    if found.text in (")", "]", "}"):
        if found.before == "COMMA":
            return "remove the comma before it"
        if not found.opened:
            return "no bracket is open"
        return _unclosed(source, found) if found.opened[-1][0] + found.text not in ("()", "[]", "{}") else None
    if found.kind == "COMMA" and terminals >= {"FILTER", "NOT", "OPTIONAL"}:
        return "patterns are separated by blanks, not by commas"
    if found.kind == "BANG" and found.before in ("BANG", "MINUS"):
        return "write !(!x)"
    if found.kind in ("LT", "GT", "LE", "GE") and "AND_OP" in terminals:
        return "comparisons do not chain: write a < b && b < c"
    if found.kind == "UINT":
        return "numbers have no leading zeros"
    if found.kind == "VAR" and found.before == "FIND":
        return f"write FIND({found.text})"
    if found.kind in ("STRING", "PARAM", "NUMBER") and terminals == {"SEQ"}:
        return "a state is named by its sequence, AS OF SEQ 12; a time in the world is FOR TIME"
    if found.kind in ("STRING", "PARAM") and terminals == _SEARCHED:
        return _FOREIGN["COGNITION"]
    return None


def _word_hint(found: Stop, terminals: set[str]) -> str | None:
    word = found.text.upper()
    if word in _FOREIGN:
        return _FOREIGN[word]
    if "$END" in terminals and word in words.STATEMENTS:
        return "one statement at a time; several are a script"
    if "SEMICOLON" in terminals and any(clause.split()[0] == word for clause in _CLAUSES):
        return f"the clauses of FIND come in the order {', '.join(_CLAUSES)}"
    keywords = sorted(terminal for terminal in terminals if terminal.isalpha() and words.name(terminal)[0].isupper())
    if meant := words.near(word, keywords):
        return f"did you mean {words.name(meant)}?"
    if "STRING" in terminals and found.kind == "IDENT":
        return _bare_word(_short(found.text))
    return None


def _bad(source: str, at: int) -> tuple[str, str | None, int]:
    """What is wrong with the character at `at`, what to do, and how wide it is."""
    character = source[at]
    rest = source[at : at + 200]
    if character == '"':
        return _bad_string(source, at)
    if character.isdigit() or (character == "-" and rest[1:2].isdigit()):
        width = 1
        while at + width < len(source) and (source[at + width].isalnum() or source[at + width] in "._+"):
            width += 1
        return f"{source[at : at + min(width, 40)]} is not a number", "numbers are written as in JSON", width
    if character in "'\u2018\u2019\u201c\u201d\u00ab\u00bb`":
        return f"unexpected {character}", 'strings take double quotes: "..."', 1
    if character == "=":
        return "unexpected =", "write == to compare, and name: value inside an object", 1
    if character == "?":
        return "a variable needs a name", "write ?name: a letter or _, then letters, digits and _", 1
    if character == "&":
        return "unexpected &", "write && for and", 1
    if character == "/":
        return "unexpected /", "a comment begins with //", 1
    if character == BOM:
        return "a byte order mark inside the text", "remove it", 1
    if not character.isprintable() or character.isspace():
        return (
            f"the character U+{ord(character):04X} is no blank here",
            "blanks are space, tab and line ends",
            1,
        )
    return f"unexpected {character}", None, 1


def _bad_string(source: str, at: int) -> tuple[str, str | None, int]:
    end = at + 1
    while end < len(source) and source[end] not in "\r\n":
        if source[end] < " ":
            return (
                f"a string holds the control character U+{ord(source[end]):04X}",
                "escape it: \\t, \\u0000",
                end - at + 1,
            )
        end += 2 if source[end] == "\\" and source[end + 1 : end + 2] >= " " else 1
    return (
        "the string is not closed on its line",
        'end it with "; a line end in a string is \\n',
        min(end, len(source)) - at,
    )
