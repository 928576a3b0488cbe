"""A refused text names the place, what was acceptable there and what to do, and is always a KipError."""

import pytest

from kipql import lang
from kipql.errors import KipError
from tests.lang.errors import GRAMMAR, RULES

CASES = [*GRAMMAR, *RULES]


def refusal(text):
    with pytest.raises(KipError) as caught:
        lang.parse(text)
    return caught.value


@pytest.mark.parametrize(("text", "place", "message", "hint"), CASES, ids=[case[0][:70] for case in CASES])
def test_an_error_names_place_message_and_hint(text, place, message, hint):
    error = refusal(text)
    assert error.code == "InvalidSyntax"
    at = error.to_dict()["details"]["position"]
    assert f"{at['line']}:{at['column']}" == place
    assert message in error.message
    if hint is not None:
        assert hint in (error.hint or "")


@pytest.mark.parametrize(
    ("text", "place"), [(case[0], case[1]) for case in CASES], ids=[case[0][:70] for case in CASES]
)
def test_a_script_reports_the_place_in_the_whole_text(text, place):
    if text in ("", ";") or "a script" in (refusal(text).hint or ""):
        return
    with pytest.raises(KipError) as caught:
        lang.parse_script(f"LIST TYPES;\n// \U0001f600\n{text}")
    line, column = map(int, place.split(":"))
    at = caught.value.to_dict()["details"]["position"]
    assert (at["line"], at["column"]) == (line + 2, column)


def test_columns_are_counted_in_code_points_and_in_utf16():
    error = refusal('FIND(?x) WHERE { ?x {a: "\U0001f600"} ) }')
    position = error.to_dict()["details"]["position"]
    assert position == {"line": 1, "column": 30, "column_utf16": 31}


def test_the_text_form_has_place_caret_and_hint():
    assert str(refusal("FIND(?x)\nWHERE { ?x {}\t}\nLIMTI 5")) == (
        "3:1: InvalidSyntax: unexpected `LIMTI`: expected AS OF SEQ, CURSOR, FOR TIME, LIMIT, ORDER BY, WITH, "
        "`;` or the end of the text\nLIMTI 5\n^^^^^\nhint: did you mean LIMIT?"
    )


def test_what_was_acceptable_is_there_for_programs():
    assert refusal("VERIFY :x").details["expected"] == ["CAPSULE", "RECEIPT", "SCHEMA"]
    assert refusal("FIND(?x) WHERE { ?x {a: } }").details["expected"] == ["a value, a variable or a pattern"]


@pytest.mark.parametrize("text", [None, 5, b"LIST TYPES", ["LIST TYPES"]])
def test_what_is_no_text_is_refused(text):
    assert refusal(text).code == "InvalidSyntax"


def test_a_handle_is_declared_once_in_a_mutate():
    error = refusal('MUTATE { CREATE CONCEPT ?a { TYPE "T" } ENSURE PROPOSITION ?a (?a, "p", 1) }')
    assert error.code == "DuplicateLocalHandle"
    assert error.span.start == 59


def test_parameters_are_left_to_the_time_they_are_bound():
    for text in (
        "TRANSITION ?x TO :state BY ?y SET FIELDS {}",
        "SEARCH CONCEPT :q MODE :m",
        "UPDATE ?x SET FIELDS {} EXPECT VERSION 1 OF FACET :f EXPECT VERSION 1 OF FACET :g",
    ):
        lang.parse(text)
