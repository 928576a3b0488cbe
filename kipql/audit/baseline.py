"""Baselines: the findings that are accepted for now, so that a run fails for new ones only.

The file is JSON, sorted, one finding a line, and made to be committed and reviewed. Reading one is strict: a baseline
that is not understood must not turn every finding into a new one, or into none.

Where several Spaces are audited an entry says its Space. What a run did not ask it knows nothing of: an entry is fixed,
and a new baseline forgets it, only where its Space answered its check. An entry that says no Space is of a run of one
memory, or was written before entries said it: over several Spaces it is kept while nothing is found that it knows.
"""

import json
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from kipql.audit.report import Fixed, Outcome, Report
from kipql.errors import KipError
from kipql.escape import json_text
from kipql.runtime.texts import Problem, place_of, read_text
from kipql.values import members_once

FORMAT = 1
SPACE_ID = "space_id"
_FORMAT = "kipql_baseline"


class Known(NamedTuple):
    """A known finding: what it said, and the Space where it was found, when several were audited."""

    message: str
    space_id: str | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """Known findings by check and fingerprint."""

    checks: Mapping[str, Mapping[str, Known]]


NOTHING = Baseline({})


def read_baseline(path: str) -> Baseline:
    """A baseline file. Raises ArtifactUnavailable, ArtifactParseError."""
    try:
        value = json.loads(read_text(path), object_pairs_hook=members_once)
        if type(value[_FORMAT]) is not int or value[_FORMAT] != FORMAT:
            raise KipError("ArtifactParseError", f"{path} is a baseline of format {value[_FORMAT]!r}, not {FORMAT}")
        if not isinstance(value["findings"], list):
            raise TypeError("findings is not a list")
        checks: dict[str, dict[str, Known]] = defaultdict(dict)
        for entry in value["findings"]:
            check, print_, message = (_text(entry, name) for name in ("check", "fingerprint", "message"))
            checks[check][print_] = Known(message, _text(entry, SPACE_ID) if SPACE_ID in entry else None)
    except (ValueError, RecursionError, LookupError, TypeError) as error:
        raise KipError("ArtifactParseError", f"{path} is not a baseline: {error}") from None
    return Baseline(checks)


def _text(entry: Mapping[str, object], name: str) -> str:
    value = entry[name]
    if not isinstance(value, str):
        raise TypeError(f"{name} of a finding is not a text")
    return value


def baseline_text(report: Report, before: Baseline) -> str:
    """The baseline of a run: what its checks found, and what was known of checks and Spaces that did not answer.

    Of a suppressed check nothing new is accepted, and what was known stays while it is found.
    """
    answered = {check.step.name: _answered(report, check) for check in report.checks}
    kept: dict[str, dict[str, Known]] = defaultdict(dict)
    for name, known in before.checks.items():
        spaces = answered.get(name, frozenset())
        kept[name] = {print_: entry for print_, entry in known.items() if entry.space_id not in spaces}
    for check in report.checks:
        accepted = before.checks.get(check.step.name, {})
        for finding in check.findings:
            if not check.suppressed or finding.fingerprint in accepted:
                kept[check.step.name][finding.fingerprint] = Known(finding.message, finding.space_id)
    lines = [_line(name, print_, kept[name][print_]) for name in sorted(kept) for print_ in sorted(kept[name])]
    body = ",\n    ".join(lines)
    findings = f"[\n    {body}\n  ]" if lines else "[]"
    return f'{{\n  "{_FORMAT}": {FORMAT},\n  "findings": {findings}\n}}\n'


def _line(check: str, print_: str, known: Known) -> str:
    entry = {"check": check, "fingerprint": print_, "message": known.message}
    return json_text(entry if known.space_id is None else {**entry, SPACE_ID: known.space_id})


def _answered(report: Report, check: Outcome) -> frozenset[str | None]:
    """The Spaces that answered a check, None for the memory of a run of one; none at all where one of several did
    not."""
    if check.skipped is not None or check.unanswered:
        return frozenset()
    if not report.spaces:
        return frozenset((report.space_id,))
    name = check.step.name
    return frozenset(space.space_id for space in report.spaces if space.answered and name not in space.skipped)


def write_baseline(path: str, text: str) -> None:
    """Write a baseline file. Raises ArtifactUnavailable."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise KipError("ArtifactUnavailable", f"{path} can not be written: {error.strerror or error}") from None


def compared(report: Report, baseline: Baseline) -> Report:
    """The report with what the baseline knows marked, and what is fixed named."""
    outcomes = tuple(_compared(outcome, baseline) for outcome in report.outcomes)
    fixed = tuple(fixed for check in report.checks for fixed in _fixed(check, _answered(report, check), baseline))
    problems = (*report.problems, *_ambiguous(report.checks))
    return replace(report, outcomes=outcomes, fixed=fixed, problems=problems, baseline=True)


def _fixed(check: Outcome, answered: Container[str | None], baseline: Baseline) -> Iterable[Fixed]:
    found = {finding.fingerprint for finding in check.findings}
    for print_, known in sorted(baseline.checks.get(check.step.name, {}).items()):
        if known.space_id in answered and print_ not in found:
            yield Fixed(check.step.name, print_, known.message, known.space_id)


def _compared(outcome: Outcome, baseline: Baseline) -> Outcome:
    known = baseline.checks.get(outcome.step.name, {})
    findings = tuple(replace(finding, known=finding.fingerprint in known) for finding in outcome.findings)
    new = sum(1 for finding in findings if not finding.known)
    return replace(outcome, findings=findings, counting=0 if outcome.suppressed else new)


def _ambiguous(checks: Iterable[Outcome]) -> Iterable[Problem]:
    """A name in two scripts: a baseline could not tell whose findings it knows."""
    first: dict[str, str] = {}
    for check in checks:
        step = check.step
        if first.setdefault(step.name, step.path) != step.path:
            error = KipError(
                "IdentityConflict",
                f"the check {step.name} is also in {first[step.name]}: a baseline can not tell them apart",
                hint="give one of them another name, or run them with baselines of their own",
            )
            yield place_of(step.path, step.line, error)
