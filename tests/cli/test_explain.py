"""`kipql explain`: every FIND of a script, as text and as JSON, with what is wrong in its place."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kipql.cli.main import cli, main

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
LAB = ("--package", str(EXAMPLES / "lab.json"))


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    """The example memory: three robots, two of them kept by somebody."""
    path = str(tmp_path_factory.mktemp("explain") / "lab.kip")
    assert main(["run", "-q", "--write", "--db", path, *LAB, str(EXAMPLES / "lab.kql")]) == 0
    return path


def explain(*arguments, code=0):
    called = CliRunner().invoke(cli, ["explain", *arguments], standalone_mode=False)
    assert called.return_value == code, called.output
    return called


def script(tmp_path, text):
    path = tmp_path / "script.kql"
    path.write_text(text, encoding="utf-8")
    return str(path)


ROBOTS = 'FIND(?r.key) WHERE { ?r {type: "Robot"} NOT { (?r, "kept_by", ?p) } FILTER(?r.key != "x") }'


def test_each_operator_has_its_estimate_its_starts_and_its_rows(memory, tmp_path):
    lines = explain(script(tmp_path, ROBOTS), "--db", memory).output.splitlines()
    assert lines[0].endswith("script.kql:1")
    table = {tuple(line.split()[:2]): line.split()[-3:] for line in lines[2:5]}
    assert lines[1].split() == ["operator", "estimated", "starts", "rows"]
    assert table["concept", "?r"] == ["3", "1", "3"]
    assert any(line.startswith("  proposition (?r, kept_by") for line in lines)
    assert lines[-2].startswith("1 row, ")
    assert '$0 = "x"' in lines


def test_json_has_the_same(memory, tmp_path):
    (found,) = json.loads(explain(script(tmp_path, ROBOTS), "--db", memory, "--json").output)["statements"]
    by_name = {line["operator"].split()[0]: line for line in found["plan"]}
    assert (by_name["concept"]["estimated"], by_name["concept"]["starts"], by_name["concept"]["rows"]) == (3, 1, 3)
    assert by_name["proposition"]["depth"] == 1 and by_name["proposition"]["estimated"] == 2
    assert by_name["not"]["estimated"] is None and by_name["not"]["rows"] == 1
    assert found["rows"] == 1 and found["constants"] == {"$0": "x"} and found["missing"] == []
    assert found["probes"] > 0 and found["seconds"] > 0


def test_every_query_of_a_script_is_shown_and_nothing_else(memory, tmp_path):
    text = f'//! check: idle\n{ROBOTS}\nDESCRIBE PROTOCOL\n{ROBOTS}\nCREATE CONCEPT ?a {{ TYPE "Person" }}\n'
    output = explain(script(tmp_path, text), "--db", memory).output
    assert output.count("operator ") == 2
    assert "script.kql:2 idle" in output and "script.kql:4" in output


def test_errors_stand_in_their_place_and_the_rest_is_shown(memory, tmp_path):
    text = f'{ROBOTS}\nFIND(?r) WHERE {{ ?r {{type: "Robott"}} }}\n{ROBOTS}\n'
    called = explain(script(tmp_path, text), "--db", memory, code=2)
    assert called.stdout.count("operator ") == 2
    assert ":2:" in called.stderr and "SchemaSymbolNotFound" in called.stderr and "Robot" in called.stderr
    found = json.loads(explain(script(tmp_path, text), "--db", memory, "--json", code=2).stdout)["statements"]
    assert [each.get("error", {}).get("code") for each in found] == [None, "SchemaSymbolNotFound", None]
    assert found[1]["error"]["details"]["position"]["line"] == 2


@pytest.mark.parametrize(("text", "code"), [("FIND(?x WHERE", "InvalidSyntax"), ("FIND(?x) WHERE { ?y {} }", "")])
def test_what_can_not_be_planned_is_exit_2(tmp_path, text, code):
    assert code in explain(script(tmp_path, text), code=2).stderr


def test_a_file_that_is_not_there_is_exit_2(tmp_path):
    assert "No such file" in explain(str(tmp_path / "none.kql"), code=2).stderr


def test_a_query_without_a_value_for_a_parameter_is_planned_and_not_run(memory, tmp_path):
    text = 'FIND(?r) WHERE { ?r {type: "Robot", key: :key} }'
    path = script(tmp_path, text)
    assert "not run: no value for :key" in explain(path, "--db", memory).output
    assert "1 row, " in explain(path, "--db", memory, "-p", 'key="rover"').output


def test_parameters_of_the_check_and_now_are_given(memory, tmp_path):
    text = (
        '//! check: a\n//! params: {"key": "rover"}\n'
        'FIND(?r) WHERE { ?r {type: "Robot", key: :key} FILTER(?r._system.created_at < :now) }'
    )
    assert "1 row, " in explain(script(tmp_path, text), "--db", memory).output


def test_plan_only_runs_nothing(memory, tmp_path):
    output = explain(script(tmp_path, ROBOTS), "--db", memory, "--plan-only").output
    assert "concept ?r [type Robot]\n" in output and "not run" in output and "estimated" not in output


def test_as_of_is_explained_at_its_state(memory, tmp_path):
    text = 'FIND(?r) WHERE { ?r {type: "Robot"} } AS OF SEQ 0'
    assert "0 rows, " in explain(script(tmp_path, text), "--db", memory).output


def test_a_limit_holds_there_too(memory, tmp_path):
    text = '//! check: slow\n//! budget: ticks 1\nFIND(?r) WHERE { ?r {type: "Robot"} }'
    assert "ResourceExhausted" in explain(script(tmp_path, text), "--db", memory, code=2).stderr


def test_hostile_constants_are_shown_and_not_obeyed(memory, tmp_path):
    text = 'FIND(?r) WHERE { ?r {type: "Robot", name: "\\u001b[31m\\u202e::error::"} }'
    output = explain(script(tmp_path, text), "--db", memory).output
    assert "\x1b" not in output and "\u202e" not in output


def test_nothing_is_written(memory, tmp_path):
    text = f'CREATE CONCEPT ?a {{ TYPE "Person" }}\n{ROBOTS}'
    explain(script(tmp_path, text), "--db", memory)
    assert (
        "concept ?p [type Person]"
        in explain(script(tmp_path, 'FIND(?p) WHERE { ?p {type: "Person"} }'), "--db", memory).output
    )
