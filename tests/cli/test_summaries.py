"""The help of a narrow terminal: every summary of a command is whole; the habits of other shells get their way told."""

import click
import pytest
from click.testing import CliRunner

from kipql.cli.main import COMMANDS, cli


def groups(command, path=()):
    """Every group of the command line, with the words that call it."""
    if isinstance(command, click.Group):
        yield path
        for name in command.list_commands(click.Context(command)):
            yield from groups(command.get_command(click.Context(command), name), (*path, name))


@pytest.mark.parametrize("path", [path for path in groups(cli) if path], ids=" ".join)
def test_no_summary_is_cut_at_eighty_columns(path):
    said = CliRunner().invoke(cli, [*path, "-h"], prog_name="kipql", terminal_width=80, max_content_width=80).output
    listed = said.partition("Commands:\n")[2]
    assert listed.strip() and "..." not in listed
    assert max(map(len, said.splitlines())) <= 80


def test_there_are_groups():
    assert {path[0] for path in groups(cli) if len(path) == 1} >= {"audits", "package", "memory"} <= set(COMMANDS)


@pytest.mark.parametrize("arguments", [["-c", "LIST TYPES"], ["LIST TYPES"], ["-f", "x.kql"], ["--format", "json"]])
def test_a_statement_for_the_shell_is_sent_to_query(kipql, memory, arguments):
    called = kipql(memory, *arguments)
    assert (called.code, called.out) == (2, "")
    assert f"kipql query --db {memory} -c" in called.err and "Usage: kipql [OPTIONS] [DB]\n" in called.err


def test_another_mistake_stays_what_it_is(kipql, memory):
    called = kipql(memory, "--nope")
    assert called.code == 2 and "--nope" in called.err and "query" not in called.err


def test_the_help_of_the_shell_has_its_usage(kipql, memory):
    assert kipql(memory, "--help").out.startswith("Usage: kipql [OPTIONS] [DB]\n")


def test_a_misspelt_memory_is_told_what_is_beside_it(kipql, memory, monkeypatch):
    monkeypatch.chdir(memory.parent)
    called = kipql("brian")
    assert called.code == 2 and "did you mean 'brain.kip'?" in called.err
    assert [path.name for path in memory.parent.iterdir()] == [memory.name]
