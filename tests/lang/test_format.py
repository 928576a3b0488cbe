"""Canonical text: the same tree, a fixed point, every comment kept."""

import random
import re

import pytest

from kipql import lang
from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.scanner import LEXEME
from tests.lang.statements import CASES


@pytest.mark.parametrize(("text", "tree"), CASES, ids=[text for text, _ in CASES])
def test_formatting_keeps_the_tree_and_is_a_fixed_point(text, tree):
    canonical = lang.format(text)
    assert lang.parse(canonical) == tree
    assert lang.format(canonical) == canonical
    assert "//" in text or lang.format_node(tree) + "\n" == canonical


LAYOUTS = [
    (
        'find(?person.name,count(distinct ?x))where{?person{type:"Person","key":"alice"}'
        "optional{?a assertion{proposition:?p}}}order by ?x desc,?y asc limit 10;",
        """\
FIND(?person.name, count(DISTINCT ?x))
WHERE {
  ?person {type: "Person", key: "alice"}
  OPTIONAL {
    ?a ASSERTION {proposition: ?p}
  }
}
ORDER BY ?x DESC, ?y
LIMIT 10
""",
    ),
    ("FIND(?x) WHERE { } ", "FIND(?x)\nWHERE {}\n"),
    (
        'FIND(?x) WHERE { FILTER((?x.a=="a"&&(?x["b c"]!=1.50)||!((?x.facets.M.s)<1e2))) (?x,"p"{0,}|"q"{1,2},?y) }',
        """\
FIND(?x)
WHERE {
  FILTER(?x.a == "a" && ?x["b c"] != 1.5 || !(?x.facets["M"].s < 100))
  (?x, "p"{0,} | "q"{1,2}, ?y)
}
""",
    ),
    (
        'update "C-1" set attributes {"a":ADD(?x.a,1)}',
        'UPDATE "C-1" SET ATTRIBUTES {a: ADD(?x.a, 1)}\n',
    ),
    (
        'update ?x set attributes {a:1} where{?x{}} limit 5 expect version 3 of facet "F"',
        'UPDATE ?x\nSET ATTRIBUTES {a: 1}\nWHERE {\n  ?x {}\n}\nLIMIT 5\nEXPECT VERSION 3 OF FACET "F"\n',
    ),
    (
        'CREATE CONCEPT ?x { SET STRUCTURAL {("a",?b){index:0}} NAME "n" TYPE "T" }',
        'CREATE CONCEPT ?x {\n  TYPE "T"\n  NAME "n"\n  SET STRUCTURAL { ("a", ?b) {index: 0} }\n}\n',
    ),
    (
        'mutate { ensure proposition ?p (?x,"p",?y) assert (?x,"p",?y) {by: ?x, mode: "stated"} superseding :old }',
        """\
MUTATE {
  ENSURE PROPOSITION ?p (?x, "p", ?y)
  ASSERT (?x, "p", ?y) {by: ?x, mode: "stated"} SUPERSEDING :old
}
""",
    ),
    ("list types list facets limit 5;", "LIST TYPES\n\nLIST FACETS LIMIT 5\n"),
    ('describe error "\\u0041\\/\\u00e9\\n"', 'DESCRIBE ERROR "A/\u00e9\\n"\n'),
    ("", ""),
    ("  \n\n", ""),
]


@pytest.mark.parametrize(("text", "canonical"), LAYOUTS, ids=[text[:50] for text, _ in LAYOUTS])
def test_the_canonical_layout(text, canonical):
    assert lang.format(text) == canonical
    assert lang.format(canonical) == canonical


def test_what_does_not_fit_on_a_line_has_a_line_for_each_item():
    text = "FIND(?x) WHERE { ?x {" + ", ".join(f'name_{n}: "{"v" * 20}"' for n in range(4)) + "} }"
    assert lang.format(text) == (
        "FIND(?x)\nWHERE {\n  ?x {\n" + ",\n".join(f'    name_{n}: "{"v" * 20}"' for n in range(4)) + "\n  }\n}\n"
    )
    assert all(len(line) <= 100 for line in lang.format(text).splitlines())


COMMENTED = """\
// header

//! check: a
find(?x) // behind the projection
where { // behind the brace
  ?x {type: "P", // behind a member
    key: "k"}


  // before a pattern
  (?x, "p", ?y) not { ?y {} // behind
  }
  // last in the block
} limit // behind LIMIT
 10;  // behind the end

list types   // second
// the end
"""

COMMENTED_CANONICAL = """\
// header

//! check: a
FIND(?x) // behind the projection
WHERE { // behind the brace
  ?x {
    type: "P", // behind a member
    key: "k"
  }
  // before a pattern
  (?x, "p", ?y)
  NOT {
    ?y {} // behind
  }
  // last in the block
} // behind LIMIT
LIMIT 10 // behind the end

LIST TYPES // second

// the end
"""


def test_comments_stay_where_they_were():
    assert lang.format(COMMENTED) == COMMENTED_CANONICAL
    assert lang.format(COMMENTED_CANONICAL) == COMMENTED_CANONICAL


def test_directives_stay_before_their_statement():
    parts = lang.split(lang.format(COMMENTED))
    assert [[comment.text for comment in part.comments] for part in parts] == [[" header", "! check: a"], []]


def comments(text):
    return sorted(re.findall(r"// c\d+", text))


def test_no_comment_is_lost_wherever_it_stands():
    """Comments thrown between the lexemes of every case: all kept, the tree too, and the result is a fixed point."""
    chance = random.Random(5)
    for text, tree in CASES:
        lexemes = [found[found.lastgroup] for found in LEXEME.finditer(text)][:-1]
        for _ in range(3):
            parts = []
            for number, lexeme in enumerate(lexemes):
                parts.append(lexeme)
                if chance.random() < 0.25:
                    parts.append(chance.choice(["// c{}\n", "\n// c{}\n", "\n\n  //! no\n // c{} \n\n"]).format(number))
            commented = " ".join(parts)
            canonical = lang.format(commented)
            assert lang.parse(canonical) == tree
            assert comments(canonical) == comments(commented)
            assert lang.format(canonical) == canonical


def test_only_text_that_parses_is_formatted():
    with pytest.raises(KipError, match=r"1:6"):
        lang.format("LIST TYPOS")


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (ast.Path(ast.Var("x"), ("a", "b c")), '?x.a["b c"]'),
        (ast.Block(()), "{}"),
        (ast.Minus(ast.Var("x")), "-?x"),
        (ast.Compare("<", ast.And((ast.Var("x"), ast.Var("y"))), ast.Literal(1.0)), "(?x && ?y) < 1"),
        (ast.Script((ast.List("TYPES"), ast.List("FACETS"))), "LIST TYPES\n\nLIST FACETS"),
        (ast.Script(()), ""),
    ],
)
def test_any_node_has_a_text(node, text):
    assert lang.format_node(node) == text
