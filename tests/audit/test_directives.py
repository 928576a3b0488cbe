"""`//!` directives: read exactly, and everything not understood is an error with a place."""

import pytest

from kipql.audit.budget import limits_of, parse_budget
from kipql.audit.coordinates import parse_as_of
from kipql.audit.directives import find_directives, read_directives
from kipql.audit.expect import parse_expectation
from kipql.audit.message import parse_message
from kipql.audit.suppress import parse_suppression
from kipql.errors import KipError
from kipql.limits import Limits
from kipql.spans import position
from kipql.times import parse_instant


def meaning(text):
    directives, problems = read_directives(find_directives(text))
    assert problems == ()
    return directives


def problem(text):
    _, problems = read_directives(find_directives(text))
    assert len(problems) == 1
    at = position(text, problems[0].span.start)
    return problems[0].code, f"{at.line}:{at.column}", str(problems[0])


def test_every_directive_is_read():
    read = meaning(
        "//! check: no-keeper\n//! title: Robots without keeper\n//! severity: error\n//!expect: rows <= 3\n"
        "//! tags: care, robots\n//! tags: daily\n//! message: nobody keeps {r.key}: go\n"
    )
    assert (read.check, read.title, read.severity) == ("no-keeper", "Robots without keeper", "error")
    assert (read.expect.subject, read.expect.operator, read.expect.operand) == ("rows", "<=", 3)
    assert read.tags == ("care", "robots", "daily")
    assert read.message.value == "nobody keeps {r.key}: go"


def test_the_directives_of_a_run_are_read():
    read = meaning(
        "//! check: a\n//! owner: ops@example\n//! budget: seconds 0.5, ticks 1000\n//! key: r.key, 2\n"
        '//! params: {"limit": 3, "who": "é"}\n//! as_of: 12\n//! suppress: moving house until 2027-01-31\n'
        "//! requires: kip://kipql/agent\n//! unless: kip://a, kip://b/c\n"
    )
    assert (read.owner, read.budget) == ("ops@example", (("seconds", 0.5), ("ticks", 1000.0)))
    assert (read.parameters, read.as_of) == ({"limit": 3, "who": "é"}, 12)
    assert (read.suppress.reason, read.suppress.until) == ("moving house", "2027-01-31")
    assert (read.requires, read.unless) == (("kip://kipql/agent",), ("kip://a", "kip://b/c"))
    assert read.key.value == "r.key, 2"


@pytest.mark.parametrize(
    ("now", "over"),
    [
        ("2027-01-31T23:59:59.999Z", False),
        ("2027-02-01T00:00:00.000Z", True),
        ("2026-01-01T00:00:00.000Z", False),
    ],
)
def test_a_suppression_holds_to_the_end_of_its_day(now, over):
    assert parse_suppression("why until 2027-01-31").is_over(parse_instant(now)) is over


def test_a_suppression_may_end_at_an_instant_and_its_reason_may_say_until():
    read = parse_suppression("wait until it is done until 2027-01-31T12:00:00.000Z")
    assert (read.reason, read.until) == ("wait until it is done", "2027-01-31T12:00:00.000Z")
    assert not read.is_over(parse_instant("2027-01-31T12:00:00.000Z"))
    assert read.is_over(parse_instant("2027-01-31T12:00:00.001Z"))


@pytest.mark.parametrize(("text", "as_of"), [("0", 0), ("2026-01-02", "2026-01-02T00:00:00.000Z")])
def test_as_of_is_a_sequence_or_an_instant(text, as_of):
    assert parse_as_of(text) == as_of


def test_a_budget_narrows_and_never_widens():
    base = Limits(seconds=2.0, ticks=500)
    assert limits_of(base, parse_budget("seconds 1, ticks 1000"), None) == Limits(seconds=1.0, ticks=500)
    assert limits_of(base, (("seconds", 1.5),), 1.0).seconds == 1.0
    assert limits_of(base, (), 9.0).seconds == 2.0
    assert limits_of(base, (), None) is base


def test_a_named_check_expects_empty_and_warns_unless_it_says_otherwise():
    read = meaning("//! check: a")
    assert read.is_check
    assert read.expect.rows_are_findings
    assert read.severity == "warning"


def test_an_expectation_alone_makes_a_check():
    assert meaning("//! expect: nonempty").is_check


def test_a_plain_comment_is_no_directive():
    assert find_directives("// check: a\nFIND(?c) // not ! one\n") == ()


def test_a_string_holds_no_directive():
    assert find_directives('FIND(?c) WHERE { ?c {name: "//! check: x \\" //! y"} }') == ()


@pytest.mark.parametrize(
    ("text", "place", "word"),
    [
        ("//! chekc: a", "1:1", "did you mean check"),
        ("//! check: a\n//! frequency: daily", "2:1", "unknown directive"),
        ("//! check: two words", "1:12", "not a name"),
        ("//! check: a\n//! severity: fatal", "2:15", "error, warning or note"),
        ("//! check: a\n//! expect: some", "2:13", "rows OP n"),
        ("//! check: a\n//! expect: rows = 3", "2:13", "rows OP n"),
        ("//! check: a\n//! expect: rows > -1", "2:13", "whole number"),
        ("//! check: a\n//! expect: rows > 1.5", "2:13", "whole number"),
        ("//! check: a\n//! expect: value == [1]", "2:13", "literal"),
        ("//! check: a\n//! expect: value < null", "2:13", "order"),
        ("//! check: a\n//! expect: value == 9007199254740993", "2:13", "integral number"),
        ("//! check: a\n//! check: b", "2:1", "twice"),
        ("//! check:", "1:1", "no value"),
        ("//! check", "1:1", "no value"),
        ("//!", "1:1", "unknown directive"),
        ("//! severity: error", "1:1", "without a check"),
        ("//! check: a\n//! expect: equals", "2:13", "rows OP n"),
        ("//! check: a\n//! budget: 5", "2:13", "seconds 2"),
        ("//! check: a\n//! budget: second 5", "2:13", "did you mean seconds?"),
        ("//! check: a\n//! budget: ticks 1.5", "2:13", "whole number"),
        ("//! check: a\n//! params: [1]", "2:13", "one JSON object"),
        ("//! check: a\n//! params: {", "2:13", "not JSON"),
        ('//! check: a\n//! params: {"a": NaN}', "2:13", "not a JSON number"),
        ('//! check: a\n//! params: {"a": 1, "a": 2}', "2:13", "twice"),
        ('//! check: a\n//! params: {"a b": 1}', "2:13", "by name"),
        ("//! check: a\n//! as_of: yesterday", "2:12", "not a sequence or an instant"),
        ("//! check: a\n//! as_of: 2026-02-30", "2:12", "not a sequence or an instant"),
        ("//! check: a\n//! suppress: until 2027-01-01", "2:15", "a reason and a date"),
        ("//! check: a\n//! suppress: known", "2:15", "a reason and a date"),
        ("//! check: a\n//! suppress: known until tomorrow", "2:15", "not a date"),
        ("//! check: a\n//! owner: a\n//! owner: b", "3:1", "twice"),
        ("//! check: a\n//! requires: agent", "2:15", "not a package"),
        ("//! check: a\n//! unless: kip://kipql/agent@1.0.0", "2:13", "without a version"),
    ],
)
def test_what_is_not_understood_is_an_error_with_a_place(text, place, word):
    code, at, said = problem(text)
    assert (code, at) == ("InvalidSyntax", place)
    assert word in said


@pytest.mark.parametrize(
    ("expectation", "rows", "holds"),
    [
        ("empty", [], True),
        ("empty", [(1,)], False),
        ("nonempty", [(1,)], True),
        ("nonempty", [], False),
        ("rows == 2", [(1,), (2,)], True),
        ("rows >= 2", [(1,)], False),
        ("rows<3", [(1,)], True),
        ("rows != 0", [], False),
        ("value == 3", [(3,)], True),
        ("value == 3.0", [(3,)], True),
        ("value == 1", [(True,)], False),
        ("value == true", [(1,)], False),
        ('value == "a b"', [("a b",)], True),
        ('value >= "b"', [("a",)], False),
        ("value > 2", [("3",)], False),
        ("value != 2", [("3",)], True),
        ("value == null", [(None,)], True),
        ("value != null", [(None,)], False),
        ("value > 2", [(None,)], False),
        ("value == 3", [], False),
        ("value == 3", [(3,), (3,)], False),
    ],
)
def test_expectations_hold_strictly(expectation, rows, holds):
    assert (parse_expectation(expectation).problem(rows) is None) == holds


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{r.key} is {?r.name}", "r1 is null"),
        ("{key}/{confidence}", "r1/0.5"),
        ("{1} {4}", "r1 7"),
        ("{{{ key }}}", "{r1}"),
        ("{COUNT(?x)} of them", "7 of them"),
    ],
)
def test_a_message_names_columns(template, text):
    columns = ["?r.key", "?r.name", "?a.confidence", "COUNT(?x)"]
    assert parse_message(template, columns).fill(["r1", None, 0.5, 7]) == text


@pytest.mark.parametrize("template", ["{r.id}", "{}", "{", "a } b", "{name}", "{0}"])
def test_a_message_with_an_unknown_or_ambiguous_column_is_an_error(template):
    with pytest.raises(KipError) as caught:
        parse_message(template, ["?r.key", "?a.name", "?b.name"], 10)
    assert caught.value.code == "InvalidSyntax"
    assert caught.value.span.start >= 10
