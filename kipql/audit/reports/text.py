"""A report for people: findings as `file:line: severity: message [check]` with the row below, then what was counted.

What could not run is not here: it goes to standard error with its caret, so that it is seen wherever the rest goes.
"""

from collections.abc import Iterator

from kipql.audit.report import Outcome, Report
from kipql.audit.reports.wording import NEW, message_of, row_text, state, summary, suppression_text
from kipql.escape import terminal
from kipql.render.formats import as_table
from kipql.render.values import many


def report_text(report: Report, fail_on: str) -> str:
    """The whole report."""
    return "\n".join((*_statements(report), *_checks(report), *_fixed(report), terminal(summary(report))))


def _statements(report: Report) -> Iterator[str]:
    """The rows of plain queries; a plain mutation is only counted."""
    for outcome in report.outcomes:
        if not outcome.step.directives.is_check and outcome.receipt is None:
            yield f"{_place(outcome)}:"
            yield as_table(outcome.columns, outcome.rows)
            yield ""


def _checks(report: Report) -> Iterator[str]:
    for check in report.checks:
        if check.skipped is not None:
            yield f"{_place(check)}: skipped: {terminal(check.skipped)} {_name(check)}"
        yield from _findings(check)
        said = suppression_text(check)
        if said is not None and (check.found or check.lapsed):
            counted = many(check.found, "finding") if check.suppressed else ""
            yield f"{_place(check)}: {terminal(said)} {_name(check)}{f' {counted}' if counted else ''}"


def _findings(check: Outcome) -> Iterator[str]:
    listed = [finding for finding in check.findings if state(check, finding) == NEW]
    for finding in listed:
        yield f"{_place(check)}: {check.severity}: {terminal(message_of(finding))} {_name(check)}"
        if finding.row:
            yield f"    {terminal(row_text(finding.row))}"
    if more := check.counting - len(listed):
        yield f"{_place(check)}: {check.severity}: {more} more {_name(check)}"


def _fixed(report: Report) -> Iterator[str]:
    for fixed in report.fixed:
        yield f"fixed: {terminal(message_of(fixed))} [{terminal(fixed.check)}]"


def _place(outcome: Outcome) -> str:
    return f"{terminal(outcome.step.path)}:{outcome.step.line}"


def _name(outcome: Outcome) -> str:
    owner = outcome.step.directives.owner
    return f"[{terminal(outcome.step.name)}]{f' owner {terminal(owner)}' if owner else ''}"
