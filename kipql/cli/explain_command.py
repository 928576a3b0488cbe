"""`kipql explain`: how the queries of scripts run, operator by operator, and what it costs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from kipql.cli.options import db_option, open_memory, package_option, read_parameters
from kipql.errors import KipError
from kipql.escape import json_text, terminal
from kipql.values import Json

if TYPE_CHECKING:
    from kipql import Nexus
    from kipql.audit.script import ScriptFile, Step
    from kipql.runtime.texts import Problem

_HEAD = ("operator", "estimated", "starts", "rows")


@click.command("explain", short_help="Show how the queries of .kql files run and what they cost.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@db_option
@package_option
@click.option("-p", "--param", "parameters", multiple=True, metavar="NAME=JSON", help="A parameter; repeat for more.")
@click.option("--plan-only", is_flag=True, help="Run nothing; show the plans.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def command(
    files: tuple[str, ...],
    db: str | None,
    packages: tuple[str, ...],
    parameters: tuple[str, ...],
    plan_only: bool,
    as_json: bool,
) -> int:
    """Show each query of .kql files as its plan; - is standard input.

    Operators stand in the order they run, each with the candidates that were estimated for it, how often it began and
    how many solutions it passed on.

    The queries are run, and nothing is written. What has no plan (META, mutations) is passed over; a query without a
    value for one of its parameters is not run. The exit code is 2 when something could not be explained.
    """
    from datetime import UTC, datetime

    from kipql.audit.script import read_script

    given = {"now": datetime.now(UTC), **read_parameters(parameters)}
    found: list[dict[str, Any]] = []
    code = 0
    with open_memory(db, packages, write=False) as nexus:
        for path in files:
            for entry in _entries(nexus, read_script(path), given, run=not plan_only):
                code = max(code, 2 if "error" in entry else 0)
                if as_json:
                    found.append(_data(entry))
                else:
                    _show(entry)
    if as_json:
        click.echo(json_text({"statements": found}, indent=2))
    return code


def _entries(nexus: "Nexus", script: "ScriptFile", given: dict[str, Any], *, run: bool) -> Iterator[dict[str, Any]]:
    """Each query of a script with its plan, and each thing that is wrong, in order of place."""
    entries: list[dict[str, Any]] = [
        {"file": script.path, "line": problem.line, "error": problem} for problem in script.problems
    ]
    entries += [
        {"file": script.path, "line": step.line, "name": step.name if step.directives.is_check else None}
        | _examined(nexus, script, step, given, run)
        for step in script.steps
        if step.language == "KQL"
    ]
    yield from sorted(entries, key=lambda entry: entry["line"])


def _examined(nexus: "Nexus", script: "ScriptFile", step: "Step", given: dict[str, Any], run: bool) -> dict[str, Any]:
    from kipql.audit.budget import limits_of
    from kipql.audit.coordinates import sequence
    from kipql.audit.step import problem_of

    values = {**(step.directives.parameters or {}), **given}
    missing = [name for name in step.parameters if name not in values]
    try:
        statement = nexus.prepare(step.text, as_of=sequence(nexus, step.directives.as_of))
        limits = limits_of(nexus.limits, step.directives.budget, None)
        examined = statement.examine(None if missing or not run else values, limits=limits)
        return {"missing": missing, "examined": examined}
    except KipError as error:
        return {"error": problem_of(error, script.text, step)}


def _show(entry: dict[str, Any]) -> None:
    from kipql.runtime.texts import problem_text

    if "error" in entry:
        click.echo(problem_text(entry["error"]), err=True)
        return
    title = f"{entry['file']}:{entry['line']}" + (f" {entry['name']}" if entry["name"] else "")
    click.echo(terminal(title))
    found = entry["examined"]
    rows = [_HEAD] if found.rows is not None else []
    rows += [
        ("  " * line.depth + line.text, _number(line.estimated), _number(line.starts), _number(line.rows))
        for line in found.lines
    ]
    wide = max((len(row[0]) for row in rows), default=0)
    for text, *numbers in rows:
        shown = "".join(number.rjust(11) for number in numbers) if found.rows is not None else ""
        click.echo(terminal(text.ljust(wide) + shown if shown else text))
    for line in found.after:
        click.echo(terminal(line))
    if found.constants:
        named = ", ".join(f"{name} = {json_text(value)}" for name, value in found.constants.items())
        click.echo(terminal(named))
    click.echo(f"{_cost(found, entry['missing'])}\n")


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _cost(found: Any, missing: list[str]) -> str:
    if missing:
        return f"not run: no value for {', '.join(f':{name}' for name in missing)}"
    if found.rows is None:
        return "not run"
    return f"{found.rows} {'row' if found.rows == 1 else 'rows'}, {found.probes} probes, {found.seconds * 1000:.1f} ms"


def _data(entry: dict[str, Any]) -> Json:
    """The same as JSON."""
    where: dict[str, Json] = {"file": entry["file"], "line": entry["line"]}
    if "error" in entry:
        problem: Problem = entry["error"]
        return {**where, "error": problem.error.to_dict()}
    found = entry["examined"]
    lines = [
        {"depth": line.depth, "operator": line.text, "estimated": line.estimated, "starts": line.starts,
         "rows": line.rows}
        for line in found.lines
    ]  # fmt: skip
    return {
        **where,
        "check": entry["name"],
        "plan": lines,
        "after": list(found.after),
        "constants": found.constants,
        "rows": found.rows,
        "probes": found.probes,
        "seconds": found.seconds,
        "missing": entry["missing"],
    }
