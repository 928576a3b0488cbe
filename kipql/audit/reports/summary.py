"""A report as Markdown, for `$GITHUB_STEP_SUMMARY`: a table of the checks, then what was found, within bounds.

GitHub refuses a summary of more than a mebibyte, and people read less; the other reports hold the rest.
"""

from collections.abc import Iterator

from kipql.audit.report import NEVER, Outcome, Report
from kipql.audit.reports.wording import NEW, fails, message_of, problem_message, state, summary, suppression_text
from kipql.escape import markdown

LISTED = 20
LONGEST = 500
LARGEST = 200_000
_MARKS = {"failed": "❌", "found": "⚠️", "passed": "✅", "suppressed": "🔕", "skipped": "⏭️"}


def report_summary(report: Report, fail_on: str) -> str:
    """The whole summary; what is beyond `LARGEST` characters is said to be left out."""
    lines, size = [], 0
    for line in _lines(report, fail_on):
        size += len(line) + 1
        if size > LARGEST:
            lines.append("\nThe rest is left out here.")
            break
        lines.append(line)
    return "\n".join(lines) + "\n"


def _lines(report: Report, fail_on: str) -> Iterator[str]:
    yield f"### Audit: {_cut(summary(report))}"
    yield ""
    for problem in report.problems:
        place = f" {_cut(problem.path)}:{problem.line}" if problem.path else ""
        yield f"- ❗ could not run{place}: {_cut(problem_message(problem))}"
    if report.checks:
        yield "\n| | check | severity | new | known | file |\n|---|---|---|---|---|---|"
    for check in report.checks:
        yield _row(check, fail_on)
    for check in report.checks:
        yield from _found(check)
    if report.fixed:
        yield f"\n**Fixed:** {len(report.fixed)}"


def _row(check: Outcome, fail_on: str) -> str:
    step = check.step
    known = 0 if check.suppressed else check.found - check.counting
    cells = (step.name, check.severity, str(check.counting), str(known), f"{step.path}:{step.line}")
    return f"| {_MARKS[_status(check, fail_on)]} | {' | '.join(_cut(cell) for cell in cells)} |"


def _status(check: Outcome, fail_on: str) -> str:
    if check.skipped is not None:
        return "skipped"
    if check.suppressed and check.found:
        return "suppressed"
    if not check.counting:
        return "passed"
    return "failed" if fail_on != NEVER and fails(check, fail_on) else "found"


def _found(check: Outcome) -> Iterator[str]:
    said = suppression_text(check)
    if not check.counting and said is None:
        return
    owner = f" ({_cut(check.step.directives.owner)})" if check.step.directives.owner else ""
    yield f"\n**{_cut(check.step.name)}**{owner}{f': {_cut(said)}' if said else ''}\n"
    listed = [finding for finding in check.findings if state(check, finding) == NEW][:LISTED]
    for finding in listed:
        yield f"- {_cut(message_of(finding))}"
    if more := check.counting - len(listed):
        yield f"- {more} more"


def _cut(text: str) -> str:
    return markdown(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")
