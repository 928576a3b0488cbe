"""Statements at the prompt: what is in force under every result, errors with a caret, and Ctrl-C."""

import os
import signal
import threading
import time

import pytest

from kipql.repl.running import cancellable
from tests.repl.conftest import Driven

PEOPLE = 'FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.name'
BELIEF = 'FIND(?b.basis.valid_at) WHERE { ?r {key: "rover"} ?b BELIEF SLOT (?r, "stands_in") }'


def test_elements_are_shown_by_what_names_them(driven):
    element = 'Person ada (C-1) "Ada Brunner"'
    wide = len(element)
    assert driven.run('FIND(?x, ?x.key) WHERE { ?x {key: "ada"} }').splitlines() == [
        f"{'x'.ljust(wide)}  x.key",
        f"{'-' * wide}  -----",
        f"{element}  ada",
        "(1 row)",
    ]


def test_references_are_shown_by_name(driven):
    assert "Ada Brunner (C-1)" in driven.run("FIND(?a.asserted_by) WHERE { ?a ASSERTION {} } LIMIT 1")


def test_the_coordinates_in_force_stand_in_the_prompt_and_under_every_result(driven):
    driven.run(".asof 2")
    driven.run(".fortime 2026-09-08")
    assert driven.shell.prompt == "kipql @2 for 2026-09-08> "
    assert driven.run(PEOPLE).endswith("(4 rows, as of 2, for time 2026-09-08)")
    assert "2026-09-08" in driven.run(BELIEF).splitlines()[2]
    driven.run(".mode json")
    assert driven.run(PEOPLE).endswith("(as of 2, for time 2026-09-08)")
    driven.run(".asof off")
    driven.run(".fortime off")
    assert driven.shell.prompt == "kipql> "
    driven.run(".mode table")
    assert driven.run(PEOPLE).endswith("(4 rows)")


def test_what_a_statement_says_itself_wins(driven):
    driven.run(".asof 0")
    assert "(0 rows, as of 0)" in driven.run(PEOPLE)
    assert driven.run(f"{PEOPLE} ".replace(" ORDER", " AS OF SEQ 1 ORDER")).endswith("(4 rows, .asof 0 not used)")
    driven.run(".asof off")
    driven.run(".fortime 2026-09-08")
    shown = driven.run(f'{BELIEF} FOR TIME "2026-10-01T00:00:00.000Z"')
    assert "2026-10-01" in shown
    assert shown.endswith(".fortime 2026-09-08 not used)")


def test_a_statement_that_takes_no_coordinate_says_so(driven):
    driven.run(".asof 2")
    assert driven.run("LIST TYPES LIMIT 20").splitlines()[-1].endswith("rows, .asof 2 not used)")


def test_a_write_is_at_the_head_and_says_so(writable):
    writable.run(".asof 2")
    shown = writable.run('CREATE CONCEPT ?a { TYPE "Person" NAME "X" }')
    assert shown == "committed at 10: 1 element created; ?a = C-12\n(.asof 2 not used)"


def test_as_of_a_time_is_the_last_commit_before_it(driven):
    assert "as of 0" in driven.run(".asof 2001-01-01")
    assert "as of 9" in driven.run(".asof 2999-01-01T00:00:00.000Z")


def test_an_error_is_drawn_with_a_caret_in_the_text_that_was_typed(driven):
    shown = driven.run('LIST TYPES LIMIT 1;\nFIND(?x) WHERE { ?x {type: "Robt"} }')
    assert '\nFIND(?x) WHERE { ?x {type: "Robt"} }\n' + " " * 27 + "^^^^^^\n" in shown
    assert "2:28: SchemaSymbolNotFound" in shown


def test_statements_before_the_one_that_fails_stay(writable):
    writable.run('CREATE CONCEPT ?a { TYPE "Person" NAME "X" } CREATE CONCEPT ?a { TYPE "Nothing" }')
    assert writable.shell.nexus.space_seq == 10


def test_a_field_that_nothing_has_is_warned_of(driven):
    assert driven.run("FIND(?a.nmae) WHERE { ?a CONCEPT {} } LIMIT 1").startswith("warning: ")


def test_rows_that_limit_left_out_are_announced(driven):
    assert "more rows follow" in driven.run(f"{PEOPLE} LIMIT 1")


def test_a_narrow_screen_gets_lines_that_fit(example):
    driven = Driven(example, width=40)
    for entry in (PEOPLE, ".types", ".explain rover stands_in", ".timeline rover stands_in"):
        shown = driven.run(entry)
        heading = ("at 20", "good until", "decided by", "because")
        lines = [line for line in shown.splitlines() if not line.startswith(heading)]
        assert max(map(len, lines)) <= 60, entry


SLOW = "FIND(COUNT(?a)) WHERE { ?a {} ?b {} ?c {} ?d {} ?e {} ?f {} ?g {} ?h {} }"


def interrupted_soon():
    """Ctrl-C a moment from now."""
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_ctrl_c_ends_a_query_and_not_the_session(driven):
    interrupted_soon()
    begun = time.monotonic()
    assert driven.run(SLOW) == "cancelled; the session goes on"
    assert time.monotonic() - begun < 20
    assert driven.run(PEOPLE).endswith("(4 rows)")


def test_a_cancelled_write_leaves_nothing(writable):
    interrupted_soon()
    assert "cancelled" in writable.run(f'UPDATE ?a SET FIELDS {{name: "X"}} WHERE {SLOW.partition("WHERE")[2]}')
    assert writable.shell.nexus.space_seq == 9


def test_a_call_that_fails_raises_here():
    with pytest.raises(ZeroDivisionError):
        cancellable(lambda cancel: 1 / 0)
