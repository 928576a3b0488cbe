"""Baselines: the findings that are accepted for now, so that a run fails for new ones only.

The file is JSON, sorted, one finding a line, and made to be committed and reviewed. Reading one is strict: a baseline
that is not understood must not turn every finding into a new one, or into none.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kipql.audit.report import Fixed, Outcome, Report
from kipql.errors import KipError
from kipql.escape import json_text
from kipql.runtime.texts import Problem, place_of, read_text
from kipql.values import members_once

FORMAT = 1
_FORMAT = "kipql_baseline"


@dataclass(frozen=True, slots=True)
class Baseline:
    """Known findings by check, each a message by fingerprint."""

    checks: Mapping[str, Mapping[str, str]]


NOTHING = Baseline({})


def read_baseline(path: str) -> Baseline:
    """A baseline file. Raises ArtifactUnavailable, ArtifactParseError."""
    try:
        value = json.loads(read_text(path), object_pairs_hook=members_once)
        if type(value[_FORMAT]) is not int or value[_FORMAT] != FORMAT:
            raise KipError("ArtifactParseError", f"{path} is a baseline of format {value[_FORMAT]!r}, not {FORMAT}")
        if not isinstance(value["findings"], list):
            raise TypeError("findings is not a list")
        checks: dict[str, dict[str, str]] = defaultdict(dict)
        for entry in value["findings"]:
            check, print_, message = (_text(entry, name) for name in ("check", "fingerprint", "message"))
            checks[check][print_] = message
    except (ValueError, RecursionError, LookupError, TypeError) as error:
        raise KipError("ArtifactParseError", f"{path} is not a baseline: {error}") from None
    return Baseline(checks)


def _text(entry: Mapping[str, object], name: str) -> str:
    value = entry[name]
    if not isinstance(value, str):
        raise TypeError(f"{name} of a finding is not a text")
    return value


def baseline_text(report: Report, before: Baseline) -> str:
    """The baseline of a run: what its checks found, and what was known of checks that did not run.

    Of a suppressed check nothing new is accepted, and what was known stays while it is found.
    """
    ran = {check.step.name for check in report.checks if check.skipped is None}
    kept: dict[str, Mapping[str, str]] = {name: known for name, known in before.checks.items() if name not in ran}
    for check in report.checks:
        found = {finding.fingerprint: finding.message for finding in check.findings}
        if check.suppressed:
            known = before.checks.get(check.step.name, {})
            found = {print_: message for print_, message in found.items() if print_ in known}
        if found:
            kept[check.step.name] = found
    lines = [
        json_text({"check": name, "fingerprint": print_, "message": message})
        for name in sorted(kept)
        for print_, message in sorted(kept[name].items())
    ]
    body = ",\n    ".join(lines)
    findings = f"[\n    {body}\n  ]" if lines else "[]"
    return f'{{\n  "{_FORMAT}": {FORMAT},\n  "findings": {findings}\n}}\n'


def write_baseline(path: str, text: str) -> None:
    """Write a baseline file. Raises ArtifactUnavailable."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise KipError("ArtifactUnavailable", f"{path} can not be written: {error.strerror or error}") from None


def compared(report: Report, baseline: Baseline) -> Report:
    """The report with what the baseline knows marked, and what is fixed named."""
    outcomes = tuple(_compared(outcome, baseline) for outcome in report.outcomes)
    fixed = tuple(
        Fixed(check.step.name, print_, message)
        for check in report.checks
        if check.skipped is None and not check.unanswered
        for print_, message in sorted(baseline.checks.get(check.step.name, {}).items())
        if print_ not in {finding.fingerprint for finding in check.findings}
    )
    problems = (*report.problems, *_ambiguous(report.checks))
    return replace(report, outcomes=outcomes, fixed=fixed, problems=problems, baseline=True)


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
