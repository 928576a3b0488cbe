"""Walking trees, and which language a statement is in."""

import pytest

from kipql import lang
from kipql.errors import KipError
from kipql.lang import ast, walk


def test_parents_come_before_children_left_to_right():
    tree = lang.parse('FIND(?a, :b) WHERE { ?c {d: "e"} }')
    seen = [node for node in walk.iterate(tree) if isinstance(node, ast.Var | ast.Param | ast.Literal)]
    assert seen == [ast.Var("a"), ast.Param("b"), ast.Var("c"), ast.Literal("e")]
    assert next(iter(walk.iterate(tree))) is tree


def test_parameters_and_variables_are_named_once_in_order():
    tree = lang.parse('FIND(?b.x, ?a) WHERE { ?a {k: :q, l: ":no"} ?b {k: :p, l: :q} } LIMIT :n')
    assert [item.name for item in walk.parameters(tree)] == ["q", "p", "n"]
    assert [item.name for item in walk.variables(tree)] == ["b", "a"]
    first = walk.parameters(tree)[0]
    assert (first.span.start, first.span.end) == (30, 32)


def test_a_deep_tree_needs_no_deep_stack():
    tree = ast.Var("x")
    for _ in range(2_000):
        tree = ast.Negate(tree)
    assert sum(1 for _ in walk.iterate(tree)) == 2_001
    assert lang.format_node(tree).count("!") == 2_000


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ('FIND(?x) WHERE { ?x {name: "UPDATE ?x SET FIELDS {}"} } // PURGE', "KQL"),
        ('VALIDATE KML "UPDATE ?x SET FIELDS {}"', "META"),
        ("PREVIEW KML :command", "META"),
        ('\ufeffpUrGe :x cOnFiRm "PURGE"', "KML"),
        ("MUTATE {}", "KML"),
        ("DEFINE PREDICATE :p {}", "KML"),
    ],
)
def test_the_tree_decides_not_the_text(text, language):
    assert lang.classify(text) == language
    assert lang.is_mutation(lang.parse(text)) == (language == "KML")


def test_what_is_not_known_to_read_is_a_mutation():
    assert lang.is_mutation(ast.Var("x"))
    assert lang.is_mutation(lang.parse_script("LIST TYPES; MUTATE {}"))
    assert not lang.is_mutation(lang.parse_script("LIST TYPES; FIND(?x) WHERE {}"))
    with pytest.raises(KipError):
        lang.classify(ast.Var("x"))
