"""Running scripts: each statement in order against one Nexus, each check held against what it expects.

A statement that fails is a problem, and the others still run: one broken check must not hide another.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import cast

import kipql
from kipql.audit.message import parse_message
from kipql.audit.report import Finding, Outcome, Report
from kipql.audit.script import ScriptFile, Step
from kipql.audit.source import Problem, moved, place
from kipql.errors import KipError
from kipql.lang.words import near
from kipql.render.formats import column_keys
from kipql.render.results import grid
from kipql.render.values import show
from kipql.values import Json


def run_scripts(nexus: "kipql.Nexus", scripts: Sequence[ScriptFile], *, tags: Iterable[str] = ()) -> Report:
    """Run every step of every script.

    nexus    the memory; a read-only one refuses mutations, which are then problems
    scripts  read by `read_script`; their own problems are part of the report
    tags     when given, only checks that carry one of them run; plain statements always do. One that no check
             carries is a problem
    """
    wanted = frozenset(tags)
    outcomes: list[Outcome] = []
    problems: list[Problem] = []
    warnings: list[Problem] = []
    for script in scripts:
        problems.extend(script.problems)
        for step in script.steps:
            if wanted and step.directives.is_check and wanted.isdisjoint(step.directives.tags):
                continue
            warnings.extend(step.warnings)
            try:
                outcomes.append(run_step(nexus, step))
            except KipError as error:
                problems.append(place(script.path, script.text, moved(error, script.text, step.start), step.start))
    problems.extend(_repeated(scripts))
    problems.extend(_unknown_tags(scripts, wanted))
    return Report(tuple(outcomes), tuple(problems), nexus.space_seq, tuple(warnings))


def run_step(nexus: "kipql.Nexus", step: Step) -> Outcome:
    """Run one statement; a check's rows become findings. Raises the KipError of a statement that can not run."""
    if step.language == "KML":
        return Outcome(step, receipt=cast("kipql.Receipt", nexus.execute(step.text)).to_dict())
    columns, rows = grid(nexus.query(step.text), step.language)
    outcome = Outcome(_with_message(step, columns), columns=columns, rows=rows)
    if not step.directives.is_check:
        return outcome
    return replace(outcome, findings=tuple(_findings(outcome)))


def _with_message(step: Step, columns: Sequence[str]) -> Step:
    """The step with its message read: the columns of a META statement are known only now."""
    directive = step.directives.message
    if directive is None or step.message is not None:
        return step
    return replace(step, message=parse_message(directive.value, columns, directive.value_start - step.start))


def _findings(outcome: Outcome) -> Iterator[Finding]:
    step, rows = outcome.step, outcome.rows
    expect = step.directives.expect
    problem = expect.problem(rows)
    if problem is None:
        return
    keys = column_keys(outcome.columns)
    if not expect.rows_are_findings:
        about = dict(zip(keys, rows[0], strict=True)) if expect.subject == "value" and len(rows) == 1 else None
        filled = step.message.fill(rows[0]) if step.message is not None and rows else step.directives.title
        yield Finding(f"{filled}: {problem}" if filled else problem, about)
        return
    for row in rows:
        yield Finding(_sentence(step, keys, row), dict(zip(keys, row, strict=True)))


def _sentence(step: Step, keys: Sequence[str], row: Sequence[Json]) -> str:
    if step.message is not None:
        return step.message.fill(row)
    listed = ", ".join(f"{key}: {show(value)}" for key, value in zip(keys, row, strict=True))
    return f"{step.directives.title}: {listed}" if step.directives.title else listed


def _unknown_tags(scripts: Sequence[ScriptFile], wanted: Collection[str]) -> Iterator[Problem]:
    """A tag that no check carries: a misspelt one would choose nothing, and nothing is always clean."""
    known = {tag for script in scripts for step in script.steps for tag in step.directives.tags}
    for tag in sorted(set(wanted) - known):
        meant = near(tag, sorted(known))
        hint = f"did you mean {meant}?" if meant else f"the tags here are {', '.join(sorted(known)) or 'none'}"
        yield Problem("", 0, 0, KipError("NotFoundOrNotVisible", f"no check has the tag {tag}", hint=hint))


def _repeated(scripts: Sequence[ScriptFile]) -> Iterator[Problem]:
    """A name that two checks of one script share: a report could not tell them apart. Scripts name theirs freely."""
    for script in scripts:
        seen: set[str] = set()
        for step in script.steps:
            name = step.directives.check
            if name is not None and name in seen:
                error = KipError("InvalidSyntax", f"two checks are named {name}", span=step.directives.span)
                yield place(script.path, script.text, error)
            elif name is not None:
                seen.add(name)
