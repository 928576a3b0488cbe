"""What `kipql run` and `kipql audits run` share: the run itself, and its reports."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from kipql.audit.reports import GITHUB, JSON, JUNIT, SARIF, SUMMARY, rendered
from kipql.cli.audit_options import SPARK, Given
from kipql.cli.options import open_memory, read_parameters, warn
from kipql.errors import KipError
from kipql.escape import terminal
from kipql.limits import hinted
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.audit.report import Report
    from kipql.audit.script import ScriptFile
    from kipql.audit.settings import Settings

_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


def audit(scripts: "Sequence[ScriptFile]", *, write: bool = False, **given: Unpack[Given]) -> int:
    """Run scripts and report. The exit code: 0 clean, 1 findings, 2 something could not run."""
    from kipql.audit.report import limited

    if given["write_baseline"] and given["baseline"] is None:
        raise click.UsageError("--write-baseline needs --baseline FILE")
    _check_places(given, write)
    _check_files(given)
    settings = _settings(given)
    if not (write or given["quiet"] or given["db"] or given["fleet"] or given["lake"]):
        click.echo("note: no --db: an empty memory in this process is audited", err=True)
    report = _against_baseline(_report(scripts, settings, write, given), given)
    code = report.exit_code(given["fail_on"])
    return _publish(limited(report, given["max_findings"]), code, given)


def _check_places(given: Given, write: bool) -> None:
    """Raise click's error where options contradict each other about what is asked."""
    named = (("--db", (given["db"],)), ("--fleet", given["fleet"]), ("--lake", (given["lake"],)))
    for name, words in (*named, ("--space", given["spaces"])):
        if "" in words:  # an unset variable of a shell: it must not mean the folder that one is in
            raise click.UsageError(f"{name} is given and empty")
    many = (("--fleet", given["fleet"]), ("--lake", given["lake"] is not None))
    one = (("--db", given["db"]), ("--package", given["packages"]), ("--write", write))
    several, single = ([name for name, there in names if there] for names in (many, one))
    if len(several) > 1 or (several and single):
        raise click.UsageError(f"{' and '.join((several + single)[:2])} exclude each other")
    spark = given["engine"] == SPARK
    for name, there in (("--space", given["spaces"]), ("--master", given["master"]), ("--engine spark", spark)):
        if there and given["lake"] is None:
            raise click.UsageError(f"{name} goes with --lake")
    if given["master"] is not None and not spark:
        raise click.UsageError("--master goes with --engine spark")


def _check_files(given: Given) -> None:
    """Raise click's error where two reports, or a report and the baseline, are one file."""
    first: dict[str, str] = {}
    named = {"--baseline": given["baseline"], "--junit": given["junit"], "--sarif": given["sarif"]}
    for option, path in (*named.items(), ("--json", given["json"])):
        if path is None or (Path(path).exists() and not Path(path).is_file()):
            continue  # /dev/null takes them all
        if (other := first.setdefault(os.path.realpath(path), option)) != option:
            raise click.UsageError(f"{other} and {option} name one file")


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
    from kipql.runtime.texts import read_text

    try:
        return {**parse_parameters(read_text(given["params"])), **single}
    except KipError as error:
        raise click.UsageError(f"--params: {error.message}") from None


def _report(scripts: "Sequence[ScriptFile]", settings: "Settings", write: bool, given: Given) -> "Report":
    """The report of a run, also of one where nothing can be opened."""
    from kipql.audit.fleet import clock_of
    from kipql.audit.report import Report
    from kipql.audit.run import run_scripts
    from kipql.cli import places
    from kipql.cli.audit_progress import told
    from kipql.runtime.texts import Problem

    try:
        if given["lake"] is not None:
            asked = places.Asked(given["lake"], given["engine"], given["master"], given["spaces"])
            with told() as tell:
                return places.audit_lake(scripts, settings, asked, tell)
        if given["fleet"]:
            with told() as tell:
                return places.audit_fleet(scripts, settings, given["fleet"], tell)
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
    from kipql.runtime.texts import Problem

    path = given["baseline"]
    if path is None:
        return report
    writing = given["write_baseline"]
    try:
        before = baselines.NOTHING if writing and not Path(path).exists() else baselines.read_baseline(path)
        report = baselines.compared(report, before)
        if writing and report.problems and not given["quiet"]:
            click.echo("note: the baseline is not written, since something could not run", err=True)
        if writing and not report.problems:
            baselines.write_baseline(path, baselines.baseline_text(report, before))
            report = replace(baselines.compared(report, baselines.read_baseline(path)), fixed=report.fixed)
        return report
    except KipError as error:
        missing = not writing and not Path(path).exists()
        told = hinted(error, "--write-baseline makes it of what is found now") if missing else error
        return replace(report, problems=(*report.problems, Problem("", 0, 0, told)))


def _publish(report: "Report", code: int, given: Given) -> int:
    """Write every report that was asked for. The exit code, 2 when one could not be written."""
    from kipql.runtime.texts import problem_texts

    if not given["quiet"]:
        warn(report.warnings)
        if said := _before_all(report, given):
            click.echo(terminal(f"note: {said}"), err=True)
    for wrong in problem_texts(report.problems):
        click.echo(wrong, err=True)
    click.echo(rendered(report, given["form"], given["fail_on"]))
    if given["github"] and given["form"] != GITHUB and (said := rendered(report, GITHUB, given["fail_on"])):
        click.echo(said)
    for path, text, mode in _files(report, given):
        try:
            with Path(path).open(mode, encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            click.echo(terminal(f"{path} can not be written: {error.strerror or error}"), err=True)
            code = 2
    return code


def _before_all(report: "Report", given: Given) -> str | None:
    """What is said where nothing had been written yet at the instant of `--as-of`: checks pass there for nothing."""
    if given["as_of"] is None or given["as_of"].isdigit():
        return None
    if not report.spaces:
        return f"nothing was written yet at {given['as_of']}" if report.at == 0 else None
    young = sum(space.at == 0 for space in report.spaces)
    return f"{young} of {len(report.spaces)} Spaces had nothing written yet at {given['as_of']}" if young else None


def _files(report: "Report", given: Given) -> Iterator[tuple[str, str, str]]:
    """Path, text and mode of each file."""
    for form, path in ((JUNIT, given["junit"]), (SARIF, given["sarif"]), (JSON, given["json"])):
        if path is not None:
            yield path, f"{rendered(report, form, given['fail_on']).rstrip()}\n", "w"
    if given["github"] and (path := os.environ.get(_STEP_SUMMARY)):
        yield path, rendered(report, SUMMARY, given["fail_on"]), "a"


def read_scripts(paths: Iterable[str]) -> "list[ScriptFile]":
    """The scripts of the files, each once however it is named; what is wrong with one is its problem."""
    from kipql.audit.script import read_script

    once: dict[str, str] = {}
    for path in paths:
        once.setdefault(path if path == "-" else os.path.realpath(path), path)
    return [read_script(path) for path in once.values()]
