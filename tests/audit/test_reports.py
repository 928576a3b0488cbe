"""Every report: what it says word for word, with hostile text in it, and the formats of others as they read them."""

import json
import os
import re
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

from kipql.audit.report import Report, limited
from kipql.audit.reports.as_json import report_json
from kipql.audit.reports.github import report_github
from kipql.audit.reports.junit import report_junit
from kipql.audit.reports.sarif import report_sarif
from kipql.audit.reports.summary import LARGEST, report_summary
from kipql.audit.reports.text import report_text
from kipql.errors import CODES
from tests.audit.reports import HOSTILE, clean, full, outcome, step

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "audits"
REPORTS = {
    "text": lambda report: report_text(report, "warning"),
    "json": lambda report: report_json(report, "warning"),
    "junit": lambda report: report_junit(report, "warning"),
    "sarif": lambda report: report_sarif(report, "warning"),
    "github": lambda report: report_github(report, "warning"),
    "summary": lambda report: report_summary(report, "warning"),
}
# Terminal controls, bidirectional overrides, what is unseen, and halves of characters: in no report as they are.
_RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("made", [full, clean])
def test_a_report_is_word_for_word(name, made):
    golden = GOLDEN / f"{made.__name__}.{name}"
    said = REPORTS[name](made())
    if os.environ.get("KIPQL_GOLDEN") == "write":
        golden.write_text(said + "\n", encoding="utf-8")
    assert said + "\n" == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", REPORTS)
def test_no_report_shows_a_stored_text_raw(name):
    said = REPORTS[name](full())
    assert not _RAW.search(said)
    assert not re.search(r"##(\[|vso\[)", said)
    if name != "github":
        assert not re.search(r"^\s*::", said, re.MULTILINE)


def test_a_text_forges_no_annotation():
    lines = report_github(full(), "warning").splitlines()
    assert len(lines) == 2 + 3 + 1 + 1
    command = re.compile(r"::(error|warning|notice) (file=[^,]*,line=\d+,(col=\d+,)?)?title=[^,:]*::")
    assert all(map(command.match, lines))


@pytest.mark.parametrize("name", REPORTS)
def test_what_could_not_run_is_in_every_report(name):
    report = full()
    said = REPORTS[name](report)
    assert report.exit_code("never") == 2
    if name == "text":
        assert said.splitlines()[-1].endswith("2 could not run")  # standard error has them, with their carets
    else:
        assert "SchemaSymbolNotFound" in said and "NotFoundOrNotVisible" in said


@pytest.mark.parametrize("made", [full, clean, Report])
def test_sarif_is_what_its_schema_says(made):
    """The models of pydantic-sarif are made from the published schema of 2.1.0 and refuse what it does not know."""
    model = pytest.importorskip("pydantic_sarif.model")
    log = json.loads(report_sarif(made(), "warning"))
    model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate(log)


def test_sarif_refers_to_its_rules_and_tells_states_apart():
    (run,) = json.loads(report_sarif(full(), "warning"))["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == ["hostile", "noted", "moved", "late", "absent", "clean"]
    results = run["results"]
    assert [rules[result["ruleIndex"]] == result["ruleId"] for result in results] == [True] * 6
    assert [result["baselineState"] for result in results] == ["new", "unchanged", "new", "new", "new", "new"]
    assert [len(result.get("suppressions", ())) for result in results] == [0, 0, 0, 0, 1, 0]
    assert [result["level"] for result in results] == ["error"] * 3 + ["note", "warning", "warning"]
    assert len({result["partialFingerprints"]["kipql/v1"] for result in results}) == 6
    (invocation,) = run["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
    assert [told["level"] for told in invocation["toolExecutionNotifications"]] == ["error", "error"]


def test_a_sarif_message_has_no_link_and_no_placeholder():
    (run,) = json.loads(report_sarif(full(), "warning"))["runs"]
    text = run["results"][0]["message"]["text"]
    assert r"\[l\](javascript:x) {{0}}" in text
    assert not _RAW.search(text)


def test_a_rule_of_two_scripts_has_two_names():
    both = Report(outcomes=(outcome(step("a", path="x.kql")), outcome(step("a", path="/y z.kql"))))
    (run,) = json.loads(report_sarif(both, "warning"))["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["x.kql:a", "/y z.kql:a"]


# --- JUnit, as the schema of the Ant task has it -------------------------------------------------------

_SUITE = ("id", "name", "package", "hostname", "timestamp", "tests", "failures", "errors", "skipped", "time")
_NAMES = re.compile(r"\S(.*\S)?")


@pytest.mark.parametrize("made", [full, clean, Report])
def test_junit_has_the_common_structure(made):
    root = xml.fromstring(report_junit(made(), "warning"))
    assert (root.tag, root.attrib) == ("testsuites", {})
    for number, suite in enumerate(root):
        assert suite.tag == "testsuite" and sorted(suite.attrib) == sorted(_SUITE)
        assert suite.get("id") == str(number) and _NAMES.fullmatch(suite.get("name"))
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp"))
        cases = suite.findall("testcase")
        inside = ["properties", *(["testcase"] * len(cases)), "system-out", "system-err"]
        assert [child.tag for child in suite] == inside
        for kind, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert suite.get(attribute) == str(sum(1 for case in cases if case.find(kind) is not None))
        assert suite.get("tests") == str(len(cases))
        for given in suite.find("properties"):
            assert given.tag == "property" and sorted(given.attrib) == ["name", "value"] and given.get("name")
        for case in cases:
            assert sorted(case.attrib) == ["classname", "name", "time"] and float(case.get("time")) >= 0
            assert len(case) <= 1
            for child in case:
                assert sorted(child.attrib) == (["message"] if child.tag == "skipped" else ["message", "type"])
                assert len(child) == 0


def test_junit_fails_for_what_fails_the_run():
    cases = {case.get("name"): case for case in xml.fromstring(report_junit(full(), "warning")).iter("testcase")}
    kinds = {name: [child.tag for child in case] for name, case in cases.items()}
    assert kinds == {
        "hostile": ["failure"],
        "noted": [],
        "moved": ["skipped"],
        "late": ["failure"],
        "absent": ["skipped"],
        "clean": [],
        "could not run at 7:2: SchemaSymbolNotFound": ["error"],
        "could not run: NotFoundOrNotVisible": ["error"],
    }
    assert cases["hostile"].find("failure").get("type") == "error"
    assert "forged" in cases["hostile"].find("failure").text
    told = "".join(out.text or "" for out in xml.fromstring(report_junit(full(), "warning")).iter("system-out"))
    assert "only a note" in told and "back again" not in told
    assert xml.fromstring(report_junit(full(), "never")).findall(".//failure") == []


# --- bounds --------------------------------------------------------------------------------------------


def test_the_new_ones_are_listed_first_and_all_are_counted():
    whole = full()
    short = limited(whole, 1)
    first = short.checks[0]
    assert ([f.fingerprint[-1] for f in first.findings], first.found, first.counting) == (["1"], 5, 4)
    said = report_text(short, "warning").splitlines()
    assert sum("[hostile]" in line and ": error:" in line for line in said) == 2
    assert any(": error: 3 more [hostile]" in line for line in said)
    assert "3 more" in report_github(short, "warning") and "3 more" in report_junit(short, "warning")
    assert limited(whole, None) is whole


def test_a_summary_stays_within_bounds():
    many = tuple(outcome(step(f"check-{number}", title=HOSTILE)) for number in range(5_000))
    said = report_summary(Report(outcomes=many), "warning")
    assert len(said) < LARGEST + 100
    assert said.endswith("The rest is left out here.\n")


def test_the_codes_of_the_sample_are_codes():
    assert {problem.error.code for problem in full().problems} <= set(CODES)


def test_a_check_that_some_space_did_not_answer_is_not_passed_in_junit():
    from kipql.audit.report import Report as Made
    from kipql.audit.reports import JUNIT, rendered
    from tests.audit.reports import outcome as made
    from tests.audit.reports import step as a_step

    text = rendered(Made(outcomes=(made(a_step("a"), unanswered=1),)), JUNIT, "warning")
    assert 'skipped="1"' in text
    assert '<skipped message="no answer from 1 Space"/>' in text
