"""`kipql audits`: the audits that come with kipql."""

from typing import Unpack

import click

from kipql.cli.audit_options import Given, audit_options
from kipql.cli.auditing import audit


@click.group("audits", short_help="List, show and run the ready audits.")
def command() -> None:
    """The ready audits: what to look for in any memory, each a script to run or to copy."""


@command.command("list", short_help="List the audits and what each looks for.")
def list_command() -> None:
    """List the audits: name, severity and tags of each check, and what it looks for."""
    from kipql.audit import library
    from kipql.escape import terminal

    for name in library.names():
        click.echo(f"{name}: {terminal(library.about(name))}")
        for step in library.script(name).steps:
            said = step.directives
            needs = f"; needs {', '.join(said.requires)}" if said.requires else ""
            click.echo(f"    {step.name} ({said.severity}; {', '.join(said.tags)}{needs})")


@command.command("show", short_help="Show the script of an audit.")
@click.argument("names", nargs=-1, required=True, metavar="AUDIT...")
def show_command(names: tuple[str, ...]) -> None:
    """Show the script of an audit, to read it or to start one of your own from it."""
    from kipql.audit import library

    for name in names:
        click.echo(library.text(name), nl=False)


@command.command("run", short_help="Run ready audits; without names, all of them.")
@click.argument("names", nargs=-1, metavar="[AUDIT...]")
@audit_options
def run_command(names: tuple[str, ...], **given: Unpack[Given]) -> int:
    """Run audits over a memory; without names, all of them.

    A check whose package is not active in the memory is skipped: there is nothing for it to find. Over a lake those
    that read what only a memory computes (tag `computed`) are left out, unless named. Exit codes and reports are those
    of `kipql run`.
    """
    from kipql.audit import library
    from kipql.escape import terminal

    scripts = [library.script(name) for name in dict.fromkeys(names or library.names())]
    if given["lake"] is not None and not names:
        left_out = [one for one in scripts if any(COMPUTED in step.directives.tags for step in one.steps)]
        scripts = [one for one in scripts if one not in left_out]
        if not given["quiet"]:
            told = ", ".join(sorted(step.directives.check or "" for one in left_out for step in one.steps))
            click.echo(terminal(f"note: left out, since only a memory computes what they read: {told}"), err=True)
    return audit(scripts, **given)


COMPUTED = "computed"
