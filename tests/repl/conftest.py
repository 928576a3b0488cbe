"""A shell on the example memory: called directly, through a pipe of prompt_toolkit, or through a pipe of the system."""

import io
import json
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

import kipql
from kipql.repl.console import Console
from kipql.repl.lines import run_entry
from kipql.repl.shell import Leave, Settings, Shell

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def lab(path=None):
    """The laboratory of docs/examples: Rover is C-5, Ada is C-1, nine commits."""
    nexus = kipql.open(path, packages=[json.loads((EXAMPLES / "lab.json").read_text("utf-8"))])
    for part in kipql.split((EXAMPLES / "lab.kql").read_text("utf-8")):
        nexus.execute(part.text)
    return nexus


class Driven:
    """A shell with what it wrote; `run` gives the new output of one entry."""

    def __init__(self, nexus, path=None, width=None):
        self.out = io.StringIO()
        console = Console(self.out, self.out)
        if width:
            console = _Narrow(self.out, width)
        self.shell = Shell(nexus, console, path, settings=Settings(timing=False))

    def run(self, entry):
        at = len(self.out.getvalue())
        try:
            run_entry(self.shell, entry)
        except Leave:
            return "left"
        return self.out.getvalue()[at:].rstrip("\n")


class _Narrow(Console):
    def __init__(self, out, width):
        super().__init__(out, out)
        self._columns = width

    @property
    def width(self):
        return self._columns


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """History and saved queries go to a folder of the test."""
    monkeypatch.setenv("KIPQL_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="module")
def example():
    """The example memory, for tests that only read."""
    with lab() as nexus:
        yield nexus


@pytest.fixture
def driven(example):
    return Driven(example.readonly())


@pytest.fixture
def writable():
    with lab() as nexus:
        yield Driven(nexus)


@pytest.fixture
def typed(monkeypatch):
    """`typed(shell, keys)`: a session at the prompt that gets these keys and then Ctrl-D."""
    from kipql.repl.prompting import run_interactive

    def session(shell, keys):
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
            pipe.send_text(keys + "\x04")
            return run_interactive(shell, input=pipe, output=DummyOutput())

    return session
