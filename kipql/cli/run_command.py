"""`kipql run`: scripts and their audits."""

from pathlib import Path
from typing import Unpack

import click

from kipql.cli.audit_options import Given, audit_options
from kipql.cli.auditing import audit, read_scripts
from kipql.cli.options import readonly_option


@click.command("run", short_help="Run .kql scripts: audits, and with --write also mutations.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--write", is_flag=True, help="Allow mutations; without it a mutation is something that could not run.")
@readonly_option
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="The same as --select tag:TAG.")
@audit_options
@click.pass_obj
def command(
    readonly_given: bool,
    files: tuple[str, ...],
    write: bool,
    readonly: bool,
    tags: tuple[str, ...],
    **given: Unpack[Given],
) -> int:
    """Run the statements of .kql files in order; - is standard input.

    A statement with `//!` directives before it is a check, and what it finds is reported. The exit code is
    0 when nothing was found, 1 for findings, and 2 when something could not run, which outranks 1.
    """
    if write and (readonly or readonly_given):
        raise click.UsageError("--write and --readonly exclude each other")
    for option, is_given in (("--jobs", given["jobs"] != 1), ("--as-of", given["as_of"]), ("--now", given["now"])):
        if write and is_given:
            raise click.UsageError(f"--write and {option} exclude each other")
    if given["fleet"] and any((Path(file) / "nexus" / "memory.json").exists() for file in files):
        raise click.UsageError("a memory is not a script: quote the pattern of --fleet, so that kipql expands it")
    given["select"] = (*given["select"], *(f"tag:{tag}" for tag in tags))
    return audit(read_scripts(files), write=write, **given)
