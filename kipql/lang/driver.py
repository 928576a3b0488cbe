"""The LALR driver: runs the tables over a text and builds nodes with exact spans.

Three stacks: states, values, and where each value starts; a value ends where the last shifted lexeme ended.
A production of one symbol without a builder only changes the state; where such follow each other, as they do from a
value up to an expression, what they come to is remembered by the two states and the lexeme they depend on.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from kipql.lang import ast
from kipql.lang.scanner import BOM, KINDS, LEXEME, OPERATORS, keywords, retention
from kipql.lang.tables import Tables

Reduce: TypeAlias = Callable[[list[Any], int, int, list[ast.Node]], Any]
Step: TypeAlias = tuple[str, int, Reduce | None]


class Unexpected(Exception):
    """The parser can not go on: it does not accept the lexeme from `start` to `end`."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__(start, end)
        self.start = start
        self.end = end


class Driver:
    """The tables, with what each production does."""

    __slots__ = ("begins", "chains", "ends", "keywords", "rows", "steps")

    def __init__(self, tables: Tables, builders: Callable[[int], Reduce | None]) -> None:
        self.rows = tables.rows
        self.begins = tables.begins
        self.ends = tables.ends
        self.keywords = keywords({symbol for row in tables.rows for symbol in row if symbol.isupper()})
        self.steps: Sequence[Step] = [
            (rule.symbol, rule.size, builders(number)) for number, rule in enumerate(tables.rules)
        ]
        self.chains: dict[tuple[int, int, str], tuple[int, int | None]] = {}

    def terminal(self, row: dict[str, int], kind: str, text: str, source: str, end: int) -> tuple[str, int]:
        """Which terminal a lexeme is in a state with this row, and where it ends (the class itself if none fits)."""
        if kind == "WORD":
            keyword = self.keywords.get(text) or self.keywords.get(text.upper())
            if keyword == "SET" and "SET_RETENTION" in row and (both := retention(source, end)) is not None:
                return "SET_RETENTION", both
            return (keyword if keyword is not None and keyword in row else "IDENT"), end
        if kind == "OPERATOR":
            return OPERATORS[text], end
        if kind == "END":
            return "$END", end
        if kind == "PARAM" and "PARAM" not in row and "COLON" in row:
            return "COLON", end - len(text) + 1
        if kind == "NUMBER" and "NUMBER" not in row and "UINT" in row and text.isdigit():
            return "UINT", end
        return kind, end

    def _chain(self, below: int, state: int, kind: str) -> tuple[int, int | None]:
        """The state after every renaming that follows in a state, and what is to be done there."""
        at, action = state, self.rows[state].get(kind)
        while action is not None and action < 0:
            symbol, size, build = self.steps[~action]
            if size != 1 or build is not None:
                break
            at = self.rows[below][symbol]
            action = self.rows[at].get(kind)
        self.chains[below, state, kind] = at, action
        return at, action

    def run(self, source: str, start: str = "start") -> tuple[Any, list[ast.Node]]:
        """The value of the start symbol and the marks. Raises Unexpected, and KipError out of builders."""
        rows, steps, known = self.rows, self.steps, self.keywords
        chains, operators, kinds = self.chains, OPERATORS, KINDS
        state, last = self.begins[start], self.ends[start]
        states, values, starts = [state], [], []  # type: tuple[list[int], list[Any], list[int]]
        marks: list[ast.Node] = []
        position = 1 if source.startswith(BOM) else 0
        end = position
        lexemes = LEXEME.finditer(source, position)  # one begins where the last ended: every character is in one
        while True:
            row = rows[state]
            lexeme = next(lexemes)
            group = lexeme.lastindex
            kind, text = kinds[group], lexeme[group]  # type: ignore[index]
            read = position = lexeme.end()
            begin = position - len(text)
            if kind == "WORD":
                keyword = known.get(text) or known.get(text.upper())
                if keyword == "SET":
                    kind, position = self.terminal(row, kind, text, source, position)
                    text = source[begin:position]
                elif keyword is not None and keyword in row:
                    kind = keyword
                else:
                    kind = "IDENT"
            elif kind == "OPERATOR":
                kind = operators[text]
            elif kind not in row:
                kind, position = self.terminal(row, kind, text, source, position)
                text = source[begin:position]
            action = row.get(kind)
            while action is not None and action < 0:
                symbol, size, build = steps[~action]
                if size == 1:
                    if build is None:
                        below = states[-2]
                        state, action = chains.get((below, state, kind)) or self._chain(below, state, kind)
                        states[-1] = state
                        if state == last and kind == "$END":
                            return values[0], marks
                        continue
                    states.pop()
                    values[-1] = build([values[-1]], starts[-1], end, marks)
                elif size:
                    first = starts[-size]
                    value = build(values[-size:], first, end, marks)  # type: ignore[misc]
                    del states[-size:], values[-size:], starts[-size:]
                    values.append(value)
                    starts.append(first)
                else:
                    values.append(build([], begin, begin, marks))  # type: ignore[misc]
                    starts.append(begin)
                state = rows[states[-1]][symbol]
                states.append(state)
                if state == last and kind == "$END":
                    return values[0], marks
                action = rows[state].get(kind)
            if action is None:
                raise Unexpected(begin, position)
            if position != read:
                lexemes = LEXEME.finditer(source, position)
            state = action
            states.append(state)
            values.append(text)
            starts.append(begin)
            end = position
