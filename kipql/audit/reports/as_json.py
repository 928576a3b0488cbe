"""A report as one JSON object, for programs: everything there is, nothing lost (docs/audits.md)."""

from kipql.audit.directives import SEVERITIES
from kipql.audit.report import Audited, Finding, Fixed, Outcome, Report
from kipql.audit.reports.wording import state
from kipql.escape import json_text
from kipql.render.formats import column_keys
from kipql.runtime.texts import Problem
from kipql.values import Json


def report_json(report: Report, fail_on: str) -> str:
    """The whole report; `exit` is the exit code."""
    value: dict[str, Json] = {
        "exit": report.exit_code(fail_on),
        "space_id": report.space_id,
        "space_seq": None if report.spaces else report.space_seq,
        "as_of": report.at,
        "now": report.now or None,
        "counts": _counts(report),
        "checks": [_check(outcome) for outcome in report.checks],
        "statements": [_statement(outcome) for outcome in report.outcomes if not outcome.step.directives.is_check],
        "fixed": [_fixed(fixed) for fixed in report.fixed],
        "errors": [_error(problem) for problem in report.problems],
        "warnings": [_error(problem) for problem in report.warnings],
    }
    if report.spaces:
        value["spaces"] = [_space(space) for space in report.spaces]
    return json_text(value, indent=2)


def _space(space: Audited) -> Json:
    return {
        "space_id": space.space_id,
        "space_seq": space.space_seq,
        "as_of": space.at,
        "answered": space.answered,
        "skipped": list(space.skipped),
    }


def _counts(report: Report) -> Json:
    return {
        "checks": len(report.checks),
        **{name: report.count(name) for name in SEVERITIES},
        "known": report.known,
        "suppressed": report.suppressed,
        "fixed": len(report.fixed),
    }


def _check(outcome: Outcome) -> Json:
    step, said = outcome.step, outcome.step.directives
    suppress = said.suppress
    return {
        "check": step.name,
        "title": said.title,
        "severity": said.severity,
        "expect": said.expect.text,
        "tags": list(said.tags),
        "owner": said.owner,
        "suppress": suppress and {"reason": suppress.reason, "until": suppress.until, "over": outcome.lapsed},
        "file": step.path,
        "line": step.line,
        "skipped": outcome.skipped,
        "passed": outcome.passed,
        "seconds": round(outcome.seconds, 6),
        "found": outcome.found,
        **({"unanswered": outcome.unanswered} if outcome.unanswered else {}),
        "findings": [_finding(outcome, finding) for finding in outcome.findings],
    }


def _finding(outcome: Outcome, finding: Finding) -> Json:
    found: dict[str, Json] = {
        "message": finding.message,
        "row": dict(finding.row) if finding.row is not None else None,
        "fingerprint": finding.fingerprint,
        "state": state(outcome, finding),
    }
    return found if finding.space_id is None else {**found, "space_id": finding.space_id}


def _fixed(fixed: Fixed) -> Json:
    gone: dict[str, Json] = {"check": fixed.check, "fingerprint": fixed.fingerprint, "message": fixed.message}
    return gone if fixed.space_id is None else {**gone, "space_id": fixed.space_id}


def _statement(outcome: Outcome) -> Json:
    place = {"file": outcome.step.path, "line": outcome.step.line}
    if outcome.receipt is not None:
        return {**place, "receipt": dict(outcome.receipt)}
    keys = column_keys(outcome.columns)
    return {**place, "rows": [dict(zip(keys, row, strict=True)) for row in outcome.rows]}


def _error(problem: Problem) -> Json:
    place = {"file": problem.path or None, "line": problem.line or None, "column": problem.column or None}
    space = {} if problem.space_id is None else {"space_id": problem.space_id}
    return {**place, **space, **problem.error.to_dict()}
