"""`run --fleet` and `run --lake`: which Spaces are meant, what is refused, and the exit code."""

import json
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
