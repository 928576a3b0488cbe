"""Options that several commands share, and what they mean."""

import json
import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from kipql.cli.files import read_json
from kipql.errors import KipError
from kipql.values import Json, members_once

if TYPE_CHECKING:
    from kipql import Nexus
    from kipql.runtime.texts import Problem

Command = TypeVar("Command", bound=Callable[..., Any] | click.Command)

db_option = click.option("--db", metavar="DB", help="The folder of the memory; without it, an empty one in memory.")
package_option = click.option(
    "--package",
    "packages",
    multiple=True,
    metavar="PACKAGE",
    help="A schema package to activate: a JSON file, or the ref of a shipped one; repeat for more.",
)
readonly_option = click.option("--readonly", is_flag=True, help="Refuse every mutation.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print no warnings and no notes.")


class Given(TypedDict):
    """What the options of `query` and `exec` give."""

    db: str | None
    packages: tuple[str, ...]
    text: str | None
    path: str | None
    parameters: tuple[str, ...]
    form: str
    wide: bool
    quiet: bool


def statement_options(command: Command) -> Command:
    """The options of `query` and `exec`, in the order of their help."""
    options = (
        db_option,
        package_option,
        click.option("-c", "--command", "text", metavar="TEXT", help="The statements themselves."),
        click.option("-f", "--file", "path", metavar="FILE", help="A file of statements; - is standard input."),
        click.option(
            "-p", "--param", "parameters", multiple=True, metavar="NAME=JSON", help="A parameter; repeat for more."
        ),
        click.option(
            "--format",
            "form",
            type=click.Choice(["table", "json", "jsonl", "csv"]),
            default="table",
            show_default=True,
            help="How rows are written.",
        ),
        click.option("--wide", is_flag=True, help="Cut no value of a table."),
        quiet_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


def open_memory(
    db: str | None,
    packages: Iterable[str] = (),
    *,
    write: bool,
    seconds: float | None = None,
    clock: Callable[[], datetime] | None = None,
) -> "Nexus":
    """The memory of a command, with packages activated. Only a writing command makes a folder that is missing.

    seconds  the most that a statement may take, also when it is more than the default
    clock    what time it is there
    """
    import kipql

    loaded = [read_package(package) for package in packages]
    limits = None if seconds is None else kipql.Limits(seconds=seconds)
    if db is None:
        nexus = kipql.open(packages=loaded, limits=limits, clock=clock)
        return nexus if write else nexus.readonly()
    return kipql.open(db, readonly=not write, packages=loaded, limits=limits, clock=clock)


def note_unkept(db: str | None) -> None:
    """Say on standard error that what a command wrote ended with it: a forgotten --db looks like success."""
    if db is None:
        click.echo("note: nothing was kept; --db DB names the memory to write to", err=True)


def read_package(package: str) -> Json:
    """A ref as it is, else the artifact in a JSON file."""
    if package.startswith("kip://"):
        return package
    artifact = read_json(package, mark=True)
    if not isinstance(artifact, dict):
        raise KipError("ArtifactParseError", f"{package} holds no schema package: it is not one JSON object")
    return artifact


def read_parameters(pairs: Iterable[str]) -> dict[str, Json]:
    """`name=json` pairs as parameters. Raises click's error for a malformed one (exit code 2)."""
    parameters = {}
    for pair in pairs:
        name, separator, text = pair.partition("=")
        name = name.removeprefix(":")
        if not separator or not name:
            raise click.UsageError(f"--param takes NAME=JSON, not {pair!r}")
        if name in parameters:
            raise click.UsageError(f"--param {name} is given twice")
        try:
            parameters[name] = json.loads(text, object_pairs_hook=members_once)
        except (ValueError, RecursionError) as error:
            shown = text if len(text) <= 60 else f"{text[:60]}..."
            raise click.UsageError(
                f"--param {name}: {shown!r} is not JSON ({error}); a string needs quotes: {name}='\"...\"'"
            ) from None
    return parameters


def read_statements(text: str | None, path: str | None) -> tuple[str, str]:
    """The statements of a command and the name of where they are from: -c, -f, else standard input."""
    from kipql.runtime.texts import read_text

    if text is not None and path is not None:
        raise click.UsageError("give -c or -f, not both")
    if text is not None:
        return text, ""
    source = path or "-"
    if source == "-" and path is None and sys.stdin.isatty():
        raise click.UsageError("nothing to do: give -c TEXT, -f FILE, or text on standard input")
    return read_text(source), "" if source == "-" else source


def in_file(error: KipError, path: str, text: str) -> int:
    """Report an error of the statements of a file with the file's name; others are raised. The exit code."""
    if not path:
        raise error
    from kipql.runtime.texts import place, problem_text

    click.echo(problem_text(place(path, text, error)), err=True)
    return 2


def warn(problems: Iterable["Problem"]) -> None:
    """What is hardly meant, on standard error; it decides nothing."""
    from kipql.runtime.texts import problem_text

    for problem in problems:
        click.echo(f"warning: {problem_text(problem)}", err=True)
