"""A report as GitHub workflow commands: an annotation for each finding that counts, and for what could not run.

What is said in one is on one line and commands nothing to other build servers that show the same log.
"""

from collections.abc import Iterator

from kipql.audit.report import Outcome, Report
from kipql.audit.reports.wording import COMMAND, NEW, message_of, problem_message, state, suppression_text
from kipql.escape import annotation, annotation_property, terminal
from kipql.runtime.texts import Problem

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def report_github(report: Report, fail_on: str) -> str:
    """One command a line; empty when there is nothing to say."""
    return "\n".join((*map(_problem, report.problems), *_findings(report)))


def _findings(report: Report) -> Iterator[str]:
    for check in report.checks:
        for finding in check.findings:
            if state(check, finding) == NEW:
                lapsed = suppression_text(check) if check.lapsed else None
                yield _annotation(check, message_of(finding) + (f" ({lapsed})" if lapsed else ""))
        if more := check.counting - sum(1 for finding in check.findings if state(check, finding) == NEW):
            yield _annotation(check, f"{more} more")


def _annotation(check: Outcome, message: str) -> str:
    step = check.step
    owner = f", {step.directives.owner}" if step.directives.owner else ""
    return _command(_LEVELS[check.severity], step.path, step.line, 0, f"{step.name}{owner}", message)


def _problem(problem: Problem) -> str:
    return _command(
        "error", problem.path, problem.line, problem.column, f"{COMMAND}: could not run", problem_message(problem)
    )


def _command(level: str, path: str, line: int, column: int, title: str, message: str) -> str:
    place = (("file", path), ("line", str(line or "")), ("col", str(column or "")), ("title", title))
    properties = ",".join(f"{name}={annotation_property(terminal(value))}" for name, value in place if value)
    return f"::{level} {properties}::{annotation(terminal(message))}"
