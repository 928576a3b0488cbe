"""Every command of the shell: what it shows, each option, each mistake."""

import json
import re

import pytest

import kipql
from kipql.repl.registry import commands
from tests.repl.conftest import Driven, lab

ROVER = 'FIND(?x) WHERE { ?x {key: "rover"} }'
NAMES = 'FIND(?p.key) WHERE { ?p {type: "Person"} } ORDER BY ?p.key'
SLOT = 'FIND(?b) WHERE { ?r {key: "rover"} ?b BELIEF SLOT (?r, "stands_in") }'

# An entry, and what must stand in the answer.
SHOWN = [
    (".help", ".asof [N | TIME | off]"),
    (".help asof", "Read as the memory stood at a sequence or a time, until it is off."),
    (".help .mode", "Show or set how rows are written."),
    (".schema", "kip://examples/lab@1.0.0"),
    (".schema", "predicates: fit_for, kept_by, runs_minutes, stands_in"),
    (".schema Robot", "kip://examples/lab@1.0.0/Robot"),
    (".types", "Robot"),
    (".types rob", "Robot"),
    (".predicates", "stands_in"),
    (".describe stands_in", "PredicateType"),
    (".describe C-5", "Rover"),
    (".describe Robot:rover", "C-5"),
    (".describe rover", "C-5"),
    (".describe 'Ada Brunner'", "C-1"),
    (".describe P-1", "predicate_ref"),
    (".describe A-1", "asserted_by"),
    (".describe E-1", "minutes-1"),
    (".describe kip://examples/lab@1.0.0", "manifest"),
    (".describe kip://examples/lab@1.0.0/Robot", "Robot"),
    (".params", "no parameters"),
    (".mode", "mode table"),
    (f".plan {NAMES}", "rows 4"),
    (".plan FIND(?p) WHERE { ?p {key: :who} }", "no value for :who"),
    (".explain rover stands_in", "claim  who"),
    (".explain rover stands_in", "Rover stands_in: "),
    (".explain rover kept_by ben", "Ben Okafor"),
    (".explain P-1", "A-1"),
    (".timeline rover stands_in", "="),
    (".asof", "reading the head, 9"),
    (".asof 0", "as of 0"),
    (".fortime", "reading beliefs for now"),
    (".graph rover", "kept_by -> Person ben"),
    (".graph ben", "kept_by <- Robot rover"),
    (".graph P-1", "claim <- Assertion"),
    (".graph A-1", "asserted_by -> Ada Brunner (C-1)"),
    (".history rover", "create"),
    (".changes", "P-1"),
    (".changes 8", "9"),
    (".readonly on", "read-only on"),
    (".safe on", "safe on"),
    (".output", "answers go to the screen"),
    (".limits", "seconds"),
    (".limits seconds=1.5", "1.5  (of 60.0)"),
    (".settings", "timing"),
    (".settings mode=json", "mode json"),
    (".run", "nothing is saved"),
    (".quit", "left"),
    ("quit", "left"),
    ("exit;", "left"),
    ("HELP", ".history"),
    ("?", ".history"),
]


@pytest.mark.parametrize(("entry", "expected"), SHOWN)
def test_a_command_shows(driven, entry, expected):
    assert expected in driven.run(entry)


# An entry, and how it is refused.
REFUSED = [
    (".foo", "there is no command .foo"),
    (".modes", "did you mean .mode?"),
    (".expl", "did you mean .explain?"),
    (".help nonsense", "there is no command .nonsense"),
    (".describe", "describe what?"),
    (".describe nobody", "nothing has the id, the key or the name nobody"),
    (".describe C-999", "there is no C-999"),
    (".describe 'open", "no closing quotation"),
    (".params 1x=2", "name=JSON"),
    (".params -nope", "there is no parameter nope"),
    (".mode tabel", "did you mean table?"),
    (".plan", "no last query"),
    (".plan FIND(?x) WHERE { ?x {} } LIST TYPES", "one query"),
    (".plan LIST TYPES", "UnsupportedCapability"),
    (".explain", "no last query"),
    (".explain rover", "a subject and a Predicate"),
    (".explain rover flies", "SchemaSymbolNotFound"),
    (".explain rover kept_by ben chi", "or the id of a Proposition"),
    (".explain P-999", "there is nothing to explain"),
    (".timeline rover", "usage: .timeline SUBJECT PREDICATE"),
    (".asof 99", "HistoricalSnapshotUnavailable"),
    (".asof soon", "a time is written 2026-04-01"),
    (".fortime 2026-13-01", "names no real instant"),
    (".graph", "the graph around what?"),
    (".graph C-999", "there is no C-999"),
    (".history", "the history of what?"),
    (".history C-999", "NotFoundOrNotVisible"),
    (".changes soon", "a sequence is a whole number"),
    (".readonly maybe", "on or off, not maybe"),
    (".safe maybe", "on or off, not maybe"),
    (".open labb", "there is no memory labb; .open ./labb makes one"),
    (".more", "there is no more: the last answer is whole"),
    (".open ./nowhere/at/all.txt\0", "NotAMemory"),
    (".output /no/such/folder/x", "No such file"),
    (".limits second=1", "did you mean seconds?"),
    (".limits seconds=x", "seconds is a number"),
    (".limits seconds=1e9", "can only be narrowed"),
    (".settings colour=red", "a setting is one of"),
    (".settings window=x", "a window is a whole number"),
    (".save", "save as what?"),
    (".save ../x FIND", "is no name"),
    (".run nope", "nothing is saved as nope"),
    (".watch", "no last statement"),
    (".watch x", "seconds and times are numbers"),
    (".watch 0", "seconds are more than 0"),
    (".recall 1", ".settings session="),
    (".recall x", ".settings session="),
    (".recall 1 some", "one of all, assistant_only, tool_calls"),
    (".pins", ".settings session="),
    (".touch", "touch what?"),
    (".compact hard", "force, not hard"),
    (".assemble", ".settings session="),
    (".trace", "the trace of which file?"),
    (".trace nowhere.jsonl", "there is no file nowhere.jsonl"),
]


@pytest.mark.parametrize(("entry", "expected"), REFUSED)
def test_a_mistake_is_explained_and_the_session_goes_on(driven, entry, expected):
    assert expected in driven.run(entry)
    assert driven.run(NAMES).endswith("(4 rows)")


def test_every_command_is_tested_here():
    named = {entry.split()[0][1:] for entry, _ in [*SHOWN, *REFUSED]} | {"flush"}
    assert {each.name for each in commands()} <= named


def test_parameters_are_json_or_text_and_are_bound(driven):
    assert driven.run('.params key="ada" :n=3 note=plain words') == ':key = "ada"\n:n = 3\n:note = "plain words"'
    assert "Person ada (C-1)" in driven.run("FIND(?x) WHERE { ?x {key: :key} }")
    assert driven.run(".params -n") == ':key = "ada"\n:note = "plain words"'
    assert driven.run(".params clear") == "no parameters"


def test_explain_asks_the_last_query_again_with_its_ledgers(driven):
    driven.run(SLOT)
    shown = driven.run(".explain")
    assert "Rover stands_in: accepted" in shown
    assert "verdict" in shown


def test_explain_keeps_what_the_last_query_asked_for(driven):
    driven.run(f'{SLOT} FOR TIME "2026-09-08T00:00:00.000Z" WITH EPISTEMIC {{include_historical: true}}')
    assert "at 2026-09-08T00:00:00.000Z" in driven.run(".explain")


def test_explain_refuses_a_query_without_beliefs(driven):
    driven.run(NAMES)
    assert "asks for no BELIEF" in driven.run(".explain")
    driven.run("LIST TYPES")
    assert "asks for no BELIEF" in driven.run(".explain")


def test_an_ambiguous_name_lists_what_it_may_be(writable):
    writable.run('CREATE CONCEPT ?a { TYPE "Person" NAME "Rover" }')
    shown = writable.run(".graph Rover")
    assert "Rover may be" in shown
    assert "C-5" in shown


def test_of_many_that_a_name_may_mean_five_are_listed(writable):
    for _ in range(6):
        writable.run('CREATE CONCEPT ?a { TYPE "Person" NAME "Rover" }')
    assert "and others" in writable.run(".history Rover")


def test_a_saved_file_that_is_no_text_and_a_folder_that_is_none_are_explained(driven, home):
    driven.run(f".save person {NAMES}")
    (home / "queries" / "person.kql").write_bytes(b"\xff\xfe")
    assert "invalid start byte" in driven.run(".run person")
    (home / "queries" / "person.kql").unlink()
    (home / "queries").rmdir()
    (home / "queries").write_text("in the way")
    assert "File exists" in driven.run(f".save person {NAMES}")


def test_a_slot_without_claims_has_a_belief_and_no_drawing_that_fails(driven):
    assert "insufficient" in driven.run(".explain drone stands_in")
    assert "insufficient" in driven.run(".timeline drone stands_in")


def test_read_only_refuses_every_mutation_and_can_be_lifted(writable):
    writable.run(".readonly on")
    assert "ReadonlyViolation" in writable.run('CREATE CONCEPT ?a { TYPE "Person" NAME "X" }')
    assert "(read-only)" in writable.shell.prompt
    writable.run(".readonly off")
    assert "1 element created" in writable.run('CREATE CONCEPT ?a { TYPE "Person" NAME "X" }')


@pytest.mark.parametrize(("answer", "seq"), [(True, 10), (False, 9)])
def test_safe_shows_what_would_happen_and_asks(writable, answer, seq):
    asked = []
    writable.shell.ask = lambda question: asked.append(question) or answer
    writable.run(".safe on")
    shown = writable.run('CREATE CONCEPT ?a { TYPE "Person" NAME "X" }')
    assert asked == ["run it?"]
    assert "create concept C-12" in shown
    assert writable.shell.nexus.space_seq == seq


def test_safe_refuses_where_nobody_can_be_asked(writable):
    writable.run(".safe")
    shown = writable.run('CREATE CONCEPT ?a { TYPE "Person" NAME "X" }')
    assert "create concept C-12" in shown
    assert shown.endswith("nobody to ask; .safe off runs it")
    assert writable.shell.nexus.space_seq == 9


def test_types_predicates_and_schema_follow_asof(writable):
    writable.run('DEFINE CONCEPT TYPE "Wheel" {description: "turns"}')
    writable.run('DEFINE PREDICATE "rolls_on" {description: "the ground"}')
    writable.run(".asof 9")
    assert "(0 rows" not in writable.run(".types Robot")
    assert "turns" not in writable.run(".types Wheel") and "rolls_on" not in writable.run(".predicates rolls")
    assert "Wheel" not in writable.run(".schema")
    assert "nothing has the id, the key or the name Wheel" in writable.run(".describe Wheel")
    writable.run(".asof 10")
    assert "turns" in writable.run(".types Wheel") and "rolls_on" not in writable.run(".predicates rolls")
    assert "turns" in writable.run(".describe Wheel")
    writable.run(".asof off")
    assert "the ground" in writable.run(".predicates rolls")


def test_the_schema_of_the_past_is_that_of_its_package_version(writable):
    writable.run('DEFINE CONCEPT TYPE "Wheel" {description: "turns"}')
    writable.run('DEFINE PREDICATE "rolls_on" {description: "the ground"}')
    writable.run(".asof 10")
    shown = writable.run(".describe kip://local/draft@0.0.0")
    assert "Wheel" in shown and "rolls_on" not in shown


def test_safe_lets_a_mutation_that_would_fail_fail_at_once(writable):
    writable.shell.ask = lambda question: pytest.fail("asked")
    writable.run(".safe on")
    assert "SchemaSymbolNotFound" in writable.run('CREATE CONCEPT ?a { TYPE "Nothing" NAME "X" }')


def test_open_changes_the_memory_and_forgets_the_coordinates(tmp_path, writable):
    with kipql.open(tmp_path / "other.kip") as other:
        other.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Zed" }')
    writable.run(".asof 1")
    assert writable.run(f".open {tmp_path / 'other.kip'}") == f"opened {tmp_path / 'other.kip'} at 1"
    assert writable.shell.as_of is None
    assert "Zed" in writable.run("FIND(?x.name) WHERE { ?x {} }")
    assert writable.shell.prompt == "other> "
    writable.shell.base.close()


def test_a_memory_that_can_not_be_opened_leaves_the_one_that_is_open(writable, tmp_path):
    (tmp_path / "file").write_text("x")
    assert "NotAMemory" in writable.run(f".open {tmp_path / 'file'}")
    assert "(4 rows)" in writable.run(NAMES)


def test_output_sends_rows_to_a_file_and_notes_to_the_screen(driven, tmp_path):
    path = tmp_path / "rows.csv"
    driven.run(".mode csv")
    driven.run(f".output {path}")
    assert "ada" not in driven.run(NAMES)
    assert driven.run(".output off") == "answers go to the screen"
    assert path.read_text("utf-8") == "p.key\nada\nagent\nben\nchi\n"


def test_limits_hold_for_statements(driven):
    driven.run(".limits rows=1")
    driven.run(".limits ticks=1")
    assert "ResourceExhausted" in driven.run(NAMES)
    driven.run(".limits clear")
    assert "(4 rows)" in driven.run(NAMES)


def test_a_saved_query_runs_with_parameters_and_leaves_none_behind(driven, home):
    driven.run(".save person FIND(?x.name) WHERE { ?x {key: :key} }")
    assert (home / "queries" / "person.kql").is_file()
    assert driven.run(".run") == "person"
    assert "Ada Brunner" in driven.run(".run person key=ada")
    assert driven.run(".params") == "no parameters"
    assert "did you mean person?" in driven.run(".run persn")


def test_save_keeps_the_last_statement(driven):
    driven.run(NAMES)
    driven.run(".save names")
    assert "(4 rows)" in driven.run(".run names")


def test_watch_runs_the_last_query_when_the_memory_moved(writable):
    writable.run(NAMES)
    assert writable.run(".watch 0.01 3").count("(4 rows)") == 1


def test_watch_refuses_a_mutation(writable):
    writable.run('CREATE CONCEPT ?a { TYPE "Person" NAME "X" }')
    assert "only what reads is watched" in writable.run(".watch 1 1")


def test_settings_change(driven):
    for entry, expected in [
        (".settings timing=on", "timing    on"),
        (".settings pager=on", "pager     on"),
        (".settings session=a/b", "session   a/b"),
        (".settings window=1000", "window    1000"),
        (".settings mount=repo", "mount     repo"),
    ]:
        assert expected in driven.run(entry)
    assert " ms)" in driven.run(NAMES)


def test_history_stops_at_the_sequence_in_force(writable):
    writable.run('UPDATE "C-5" SET FIELDS {name: "Rover II"}')
    assert "update" in writable.run(".history rover")
    writable.run(".asof 9")
    assert "update" not in writable.run(".history rover")


def test_the_agent_commands_show_the_texts_of_the_memory(tmp_path):
    from kipql.memory import AgentMemory

    with kipql.open() as nexus:
        memory = AgentMemory(nexus, session="run/one", trace=tmp_path / "trace.jsonl")
        memory.record_turn(1, [{"role": "user", "content": "plan the trip"}])
        memory.pin("never fly")
        driven = Driven(nexus)
        driven.run(".settings session=run/one")
        assert "plan the trip" in driven.run(".recall 1")
        assert "a turn is a whole number" in driven.run(".recall x")
        assert "never fly" in driven.run(".pins")
        assert "nothing to compact" in driven.run(".compact")
        assert "tokens" in driven.run(".assemble the trip")
        assert driven.run(".touch src/a.py") == "nothing new is staged"
        assert driven.run(".flush") == "nothing to surface"
        assert "turn" in driven.run(f".trace {tmp_path / 'trace.jsonl'}")
        assert "ReadonlyViolation" not in driven.out.getvalue()


def test_what_is_stored_is_escaped_in_every_command(writable):
    writable.run('CREATE CONCEPT ?a { TYPE "Person" NAME "e\\u001b[31mvil" SET FIELDS {key: "e\\u009bk"} }')
    for entry in ('FIND(?x) WHERE { ?x CONCEPT {id: "C-12"} }', ".describe C-12", ".graph C-12", ".history C-12"):
        for mode in ("table", "vertical", "compact", "tsv", "csv", "markdown", "json", "jsonl"):
            writable.run(f".mode {mode}")
            shown = writable.run(entry)
            assert "\x1b" not in shown
            assert "\x9b" not in shown


def test_json_rows_are_the_values_themselves(driven):
    driven.run(".mode json")
    out = driven.run(ROVER).rpartition("\n(")[0] or driven.run(ROVER)
    assert json.loads(out)[0]["x"]["name"] == "Rover"


@pytest.mark.parametrize("entry", [".explain rover stands_on", ".timeline rover stands_on"])
def test_a_name_that_is_wrong_in_a_command_is_what_the_error_shows(driven, entry):
    shown = driven.run(entry)
    assert "SchemaSymbolNotFound: there is no Predicate 'stands_on'" in shown and "stands_in" in shown
    assert ":_" not in shown and "BELIEF" not in shown


def test_plan_is_of_the_last_query_whatever_came_after_it(driven):
    driven.run(NAMES)
    plan = driven.run(".plan")
    driven.run('HISTORY ELEMENT "C-1"')
    shown = driven.run(".plan")
    assert shown.startswith("the last query: FIND")
    assert plan.splitlines()[0] in shown


def test_open_makes_no_memory_of_a_misspelt_name(writable, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kipql.open("lab.kip").close()
    before = {path.name for path in tmp_path.iterdir()}
    assert "did you mean lab.kip? .open ./labb makes one" in writable.run(".open labb")
    assert {path.name for path in tmp_path.iterdir()} == before
    assert writable.run(NAMES).endswith("(4 rows)")
    assert writable.run(".open ./labb") == "opened ./labb at 0"
    assert (tmp_path / "labb").is_dir()


def test_more_shows_the_rows_behind_a_limit_one_after_another(driven):
    first = driven.run(f"{NAMES} LIMIT 3")
    assert first.splitlines()[-1] == "more rows follow: .more shows them" and "CURSOR" not in first
    assert driven.run(".more").splitlines()[1:] == ["-----", "chi", "(1 row)"]
    assert "there is no more" in driven.run(".more")


def test_more_reads_as_the_query_did_with_its_parameters_and_times(driven):
    driven.run('.params kind="Robot"')
    driven.run(".asof 2")
    driven.run("FIND(?r.key) WHERE { ?r {type: :kind} } ORDER BY ?r.key LIMIT 1")
    driven.run(".asof off")
    driven.run(".params clear")
    assert driven.run(".more").splitlines()[2:] == ["drone", "(1 row, as of 2)", "more rows follow: .more shows them"]
    assert driven.shell.as_of is None and driven.shell.parameters == {}


@pytest.mark.parametrize("mode", ["json", "jsonl", "csv", "tsv"])
def test_a_form_for_programs_names_the_cursor(driven, mode):
    driven.run(f".mode {mode}")
    assert 'add CURSOR "' in driven.run(f"{NAMES} LIMIT 1")


def test_a_cursor_that_is_named_goes_on_with_the_coordinates_that_were_in_force(driven):
    driven.run(".mode jsonl")
    driven.run(".asof 2")
    said = driven.run(f"{NAMES} LIMIT 3").splitlines()[-1]
    clause, cursor = said.partition("add ")[2].split(", ")
    assert clause == "AS OF SEQ 2"
    driven.run(".asof off")
    ordered = NAMES.replace(" ORDER", f" {clause} ORDER")
    assert driven.run(f"{ordered} LIMIT 3 {cursor}").splitlines()[0] == '{"p.key":"chi"}'


def test_save_keeps_what_ran_and_shows_it(driven):
    driven.run(NAMES)
    driven.run('FIND(?x) WHERE { ?x {type: "Nope"} ?b BELIEF (?missing) }')
    driven.run("ASSERT (1, 2")
    assert driven.run(".save mine") == f"saved mine: {NAMES}"
    assert driven.run(".run mine") == driven.run(NAMES)


def test_save_keeps_nothing_where_nothing_ran(driven):
    driven.run("LIST NOTHING")
    assert "no last statement" in driven.run(".save mine")


def test_a_limit_of_the_session_is_widened_in_the_session(driven):
    driven.run(".limits buffered=1")
    said = driven.run(f"{NAMES} LIMIT 3")
    assert "ResourceExhausted" in said and ".limits clear" in said and "Limits(" not in said
    driven.run(".limits clear")
    assert driven.run(NAMES).endswith("(4 rows)")


def test_a_read_only_session_says_how_it_writes(writable):
    writable.run(".readonly on")
    said = writable.run('CREATE CONCEPT ?new { TYPE "Robot" NAME "New" }')
    assert "ReadonlyViolation" in said and ".readonly off" in said and "kipql exec" not in said


@pytest.mark.parametrize(
    "entry",
    [
        ".help",
        ".schema",
        ".types",
        ".changes",
        ".explain rover stands_in",
        ".explain arm fit_for 'sorting cups'",
        ".timeline rover stands_in",
        'FIND(?r.name, ?b) WHERE { ?r {type: "Robot"} ?b BELIEF SLOT (?r, "stands_in") }',
    ],
)
def test_on_eighty_columns_nothing_runs_off_or_turns_vertical(entry):
    with lab() as nexus:
        lines = Driven(nexus, width=80).run(entry).splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line.startswith("-- 1") for line in lines)
    assert not any(re.search(r"\d…", line) for line in lines)
    assert len(lines) < 70 or entry == ".help"
