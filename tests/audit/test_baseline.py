"""Fingerprints and baselines: what is known, what is new, what is fixed."""

import json
import re
from dataclasses import replace

import pytest

import kipql
from kipql.audit.baseline import NOTHING, baseline_text, compared, read_baseline, write_baseline
from kipql.audit.fingerprint import fingerprint, fingerprinted
from kipql.audit.keys import key_columns, key_value, natural_key
from kipql.audit.report import Audited, Finding, Fixed, Report
from kipql.audit.reports import rendered
from kipql.errors import KipError
from tests.audit.reports import outcome, step


def found(name, *keys, space_id=None):
    findings = (Finding(f"found {key}", None, {"k": key}, space_id=space_id) for key in keys)
    return outcome(step(name), tuple(fingerprinted(name, findings)))


def report(*outcomes, **rest):
    return Report(outcomes=outcomes, **rest)


@pytest.fixture
def known(tmp_path):
    """A baseline of a's x and y, and b's x."""
    path = tmp_path / "baseline.json"
    write_baseline(str(path), baseline_text(report(found("a", "x", "y"), found("b", "x")), NOTHING))
    return read_baseline(str(path))


def test_a_fingerprint_is_of_the_check_and_the_key_alone():
    one = fingerprint("a", {"k": 1})
    assert len(one) == 32
    different = [("b", {"k": 1}), ("a", {"k": 2}), ("a", {"j": 1}), ("a", {"k": "1"}), ("a", {"k": None})]
    assert len({one, *(fingerprint(*given) for given in different)}) == 6
    assert fingerprint("a", {"k": 1}, space_id="s") != one
    assert fingerprint("a", {"j": 1, "k": 2}) == fingerprint("a", {"k": 2, "j": 1})


def test_findings_that_share_a_key_are_told_apart_by_their_number():
    prints = [f.fingerprint for f in fingerprinted("a", [Finding(m, None, {"k": 1}) for m in ("one", "two", "three")])]
    assert len(set(prints)) == 3
    again = [f.fingerprint for f in fingerprinted("a", [Finding("other words", None, {"k": 1})] * 2)]
    assert again == prints[:2]


ELEMENT = {"id": "C-7", "kind": "concept", "_system": {"version": 3}}


@pytest.mark.parametrize(
    ("columns", "row", "key"),
    [
        (("?a.id", "?a.name"), ("A-1", "x"), (0,)),
        (("?a.name", "?b.key", "?c.id"), ("x", "k", "C-1"), (1, 2)),
        (("?a.name", "?n"), ("x", 1), (0, 1)),
        (("?a", "?n"), (ELEMENT, 1), (0,)),
        (("COUNT(?x)",), (3,), (0,)),
    ],
)
def test_the_key_is_what_identifies_a_row(columns, row, key):
    assert natural_key(columns, row) == key


def test_an_element_is_in_a_key_by_its_id():
    assert key_value(ELEMENT) == "C-7"
    assert key_value({"id": "C-7"}) == {"id": "C-7"}


def test_key_names_columns_as_a_message_does():
    columns = ("?r.key", "?r.name", "COUNT(?x)")
    assert key_columns("{r.key}, name,3", columns) == (0, 1, 2)
    with pytest.raises(KipError) as caught:
        key_columns("r.key, nme", columns, 10)
    assert (caught.value.code, caught.value.span.start) == ("InvalidSyntax", 16)


def test_only_what_the_baseline_does_not_know_counts(known):
    now = compared(report(found("a", "x", "z"), found("b", "x")), known)
    assert [finding.known for finding in now.checks[0].findings] == [True, False]
    assert (now.count("warning"), now.known, now.exit_code("warning")) == (1, 2, 1)
    assert [(fixed.check, fixed.message) for fixed in now.fixed] == [("a", "found y")]


def test_a_run_of_known_findings_is_clean(known):
    now = compared(report(found("a", "x", "y"), found("b", "x")), known)
    assert (now.exit_code("note"), now.fixed) == (0, ())


def test_what_did_not_run_is_not_fixed(known):
    now = compared(report(found("a", "x", "y")), known)
    assert now.fixed == ()
    skipped = replace(found("b"), skipped="kip://x is not active")
    assert compared(report(found("a", "x", "y"), skipped), known).fixed == ()


def test_a_new_baseline_keeps_what_did_not_run_and_forgets_what_is_fixed(known, tmp_path):
    path = str(tmp_path / "next.json")
    write_baseline(path, baseline_text(report(found("a", "z")), known))
    after = {
        name: sorted(entry.message for entry in known.values()) for name, known in read_baseline(path).checks.items()
    }
    assert after == {"a": ["found z"], "b": ["found x"]}


def test_what_is_suppressed_is_not_made_known():
    hidden = replace(found("a", "x"), suppressed=True, counting=0)
    assert '"findings": []' in baseline_text(report(hidden), NOTHING)


def test_a_baseline_is_the_same_text_whatever_the_order():
    one, other = report(found("a", "x", "y"), found("b", "x")), report(found("b", "x"), found("a", "y", "x"))
    assert baseline_text(one, NOTHING) == baseline_text(other, NOTHING)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"kipql_baseline": 2, "findings": []}',
        '{"kipql_baseline": 1}',
        '{"kipql_baseline": 1, "findings": [{"check": "a"}]}',
        '{"kipql_baseline": 1, "findings": [3]}',
        '{"kipql_baseline": 1, "findings": [{"check": "a", "fingerprint": "f", "message": "m", "space_id": 3}]}',
        '{"kipql_baseline": 1, "findings": [{"check": "a", "fingerprint": "f", "message": "m", "space_id": null}]}',
        '{"kipql_baseline": 1, "kipql_baseline": 1, "findings": []}',
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path, text):
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(KipError) as caught:
        read_baseline(str(path))
    assert caught.value.code == "ArtifactParseError"


def test_a_name_in_two_scripts_can_not_be_told_apart():
    twice = report(outcome(step("a", path="x.kql")), outcome(step("a", path="y.kql")))
    (problem,) = compared(twice, NOTHING).problems
    assert (problem.path, problem.error.code) == ("y.kql", "IdentityConflict")


def test_the_key_of_a_run_is_that_of_its_directive(tmp_path):
    from kipql.audit.run import run_scripts
    from kipql.audit.script import parse_script

    nexus = kipql.open()
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" SET FIELDS {key: "ada"} }')
    text = '//! check: a\n//! key: name\nFIND(?p.key, ?p.name) WHERE { ?p {type: "Person"} }'
    keys = []
    for script in (text, text.replace("//! key: name\n", "")):
        (check,) = run_scripts(nexus, [parse_script("s", script)]).checks
        keys.append(dict(check.findings[0].key))
    assert keys == [{"p.name": "Ada"}, {"p.key": "ada"}]


def test_a_suppressed_check_keeps_what_was_known_and_is_found(known, tmp_path):
    quiet = replace(found("a", "x", "z"), suppressed=True)
    path = tmp_path / "again.json"
    write_baseline(str(path), baseline_text(report(quiet), known))
    kept = read_baseline(str(path)).checks
    assert set(kept["a"]) == {found("a", "x").findings[0].fingerprint}
    assert kept["b"] == known.checks["b"]


# --- several Spaces ------------------------------------------------------------------------------------


def over(checks, spaces):
    """A report over Spaces of checks, given as name: {Space: keys}."""
    merged = (
        outcome(step(name), sum((found(name, *keys, space_id=space).findings for space, keys in where.items()), ()))
        for name, where in checks.items()
    )
    return report(*merged, spaces=tuple(spaces))


def asked(*names):
    return tuple(Audited(name) for name in names)


def kept_by(made, before, tmp_path):
    """What a new baseline knows, as (check, Space, message)."""
    path = tmp_path / "next.json"
    write_baseline(str(path), baseline_text(made, before))
    checks = read_baseline(str(path)).checks
    return {(name, entry.space_id, entry.message) for name in checks for entry in checks[name].values()}


A_X, A_Y, B_X = ("a", "iris", "found x"), ("a", "orion", "found y"), ("b", "orion", "found x")
SILENT = Audited("orion", answered=False)
SKIPPED = Audited("orion", skipped=("a",))


@pytest.mark.parametrize(
    ("made", "fixed", "kept"),
    [
        # both Spaces are asked
        (over({"a": {"iris": ["x"], "orion": ["y"]}, "b": {}}, asked("iris", "orion")), {B_X}, {A_X, A_Y}),
        (over({"a": {"iris": ["x"]}}, asked("iris", "orion")), {A_Y}, {A_X, B_X}),
        # orion is not asked: nothing of it is fixed or forgotten
        (over({"a": {"iris": ["x"]}, "b": {}}, asked("iris")), set(), {A_X, A_Y, B_X}),
        (over({"a": {}, "b": {}}, asked("iris")), {A_X}, {A_Y, B_X}),
        (over({"a": {}, "b": {}}, asked("elsewhere")), set(), {A_X, A_Y, B_X}),
        # nor where it was asked and did not answer, or has no use for the check
        (over({"a": {}, "b": {}}, (*asked("iris"), SILENT)), {A_X}, {A_Y, B_X}),
        (over({"a": {}, "b": {}}, (*asked("iris"), SKIPPED)), {A_X, B_X}, {A_Y}),
        # a run of one memory knows nothing of Spaces
        (report(found("a"), found("b")), set(), {A_X, A_Y, B_X}),
        (report(found("a", space_id="iris"), space_id="iris"), {A_X}, {A_Y, B_X}),
    ],
)
def test_what_was_not_asked_is_neither_fixed_nor_forgotten(tmp_path, made, fixed, kept):
    whole = over({"a": {"iris": ["x"], "orion": ["y"]}, "b": {"orion": ["x"]}}, asked("iris", "orion"))
    path = tmp_path / "baseline.json"
    write_baseline(str(path), baseline_text(whole, NOTHING))
    before = read_baseline(str(path))
    now = compared(made, before)
    assert {(each.check, each.space_id, each.message) for each in now.fixed} == fixed
    assert kept_by(now, before, tmp_path) == kept


def test_a_check_that_a_space_did_not_answer_keeps_all_it_knew(tmp_path):
    before = read_back(tmp_path, over({"a": {"iris": ["x"], "orion": ["y"]}}, asked("iris", "orion")))
    made = over({"a": {}}, asked("iris", "orion"))
    made = replace(made, outcomes=(replace(made.outcomes[0], unanswered=1),))
    assert compared(made, before).fixed == ()
    assert kept_by(made, before, tmp_path) == {A_X, A_Y}


def read_back(tmp_path, made):
    path = tmp_path / "baseline.json"
    write_baseline(str(path), baseline_text(made, NOTHING))
    return read_baseline(str(path))


def test_an_entry_that_says_no_space_is_kept_while_it_is_not_found_and_says_it_once_it_is(tmp_path):
    """Files that were written before entries said their Space."""
    whole = over({"a": {"iris": ["x"], "orion": ["y"]}}, asked("iris", "orion"))
    path = tmp_path / "baseline.json"
    path.write_text(re.sub(r',"space_id":"[a-z]+"', "", baseline_text(whole, NOTHING)))
    before = read_baseline(str(path))
    now = compared(over({"a": {"iris": ["x"]}}, asked("iris", "orion")), before)
    assert (now.fixed, now.known, now.count("warning")) == ((), 1, 0)
    assert kept_by(now, before, tmp_path) == {A_X, ("a", None, "found y")}


def test_an_entry_says_its_space_and_one_of_a_run_of_one_memory_says_none():
    many, one = over({"a": {"iris": ["x"]}}, asked("iris")), report(found("a", "x"))
    assert [
        list(json.loads(text)["findings"][0]) for text in (baseline_text(many, NOTHING), baseline_text(one, NOTHING))
    ] == [
        ["check", "fingerprint", "message", "space_id"],
        ["check", "fingerprint", "message"],
    ]


@pytest.mark.parametrize("suppressed", [True, False])
def test_a_suppressed_check_keeps_what_is_known_of_spaces_that_were_not_asked(tmp_path, suppressed):
    before = read_back(tmp_path, over({"a": {"iris": ["x"], "orion": ["y"]}}, asked("iris", "orion")))
    made = over({"a": {"iris": ["x", "z"]}}, asked("iris"))
    made = replace(made, outcomes=(replace(made.outcomes[0], suppressed=suppressed),))
    new = set() if suppressed else {("a", "iris", "found z")}
    assert kept_by(made, before, tmp_path) == {A_X, A_Y} | new


def test_what_is_fixed_names_its_space():
    made = report(fixed=(Fixed("a", "f" * 32, "found x", "ir\nis"), Fixed("a", "e" * 32, "found y")), baseline=True)
    assert rendered(made, "text", "warning").splitlines()[:2] == ["fixed: ir\\nis: found x [a]", "fixed: found y [a]"]
    assert [each.get("space_id") for each in json.loads(rendered(made, "json", "warning"))["fixed"]] == ["ir\nis", None]
