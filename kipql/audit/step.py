"""Running one statement: what it answers is held against what its check expects.

A step is asked for itself and knows nothing of the others, so that several may be asked at once.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import kipql
from kipql.audit.asking import Asks
from kipql.audit.budget import limits_of
from kipql.audit.coordinates import sequence
from kipql.audit.equals import Expected, differences
from kipql.audit.fingerprint import fingerprinted
from kipql.audit.keys import key_columns, key_value, natural_key
from kipql.audit.message import parse_message
from kipql.audit.report import Finding, Outcome
from kipql.audit.script import Step
from kipql.audit.settings import DEFAULT, NOW, Settings
from kipql.errors import KipError
from kipql.limits import hinted
from kipql.render.formats import column_keys
from kipql.render.people import show
from kipql.render.results import grid
from kipql.runtime.texts import Problem, moved, place
from kipql.times import parse_instant
from kipql.values import Json


@dataclass(frozen=True, slots=True)
class Asked:
    """What every step of a run shares: the settings, the time of the run, the sequence that `as_of` means, the packages
    that are active, and the Space when several are audited."""

    settings: Settings = DEFAULT
    now: str = ""
    seq: int | None = None
    packages: frozenset[str] = frozenset()
    space_id: str | None = None


def run_step(nexus: Asks, step: Step, asked: Asked) -> Outcome:
    """Run one statement; a check's rows become findings. Raises the KipError of a statement that can not run."""
    began = time.perf_counter()
    if (reason := _unfit(step, asked)) is not None:
        return Outcome(step, skipped=reason)
    if step.language == "KML":
        receipt = cast("kipql.Receipt", nexus.execute(step.text, _parameters(step, asked)))
        return Outcome(step, receipt=receipt.to_dict(), seconds=time.perf_counter() - began)
    columns, rows = grid(_ask(nexus, step, asked), step.language)
    outcome = Outcome(_completed(step, columns), columns=columns, rows=rows, seconds=time.perf_counter() - began)
    return _judged(outcome, asked) if step.directives.is_check else outcome


def _unfit(step: Step, asked: Asked) -> str | None:
    """Why a check is not asked in this memory."""
    said = step.directives
    missing = next((package for package in said.requires if package not in asked.packages), None)
    if missing is not None:
        return f"{missing} is not active"
    there = next((package for package in said.unless if package in asked.packages), None)
    return None if there is None else f"{there} is active"


def _ask(nexus: Asks, step: Step, asked: Asked) -> "kipql.Result":
    settings = asked.settings
    seq = asked.seq if step.directives.as_of is None else sequence(nexus, step.directives.as_of)
    if seq is not None and step.present:
        raise KipError(
            "UnsupportedCapability",
            "this statement answers for the present only, and the run is one as of an earlier state",
            hint="leave the check out with --exclude",
        )
    unmetered = getattr(nexus, "unmetered", ())
    if name := next((name for name, _ in step.directives.budget if name in unmetered), None):
        raise KipError(
            "UnsupportedCapability",
            f"a lake's engine counts no {name}, which the budget: bounds",
            hint="bound it by seconds, or audit the memory itself",
        )
    limits = limits_of(nexus.limits, step.directives.budget, settings.timeout)
    prepared = nexus.prepare(step.text, as_of=seq, for_time=settings.now)
    return prepared.query(_parameters(step, asked), limits=limits, cancel=settings.cancel)


def _parameters(step: Step, asked: Asked) -> Mapping[str, Json]:
    given = {**(step.directives.parameters or {}), **asked.settings.parameters}
    return {NOW: asked.now, **given} if NOW in step.parameters else given


def _completed(step: Step, columns: Sequence[str]) -> Step:
    """The step with its message and key read: the columns of a META statement are known only now."""
    message, key = step.directives.message, step.directives.key
    if message is not None and step.message is None:
        step = replace(step, message=parse_message(message.value, columns, message.value_start - step.start))
    if key is not None and not step.key:
        step = replace(step, key=key_columns(key.value, columns, key.value_start - step.start))
    return step


def _judged(outcome: Outcome, asked: Asked) -> Outcome:
    step = outcome.step
    found = (replace(finding, space_id=asked.space_id) for finding in _findings(outcome))
    findings = tuple(fingerprinted(step.name, found))
    suppress = step.directives.suppress
    over = suppress is not None and suppress.is_over(parse_instant(asked.now))
    suppressed = suppress is not None and not over
    counting = 0 if suppressed else len(findings)
    return replace(
        outcome, findings=findings, found=len(findings), counting=counting, suppressed=suppressed, lapsed=over
    )


def _findings(outcome: Outcome) -> Iterator[Finding]:
    step, rows = outcome.step, outcome.rows
    if step.expected is not None:
        yield from _differences(step, step.expected, outcome)
        return
    problem = step.directives.expect.problem(rows)
    if problem is None:
        return
    keys = column_keys(outcome.columns)
    if step.directives.expect.rows_are_findings:
        for row in rows:
            found = dict(zip(keys, row, strict=True))
            key = {keys[at]: key_value(row[at]) for at in step.key or natural_key(outcome.columns, row)}
            yield Finding(_sentence(step, found, row), found, key)
        return
    single = step.directives.expect.subject == "value" and len(rows) == 1
    about = dict(zip(keys, rows[0], strict=True)) if single else None
    filled = step.message.fill(rows[0]) if step.message is not None and rows else step.directives.title
    yield Finding(f"{filled}: {problem}" if filled else problem, about)


def _differences(step: Step, expected: Expected, outcome: Outcome) -> Iterator[Finding]:
    """A finding for each row too many or too few; its key is the row and the side it is on."""
    keys = column_keys(outcome.columns)
    found = [dict(zip(keys, row, strict=True)) for row in outcome.rows]
    title = f"{step.directives.title}: " if step.directives.title else ""
    for difference in differences(expected, found, ordered=step.ordered):
        row = difference.row
        listed = f": {_listed(row)}" if row is not None else ""
        key = {"": difference.problem, **{name: key_value(value) for name, value in (row or {}).items()}}
        yield Finding(f"{title}{difference.problem}{listed}", row, key)


def _sentence(step: Step, found: Mapping[str, Json], row: Sequence[Json]) -> str:
    if step.message is not None:
        return step.message.fill(row)
    listed = _listed(found)
    return f"{step.directives.title}: {listed}" if step.directives.title else listed


def _listed(row: Mapping[str, Json]) -> str:
    return ", ".join(f"{key}: {show(value)}" for key, value in row.items())


def problem_of(error: KipError, text: str, step: Step) -> Problem:
    """An error of a step, with its place in the text of its script."""
    return place(step.path, text, moved(_cured(error, step), text, step.start), step.start)


def _cured(error: KipError, step: Step) -> KipError:
    """An error at a limit with what raises it here."""
    limit = error.details.get("limit")
    if limit in dict(step.directives.budget):
        return hinted(error, f"narrow the query, or raise {limit} in its //! budget:")
    return hinted(error, "narrow the query, or allow more with --timeout SECONDS") if limit == "seconds" else error
