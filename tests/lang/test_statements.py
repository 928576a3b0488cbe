"""Every form of statement, pattern and expression gives the tree that the syntax says (§42-69, §20.16)."""

import dataclasses

import pytest

from kipql import lang
from kipql.errors import KipError
from kipql.lang import ast
from tests.lang.statements import CASES, KML, KQL, META


@pytest.mark.parametrize(("text", "tree"), CASES, ids=[text for text, _ in CASES])
def test_a_text_is_its_tree(text, tree):
    assert lang.parse(text) == tree


@pytest.mark.parametrize(
    ("cases", "language"), [(KQL, "KQL"), (KML, "KML"), (META, "META")], ids=["KQL", "KML", "META"]
)
def test_the_tree_tells_the_language_and_what_writes(cases, language):
    for text, tree in cases:
        assert lang.classify(text) == lang.classify(tree) == language
        assert lang.is_mutation(tree) == (language == "KML")


def test_every_node_class_has_a_case():
    seen = {type(node) for _, tree in CASES for node in lang.walk.iterate(tree)}
    nodes = {value for value in vars(ast).values() if isinstance(value, type) and issubclass(value, ast.Node)}
    assert nodes - seen == {ast.Node, ast.Script}


@pytest.mark.parametrize(("text", "tree"), CASES, ids=[text for text, _ in CASES])
def test_spans_nest_and_point_into_the_text(text, tree):
    for node in lang.walk.iterate(lang.parse(text)):
        assert 0 <= node.span.start < node.span.end <= len(text)
        for child in lang.walk.children(node):
            assert node.span.start <= child.span.start
            assert child.span.end <= node.span.end


def test_a_span_is_the_text_of_its_node():
    text = 'FIND(?a.b["c"]) WHERE { ?a  {n: -1.0e1, m: "x"} // {}\n NOT { (?a, "p" | "q", :o) } }'
    found = lang.parse(text)
    spelled = {type(node): text[node.span.start : node.span.end] for node in lang.walk.iterate(found)}
    assert spelled[ast.Path] == '?a.b["c"]'
    assert spelled[ast.ElementPattern] == '?a  {n: -1.0e1, m: "x"}'
    assert spelled[ast.PredicatePath] == '"p" | "q"'
    assert spelled[ast.Not] == 'NOT { (?a, "p" | "q", :o) }'
    assert spelled[ast.Find] == text


def test_layout_and_spans_take_no_part_in_equality():
    assert lang.parse("FIND(?x)WHERE{?x{}}") == lang.parse("\ufeff find // c\r( ?x )\tWhere\n{ ?x { } } ;")


def test_nodes_are_frozen_values():
    tree = lang.parse("FIND(?x) WHERE {}")
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.limit = None
    assert hash(tree) == hash(lang.parse("FIND(?x) WHERE { }"))
    assert dataclasses.replace(tree, limit=ast.Literal(1)).limit == ast.Literal(1)
    assert ast.Literal(1) != ast.Literal(True)


@pytest.mark.parametrize(
    "text",
    ["", " \t\r\n", "// only a comment", "\ufeff// bom\n"],
)
def test_a_script_may_be_empty_a_command_may_not(text):
    assert lang.parse_script(text).statements == ()
    with pytest.raises(KipError, match="no statement"):
        lang.parse(text)


@pytest.mark.parametrize("between", [" ", ";", "\n", " ;\n", " // c\n"])
def test_statements_of_a_script_need_no_separator(between):
    texts = [text.removesuffix(";") for text, _ in (*KQL, *KML, *META)]
    script = lang.parse_script(between.join(texts))
    assert script.statements == tuple(tree for _, tree in (*KQL, *KML, *META))


def test_set_retention_begins_a_statement_after_an_update():
    text = 'UPDATE ?x SET FIELDS {} set\nretention ?x {} TRANSITION ?x TO "failed" SET FIELDS {} SET RETENTION ?x {}'
    kinds = [type(statement) for statement in lang.parse_script(text).statements]
    assert kinds == [ast.Update, ast.SetRetention, ast.Transition, ast.SetRetention]


@pytest.mark.parametrize("word", ["find", "limit", "set", "retention", "id", "name", "not"])
def test_keywords_are_names_where_a_name_stands(word):
    tree = lang.parse(f"FIND(?{word}.{word}, {word}(:{word})) WHERE {{ ?{word} {{{word}:{{}}}} }}")
    assert tree.items == (ast.Path(ast.Var(word), (word,)), ast.Call(word, (ast.Param(word),)))


def test_keywords_end_at_a_word_boundary():
    for text in ("FIND(?x) WHERE {} LIMIT5", "FIND(?x) WHEREX {}", "LISTTYPES", "FIND(?x) WHERE {} LIMIT 5CURSOR :c"):
        with pytest.raises(KipError):
            lang.parse(text)


def test_case_folding_is_ascii_only():
    with pytest.raises(KipError):
        lang.parse("LI\u017fT TYPES")
    assert lang.parse("lIsT tYpEs") == ast.List("TYPES")
