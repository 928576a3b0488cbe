"""docs/audits.md names every directive, option, report and ready audit, and no other."""

import re
from pathlib import Path

import pytest

from kipql.audit import library
from kipql.audit.directives import NAMES
from kipql.audit.reports import FORMATS
from kipql.cli.run_command import command

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "audits.md").read_text(encoding="utf-8")


def table(heading):
    """The first cells of the table under a line that begins so."""
    rows = PAGE[PAGE.index(heading) :].split("\n\n", 1)[0].splitlines()[2:]
    return [re.findall(r"`([^`]+)`", row.split(" | ")[0])[0] for row in rows]


def test_every_directive_is_documented():
    assert sorted(table("| directive |")) == sorted(f"{name}:" for name in NAMES)


def test_every_ready_audit_is_documented():
    assert sorted(table("| audit |")) == list(library.names())


@pytest.mark.parametrize(
    "option", [param.opts[-1] for param in command.params if param.name not in ("files", "readonly")]
)
def test_every_option_of_a_run_is_documented(option):
    if option not in ("--db", "--package", "--quiet"):  # what every command has (docs/cli.md)
        assert re.search(rf"{option}\b" if option != "--param" else r"-p NAME=JSON", PAGE)


def test_every_format_is_documented():
    line = next(line for line in PAGE.splitlines() if line.startswith("| `--format text` |"))
    assert set(re.findall(r"`(\w+)`", line)) | {"text"} == set(FORMATS)
