"""Words for people: what a terminal is called in English, and the nearest spelling of a name."""

from collections.abc import Iterable

_NAMES = {
    "$END": "the end of the text",
    "IDENT": "a name",
    "VAR": "a variable (?name)",
    "PARAM": "a parameter (:name)",
    "STRING": "a quoted string",
    "NUMBER": "a number",
    "UINT": "a number of hops",
    "TRUE": "true",
    "FALSE": "false",
    "NULL": "null",
    "AS": "AS OF SEQ",
    "CLIENT": "CLIENT KEY",
    "EXPECT": "EXPECT VERSION",
    "FOR": "FOR TIME",
    "ORDER": "ORDER BY",
    "REFERENCE": "REFERENCE POLICY",
    "SET_RETENTION": "SET RETENTION",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "DOT": "`.`",
    "SEMICOLON": "`;`",
    "BAR": "`|`",
    "OR_OP": "`||`",
    "AND_OP": "`&&`",
    "BANG": "`!`",
    "MINUS": "`-`",
    "EQ": "`==`",
    "NE": "`!=`",
    "LE": "`<=`",
    "GE": "`>=`",
    "LT": "`<`",
    "GT": "`>`",
}

_LITERAL = frozenset({"STRING", "NUMBER", "TRUE", "FALSE", "NULL"})
_MUTATION = frozenset(
    {"CREATE", "UPSERT", "ENSURE", "ASSERT", "UPDATE", "TRANSITION", "SET_RETENTION", "PURGE", "MERGE"}
)
_META = frozenset({"DESCRIBE", "LIST", "SEARCH", "VERIFY", "VALIDATE", "PREVIEW", "HISTORY", "CHANGES", "EXPORT"})
STATEMENTS = _MUTATION | _META | {"FIND", "MUTATE", "DEFINE"}

# Sets of terminals that have a name of their own, the largest first; a set is named only when it is whole.
_GROUPS: tuple[tuple[frozenset[str], str], ...] = (
    (STATEMENTS, "a statement"),
    (frozenset({"VAR", "LPAR", "PROPOSITION", "STRUCTURAL"}), "a pattern"),
    (_MUTATION, "a mutation"),
    (_LITERAL | {"VAR", "PARAM", "IDENT", "LBRACE", "LSQB", "LPAR", "BANG", "MINUS"}, "an expression"),
    (_LITERAL | {"VAR", "PARAM", "IDENT", "LBRACE", "LSQB", "LPAR"}, "an expression without `!` or `-`"),
    (_LITERAL | {"VAR", "PARAM", "IDENT", "LBRACE", "LSQB"}, "a value"),
    (_LITERAL | {"VAR", "PARAM", "LBRACE", "LSQB", "LPAR"}, "a value, a variable or a pattern"),
    (_LITERAL | {"VAR", "PARAM", "LBRACE", "LPAR"}, "a term"),
    (_LITERAL | {"PARAM"}, "a literal or a parameter"),
    (frozenset({"EQ", "NE", "LT", "GT", "LE", "GE", "AND_OP", "OR_OP"}), "an operator"),
    (frozenset({"EQ", "NE", "AND_OP", "OR_OP"}), "`==`, `!=`, `&&` or `||`"),
    (frozenset({"DOT", "LSQB"}), "a path step"),
    (frozenset({"VAR", "PARAM", "STRING"}), "a variable, a parameter or a quoted string"),
    (frozenset({"IDENT", "STRING"}), "a name, bare or quoted"),
    (frozenset({"PARAM", "STRING"}), "a quoted string or a parameter"),
)


# What ends something is named last.
_LAST = ("COMMA", "RPAR", "RBRACE", "RSQB", "SEMICOLON", "$END")


def name(terminal: str) -> str:
    """One terminal in English; a keyword is itself."""
    return _NAMES.get(terminal, terminal)


def names(terminals: Iterable[str]) -> list[str]:
    """A set of terminals in English: what belongs together under one name, the rest one by one."""
    left = set(terminals)
    found: list[str] = []
    for group, title in _GROUPS:
        if group <= left:
            left -= group
            found.append(title)
    signs = [terminal for terminal in _LAST if terminal in left]
    left.difference_update(signs)
    found.extend(sorted(name(terminal) for terminal in left if not name(terminal)[0].isupper()))
    found.extend(sorted(name(terminal) for terminal in left if name(terminal)[0].isupper()))
    return found + [name(terminal) for terminal in signs]


def listed(items: list[str], last: str = "or") -> str:
    """`a`, `a or b`, `a, b or c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def near(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate spelled nearest to `name`, when it is near enough to be meant; the first of equals.

    Case does not count. At most a third of the letters may differ; swapped neighbours are one difference.

    >>> near("LIMTI", ["LIMIT", "LIST"])
    'LIMIT'
    """
    wanted = name.casefold()
    best, least = None, max(1, len(wanted) // 3) + 1
    for candidate in candidates:
        other = candidate.casefold()
        if abs(len(other) - len(wanted)) < least:
            distance = _distance(wanted, other, least)
            if distance < least:
                best, least = candidate, distance
    return best


def _distance(a: str, b: str, enough: int) -> int:
    """Edits from `a` to `b` (insert, delete, replace, swap neighbours); stops caring at `enough`."""
    before: list[int] = []
    above = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        row = [i]
        for j, right in enumerate(b, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) >= enough:
            return enough
        before, above = above, row
    return above[-1]
