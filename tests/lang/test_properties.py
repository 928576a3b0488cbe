"""For every tree: its text parses to it, formatting that text changes nothing, and no text raises anything else."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kipql import lang
from kipql.errors import KipError
from kipql.lang.scanner import LEXEME
from tests.lang.statements import CASES
from tests.lang.trees import statements

CALM = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])


@CALM
@given(tree=statements)
def test_parse_after_format_is_identity(tree):
    text = lang.format_node(tree)
    assert lang.parse(text) == tree
    assert lang.format(text) == f"{text}\n"


@CALM
@given(trees=st.lists(statements, max_size=4), between=st.sampled_from(["\n", ";", " ; // c\n"]))
def test_a_script_is_its_statements(trees, between):
    text = between.join(map(lang.format_node, trees))
    assert lang.parse_script(text).statements == tuple(trees)
    assert [part.statement for part in lang.split(text)] == trees


LEXEMES = sorted({found[found.lastgroup] for text, _ in CASES for found in LEXEME.finditer(text)})


@CALM
@given(text=st.lists(st.sampled_from(LEXEMES) | st.text(max_size=3), max_size=30).map(" ".join) | st.text(max_size=60))
def test_any_text_parses_or_is_a_kip_error(text):
    for parse in (lang.parse, lang.parse_script, lang.format, lang.split):
        try:
            parse(text)
        except KipError as error:
            assert error.code in ("InvalidSyntax", "ResourceExhausted", "DuplicateLocalHandle")
            assert error.span is None or 0 <= error.span.start <= error.span.end <= len(text)
            str(error)
