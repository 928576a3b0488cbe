"""docs/shell.md is held to the registry of commands and to the modes."""

import re
from pathlib import Path

from kipql.render.modes import MODES
from kipql.repl.registry import commands

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "shell.md").read_text("utf-8")


def test_the_list_of_commands_is_what_help_shows(driven):
    assert f"```text\n{driven.run('.help')}\n```\n" in PAGE


def test_every_mode_is_described():
    assert [mode for mode in MODES if f"`{mode}`" not in PAGE] == []


def test_every_command_that_the_page_names_exists():
    named = set(re.findall(r"`\.([a-z]+)", PAGE))
    assert named <= {each.name for each in commands()}


def test_every_command_has_one_sentence_of_help():
    for each in commands():
        assert re.fullmatch(r"[A-Z][^\n]*\.", each.help), each.name
