"""What `kipql run` and `kipql audits run` share: the options of a run, the run itself, and its reports."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

import click

from kipql.audit.report import FAIL_ON
from kipql.cli.options import db_option, open_memory, package_option, quiet_option, read_parameters, warn
from kipql.errors import KipError
from kipql.escape import terminal
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.audit.report import Report
    from kipql.audit.script import ScriptFile
    from kipql.audit.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any] | click.Command)
FORMATS = ("text", "json", "junit", "sarif", "github")
_SUMMARY = "GITHUB_STEP_SUMMARY"


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
        click.option("--lake", metavar="DIR", help="Every Space of a lake, instead of a memory."),
        click.option(
            "--space",
            "spaces",
            multiple=True,
            metavar="WORD",
            help="Only Spaces of the lake of this name, with * and ?; repeat for more.",
        ),
        click.option(
            "--engine",
            type=click.Choice(("duckdb", "spark")),
            default="duckdb",
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
            type=click.Choice(FORMATS),
            default="text",
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


def audit(scripts: "Sequence[ScriptFile]", *, write: bool = False, **given: Unpack[Given]) -> int:
    """Run scripts and report. The exit code: 0 clean, 1 findings, 2 something could not run."""
    from kipql.audit.report import limited

    if given["write_baseline"] and given["baseline"] is None:
        raise click.UsageError("--write-baseline needs --baseline FILE")
    _check_places(given, write)
    settings = _settings(given)
    report = _against_baseline(_report(scripts, settings, write, given), given)
    code = report.exit_code(given["fail_on"])
    return _publish(limited(report, given["max_findings"]), code, given)


def _check_places(given: Given, write: bool) -> None:
    """Raise click's error where options contradict each other about what is asked."""
    many = (("--fleet", given["fleet"]), ("--lake", given["lake"] is not None))
    one = (("--db", given["db"]), ("--package", given["packages"]), ("--write", write))
    several, single = ([name for name, there in names if there] for names in (many, one))
    if len(several) > 1 or (several and single):
        raise click.UsageError(f"{' and '.join((several + single)[:2])} exclude each other")
    spark = given["engine"] == "spark"
    for name, there in (("--space", given["spaces"]), ("--master", given["master"]), ("--engine spark", spark)):
        if there and given["lake"] is None:
            raise click.UsageError(f"{name} goes with --lake")
    if given["master"] is not None and not spark:
        raise click.UsageError("--master goes with --engine spark")


def _settings(given: Given) -> "Settings":
    from kipql.audit.coordinates import parse_as_of, parse_moment
    from kipql.audit.selection import Selection
    from kipql.audit.settings import Settings

    if given["timeout"] is not None and not 0 < given["timeout"] < float("inf"):
        raise click.UsageError("--timeout is a number of seconds above 0")
    return Settings(
        Selection(given["select"], given["exclude"]),
        _parameters(given),
        _parsed("--as-of", parse_as_of, given["as_of"]),
        _parsed("--now", parse_moment, given["now"]),
        given["timeout"],
        given["jobs"] or os.cpu_count() or 1,
    )


def _parsed(option: str, parse: Callable[[str], Any], text: str | None) -> Any:
    try:
        return None if text is None else parse(text)
    except KipError as error:
        raise click.UsageError(f"{option}: {error.message}; {error.hint}") from None


def _parameters(given: Given) -> dict[str, Json]:
    single = read_parameters(given["parameters"])
    if given["params"] is None:
        return single
    from kipql.audit.directives import parse_parameters
    from kipql.audit.source import read_text

    try:
        return {**parse_parameters(read_text(given["params"])), **single}
    except KipError as error:
        raise click.UsageError(f"--params: {error.message}") from None


def _report(scripts: "Sequence[ScriptFile]", settings: "Settings", write: bool, given: Given) -> "Report":
    """The report of a run, also of one where nothing can be opened."""
    from kipql.audit.fleet import clock_of
    from kipql.audit.report import Report
    from kipql.audit.run import run_scripts
    from kipql.audit.source import Problem
    from kipql.cli.audit_progress import told
    from kipql.cli.places import many_spaces

    try:
        if given["lake"] is not None or given["fleet"]:
            with told() as tell:
                return many_spaces(scripts, settings, given, tell)
        with (
            open_memory(
                given["db"], given["packages"], write=write, seconds=settings.timeout, clock=clock_of(settings.now)
            ) as nexus,
            told() as tell,
        ):
            each = None if tell is None else lambda done, total, step: tell(done, total, step.name)
            return run_scripts(nexus, scripts, settings=settings, told=each)
    except KipError as error:
        problems = (*(problem for script in scripts for problem in script.problems), Problem("", 0, 0, error))
        return Report(problems=problems, now=settings.now or "")


def _against_baseline(report: "Report", given: Given) -> "Report":
    from kipql.audit import baseline as baselines
    from kipql.audit.source import Problem

    path = given["baseline"]
    if path is None:
        return report
    try:
        writing = given["write_baseline"]
        before = baselines.NOTHING if writing and not Path(path).exists() else baselines.read_baseline(path)
        report = baselines.compared(report, before)
        if writing and not report.problems:
            baselines.write_baseline(path, baselines.baseline_text(report, before))
            report = replace(baselines.compared(report, baselines.read_baseline(path)), fixed=report.fixed)
        return report
    except KipError as error:
        return replace(report, problems=(*report.problems, Problem("", 0, 0, error)))


def _publish(report: "Report", code: int, given: Given) -> int:
    """Write every report that was asked for. The exit code, 2 when one could not be written."""
    from kipql.audit.source import problem_text

    if not given["quiet"]:
        warn(report.warnings)
    for problem in report.problems:
        click.echo(problem_text(problem), err=True)
    click.echo(rendered(report, given["form"], given["fail_on"]))
    if given["github"] and given["form"] != "github" and (said := rendered(report, "github", given["fail_on"])):
        click.echo(said)
    for path, text, mode in _files(report, given):
        try:
            with Path(path).open(mode, encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            click.echo(terminal(f"{path} can not be written: {error.strerror or error}"), err=True)
            code = 2
    return code


def _files(report: "Report", given: Given) -> Iterator[tuple[str, str, str]]:
    """Path, text and mode of each file."""
    for form, path in (("junit", given["junit"]), ("sarif", given["sarif"]), ("json", given["json"])):
        if path is not None:
            yield path, f"{rendered(report, form, given['fail_on']).rstrip()}\n", "w"
    if given["github"] and (path := os.environ.get(_SUMMARY)):
        yield path, rendered(report, "summary", given["fail_on"]), "a"


def rendered(report: "Report", form: str, fail_on: str) -> str:
    """A report in one form."""
    if form == "text":
        from kipql.audit.reports.text import report_text

        return report_text(report)
    if form == "github":
        from kipql.audit.reports.github import report_github

        return report_github(report)
    if form == "junit":
        from kipql.audit.reports.junit import report_junit

        return report_junit(report, fail_on).rstrip("\n")
    if form == "sarif":
        from kipql.audit.reports.sarif import report_sarif

        return report_sarif(report, fail_on)
    if form == "summary":
        from kipql.audit.reports.summary import report_summary

        return report_summary(report, fail_on)
    from kipql.audit.reports.as_json import report_json

    return report_json(report, fail_on)


def read_scripts(paths: Iterable[str]) -> "list[ScriptFile]":
    """The scripts of the files; what is wrong with one is its problem."""
    from kipql.audit.script import read_script

    return [read_script(path) for path in paths]
