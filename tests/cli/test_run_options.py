"""The options of `run`: each does what docs/audits.md says, and every exit code has its cause."""

import json
import xml.etree.ElementTree as xml

import pytest

PEOPLE = (
    "//! check: people\n//! title: a person\n//! severity: {severity}\n//! message: {{key}} is here\n//! tags: t\n"
    'FIND(?p.key) WHERE {{ ?p {{type: "Person"}} }} ORDER BY ?p.key\n'
)
ERROR = PEOPLE.format(severity="error")
BROKEN = '//! check: broken\nFIND(?p.key) WHERE { ?p {type: "Nonsense"} }\n'
NEW = 'CREATE CONCEPT ?x { TYPE "Person" SET FIELDS { key: "cy" } }'


@pytest.fixture
def script(tmp_path):
    def write(text, name="audit.kql"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def test_each_exit_code(kipql, memory, script):
    found = script(ERROR)
    assert kipql("run", "--db", memory, found, "--fail-on", "never").code == 0
    assert kipql("run", "--db", memory, found).code == 1
    assert kipql("run", "--db", memory, script(ERROR + BROKEN, "b.kql")).code == 2
    assert kipql("run", "--db", memory, found, "--no-such-option").code == 2
    assert kipql("run", "--db", memory / "none", found).code == 2


def test_all_outputs_of_one_run(kipql, memory, script, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "summary.md").write_text("before\n")
    files = {name: tmp_path / f"out.{name}" for name in ("junit", "sarif", "json")}
    options = [part for name, path in files.items() for part in (f"--{name}", path)]
    called = kipql("run", "--db", memory, script(ERROR + BROKEN), "--github", *options)
    assert called.code == 2
    assert "error: ada is here [people]" in called.out and "1 could not run" in called.out
    lines = called.out.splitlines()
    assert sum(line.startswith("::error file=") for line in lines) == 3
    junit = xml.parse(files["junit"]).getroot()
    assert [case.get("name") for case in junit.iter("testcase")] == [
        "people",
        "could not run at 8:32: SchemaSymbolNotFound",
    ]
    (run,) = json.loads(files["sarif"].read_text())["runs"]
    assert (len(run["results"]), run["invocations"][0]["exitCode"]) == (2, 2)
    assert json.loads(files["json"].read_text())["exit"] == 2
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("before\n### Audit") and "SchemaSymbolNotFound" in summary


@pytest.mark.parametrize("form", ["text", "json", "junit", "sarif", "github"])
def test_standard_output_has_one_form(kipql, memory, script, form):
    called = kipql("run", "--db", memory, script(ERROR), "--format", form, "--github")
    assert called.code == 1
    if form == "json":
        assert json.loads(called.out.partition("\n::")[0])["exit"] == 1
    assert called.out.count("::error file=") == 2


def test_without_github_nothing_is_added_to_the_step_summary(kipql, memory, script, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    kipql("run", "--db", memory, script(ERROR))
    assert not (tmp_path / "summary.md").exists()


def test_a_memory_that_can_not_be_opened_is_in_every_output(kipql, script, tmp_path):
    files = {name: tmp_path / f"out.{name}" for name in ("junit", "sarif", "json")}
    options = [part for name, path in files.items() for part in (f"--{name}", path)]
    called = kipql("run", "--db", tmp_path / "none", script(ERROR), "--github", *options)
    assert called.code == 2 and "NotAMemory" in called.err and "::error title=" in called.out
    assert all("NotAMemory" in path.read_text() for path in files.values())


def test_a_report_that_can_not_be_written_is_2(kipql, memory, script, tmp_path):
    called = kipql("run", "--db", memory, script(ERROR), "--junit", tmp_path / "no" / "x.xml", "--json", tmp_path / "j")
    assert called.code == 2 and "x.xml can not be written" in called.err
    assert json.loads((tmp_path / "j").read_text())["exit"] == 1


def test_select_and_exclude(kipql, memory, script):
    path = script(ERROR + ERROR.replace("people", "others").replace("tags: t", "tags: u"))
    names = lambda *options: kipql("run", "--db", memory, path, *options).out  # noqa: E731
    assert "[people]" not in names("--select", "others") and "[others]" in names("--select", "tag:u")
    assert "[others]" not in names("--exclude", "oth*")
    called = kipql("run", "--db", memory, path, "--exclude", "otters")
    assert (called.code, "did you mean others?" in called.err) == (2, True)


def test_parameters_from_a_file_and_one_by_one(kipql, memory, script, tmp_path):
    path = script('//! check: a\n//! message: {key}\nFIND(?p.key) WHERE { ?p {type: "Person", key: :key} }')
    (tmp_path / "p.json").write_text('{"key": "ada"}')
    assert "warning: ada [a]" in kipql("run", "--db", memory, path, "--params", tmp_path / "p.json").out
    assert "warning: bo [a]" in kipql("run", "--db", memory, path, "-p", 'key="bo"').out
    both = kipql("run", "--db", memory, path, "--params", tmp_path / "p.json", "-p", 'key="bo"')
    assert "warning: bo [a]" in both.out
    assert kipql("run", "--db", memory, path).code == 2
    (tmp_path / "p.json").write_text("[1]")
    assert kipql("run", "--db", memory, path, "--params", tmp_path / "p.json").code == 2


def test_a_run_as_of_a_state_is_the_same_later(kipql, memory, script):
    path = script(ERROR)
    before = kipql("run", "--db", memory, path, "--as-of", "1")
    assert kipql("exec", "--db", memory, "-c", NEW).code == 0
    assert kipql("run", "--db", memory, path, "--as-of", "1") == before
    assert "cy is here" in kipql("run", "--db", memory, path).out
    early = kipql("run", "--db", memory, path, "--as-of", "2000-01-01")
    assert (early.code, early.err) == (0, "note: nothing was written yet at 2000-01-01\n")
    assert kipql("run", "--db", memory, path, "--as-of", "2000-01-01", "--quiet").err == ""
    assert kipql("run", "--db", memory, path, "--as-of", "77").code == 2


def test_now_is_what_the_audit_says(kipql, memory, script):
    text = "//! check: a\n//! message: {1}\n//! suppress: soon until 2027-01-31\nFIND(?b.basis.valid_at) "
    text += 'WHERE { ?p {key: "ada"} ?q {key: "bo"} ?b BELIEF (?p, "same_as", ?q) }'
    report = json.loads(
        kipql("run", "--db", memory, script(text), "--now", "2027-01-31T10:00:00.000Z", "--format", "json").out
    )
    assert report["now"] == "2027-01-31T10:00:00.000Z"
    assert (report["exit"], report["counts"]["suppressed"]) == (0, 1)
    assert report["checks"][0]["findings"][0]["message"] == report["now"]
    later = kipql("run", "--db", memory, script(text), "--now", "2027-02-01")
    assert later.code == 1
    assert "the suppression is over since 2027-01-31: soon [a]" in later.out


def test_jobs_change_nothing_that_is_said(kipql, memory, script):
    paths = [script(ERROR + BROKEN, f"{name}.kql") for name in "abc"]
    one = kipql("run", "--db", memory, *paths)
    assert kipql("run", "--db", memory, *paths, "--jobs", "3") == one
    assert kipql("run", "--db", memory, *paths, "--jobs", "0") == one


def test_a_timeout_is_something_that_could_not_run(kipql, memory, script):
    slow = " ".join(f"?{name} CONCEPT {{}}" for name in "abcdefghijklmnopqrst")
    called = kipql(
        "run", "--db", memory, script(f"//! check: a\nFIND(COUNT(?a)) WHERE {{ {slow} }}"), "--timeout", "0.1"
    )
    assert called.code == 2 and "ExecutionTimeout" in called.err


def test_max_findings_lists_fewer_and_counts_all(kipql, memory, script):
    out = kipql("run", "--db", memory, script(ERROR), "--max-findings", "1").out
    assert "ada is here" in out and "bo is here" not in out
    assert "error: 1 more [people]" in out and out.endswith("found 2 errors\n")
    assert "2 more [people]" in kipql("run", "--db", memory, script(ERROR), "--max-findings", "0").out


def test_a_baseline_lets_only_new_findings_count(kipql, memory, script, tmp_path):
    path, baseline = script(ERROR), tmp_path / "base.json"
    run = lambda *options: kipql("run", "--db", memory, path, "--baseline", baseline, *options)  # noqa: E731
    missing = run()
    assert missing.code == 2, "a missing baseline is not an empty one"
    assert missing.err.splitlines()[-1] == "hint: --write-baseline makes it of what is found now"
    written = run("--write-baseline")
    assert written == (0, "1 check: 0 passed, nothing new found, 2 known\n", "")
    assert run() == (0, "1 check: 0 passed, nothing new found, 2 known\n", "")
    kipql("exec", "--db", memory, "-c", NEW)
    kipql("exec", "--db", memory, "-c", 'TRANSITION "C-1" TO "archived"')
    called = run()
    assert called.code == 1
    assert called.out.splitlines() == [
        f"{path}:6: error: cy is here [people]",
        "    p.key=cy",
        "fixed: ada is here [people]",
        "1 check: 0 passed, found 1 new error, 1 known, 1 fixed",
    ]
    assert run("--write-baseline").code == 0
    assert json.loads(baseline.read_text())["findings"][0]["check"] == "people"
    assert "fixed" not in run().out


def test_a_baseline_that_is_there_and_wrong_hints_no_new_one(kipql, memory, script, tmp_path):
    (tmp_path / "base.json").write_text("[]")
    called = kipql("run", "--db", memory, script(ERROR), "--baseline", tmp_path / "base.json")
    assert (called.code, "--write-baseline" in called.err) == (2, False)
    called = kipql("run", "--db", memory, script(ERROR), "--baseline", tmp_path / "no" / "b.json", "--write-baseline")
    assert (called.code, "hint:" in called.err) == (2, False)


def test_a_baseline_is_not_written_when_something_could_not_run(kipql, memory, script, tmp_path):
    baseline = tmp_path / "base.json"
    called = kipql("run", "--db", memory, script(ERROR + BROKEN), "--baseline", baseline, "--write-baseline")
    assert called.code == 2
    assert not baseline.exists()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--write-baseline"], "--baseline FILE"),
        (["--as-of", "then"], "--as-of: 'then'"),
        (["--now", "2026-02-30"], "--now: '2026-02-30'"),
        (["--timeout", "0"], "--timeout"),
        (["--timeout", "nan"], "--timeout"),
        (["--jobs", "-1"], "--jobs"),
        (["--max-findings", "-1"], "--max-findings"),
        (["--fail-on", "fatal"], "--fail-on"),
        (["--format", "html"], "--format"),
        (["-p", "x"], "--param"),
        (["--params", "/none.json"], "--params"),
        (["--write", "--jobs", "2"], "--write and --jobs"),
        (["--write", "--as-of", "1"], "--write and --as-of"),
        (["--write", "--now", "2026-01-01"], "--write and --now"),
    ],
)
def test_an_option_that_is_not_understood_is_2(kipql, memory, script, options, word):
    called = kipql("run", "--db", memory, script(ERROR), *options)
    assert (called.code, called.out) == (2, "")
    assert word in called.err


def test_a_check_that_expects_a_file_finds_the_difference(kipql, memory, script, tmp_path):
    (tmp_path / "rows.json").write_text('[{"p.key": "ada"}, {"p.key": "zoe"}]')
    path = script('//! check: a\n//! expect: equals rows.json\nFIND(?p.key) WHERE { ?p {type: "Person"} }')
    called = kipql("run", "--db", memory, path)
    assert called.code == 1
    assert [line for line in called.out.splitlines() if "[a]" in line] == [
        f"{path}:3: warning: not in rows.json: p.key: bo [a]",
        f"{path}:3: warning: in rows.json and not found: p.key: zoe [a]",
    ]


class Terminal:
    """A standard error that says it is a terminal."""

    def __init__(self):
        self.said = ""

    def write(self, text):
        self.said += text
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return True


def test_progress_is_for_a_terminal_and_for_long_audits(memory, script, monkeypatch):
    from kipql.cli import audit_progress
    from kipql.cli.main import main

    for after, shown in ((60.0, False), (0.0, True)):
        monkeypatch.setattr(audit_progress, "AFTER", after)
        monkeypatch.setattr("sys.stderr", terminal := Terminal())
        assert main(["run", "--db", str(memory), str(script(ERROR))]) == 1
        assert ("people" in terminal.said) is shown


def test_the_engines_of_the_option_are_those_of_a_lake():
    """The option can not ask `kipql.lake`, which is not loaded for --help."""
    from kipql.cli.audit_options import ENGINES
    from kipql.lake import opened

    assert tuple(opened.ENGINES) == ENGINES
