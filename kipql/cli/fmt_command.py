"""`kipql fmt`: the canonical text of a script."""

import difflib
import sys
from pathlib import Path

import click

from kipql.errors import KipError
from kipql.escape import terminal, terminal_lines


@click.command("fmt", short_help="Format .kql files.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 when a file would change.")
@click.option("--diff", is_flag=True, help="Change nothing; show what would change, exit 1 when something would.")
def command(files: tuple[str, ...], check: bool, diff: bool) -> int:
    """Rewrite .kql files in canonical form; - formats standard input to standard output.

    The exit code is 2 when a file could not be read or parsed; such a file is left alone.
    """
    code = 0
    for path in files:
        try:
            code = max(code, _file(path, check, diff))
        except KipError as error:
            _say(path, error)
            code = 2
    return code


def _file(path: str, check: bool, diff: bool) -> int:
    from kipql.lang import format as canonical
    from kipql.runtime.texts import read_text

    text = read_text(path)
    try:
        better = canonical(text)
    except KipError as error:
        raise error.in_text(text) from None
    if diff:
        shown = _diff(path, text, better)
        click.echo(terminal_lines(shown) if sys.stdout.isatty() else shown, nl=False)
    if check or diff:
        if check and better != text:
            click.echo(terminal(f"would change {path}"), err=True)
        return int(better != text)
    if path == "-":
        click.echo(better, nl=False)
    elif better != text:
        Path(path).write_text(better, encoding="utf-8")
        click.echo(terminal(f"changed {path}"), err=True)
    return 0


def _diff(path: str, text: str, better: str) -> str:
    lines = difflib.unified_diff(
        text.splitlines(keepends=True), better.splitlines(keepends=True), path, f"{path} (formatted)"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _say(path: str, error: KipError) -> None:
    from kipql.runtime.texts import place, problem_text

    click.echo(problem_text(place(path, error.text or "", error)), err=True)
