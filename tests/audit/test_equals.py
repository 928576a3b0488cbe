"""`expect: equals FILE`: the rows of a file beside the script, and of no other file."""

import json
import os

import pytest

from kipql.audit.equals import Expected, differences
from kipql.audit.script import read_script

QUERY = '//! check: a\n//! expect: equals {}\nFIND(?p.key) WHERE {{ ?p {{type: "Person"}} }}'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "inside" / "rows").mkdir(parents=True)
    (tmp_path / "outside.json").write_text("[]")
    return tmp_path / "inside"


def read(folder, name):
    path = folder / "audit.kql"
    path.write_text(QUERY.format(name), encoding="utf-8")
    return read_script(str(path))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows/a.json", '[{"p.key": "ada"}, {"p.key": "bo"}]'),
        ("./rows/../a b.json", '[{"p.key": "ada"}, {"p.key": "bo"}]'),
        ("rows/a.jsonl", '{"p.key": "ada"}\n\n{"p.key": "bo"}\n'),
    ],
)
def test_the_rows_of_a_file_beside_the_script(folder, name, text):
    (folder / name).resolve().write_text(text)
    script = read(folder, name)
    assert script.problems == ()
    assert script.steps[0].expected == Expected(name, ({"p.key": "ada"}, {"p.key": "bo"}))


@pytest.mark.parametrize(
    ("name", "code", "word"),
    [
        ("../outside.json", "InvalidSyntax", "leads out"),
        ("rows/../../outside.json", "InvalidSyntax", "leads out"),
        ("link.json", "InvalidSyntax", "leads out"),
        ("linked/outside.json", "InvalidSyntax", "leads out"),
        ("/etc/hosts.json", "InvalidSyntax", "relative"),
        ("\\\\server\\x.json", "InvalidSyntax", "relative"),
        ("C:x.json", "InvalidSyntax", "relative"),
        ("file:///etc/x.json", "InvalidSyntax", "relative"),
        ("none.json", "ArtifactUnavailable", "No such file"),
        ("rows.json", "ArtifactUnavailable", "No such file"),
        ("rows.csv", "InvalidSyntax", ".jsonl"),
        ("bad.json", "ArtifactParseError", "not JSON"),
        ("nan.json", "ArtifactParseError", "not a JSON number"),
        ("object.json", "ArtifactParseError", "list of objects"),
        ("numbers.jsonl", "ArtifactParseError", "list of objects"),
        ("latin.json", "ArtifactParseError", "UTF-8"),
    ],
)
def test_another_file_is_a_problem_where_it_is_named(folder, name, code, word):
    (folder / "link.json").symlink_to(folder.parent / "outside.json")
    (folder / "linked").symlink_to(folder.parent)
    (folder / "rows.json").mkdir()
    (folder / "bad.json").write_text("[")
    (folder / "nan.json").write_text('[{"a": NaN}]')
    (folder / "object.json").write_text("{}")
    (folder / "numbers.jsonl").write_text("1\n2\n")
    (folder / "latin.json").write_bytes(b'["\xe9"]')
    script = read(folder, name)
    assert script.steps == ()
    (problem,) = script.problems
    assert (problem.error.code, problem.line, problem.column) == (code, 2, 13)
    assert word in problem.error.message


def test_a_script_on_standard_input_has_no_files_beside_it(monkeypatch):
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(QUERY.format("a.json").encode())))
    (problem,) = read_script("-").problems
    assert "no folder" in problem.error.message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_read(folder):
    os.mkfifo(folder / "pipe.json")
    (problem,) = read(folder, "pipe.json").problems
    assert problem.error.code == "ArtifactUnavailable"


def rows(*keys):
    return tuple({"k": key} for key in keys)


@pytest.mark.parametrize(
    ("expected", "found", "ordered", "problems"),
    [
        (rows("a", "b"), rows("b", "a"), False, []),
        (rows("a", "b"), rows("a", "b"), True, []),
        (rows("a", "b"), rows("b", "a"), True, ["the rows of f in another order"]),
        (rows("a"), rows("a", "a"), False, ["not in f"]),
        (rows("a", "a"), rows("a"), False, ["in f and not found"]),
        (rows("a"), rows("b"), True, ["not in f", "in f and not found"]),
        (rows(1, None), rows(1.0, None), True, []),
        (rows(1), rows(True), False, ["not in f", "in f and not found"]),
        (({"a": 1},), ({"a": 1, "b": None},), False, ["not in f", "in f and not found"]),
        (rows({"x": [1, 2]}), rows({"x": [2, 1]}), False, ["not in f", "in f and not found"]),
        ((), (), True, []),
    ],
)
def test_rows_are_compared_as_json_values(expected, found, ordered, problems):
    told = list(differences(Expected("f", expected), found, ordered=ordered))
    assert [difference.problem for difference in told] == problems


def test_what_a_query_writes_as_json_is_what_it_expects(folder, kipql_main):
    text = 'FIND(?p.key, ?p.name, ?p) WHERE { ?p {type: "Person"} } ORDER BY ?p.key'
    written = kipql_main("query", "--db", folder / "m", "--format", "json", "-c", text)
    (folder / "people.json").write_text(written.out)
    script = folder / "audit.kql"
    script.write_text(f"//! check: people\n//! title: people\n//! expect: equals people.json\n{text}")
    assert kipql_main("run", "--db", folder / "m", script).code == 0
    expected = json.loads(written.out)
    (folder / "people.json").write_text(json.dumps(expected[1:]))
    called = kipql_main("run", "--db", folder / "m", script)
    assert called.code == 1
    assert f"{script}:4: warning: people: not in people.json: p.key: ada" in called.out


@pytest.fixture
def kipql_main(capsys, folder):
    from collections import namedtuple

    import kipql
    from kipql.cli.main import main

    with kipql.open(folder / "m") as nexus:
        text = 'CREATE CONCEPT ?a { TYPE "Person" NAME :name SET FIELDS {key: :key} }'
        for key, name in (("ada", "Ada"), ("bo", "Bo")):
            nexus.execute(text, {"key": key, "name": name})

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        return namedtuple("Called", "code out err")(code, *capsys.readouterr())

    return call
