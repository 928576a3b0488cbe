"""The shipped tables are those of the grammar, and the driver on them is Lark's parser (architecture §4.1)."""

import json
import random

import pytest

from kipql.errors import KipError
from kipql.lang import build, grammar, tables
from kipql.lang.builder import BUILDERS
from kipql.lang.driver import Driver, Unexpected
from kipql.lang.scanner import LEXEME, OPERATORS
from tests.lang.errors import GRAMMAR, RULES
from tests.lang.statements import CASES

TEXTS = [case[0] for case in (*CASES, *RULES)]


@pytest.fixture(scope="module")
def source():
    return grammar.source()


@pytest.fixture(scope="module")
def lark(source):
    return build.parser(source)


@pytest.fixture(scope="module")
def derivations(lark):
    """The driver, building (name, children, start, end) as Lark would build its tree."""
    rules = sorted(lark.rules, key=build.rule_key)

    def builder(number):
        rule = rules[number]
        if rule.options.expand1 and not rule.alias and len(rule.expansion) == 1:
            return None
        name = rule.alias or rule.origin.name
        return lambda values, start, end, marks: (name, list(values), start, end)

    return Driver(tables.load(), builder)


def as_tuples(tree):
    """Lark's tree in the same form; an empty tree has no place."""
    if not hasattr(tree, "children"):
        return str(tree)
    children = [as_tuples(child) for child in tree.children]
    if tree.meta.empty:
        return (tree.data, children)
    return (tree.data, children, tree.meta.start_pos, tree.meta.end_pos)


def without_empty_places(node):
    if isinstance(node, str):
        return node
    name, children, start, end = node
    children = [without_empty_places(child) for child in children]
    if all(isinstance(child, tuple) and len(child) == 2 for child in children):
        return (name, children)
    return (name, children, start, end)


def test_the_tables_are_built_from_the_grammar_at_hand(source):
    built = build.text(build.tables(source))
    assert tables.PATH.read_text("utf-8") == built
    assert json.loads(built)["digest"] == grammar.digest(source)


def test_tables_of_another_grammar_are_refused(monkeypatch, source):
    monkeypatch.setattr(grammar, "source", lambda: source + "// changed")
    with pytest.raises(KipError, match="do not belong to the grammar"):
        tables.load()


def test_every_production_is_built_or_passes_its_only_child(lark):
    for rule in lark.rules:
        name = rule.alias or rule.origin.name
        assert name in BUILDERS or len(rule.expansion) == 1, name
    names = {rule.alias or rule.origin.name for rule in lark.rules}
    assert set(BUILDERS) <= names


def test_the_scanner_knows_every_sign_of_the_grammar(lark):
    signs = {terminal.pattern.value: terminal.name for terminal in lark.terminals if terminal.pattern.type == "str"}
    assert signs.pop(":") == "COLON"
    assert signs.pop("-") == "MINUS"
    assert signs == dict(OPERATORS)


@pytest.mark.parametrize("text", TEXTS, ids=[text[:70] for text in TEXTS])
def test_driver_and_lark_give_the_same_tree(text, lark, derivations):
    for start in grammar.STARTS:
        value, _ = derivations.run(text, start)
        assert without_empty_places(value) == as_tuples(lark.parse(text, start=start))


def stopped(lark, text, start):
    """Where Lark stops, or None."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        lark.parse(text, start=start)
    except UnexpectedCharacters as error:
        return error.pos_in_stream
    except UnexpectedToken as error:
        return len(text) if error.token.type == "$END" else error.pos_in_stream
    return None


def halted(derivations, text, start):
    try:
        derivations.run(text, start)
    except Unexpected as error:
        return error.start
    return None


@pytest.mark.parametrize("text", [case[0] for case in GRAMMAR], ids=[case[0][:70] for case in GRAMMAR])
def test_driver_and_lark_stop_at_the_same_place(text, lark, derivations):
    assert halted(derivations, text, "start") == stopped(lark, text, "start")


def test_driver_and_lark_agree_on_damaged_texts(lark, derivations):
    """Lexemes dropped, doubled and swapped: accepted by both, or refused by both at one place."""
    chance = random.Random(2)
    for text, _ in CASES:
        lexemes = [found[found.lastgroup] for found in LEXEME.finditer(text)][:-1]
        for _ in range(4):
            damaged = list(lexemes)
            at, other = chance.randrange(len(damaged)), chance.randrange(len(damaged))
            match chance.randrange(3):
                case 0:
                    del damaged[at]
                case 1:
                    damaged.insert(other, damaged[at])
                case 2:
                    damaged[at], damaged[other] = damaged[other], damaged[at]
            broken = " ".join(damaged)
            assert halted(derivations, broken, "start") == stopped(lark, broken, "start"), broken
