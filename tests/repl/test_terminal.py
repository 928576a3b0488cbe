"""A real terminal: the shell in tmux, keys typed, the screen read."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.repl.conftest import lab

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")]


class Terminal:
    """A shell in a tmux window of a given size."""

    def __init__(self, socket, folder, home, columns, environment=""):
        self._tmux = ["tmux", "-S", str(socket)]
        program = f"{shlex.quote(sys.executable)} -m kipql.cli.main {shlex.quote(str(folder))}"
        variables = f"KIPQL_HOME={shlex.quote(str(home))} PYTHONPATH={shlex.quote(str(ROOT))} {environment}"
        self._call("new-session", "-d", "-x", str(columns), "-y", "40", f"env {variables} {program}")
        self.wait("lab>")

    def _call(self, *words):
        env = {**os.environ, "TERM": "xterm-256color"}
        return subprocess.run([*self._tmux, *words], check=True, capture_output=True, text=True, env=env).stdout

    def type(self, *keys):
        self._call("send-keys", *keys)

    def screen(self, *options):
        return self._call("capture-pane", "-p", *options)

    def wait(self, text):
        for _ in range(150):
            if text in self.screen():
                return self.screen()
            time.sleep(0.1)
        raise AssertionError(f"{text!r} is not on the screen:\n{self.screen()}")

    def close(self):
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)


@pytest.fixture
def terminal(tmp_path):
    lab(tmp_path / "lab.kip").close()
    opened = []

    def make(columns=90, environment=""):
        opened.append(Terminal(tmp_path / "socket", tmp_path / "lab.kip", tmp_path / "home", columns, environment))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def test_a_first_question(terminal):
    window = terminal()
    window.type("-l", 'FIND(?p.name) WHERE { ?p {type: "Pers')
    window.wait('"Person"')
    window.type("Tab")
    window.type("-l", "} } ORDER BY ?p.name")
    window.type("Enter")
    screen = window.wait("(4 rows, ")
    assert "p.name\n---------------\nAda Brunner\nBen Okafor\nChi Tran\nthe lab's agent\n(4 rows, " in screen


def test_half_a_statement_waits_and_coordinates_stand_in_the_prompt(terminal):
    window = terminal()
    window.type("-l", "FIND(COUNT(?c))")
    window.type("Enter")
    window.wait("...")
    window.type("-l", "WHERE { ?c CONCEPT {} }")
    window.type("Enter")
    window.wait("(1 row, ")
    window.type("-l", ".asof 0")
    window.type("Enter")
    window.wait("lab @0>")


def test_a_narrow_terminal_and_no_colour(terminal):
    window = terminal(columns=40, environment="NO_COLOR=1")
    window.type("-l", ".types Rob")
    window.type("Enter")
    window.wait("Robot")
    window.type("-l", "FIND(?x")
    time.sleep(0.5)
    assert "FIND(?x" in window.screen()
    assert not any(f"3{colour}m" in window.screen("-e") for colour in range(1, 7))


def test_ctrl_c_ends_a_running_query(terminal):
    window = terminal()
    window.type("-l", "FIND(COUNT(?a)) WHERE { ?a {} ?b {} ?c {} ?d {} ?e {} ?f {} ?g {} ?h {} }")
    window.type("Enter")
    for _ in range(20):  # pressed before the query runs, it would only clear the line
        time.sleep(0.5)
        window.type("C-c")
        if "cancelled; the session goes on" in window.screen():
            break
    assert "cancelled; the session goes on" in window.wait("session goes on")
