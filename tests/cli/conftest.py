"""Calling the command line in this process: exit code, standard output, standard error."""

import io
import sys
from typing import NamedTuple

import pytest

from kipql.cli.main import main


class Called(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def kipql(capsys, monkeypatch):
    """`kipql("query", "-c", TEXT, stdin=...)` runs the command."""

    def call(*arguments, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Called(code, captured.out, captured.err)

    return call


@pytest.fixture
def memory(kipql, tmp_path):
    """The folder of a memory with two people."""
    folder = tmp_path / "brain.kip"
    text = """
    MUTATE {
      CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" SET FIELDS { key: "ada" } }
      CREATE CONCEPT ?b { TYPE "Person" NAME "Bo" SET FIELDS { key: "bo" } }
    }
    """
    called = kipql("exec", "--db", folder, stdin=text)
    assert called.code == 0, called.err
    return folder
