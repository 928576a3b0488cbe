"""`run --fleet` and `run --lake`: which Spaces are meant, what is refused, and the exit code."""

import json
import re
import shutil
from pathlib import Path

import pytest

import kipql as kip
from kipql import lake
from kipql.lake import manifest

CHECK = '//! check: people\n//! message: {key}\nFIND(?p.key) WHERE { ?p {type: "Person"} } ORDER BY ?p.key;\n'


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "audit.kql"
    path.write_text(CHECK)
    return path


@pytest.fixture
def fleet(tmp_path):
    """Three memories in a folder, beside a file that is none."""
    folder = tmp_path / "fleet"
    for name in ("a", "b", "c"):
        with kip.open(folder / f"{name}.kip") as nexus:
            nexus.execute('CREATE CONCEPT ?p { TYPE "Person" SET FIELDS {key: :key} }', {"key": name})
    (folder / "notes.txt").write_text("no memory")
    return folder


@pytest.fixture
def folder(fleet, tmp_path):
    """A lake of the three."""
    for path in sorted(fleet.glob("*.kip")):
        with kip.open(path, readonly=True) as nexus:
            lake.export(nexus, tmp_path / "lake", name=path.stem)
    return tmp_path / "lake"


def spaces(called):
    return [(Path(f["space_id"]).stem, f["message"]) for c in json.loads(called.out)["checks"] for f in c["findings"]]


ABC = [(name, name) for name in "abc"]


@pytest.mark.parametrize("pattern", ["*.kip", "", "[abc].kip", "*.[k]ip"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_fleet_is_a_pattern_or_a_folder(kipql, fleet, script, pattern, jobs):
    called = kipql("run", "--fleet", fleet / pattern, "--jobs", jobs, "--format", "json", script)
    assert (called.code, spaces(called)) == (1, ABC)


def test_several_patterns_mean_each_memory_once(kipql, fleet, script):
    called = kipql("run", "--fleet", fleet / "c.kip", "--fleet", fleet, "--format", "json", script)
    assert spaces(called) == [("c", "c"), ("a", "a"), ("b", "b")]


def test_what_matches_and_is_no_memory_is_told(kipql, fleet, script):
    called = kipql("run", "--fleet", fleet / "*", "--format", "json", script)
    assert (called.code, spaces(called)) == (2, ABC)
    assert "notes.txt: NotAMemory" in called.err


@pytest.mark.parametrize("where", [("--fleet", "nowhere/*.kip"), ("--lake", "nowhere")])
def test_nothing_there_is_an_error(kipql, script, where):
    called = kipql("run", *where, script)
    assert called.code == 2
    assert "NotFoundOrNotVisible" in called.err


@pytest.mark.parametrize(
    "options",
    [
        ("--fleet", "x", "--db", "y"),
        ("--lake", "x", "--db", "y"),
        ("--lake", "x", "--fleet", "y"),
        ("--fleet", "x", "--write"),
        ("--lake", "x", "--write"),
        ("--fleet", "x", "--package", "kip://domains/general@1.0.0"),
        ("--engine", "spark"),
        ("--lake", "x", "--master", "local[1]"),
        ("--fleet", "x", "--space", "y"),
    ],
)
def test_options_that_contradict_each_other(kipql, script, options):
    called = kipql("run", *options, script)
    assert (called.code, called.out) == (2, "")
    assert "exclude" in called.err or "goes with" in called.err


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_space_of_a_lake_is_audited(kipql, folder, script, jobs):
    called = kipql("run", "--lake", folder, "--jobs", jobs, "--format", "json", script)
    assert (called.code, spaces(called)) == (1, ABC)


def test_some_spaces_of_a_lake(kipql, folder, script):
    assert spaces(kipql("run", "--lake", folder, "--space", "[bc]", "--format", "json", script)) == ABC[1:]
    called = kipql("run", "--lake", folder, "--space", "z*", script)
    assert called.code == 2 and "its Spaces: a, b, c" in called.err


@pytest.mark.parametrize("part", ["concepts", "manifest"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_damaged_space_of_a_lake_hides_no_other(kipql, folder, script, part, jobs):
    held = manifest.read(folder, "b")
    path = manifest.path_of(folder, "b") if part == "manifest" else folder / held.of(part)[0].path
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    called = kipql("run", "--lake", folder, "--jobs", jobs, "--format", "json", script)
    assert (called.code, spaces(called)) == (2, [("a", "a"), ("c", "c")])
    (error,) = json.loads(called.out)["errors"]
    assert (error["space_id"], error["code"]) == ("b", "MemoryDamaged")


def test_what_a_lake_does_not_answer_is_an_error_of_that_check(kipql, folder, tmp_path):
    path = tmp_path / "more.kql"
    path.write_text(CHECK + "//! check: types\nLIST TYPES;\n" + 'CREATE CONCEPT ?p { TYPE "Person" NAME "x" };\n')
    called = kipql("run", "--lake", folder, "--space", "a", "--format", "json", path)
    assert (called.code, spaces(called)) == (2, ABC[:1])
    assert [(error["line"], error["code"]) for error in json.loads(called.out)["errors"]] == [
        (5, "UnsupportedCapability"),
        (6, "ReadonlyViolation"),
    ]


@pytest.mark.parametrize(("as_of", "count"), [("0", 0), ("1", 1), ("2000-01-01", 0), ("2999-01-01", 1)])
def test_a_lake_is_asked_as_of_a_sequence_or_a_time(kipql, folder, script, as_of, count):
    called = kipql("run", "--lake", folder, "--space", "a", "--as-of", as_of, "--format", "json", script)
    assert len(spaces(called)) == count


def test_a_check_that_needs_a_package_is_skipped_on_a_lake_too(kipql, folder, tmp_path):
    path = tmp_path / "needs.kql"
    path.write_text("//! requires: kip://domains/nowhere\n" + CHECK)
    called = kipql("run", "--lake", folder, "--format", "json", path)
    assert called.code == 0
    assert json.loads(called.out)["checks"][0]["skipped"] == "kip://domains/nowhere is not active"


def test_ready_audits_run_over_a_fleet(kipql, fleet):
    called = kipql("audits", "run", "--fleet", fleet, "--fail-on", "never", "--format", "json")
    assert called.code == 0
    assert len(json.loads(called.out)["spaces"]) == 3


def test_a_script_that_is_named_twice_is_run_once(kipql, fleet, script):
    other = script.parent / "fleet" / ".." / script.name
    called = kipql("run", "--fleet", fleet, "--format", "json", script, script, other)
    assert (called.code, spaces(called)) == (1, ABC)
    assert [check["passed"] for check in json.loads(called.out)["checks"]] == [False]


def test_ready_audits_over_a_lake_leave_out_what_only_a_memory_computes(kipql, folder):
    """Each of them reads `dependency_validity`, which a lake refuses; one that is named is asked, and refused."""
    called = kipql("audits", "run", "--lake", folder)
    assert called.code in (0, 1)
    assert "note: left out" in called.err and "broken-lineage, stale-derivations" in called.err
    named = kipql("audits", "run", "broken-lineage", "--lake", folder)
    assert named.code == 2 and "dependency_validity" in named.err


def test_spaces_that_had_nothing_yet_are_counted(kipql, fleet, folder, script):
    note = "note: 3 of 3 Spaces had nothing written yet at 2000-01-01\n"
    assert kipql("run", "--fleet", fleet / "*.kip", script, "--as-of", "2000-01-01").err == note
    assert kipql("run", "--lake", folder, script, "--as-of", "2000-01-01").err == note
    assert kipql("run", "--lake", folder, script, "--as-of", "1").err == ""


# --- what a run says of Spaces -------------------------------------------------------------------------

BAD = CHECK + '//! check: bad\nFIND(?p) WHERE { ?p {type: "Nonsense"} };\n'
FORGED = "x\nnight.kql:4: error: forged\r\n::error::x\x1b[31m"
_FORGED = re.compile(r"^(night\.kql:4: error|\s*::error::x)|\x1b|\r", re.MULTILINE)


@pytest.fixture
def forged(fleet, tmp_path):
    """A lake of two Spaces, one of them with lines in its name, and a fleet with a folder of that name."""
    for name in ("a", FORGED):
        with kip.open(tmp_path / "forged" / f"{name}.kip") as nexus:
            nexus.execute('CREATE CONCEPT ?p { TYPE "Person" SET FIELDS {key: "k"} }')
            lake.export(nexus, tmp_path / "lake", name=name)
    return tmp_path


def where(forged, kind):
    return ("--lake", forged / "lake") if kind == "lake" else ("--fleet", forged / "forged")


@pytest.mark.parametrize("kind", ["lake", "fleet"])
@pytest.mark.parametrize(
    "options",
    [
        *(("--format", form) for form in ("text", "json", "junit", "sarif", "github")),
        ("--github",),
        ("--as-of", "2000-01-01"),
        ("--jobs", "2"),
        ("--space", "z"),
        ("damaged",),
        ("gone",),
    ],
)
def test_the_name_of_a_space_adds_no_line_to_what_is_said(kipql, forged, tmp_path, kind, options):
    if options[0] == "--space" and kind == "fleet":
        pytest.skip("a fleet has no option for Spaces")
    (tmp_path / "night.kql").write_text(BAD + "FIND(?p.key) WHERE { ?p CONCEPT {} };\n")
    extra = options if options[0].startswith("-") else ()
    if options == ("damaged",):
        for path in (*(tmp_path / "lake").glob("spaces/*"), *(tmp_path / "forged").glob("*/spaces/*/journal")):
            path.write_bytes(path.read_bytes()[:60])
    baseline = tmp_path / "b.json"
    if options == ("gone",):
        (tmp_path / "night.kql").write_text(CHECK)
        assert kipql("run", *where(forged, kind), tmp_path / "night.kql", "--baseline", baseline, "--write-baseline")
        (tmp_path / "night.kql").write_text(CHECK.replace('"Person"', '"Person", key: "zoe"'))
        extra = ("--baseline", baseline)
    called = kipql("run", *where(forged, kind), *extra, tmp_path / "night.kql")
    assert r"night.kql:4: error: forged\r" in called.out + called.err.replace("\\\\", "\\"), "the name is said"
    assert not _FORGED.search(called.err)
    assert not _FORGED.search(called.out)


def test_progress_shows_a_name_on_one_line(forged, tmp_path, monkeypatch):
    from kipql.cli import audit_progress
    from kipql.cli.main import main
    from tests.cli.test_run_options import Terminal

    (tmp_path / "night.kql").write_text(CHECK)
    monkeypatch.setattr(audit_progress, "AFTER", 0.0)
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    assert main(["run", "--lake", str(forged / "lake"), str(tmp_path / "night.kql")]) == 1
    assert "forged" in terminal.said and not re.search(r"\n::|\x1b\[31m[^m]*$|^night", terminal.said, re.MULTILINE)


@pytest.mark.parametrize("form", ["text", "json", "junit", "sarif", "github"])
def test_an_error_of_every_space_is_said_once_and_listed_for_each_by_machines(kipql, folder, tmp_path, form):
    (tmp_path / "bad.kql").write_text(BAD)
    called = kipql("run", "--lake", folder, "--format", form, tmp_path / "bad.kql")
    assert called.code == 2
    assert called.err.count("SchemaSymbolNotFound") == 1
    assert called.err.splitlines()[-1] == "in 3 Spaces: a, b, c"
    if form == "text":
        assert called.out.endswith("3 could not run\n")
    else:
        listed = {"json": '"code": "SchemaSymbolNotFound"', "junit": "<error ", "sarif": '"level": "error"'}
        assert called.out.count(listed.get(form, "::error ")) == 3


# --- baselines of many Spaces --------------------------------------------------------------------------


def known(baseline):
    return [(Path(each["space_id"]).stem, each["message"]) for each in entries(baseline)]


def entries(baseline):
    return sorted(json.loads(baseline.read_text())["findings"], key=lambda each: each["message"])


@pytest.mark.parametrize(
    ("all_of_it", "less", "asked"),
    [
        (("--lake", "lake"), ("--lake", "lake", "--space", "b"), "b"),
        (("--lake", "lake"), ("--lake", "lake", "--space", "[!a]"), "bc"),
        (("--fleet", "fleet/*.kip"), ("--fleet", "fleet/b.kip"), "b"),
        (("--fleet", "fleet/[abc].kip"), ("--fleet", "fleet/[bc].kip", "--jobs", "2"), "bc"),
    ],
)
def test_a_baseline_keeps_what_is_known_of_spaces_that_were_not_asked(
    kipql, folder, script, tmp_path, monkeypatch, all_of_it, less, asked
):
    monkeypatch.chdir(tmp_path)
    baseline = tmp_path / "b.json"
    kept = ("--baseline", baseline, script)
    assert kipql("run", *all_of_it, "--write-baseline", *kept).code == 0
    assert known(baseline) == ABC
    before = baseline.read_text()
    for written in ((), ("--write-baseline",)):
        called = kipql("run", *less, *written, *kept)
        assert (called.code, "fixed" in called.out) == (0, False)
        assert baseline.read_text() == before
    script.write_text(CHECK.replace('"Person"', '"Person", key: "zoe"'))  # finds nothing: what is asked is fixed
    called = kipql("run", *less, "--write-baseline", *kept)
    fixed = [line.split(": ") for line in called.out.splitlines() if line.startswith("fixed: ")]
    assert sorted((Path(space).stem, said) for _, space, said in fixed) == [
        (name, f"{name} [people]") for name in asked
    ]
    assert known(baseline) == [(name, name) for name in "abc" if name not in asked]


def test_a_memory_that_vanished_is_not_fixed(kipql, fleet, script, tmp_path):
    kept = ("--fleet", fleet / "*.kip", "--baseline", tmp_path / "b.json", script)
    assert kipql("run", "--write-baseline", *kept).code == 0
    shutil.rmtree(fleet / "b.kip")
    called = kipql("run", "--write-baseline", *kept)
    assert (called.code, "fixed" in called.out) == (0, False)
    assert known(tmp_path / "b.json") == ABC


def test_a_baseline_without_spaces_is_read_over_many_and_loses_nothing(kipql, folder, script, tmp_path):
    baseline = tmp_path / "b.json"
    kept = ("--baseline", baseline, script)
    kipql("run", "--lake", folder, "--write-baseline", *kept)
    old = re.sub(r',"space_id":"[abc]"', "", baseline.read_text())
    baseline.write_text(old)
    assert kipql("run", "--lake", folder, *kept).code == 0
    called = kipql("run", "--lake", folder, "--space", "b", "--write-baseline", *kept)
    assert (called.code, "fixed" in called.out) == (0, False)
    assert [(each["message"], each.get("space_id")) for each in entries(baseline)] == [
        ("a", None),
        ("b", "b"),
        ("c", None),
    ]


# --- wrong options and hints ---------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--fleet", "--lake", "--db", "--space"])
@pytest.mark.parametrize("command", ["run", "audits"])
def test_an_empty_name_is_no_name(kipql, script, tmp_path, monkeypatch, option, command):
    monkeypatch.chdir(tmp_path)
    words = ("run", script) if command == "run" else ("audits", "run")
    given = ("--lake", "x", option, "") if option == "--space" else (option, "")
    called = kipql(*words, *given)
    assert (called.code, called.out) == (2, "")
    assert f"{option} is given and empty" in called.err and "note: no --db" not in called.err


def test_an_empty_pattern_beside_another_is_refused_too(kipql, fleet, script):
    assert "--fleet is given and empty" in kipql("run", "--fleet", fleet, "--fleet", "", script).err


def test_damage_to_a_memory_of_a_fleet_names_the_doctor(kipql, fleet, script):
    path = fleet / "b.kip"
    (journal,) = path.glob("spaces/*/journal")
    content = bytearray(journal.read_bytes())
    content[len(content) // 2] ^= 0xFF
    journal.write_bytes(content)
    called = kipql("run", "--fleet", fleet / "*.kip", script)
    assert (called.code, "MemoryDamaged" in called.err) == (2, True)
    assert f"kipql doctor {path} says what is damaged" in called.err.splitlines()[-1]
    assert kipql("doctor", path).code == 1
