"""Build the LALR tables from the grammar: `python -m kipql.lang.build`.

The only module that imports lark. Lark checks the grammar (strict: no conflict, no terminal that hides
another), and its tables are renumbered so that the same grammar always gives the same file.
"""

import json
import re
import sys
from collections import deque
from typing import Any

from kipql.lang import grammar
from kipql.lang.tables import PATH


def parser(source: str) -> Any:
    """Lark's own parser for the whole language."""
    import lark

    return lark.Lark(
        source,
        parser="lalr",
        lexer="contextual",
        strict=True,
        start=list(grammar.STARTS),
        maybe_placeholders=False,
        g_regex_flags=re.ASCII,
        propagate_positions=True,
    )


def terminals(source: str) -> dict[str, str]:
    """The terminals of the grammar as regular expressions, in the order of their names."""
    return {each.name: each.pattern.to_regexp() for each in sorted(parser(source).terminals, key=lambda one: one.name)}


def rule_key(rule: Any) -> tuple[str, list[str], str]:
    """What orders the rules: left side, right side, alias."""
    return (rule.origin.name, [symbol.name for symbol in rule.expansion], rule.alias or "")


def tables(source: str) -> dict[str, Any]:
    """The tables as JSON data."""
    from lark.parsers.lalr_analysis import Reduce

    built = parser(source)
    table = built.parser.parser._parse_table
    rules = sorted(built.rules, key=rule_key)
    numbers = {id(rule): number for number, rule in enumerate(rules)}
    by_key = {json.dumps(rule_key(rule)): number for number, rule in enumerate(rules)}

    order: dict[int, int] = {}
    queue = deque(table.start_states[start] for start in grammar.STARTS)
    while queue:
        state = queue.popleft()
        if state in order:
            continue
        order[state] = len(order)
        row = table.states[state]
        queue.extend(row[symbol][1] for symbol in sorted(row) if row[symbol][0] is not Reduce)

    def action(kind: Any, target: Any) -> int:
        if kind is not Reduce:
            return order[target]
        number = numbers.get(id(target))
        return ~(by_key[json.dumps(rule_key(target))] if number is None else number)

    distinct: dict[str, int] = {}
    states = []
    for state in order:
        row = table.states[state]
        text = json.dumps({symbol: action(*row[symbol]) for symbol in sorted(row)})
        states.append(distinct.setdefault(text, len(distinct)))
    return {
        "digest": grammar.digest(source),
        "begins": {start: order[table.start_states[start]] for start in grammar.STARTS},
        "ends": {start: order[table.end_states[start]] for start in grammar.STARTS},
        "rules": [[rule.origin.name, len(rule.expansion), rule.alias or rule.origin.name] for rule in rules],
        "states": states,
        "rows": [json.loads(text) for text in distinct],
    }


def text(data: dict[str, Any]) -> str:
    """The file: one row a line, so that a change of the grammar shows as a readable difference."""

    def lines(items: list[Any]) -> str:
        return ",\n".join(json.dumps(item, separators=(",", ":")) for item in items)

    head = {name: data[name] for name in ("digest", "begins", "ends")}
    return (
        json.dumps(head)[:-1]
        + f',\n"rules":[\n{lines(data["rules"])}\n],\n'
        + f'"states":{json.dumps(data["states"], separators=(",", ":"))},\n'
        + f'"rows":[\n{lines(data["rows"])}\n]}}\n'
    )


def main() -> int:
    """Write `tables.json`; the exit code, 2 where the grammar is missing."""
    source = grammar.source()
    if source is None:
        print("the grammar files are missing", file=sys.stderr)
        return 2
    PATH.write_text(text(tables(source)), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
