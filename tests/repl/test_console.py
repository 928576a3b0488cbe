"""Where answers go: the screen, a pager when they are longer than it, a file."""

import io

import click
import pytest

from kipql.repl.console import Console


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def paged(monkeypatch):
    pages = []
    monkeypatch.setattr(click, "echo_via_pager", pages.append)
    return pages


@pytest.mark.parametrize(
    ("interactive", "pager", "lines", "expected"),
    [
        (True, True, 500, 1),
        (True, True, 3, 0),
        (True, False, 500, 0),
        (False, True, 500, 0),
    ],
)
def test_only_a_person_with_a_full_screen_gets_a_pager(paged, interactive, pager, lines, expected):
    console = Console(Screen(), Screen(), interactive=interactive)
    console.pager = pager
    console.show("x\n" * lines)
    assert len(paged) == expected
    assert bool(console.out.getvalue()) != bool(expected)


def test_a_file_of_answers_is_appended_to_and_gets_no_notes(tmp_path):
    console = Console(io.StringIO(), io.StringIO())
    (tmp_path / "f").write_text("before\n")
    console.redirect(str(tmp_path / "f"))
    console.show("rows")
    console.note("(1 row)")
    console.close()
    assert (tmp_path / "f").read_text() == "before\nrows\n"
    assert console.out.getvalue() == "(1 row)\n"


def test_remarks_of_a_pipe_go_to_the_other_stream():
    console = Console(io.StringIO(), io.StringIO())
    console.aside("careful")
    assert (console.out.getvalue(), console.err.getvalue()) == ("", "careful\n")
