"""`run`: checks with their exit codes, read-only unless --write, as text and as JSON."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
CLEAN = '//! check: nobody-else\nFIND(?p.key) WHERE { ?p {type: "Person", key: "zoe"} }\n'
FOUND = (
    "//! check: people\n//! title: people\n//! severity: {severity}\n//! message: {{key}} is here\n"
    'FIND(?p.key) WHERE {{ ?p {{type: "Person"}} }} ORDER BY ?p.key\n'
)
BROKEN = '//! check: broken\nFIND(?p.key) WHERE { ?p {type: "Nonsense"} }\n'
WRITE = 'CREATE CONCEPT ?x { TYPE "Person" NAME "Cy" SET FIELDS { key: "cy" } }\n'


@pytest.fixture
def script(tmp_path):
    def write(text, name="audit.kql"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_clean_run_is_0(kipql, memory, script):
    called = kipql("run", "--db", memory, script(CLEAN))
    assert called == (0, "1 check: 1 passed, nothing found\n", "")


def test_findings_have_place_severity_message_and_row(kipql, memory, script):
    path = script(CLEAN + FOUND.format(severity="error"))
    called = kipql("run", "--db", memory, path)
    assert called.code == 1
    assert called.out.splitlines() == [
        f"{path}:7: error: ada is here [people]",
        "    p.key=ada",
        f"{path}:7: error: bo is here [people]",
        "    p.key=bo",
        "2 checks: 1 passed, found 2 errors",
    ]


@pytest.mark.parametrize(
    ("severity", "fail_on", "code"),
    [
        ("error", "error", 1),
        ("warning", "error", 0),
        ("note", "error", 0),
        ("error", "warning", 1),
        ("warning", "warning", 1),
        ("note", "warning", 0),
        ("note", "note", 1),
        ("error", "never", 0),
    ],
)
def test_fail_on_decides_from_which_severity_on_findings_fail(kipql, memory, script, severity, fail_on, code):
    assert kipql("run", "--db", memory, script(FOUND.format(severity=severity)), "--fail-on", fail_on).code == code


def test_the_default_fails_on_warnings(kipql, memory, script):
    assert kipql("run", "--db", memory, script(FOUND.format(severity="warning"))).code == 1
    assert kipql("run", "--db", memory, script(FOUND.format(severity="note"))).code == 0


@pytest.mark.parametrize(
    "text",
    [
        BROKEN,
        WRITE,
        "FIND(?p WHERE { ?p {} }",
        "//! chekc: x\n" + CLEAN,
        "//! check: x\n//! severity: fatal\nFIND(?p) WHERE { ?p {} }",
        "//! check: x\n//! message: {nope}\nFIND(?p) WHERE { ?p {} }",
        "//! check: x\n//! expect: value > 1\nFIND(?p.key, ?p.name) WHERE { ?p {} }",
        CLEAN + CLEAN,
        CLEAN + "//! check: dangling",
        '//! check: x\nUPDATE ?p SET FIELDS { name: "y" } WHERE { ?p {type: "Person"} }',
    ],
)
def test_what_could_not_run_is_2_whatever_else_was_found(kipql, memory, script, text):
    found = script(FOUND.format(severity="error"), "found.kql")
    called = kipql("run", "--db", memory, found, script(text), "--fail-on", "never")
    assert called.code == 2
    assert "audit.kql:" in called.err
    assert "2 errors" in called.out


def test_a_missing_file_is_2(kipql, memory, tmp_path):
    called = kipql("run", "--db", memory, tmp_path / "none.kql")
    assert called.code == 2
    assert called.err == f"{tmp_path / 'none.kql'}: ArtifactUnavailable: No such file or directory\n"


def test_a_broken_check_does_not_hide_another(kipql, memory, script):
    called = kipql("run", "--db", memory, script(BROKEN + FOUND.format(severity="error")))
    assert called.code == 2
    assert "ada is here" in called.out
    assert "audit.kql:2:" in called.err


def test_a_mutation_needs_write(kipql, memory, script):
    refused = kipql("run", "--db", memory, script(WRITE))
    assert (refused.code, "ReadonlyViolation" in refused.err) == (2, True)
    assert kipql("run", "--db", memory, "--write", script(WRITE)).code == 0
    assert "cy is here" in kipql("run", "--db", memory, script(FOUND.format(severity="note"))).out


@pytest.mark.parametrize("arguments", [["--readonly", "run", "--write"], ["run", "--readonly", "--write"]])
def test_write_and_readonly_exclude_each_other(kipql, memory, script, arguments):
    assert kipql(*arguments, "--db", memory, script(WRITE)).code == 2


def test_a_mutation_in_a_string_or_a_comment_is_none(kipql, memory, script):
    text = '//! check: a\n// CREATE CONCEPT ?x\nFIND(?p) WHERE { ?p {name: "PURGE ?x CONFIRM \\"PURGE\\""} }'
    assert kipql("run", "--db", memory, script(text)).code == 0


@pytest.mark.parametrize(
    ("expect", "code"),
    [("nonempty", 0), ("empty", 1), ("rows == 2", 0), ("rows > 2", 1), ("rows <= 2", 0)],
)
def test_expectations_of_rows(kipql, memory, script, expect, code):
    text = f'//! check: a\n//! expect: {expect}\nFIND(?p.key) WHERE {{ ?p {{type: "Person"}} }}'
    assert kipql("run", "--db", memory, script(text)).code == code


@pytest.mark.parametrize(("expect", "code"), [("value == 2", 0), ("value > 2", 1), ('value == "2"', 1)])
def test_expectations_of_a_value(kipql, memory, script, expect, code):
    text = f'//! check: a\n//! expect: {expect}\nFIND(COUNT(?p)) WHERE {{ ?p {{type: "Person"}} }}'
    called = kipql("run", "--db", memory, script(text))
    assert called.code == code
    assert (f"expected {expect}, found 2" in called.out) == bool(code)


def test_tags_choose_checks(kipql, memory, script):
    text = CLEAN.replace("FIND", "//! tags: x\nFIND") + FOUND.format(severity="error")
    assert kipql("run", "--db", memory, script(text), "--tag", "x").code == 0


def test_a_tag_that_no_check_carries_is_2(kipql, memory, script):
    text = CLEAN.replace("FIND", "//! tags: people\nFIND")
    called = kipql("run", "--db", memory, script(text), "--tag", "peple", "--tag", "people")
    assert (called.code, called.out) == (2, "1 check: 1 passed, nothing found, 1 could not run\n")
    assert called.err == "NotFoundOrNotVisible: no check has the tag peple\nhint: did you mean people?\n"
    called = kipql("run", "--db", memory, script(text), "--tag", "peple", "--format", "json")
    assert [(error["file"], error["line"]) for error in json.loads(called.out)["errors"]] == [(None, None)]


def test_a_tag_of_any_file_is_known(kipql, memory, script):
    tagged = script(CLEAN.replace("FIND", "//! tags: people\nFIND"), "tagged.kql")
    assert kipql("run", "--db", memory, tagged, script(BROKEN), "--tag", "people").code == 0


def test_a_plain_query_shows_its_rows(kipql, memory, script):
    out = kipql("run", "--db", memory, script('FIND(?p.key) WHERE { ?p {type: "Person"} } ORDER BY ?p.key')).out
    assert "ada\nbo\n(2 rows)" in out


def test_the_json_report(kipql, memory, script):
    path = script(FOUND.format(severity="warning") + BROKEN)
    called = kipql("run", "--db", memory, path, "--format", "json")
    report = json.loads(called.out)
    assert (called.code, report["exit"]) == (2, 2)
    counts = {"checks": 1, "note": 0, "warning": 2, "error": 0, "known": 0, "suppressed": 0, "fixed": 0}
    assert report["counts"] == counts
    (check,) = report["checks"]
    assert (check["check"], check["severity"], check["file"], check["line"]) == ("people", "warning", str(path), 5)
    first = check["findings"][0]
    assert (first["message"], first["row"], first["state"]) == ("ada is here", {"p.key": "ada"}, "new")
    assert len(first["fingerprint"]) == 32
    (error,) = report["errors"]
    assert (error["code"], error["line"]) == ("SchemaSymbolNotFound", 7)


def test_a_check_over_meta_uses_the_columns_of_its_answer(kipql, memory, script):
    text = "//! check: types\n//! message: {local_name} is {status}\nLIST TYPES"
    assert "Person is " in kipql("run", "--db", memory, script(text)).out
    assert kipql("run", "--db", memory, script(text.replace("{status}", "{nope}"))).code == 2


def test_findings_are_escaped(kipql, script):
    text = (
        WRITE.replace('"Cy"', '"\\u001b[31m\\u202e"')
        + "//! check: a\n//! message: {name}\nFIND(?p.name) WHERE { ?p {} }"
    )
    out = kipql("run", "--write", script(text)).out
    assert "\\x1b[31m\\u202e" in out
    assert "\x1b" not in out


def test_the_example_memory_has_findings_and_nothing_that_could_not_run(kipql):
    files = [EXAMPLES / name for name in ("lab.kql", "audits.kql", "robots.kql")]
    called = kipql(
        "run", "--write", "--package", EXAMPLES / "lab.json", *files, "--fail-on", "never", "--format", "json"
    )
    report = json.loads(called.out)
    assert (called.code, called.err, report["errors"]) == (0, "", [])
    found = {check["check"]: len(check["findings"]) for check in report["checks"]}
    assert found == {
        "claims-without-evidence": 2,
        "contradicting-claims": 1,
        "doubtful-claims": 1,
        "superseded-by-nobody": 0,
        "evidence-without-source": 0,
        "conclusions-without-activity": 1,
        "people-with-one-name": 0,
        "there-is-a-memory": 0,
        "robots-without-keeper": 1,
        "robots-without-place": 1,
    }


def test_audits_run_in_another_process(memory, script):
    path = script(FOUND.format(severity="warning"))
    command = [sys.executable, "-m", "kipql", "run", "--db", str(memory), str(path)]
    called = subprocess.run(command, capture_output=True, text=True, check=False)
    assert called.returncode == 1
    assert "ada is here" in called.stdout


def test_a_name_is_once_in_a_script_and_free_in_another(kipql, memory, script):
    first, second = script(CLEAN, "one.kql"), script(CLEAN, "two.kql")
    assert kipql("run", "--db", memory, first, second).code == 0
    called = kipql("run", "--db", memory, script(CLEAN + CLEAN, "twice.kql"))
    assert called.code == 2
    assert "two checks are named nobody-else" in called.err


NULL = "//! check: a\nFIND(?a.valid) WHERE { ?a ASSERTION {} }"


def test_an_audit_over_a_field_that_nothing_has_is_warned_of_and_still_clean(kipql, memory, script):
    path = script(NULL)
    called = kipql("run", "--db", memory, path)
    assert (called.code, called.out) == (0, "1 check: 1 passed, nothing found\n")
    assert called.err.startswith(f"warning: {path}:2:6: SchemaFieldNotFound")
    assert kipql("run", "--db", memory, path, "--quiet") == (0, called.out, "")
    report = json.loads(kipql("run", "--db", memory, path, "-q", "--format", "json").out)
    (warning,) = report["warnings"]
    assert (report["exit"], warning["code"], warning["line"]) == (0, "SchemaFieldNotFound", 2)


def test_only_what_runs_is_warned_of(kipql, memory, script):
    text = CLEAN.replace("FIND", "//! tags: x\nFIND") + NULL
    assert kipql("run", "--db", memory, script(text), "--tag", "x").err == ""
