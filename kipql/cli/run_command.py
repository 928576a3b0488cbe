"""`kipql run`: scripts and their audits."""

import click

from kipql.audit.report import FAIL_ON
from kipql.cli.options import db_option, open_memory, package_option, quiet_option, readonly_option, warn


@click.command("run", short_help="Run .kql scripts: audits, and with --write also mutations.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@db_option
@package_option
@click.option("--write", is_flag=True, help="Allow mutations; without it a mutation is something that could not run.")
@readonly_option
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Run only checks with this tag; repeat for more.")
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default="warning",
    show_default=True,
    help="The least severity of a finding that makes the exit code 1.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to report."
)
@quiet_option
@click.pass_obj
def command(
    readonly_given: bool,
    files: tuple[str, ...],
    db: str | None,
    packages: tuple[str, ...],
    write: bool,
    readonly: bool,
    tags: tuple[str, ...],
    fail_on: str,
    form: str,
    quiet: bool,
) -> int:
    """Run the statements of .kql files in order; - is standard input.

    A statement with `//!` directives before it is a check, and what it finds is reported. The exit code is
    0 when nothing was found, 1 for findings, and 2 when something could not run, which outranks 1.
    """
    from kipql.audit.output import report_json, report_text
    from kipql.audit.run import run_scripts
    from kipql.audit.script import read_script
    from kipql.audit.source import problem_text

    if write and (readonly or readonly_given):
        raise click.UsageError("--write and --readonly exclude each other")
    scripts = [read_script(path) for path in files]
    with open_memory(db, packages, write=write) as nexus:
        report = run_scripts(nexus, scripts, tags=tags)
    code = report.exit_code(fail_on)
    if not quiet:
        warn(report.warnings)
    for problem in report.problems:
        click.echo(problem_text(problem), err=True)
    click.echo(report_json(report, code) if form == "json" else report_text(report))
    return code
