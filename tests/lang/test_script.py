"""split: the statements of a script with their texts, places, languages and comments."""

import pytest

from kipql import lang
from kipql.errors import KipError

SCRIPT = """\
// about the file

//! check: everyone
// for everyone
FIND(?x) // behind the code
WHERE { ?x {} } ; // behind the end
  //indented
DESCRIBE PROTOCOL UPDATE "C-1" SET FIELDS {name: "// no comment"}
// after all
"""


def test_a_part_is_its_statement_without_the_separator():
    parts = lang.split(SCRIPT)
    assert [part.language for part in parts] == ["KQL", "META", "KML"]
    assert [part.text for part in parts] == [
        "FIND(?x) // behind the code\nWHERE { ?x {} }",
        "DESCRIBE PROTOCOL",
        'UPDATE "C-1" SET FIELDS {name: "// no comment"}',
    ]
    for part in parts:
        assert SCRIPT[part.span.start : part.span.end] == part.text
        assert lang.parse(part.text) == part.statement


def test_comments_on_their_own_lines_belong_to_the_next_statement():
    parts = lang.split(SCRIPT)
    assert [[comment.text for comment in part.comments] for part in parts] == [
        [" about the file", "! check: everyone", " for everyone"],
        ["indented"],
        [],
    ]
    for part in parts:
        for comment in part.comments:
            assert SCRIPT[comment.span.start : comment.span.end] == f"//{comment.text}"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_may_be_any(end):
    (part,) = lang.split(SCRIPT.split("FIND")[0].replace("\n", end) + "LIST TYPES")
    assert [comment.text for comment in part.comments] == [" about the file", "! check: everyone", " for everyone"]


def test_a_byte_order_mark_is_no_obstacle():
    (part,) = lang.split("\ufeff// c\nLIST TYPES")
    assert part.comments[0].text == " c"


def test_an_empty_script_has_no_parts():
    assert lang.split("// nothing\n") == ()


def test_a_script_with_an_error_is_no_script():
    with pytest.raises(KipError, match=r"2:6"):
        lang.split("LIST TYPES\nLIST TYPOS")
