"""The options of an audit, which `kipql run` and `kipql audits run` share, and what they give."""

from collections.abc import Callable
from typing import Any, TypedDict, TypeVar

import click

from kipql.audit.report import FAIL_ON
from kipql.audit.reports import FORMATS, TEXT
from kipql.cli.options import db_option, package_option, quiet_option

Command = TypeVar("Command", bound=Callable[..., Any] | click.Command)
ENGINES = DUCKDB, SPARK = ("duckdb", "spark")  # those of `kipql.lake`, which is not loaded for --help


class Given(TypedDict):
    """What the options give."""

    db: str | None
    fleet: tuple[str, ...]
    lake: str | None
    spaces: tuple[str, ...]
    engine: str
    master: str | None
    packages: tuple[str, ...]
    select: tuple[str, ...]
    exclude: tuple[str, ...]
    parameters: tuple[str, ...]
    params: str | None
    as_of: str | None
    now: str | None
    jobs: int
    timeout: float | None
    max_findings: int | None
    fail_on: str
    baseline: str | None
    write_baseline: bool
    form: str
    junit: str | None
    sarif: str | None
    json: str | None
    github: bool
    quiet: bool


def audit_options(command: Command) -> Command:
    """The options of a run, in the order of their help."""
    options = (
        db_option,
        click.option(
            "--fleet",
            multiple=True,
            metavar="PATTERN",
            help="Every memory of a quoted pattern, or in a folder, instead of one; repeat for more.",
        ),
        click.option("--lake", metavar="DIR", help="Every Space of a lake, instead of a memory; needs the extra lake."),
        click.option(
            "--space",
            "spaces",
            multiple=True,
            metavar="WORD",
            help="Only Spaces of the lake of this name, with * and ?; repeat for more.",
        ),
        click.option(
            "--engine",
            type=click.Choice(ENGINES),
            default=DUCKDB,
            show_default=True,
            help="What runs a lake's queries.",
        ),
        click.option("--master", metavar="URL", help="Where Spark is: local[2], spark://HOST:PORT, sc://HOST:PORT."),
        package_option,
        click.option(
            "--select",
            multiple=True,
            metavar="WORD",
            help="Run only checks of this name or tag, with * and ? as in file names; repeat for more.",
        ),
        click.option("--exclude", multiple=True, metavar="WORD", help="Leave out such checks; repeat for more."),
        click.option(
            "-p", "--param", "parameters", multiple=True, metavar="NAME=JSON", help="A parameter; repeat for more."
        ),
        click.option("--params", metavar="FILE", help="Parameters as one JSON object; - is standard input."),
        click.option("--as-of", metavar="SEQ|TIME", help="Ask the memory as it was after a commit, or at a time."),
        click.option("--now", metavar="TIME", help="The time it is, for beliefs, :now and suppressions."),
        click.option(
            "--jobs",
            type=click.IntRange(0),
            default=1,
            show_default=True,
            help="How many run at once; 0: one a processor.",
        ),
        click.option("--timeout", type=float, metavar="SECONDS", help="The most a statement may take; default 60."),
        click.option(
            "--fail-on",
            type=click.Choice(FAIL_ON),
            default="warning",
            show_default=True,
            help="The least severity of a finding that makes the exit code 1.",
        ),
        click.option("--max-findings", type=click.IntRange(0), metavar="N", help="List at most N findings a check."),
        click.option("--baseline", metavar="FILE", help="Known findings: only others count."),
        click.option("--write-baseline", is_flag=True, help="Write what is found to the --baseline file."),
        click.option(
            "--format",
            "form",
            type=click.Choice(tuple(FORMATS)),
            default=TEXT,
            show_default=True,
            help="How to report on standard output.",
        ),
        click.option("--junit", metavar="FILE", help="Write a JUnit report, too."),
        click.option("--sarif", metavar="FILE", help="Write a SARIF 2.1.0 report, too."),
        click.option("--json", metavar="FILE", help="Write a JSON report, too."),
        click.option("--github", is_flag=True, help="Annotate, too, and add to $GITHUB_STEP_SUMMARY where it is set."),
        quiet_option,
    )
    for option in reversed(options):
        command = option(command)
    return command
