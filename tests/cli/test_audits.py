"""`kipql audits`: the ready audits are listed, shown and run."""

import json

import pytest

from kipql.audit import library

NOTE = "note: no --db: an empty memory in this process is audited\n"


def test_every_audit_is_listed_with_its_checks(kipql):
    out = kipql("audits", "list").out
    for name in library.names():
        assert f"\n{name}: " in f"\n{out}"
        for step in library.script(name).steps:
            assert f"\n    {step.name} ({step.directives.severity}; " in out
    assert "needs kip://kipql/agent" in out


def test_an_audit_is_shown_as_a_script_that_runs(kipql, memory, tmp_path):
    shown = kipql("audits", "show", "contested-slots", "orphan-evidence")
    assert shown.out == library.text("contested-slots") + library.text("orphan-evidence")
    (tmp_path / "mine.kql").write_text(kipql("audits", "show", "contested-slots").out)
    assert kipql("check", tmp_path / "mine.kql").code == 0
    assert kipql("fmt", "--check", tmp_path / "mine.kql").code == 0
    assert kipql("run", "--db", memory, tmp_path / "mine.kql").code == 0


@pytest.mark.parametrize("command", ["show", "run"])
def test_an_audit_that_is_not_there(kipql, command):
    called = kipql("audits", command, "contested")
    assert called.code == 2 and "there is no audit contested" in called.err


def test_all_audits_run_and_find(kipql, memory):
    kipql("exec", "--db", memory, "-c", 'ASSERT ("C-1", "same_as", "C-2") {by: "C-1", mode: "stated"}')
    report = json.loads(kipql("audits", "run", "--db", memory, "--format", "json").out)
    found = {check["check"]: check["found"] for check in report["checks"] if check["found"]}
    assert (report["exit"], report["errors"]) == (1, [])
    assert found == {"claims-without-evidence": 1, "duplicate-identities": 1}


def test_audits_are_chosen_by_name_and_by_tag(kipql, memory):
    run = lambda *words: json.loads(kipql("audits", "run", "--db", memory, "--format", "json", *words).out)  # noqa: E731
    assert [check["check"] for check in run("contested-slots")["checks"]] == ["contested-slots"]
    assert {check["check"] for check in run("--select", "tag:identity")["checks"]} == {
        "duplicate-identities",
        "superseded-across-actors",
    }


def test_audits_without_a_memory_say_so(kipql):
    assert kipql("audits", "run", "contested-slots").err == NOTE
    assert kipql("audits", "run", "contested-slots", "--quiet").err == ""
