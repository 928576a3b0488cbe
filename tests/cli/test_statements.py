"""`query` and `exec`: statements from -c, -f and standard input, answers in four formats, errors with a caret."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = 'FIND(?p.key, ?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.key'


def test_a_query_is_a_table(kipql, memory):
    called = kipql("query", "--db", memory, "-c", NAMES)
    assert called == (0, "p.key  p.name\n-----  ------\nada    Ada\nbo     Bo\n(2 rows)\n", "")


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("csv", "p.key,p.name\nada,Ada\nbo,Bo\n"),
        ("jsonl", '{"p.key":"ada","p.name":"Ada"}\n{"p.key":"bo","p.name":"Bo"}\n'),
    ],
)
def test_rows_in_machine_formats(kipql, memory, form, expected):
    assert kipql("query", "--db", memory, "-c", NAMES, "--format", form).out == expected


def test_json_is_an_array_of_objects(kipql, memory):
    out = kipql("query", "--db", memory, "-c", NAMES, "--format", "json").out
    assert json.loads(out) == [{"p.key": "ada", "p.name": "Ada"}, {"p.key": "bo", "p.name": "Bo"}]


def test_a_query_from_a_file_and_from_standard_input(kipql, memory, tmp_path):
    path = tmp_path / "q.kql"
    path.write_text(NAMES)
    assert kipql("query", "--db", memory, "-f", path) == kipql("query", "--db", memory, stdin=NAMES)


def test_parameters_are_json(kipql, memory):
    text = "FIND(?p.name) WHERE { ?p {key: :key} }"
    called = kipql("query", "--db", memory, "-c", text, "-p", 'key="ada"', "--format", "csv")
    assert called.out == "p.name\nAda\n"


@pytest.mark.parametrize("pair", ["key", "=1", "key=ada", "key={"])
def test_a_malformed_parameter_could_not_run(kipql, pair):
    called = kipql("query", "-c", "FIND(?p) WHERE { ?p {key: :key} }", "-p", pair)
    assert called.code == 2
    assert "--param" in called.err


def test_a_missing_parameter_is_named(kipql):
    called = kipql("query", "-c", "FIND(?p) WHERE { ?p {key: :key} }")
    assert called.code == 2
    assert "ReferenceError" in called.err
    assert ":key" in called.err


def test_a_query_refuses_a_mutation(kipql, memory):
    called = kipql("query", "--db", memory, "-c", 'CREATE CONCEPT ?x { TYPE "Person" }')
    assert called.code == 2
    assert "ReadonlyViolation" in called.err
    assert kipql(
        "query", "--db", memory, "-c", "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }", "--format", "csv"
    ).out.endswith("\n2\n")


@pytest.mark.parametrize("arguments", [["--readonly", "exec"], ["exec", "--readonly"]])
def test_exec_readonly_refuses_a_mutation(kipql, memory, arguments):
    called = kipql(*arguments, "--db", memory, "-c", 'CREATE CONCEPT ?x { TYPE "Person" }')
    assert called.code == 2
    assert "ReadonlyViolation" in called.err


def test_exec_says_what_was_committed(kipql):
    called = kipql("exec", "-c", 'CREATE CONCEPT ?x { TYPE "Person" }; FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }')
    assert called.code == 0
    assert called.out.splitlines()[0] == "committed at 1: 1 element created; ?x = C-1"
    assert called.out.splitlines()[-2].strip() == "1"


def test_exec_writes_a_receipt_as_json(kipql):
    out = kipql("exec", "-c", 'CREATE CONCEPT ?x { TYPE "Person" }', "--format", "json").out
    assert json.loads(out)["status"] == "committed"


def test_an_error_is_drawn_with_a_caret_in_the_whole_text(kipql):
    called = kipql("query", "-c", "FIND(?p) WHERE { ?p {} };\nFIND(?p) WHERE { ?p {} FILTER(?q.x == 1) }")
    assert called.code == 2
    lines = called.err.splitlines()
    assert lines[0].startswith("2:")
    assert "?q" in lines[0]
    assert lines[1] == "FIND(?p) WHERE { ?p {} FILTER(?q.x == 1) }"
    assert lines[2].index("^") == lines[1].index("?q")


def test_a_statement_that_fails_leaves_those_before_it(kipql, memory):
    text = 'CREATE CONCEPT ?x { TYPE "Person" NAME "Cy" }; CREATE CONCEPT ?y { TYPE "Nonsense" }'
    called = kipql("exec", "--db", memory, "-c", text)
    assert called.code == 2
    assert "SchemaSymbolNotFound" in called.err
    assert '"Cy"' in kipql("query", "--db", memory, "-c", NAMES, "--format", "jsonl").out


def test_a_reading_command_makes_no_folder(kipql, tmp_path):
    folder = tmp_path / "none.kip"
    assert kipql("query", "--db", folder, "-c", NAMES).code == 2
    assert not folder.exists()


def test_a_folder_that_is_no_memory_is_an_error(kipql, tmp_path):
    (tmp_path / "x.txt").write_text("x")
    called = kipql("exec", "--db", tmp_path, "-c", NAMES)
    assert called.code == 2
    assert "NotAMemory" in called.err


def test_what_a_memory_holds_does_not_reach_the_terminal_raw(kipql):
    called = kipql("exec", "-c", 'CREATE CONCEPT ?x { TYPE "Person" NAME "\\u001b[2J" }; FIND(?p.name) WHERE { ?p {} }')
    assert "\x1b" not in called.out
    assert "\\x1b[2J" in called.out


def test_meta_statements_are_shown(kipql):
    called = kipql("query", "-c", "LIST TYPES", "--format", "jsonl")
    rows = [json.loads(line) for line in called.out.splitlines()]
    assert "Person" in {row["local_name"] for row in rows}
    assert kipql("query", "-c", "DESCRIBE SPACE").out.splitlines()[0].split() == ["member", "value"]


def test_nothing_to_do_is_a_usage_error(kipql):
    assert kipql("query", "-c", "x", "-f", "y").code == 2
    assert kipql("frobnicate").code == 2


def test_the_version_in_another_process():
    called = subprocess.run([sys.executable, "-m", "kipql", "--version"], capture_output=True, text=True, check=True)
    import kipql

    assert called.stdout == f"kipql {kipql.__version__}\n"


def test_an_error_in_a_file_names_the_file(kipql, tmp_path):
    path = tmp_path / "q.kql"
    path.write_text("FIND(?p) WHERE { ?p {} };\nFIND(?q) WHERE { ?p {} }")
    called = kipql("query", "-f", path)
    assert called.code == 2
    assert called.err.startswith(f"{path}:2:6: InvalidSyntax: ")


NULL = "FIND(?a.valid) WHERE { ?a ASSERTION {} }"


def test_a_field_that_nothing_has_is_warned_of_and_the_answer_is_the_same(kipql, memory):
    warned = kipql("query", "--db", memory, "-c", NULL)
    assert (warned.code, warned.out) == (0, "a.valid\n-------\n(0 rows)\n")
    assert warned.err.splitlines() == [
        "warning: 1:6: SchemaFieldNotFound: Assertion has no field 'valid': it is null",
        NULL,
        "     ^^^^^^^^",
        "hint: did you mean valid_time?",
    ]
    assert kipql("query", "--db", memory, "-c", NULL, "--quiet") == (0, warned.out, "")


def test_a_warning_has_its_place_in_the_whole_text_and_its_file(kipql, tmp_path):
    path = tmp_path / "q.kql"
    path.write_text(f"FIND(?p) WHERE {{ ?p {{}} }};\n{NULL}")
    assert kipql("query", "-f", path).err.startswith(f"warning: {path}:2:6: SchemaFieldNotFound")


def test_a_mutation_that_chooses_by_such_a_field_is_warned_of_too(kipql):
    called = kipql("exec", "-c", 'UPDATE ?p SET FIELDS {name: "x"} WHERE { ?p {kee: "a"} }')
    assert (called.code, called.out) == (0, "no_effect\n")
    assert "did you mean key?" in called.err


LIMITED = 'FIND(?p.key) WHERE { ?p {type: "Person"} } ORDER BY ?p.key LIMIT 1'


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv"])
def test_rows_that_limit_left_out_are_told_with_how_to_get_them(kipql, memory, form):
    called = kipql("query", "--db", memory, "-c", LIMITED, "--format", form)
    assert "ada" in called.out and "bo" not in called.out
    assert called.err.startswith('more rows follow: add CURSOR "')
    cursor = called.err.split(" add ")[1].removesuffix(" to the same statement\n")
    rest = kipql("query", "--db", memory, "-c", f"{LIMITED} {cursor}", "--format", form)
    assert "bo" in rest.out and "ada" not in rest.out
    assert (rest.code, rest.err) == (0, "")


def test_a_memory_of_the_command_alone_continues_nothing(kipql):
    create = 'CREATE CONCEPT ?x { TYPE "Person" }'
    called = kipql("exec", "-c", f"{create}; {create}; FIND(?p) WHERE {{ ?p {{}} }} LIMIT 1")
    assert called.err.startswith("more rows follow: raise LIMIT\nnote: nothing was kept")
    assert kipql("exec", "-q", "-c", f"{create}; {create}; FIND(?p) WHERE {{ ?p {{}} }} LIMIT 1").err == ""


def test_exec_counts_what_was_created_changed_and_ended(kipql, memory):
    text = """
    MUTATE {
      ASSERT ?old ("C-1", "same_as", "C-2") {by: "C-1", mode: "stated"}
      UPDATE "C-1" SET FIELDS {name: "Ada L."}
    };
    ASSERT ?new ("C-1", "same_as", "C-2") {by: "C-1", mode: "stated"} SUPERSEDING "A-1";
    TRANSITION "C-2" TO "archived";
    UPDATE "C-1" SET FIELDS {name: "Ada L."}
    """
    assert kipql("exec", "--db", memory, "-c", text).out.splitlines() == [
        "committed at 2: 2 elements created, 1 changed; ?old = A-1",
        "committed at 3: 1 element created, 1 ended; ?new = A-2",
        "committed at 4: 1 element ended",
        "no_effect",
    ]


@pytest.mark.parametrize("command", ["query", "run"])
def test_elements_references_and_beliefs_are_for_people_in_a_table(kipql, tmp_path, command):
    lab, examples = tmp_path / "lab.kip", Path(__file__).resolve().parents[2] / "docs" / "examples"
    assert kipql("run", "--write", "--db", lab, "--package", examples / "lab.json", examples / "lab.kql").code == 0
    text = """FIND(?r, ?p, ?b, ?a.proposition, ?a.asserted_at) WHERE { ?r {key: "rover"} ?p (?r, "kept_by", ?who)
    ?a ASSERTION {proposition: ?p} ?b BELIEF SLOT (?r, "runs_minutes") }"""
    script = tmp_path / "ask.kql"
    script.write_text(text)
    called = kipql("query", "--db", lab, "-c", text) if command == "query" else kipql("run", "--db", lab, script)
    (row,) = [line for line in called.out.splitlines() if line.startswith("Robot rover")]
    rover, ben = ("Rover (C-5)", "Ben Okafor (C-2)") if command == "query" else ("C-5", "C-2")  # a report looks up none
    assert re.split(r"  +", row)[:4] == [
        'Robot rover (C-5) "Rover"',
        f"Proposition (P-1) {rover} kept_by {ben}",
        f"accepted: {rover} runs_minutes = 55 (1 of 2 candidates)",
        "P-1",
    ]
    assert "{" not in row and ".000Z" not in row


def test_the_forms_for_programs_keep_what_is_stored(kipql, memory):
    text = 'FIND(?p, ?p.id) WHERE { ?p {key: "ada"} }'
    for form in ("json", "jsonl"):
        found = json.loads(kipql("query", "--db", memory, "-c", text, "--format", form).out)
        row = found[0] if form == "json" else found
        assert row["p"]["name"] == "Ada" and row["p"]["_system"]
    assert '""name"":""Ada""' in kipql("query", "--db", memory, "-c", text, "--format", "csv").out
