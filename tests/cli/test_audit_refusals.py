"""What an audit's options refuse before anything runs, and what it says of a thing it did not do."""

import pytest

import kipql as package
from kipql.cli.places import _fleet

CHECK = '//! check: people\nFIND(?p.key) WHERE { ?p {type: "Person"} }\n'


@pytest.fixture
def script(tmp_path):
    (tmp_path / "a.kql").write_text(CHECK, encoding="utf-8")
    return tmp_path / "a.kql"


def test_two_reports_to_one_file_are_refused(kipql, script, tmp_path):
    called = kipql("run", script, "--json", tmp_path / "o", "--sarif", tmp_path / "." / "o")
    assert called.code == 2
    assert not (tmp_path / "o").exists()
    assert kipql("run", script, "--json", "/dev/null", "--sarif", "/dev/null").code == 0


def test_an_exclude_that_leaves_nothing_is_a_problem(kipql, script):
    assert kipql("run", script, "--exclude", "people").code == 2


@pytest.mark.parametrize(
    "text",
    [
        '{"kipql_baseline": true, "findings": []}',
        '{"kipql_baseline": 1.0, "findings": []}',
        '{"kipql_baseline": 1, "findings": {}}',
        '{"kipql_baseline": 1, "findings": ""}',
        '{"kipql_baseline": 1, "findings": [{"check": "a", "fingerprint": null, "message": "m"}]}',
    ],
)
def test_a_baseline_of_other_types_is_not_understood(kipql, script, tmp_path, text):
    (tmp_path / "b.json").write_text(text, encoding="utf-8")
    assert kipql("run", script, "--baseline", tmp_path / "b.json").code == 2
    (tmp_path / "b.json").write_text('{"kipql_baseline": 1, "findings": []}', encoding="utf-8")
    assert kipql("run", script, "--baseline", tmp_path / "b.json").code == 0


def test_a_link_back_adds_no_memory_to_a_fleet(tmp_path):
    with package.open(str(tmp_path / "fl" / "a.kip")):
        pass
    (tmp_path / "fl" / "loop").symlink_to(tmp_path / "fl")
    names = [place.name for place in _fleet([f"{tmp_path}/fl/**/*.kip", f"{tmp_path}/fl/loop/*.kip"])]
    assert names == [str(tmp_path / "fl" / "a.kip")]


def test_a_memory_among_the_scripts_is_an_unquoted_pattern(kipql, script, tmp_path):
    with package.open(str(tmp_path / "b.kip")):
        pass
    assert kipql("run", "--fleet", tmp_path / "b.kip", tmp_path / "b.kip", script).code == 2


def test_exec_without_a_memory_says_that_nothing_is_kept(kipql, tmp_path):
    create = 'CREATE CONCEPT ?x { TYPE "Person" NAME "X" }'
    assert "nothing was kept" in kipql("exec", "-c", create).err
    assert "nothing was kept" not in kipql("exec", "--db", tmp_path / "x.kip", "-c", create).err
    assert "nothing was kept" not in kipql("exec", "-c", "LIST PREDICATES").err


def test_a_baseline_that_is_not_written_says_so(kipql, tmp_path):
    (tmp_path / "bad.kql").write_text("FIND(", encoding="utf-8")
    called = kipql("run", tmp_path / "bad.kql", "--baseline", tmp_path / "b.json", "--write-baseline")
    assert called.code == 2
    assert "the baseline is not written" in called.err
