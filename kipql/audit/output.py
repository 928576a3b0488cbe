"""A report as text for people and as JSON for programs."""

from collections.abc import Iterator, Mapping

from kipql.audit.directives import SEVERITIES
from kipql.audit.report import Finding, Outcome, Report
from kipql.audit.source import Problem
from kipql.escape import json_text, terminal
from kipql.render.formats import as_table, column_keys
from kipql.render.values import many, show
from kipql.values import Json


def report_text(report: Report) -> str:
    """Findings as `file:line: severity: message [check]` with the row below; then what was counted."""
    return "\n".join((*_statement_lines(report), *_finding_lines(report), _summary(report)))


def report_json(report: Report, exit_code: int) -> str:
    """The whole report as one JSON object; see docs/cli.md."""
    value = {
        "exit": exit_code,
        "space_seq": report.space_seq,
        "counts": {"checks": len(report.checks), **{name: report.count(name) for name in SEVERITIES}},
        "checks": [_check(outcome) for outcome in report.checks],
        "statements": [_statement(outcome) for outcome in report.outcomes if not outcome.step.directives.is_check],
        "errors": [_error(problem) for problem in report.problems],
        "warnings": [_error(problem) for problem in report.warnings],
    }
    return json_text(value, indent=2)


def _statement_lines(report: Report) -> Iterator[str]:
    """The rows of plain queries; a plain mutation is only counted."""
    for outcome in report.outcomes:
        if not outcome.step.directives.is_check and outcome.receipt is None:
            yield f"{terminal(outcome.step.path)}:{outcome.step.line}:"
            yield as_table(outcome.columns, outcome.rows)
            yield ""


def _finding_lines(report: Report) -> Iterator[str]:
    for check in report.checks:
        step = check.step
        for finding in check.findings:
            place = f"{terminal(step.path)}:{step.line}: {step.directives.severity}"
            yield f"{place}: {terminal(finding.message)} [{terminal(step.name)}]"
            if finding.row:
                yield f"    {_row(finding.row)}"


def _row(row: Mapping[str, Json]) -> str:
    return "  ".join(f"{terminal(key)}={terminal(show(value))}" for key, value in row.items())


def _summary(report: Report) -> str:
    checks = report.checks
    passed = sum(1 for check in checks if not check.findings)
    found = ", ".join(many(report.count(name), name) for name in reversed(SEVERITIES) if report.count(name))
    parts = [f"{many(len(checks), 'check')}: {passed} passed", f"found {found}" if found else "nothing found"]
    written = sum(1 for outcome in report.outcomes if outcome.receipt is not None)
    if written:
        parts.append(f"{many(written, 'mutation')} applied")
    if report.problems:
        parts.append(f"{len(report.problems)} could not run")
    return ", ".join(parts)


def _check(outcome: Outcome) -> Json:
    step = outcome.step
    return {
        "check": step.name,
        "title": step.directives.title,
        "severity": step.directives.severity,
        "expect": step.directives.expect.text,
        "tags": list(step.directives.tags),
        "file": step.path,
        "line": step.line,
        "passed": not outcome.findings,
        "findings": [_finding(finding) for finding in outcome.findings],
    }


def _finding(finding: Finding) -> Json:
    return {"message": finding.message, "row": dict(finding.row) if finding.row is not None else None}


def _statement(outcome: Outcome) -> Json:
    place = {"file": outcome.step.path, "line": outcome.step.line}
    if outcome.receipt is not None:
        return {**place, "receipt": dict(outcome.receipt)}
    keys = column_keys(outcome.columns)
    return {**place, "rows": [dict(zip(keys, row, strict=True)) for row in outcome.rows]}


def _error(problem: Problem) -> Json:
    place = {"file": problem.path or None, "line": problem.line or None, "column": problem.column or None}
    return {**place, **problem.error.to_dict()}
