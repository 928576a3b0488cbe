"""The prescan: no text, however large or deep, costs more than its limit, and none ends in a RecursionError."""

import pytest

from kipql import lang
from kipql.errors import KipError
from kipql.limits import DEFAULT_LIMITS, Limits

DEEP = 5_000


def refusal(text, limits=DEFAULT_LIMITS, parse=lang.parse):
    with pytest.raises(KipError) as caught:
        parse(text, limits)
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        "FIND(" + "(" * DEEP + "?x" + ")" * DEEP + ") WHERE {}",
        "FIND(" + "!(" * DEEP + "?x" + ")" * DEEP + ") WHERE {}",
        "FIND(" + "[" * DEEP + "]" * DEEP + ") WHERE {}",
        "FIND(" + "f(" * DEEP + ")" * DEEP + ") WHERE {}",
        "FIND(?x) WHERE {" + "NOT {" * DEEP + "}" * DEEP + "}",
        "FIND(?x) WHERE {" + '(?x, "p", ' * DEEP + "?y" + ")" * DEEP + "}",
        "UPDATE ?x SET FIELDS {a: " + "{a: " * DEEP + "1" + "}" * DEEP + "}",
        "(" * DEEP,
        "{" * 65,
    ],
    ids=["parentheses", "negations", "arrays", "calls", "blocks", "tuples", "objects", "unclosed", "one too many"],
)
def test_a_nesting_bomb_is_resource_exhausted(text):
    for parse in (lang.parse, lang.parse_script):
        error = refusal(text, parse=parse)
        assert error.code == "ResourceExhausted"
        assert error.details == {"limit": "depth", "value": 64}
        assert error.span is not None


def nested(depth):
    return "UPDATE ?x SET FIELDS " + "{a: " * depth + "1" + "}" * depth


def test_the_depth_is_counted_in_brackets():
    lang.parse(nested(64))
    assert refusal(nested(65)).code == "ResourceExhausted"
    assert refusal(nested(4), Limits(depth=3)).code == "ResourceExhausted"


def test_brackets_in_strings_and_comments_do_not_count():
    lang.parse('FIND(?x) WHERE { ?x {a: "' + "({[" * 100 + '\\" ((("} // ' + "(" * 100 + "\n}")


def test_brackets_side_by_side_do_not_count():
    lang.parse("FIND(?x) WHERE { " + "?x {a: [(?y, :p, {})]} " * 100 + "}")


def test_a_tree_deeper_than_its_brackets_is_measured():
    depth = 30
    text = "FIND(" + "!(?y || ?x && 1 == 2 == 3 == 4 == 5 == 6 < " * depth + "?x" + ")" * depth + ") WHERE {}"
    tree = lang.parse(text, Limits(depth=200))
    assert lang.parse(lang.format_node(tree), Limits(depth=200)) == tree
    assert refusal(text, Limits(depth=32)).code == "ResourceExhausted"


def test_a_chain_of_comparisons_is_bounded():
    lang.parse("FIND(1" + " == 1" * 8 + ") WHERE {}")
    assert refusal("FIND(1" + " == 1" * 9 + ") WHERE {}").code == "ResourceExhausted"


@pytest.mark.parametrize("operator", ["&&", "||"])
def test_a_long_conjunction_is_flat(operator):
    tree = lang.parse(f"FIND(?x{f' {operator} ?x' * 10_000}) WHERE {{}}")
    assert len(tree.items[0].items) == 10_001


def test_the_text_is_measured_in_bytes():
    text = "LIST TYPES //" + "\u00e9" * 100
    size = len(text.encode())
    assert lang.parse(text, Limits(text=size))
    error = refusal(text, Limits(text=size - 1))
    assert error.code == "ResourceExhausted"
    assert error.details == {"limit": "text", "value": size - 1}
    assert refusal(" " * (256 * 1024 + 1)).code == "ResourceExhausted"


def test_lexemes_are_counted():
    text = "FIND(?x, ?x, ?x) WHERE {}"
    assert lang.parse(text, Limits(tokens=11))
    error = refusal(text, Limits(tokens=10))
    assert error.details == {"limit": "tokens", "value": 10}


def test_statements_of_a_script_are_counted():
    text = "LIST TYPES;" * 5
    assert len(lang.parse_script(text, Limits(statements=5)).statements) == 5
    assert refusal(text, Limits(statements=4), lang.parse_script).details["limit"] == "statements"


@pytest.mark.parametrize(
    "text", ['"' * 200_000, "/" * 200_000, "- " * 60_000, '"\\' * 100_000, "9" * 200_000, "a" * 200_000]
)
def test_hostile_texts_fail_fast_and_short(text):
    error = refusal(text)
    assert error.code in ("InvalidSyntax", "ResourceExhausted")
    assert len(error.message) < 1_000
    assert len(error.hint or "") < 1_000
