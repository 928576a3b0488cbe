"""What every report says in the same words: the state of a finding, the place of a check, what is wrong, the counts."""

from collections.abc import Iterator, Mapping

from kipql.audit.directives import SEVERITIES
from kipql.audit.report import NEVER, Finding, Fixed, Outcome, Report
from kipql.render.people import show
from kipql.render.values import many
from kipql.runtime.texts import Problem
from kipql.values import Json

NEW, KNOWN, SUPPRESSED = "new", "known", "suppressed"
COMMAND = "kipql run"


def state(outcome: Outcome, finding: Finding) -> str:
    """Whether a finding counts, and if not, why."""
    if outcome.suppressed:
        return SUPPRESSED
    return KNOWN if finding.known else NEW


def fails(outcome: Outcome, fail_on: str) -> bool:
    """Whether a check has findings that make the exit code 1."""
    if fail_on == NEVER or not outcome.counting:
        return False
    return SEVERITIES.index(outcome.severity) >= SEVERITIES.index(fail_on)


def row_text(row: Mapping[str, Json]) -> str:
    """A row on one line; escaped by nobody yet."""
    return "  ".join(f"{key}={show(value)}" for key, value in row.items())


def message_of(finding: Finding | Fixed) -> str:
    """What was found, and in which Space when there are several."""
    return finding.message if finding.space_id is None else f"{finding.space_id}: {finding.message}"


def suppression_text(outcome: Outcome) -> str | None:
    """What a check's suppression does now."""
    suppress = outcome.step.directives.suppress
    if suppress is None or not (outcome.suppressed or outcome.lapsed):
        return None
    if outcome.suppressed:
        return f"suppressed until {suppress.until}: {suppress.reason}"
    return f"the suppression is over since {suppress.until}: {suppress.reason}"


def problem_message(problem: Problem) -> str:
    """An error of the audit itself on one line, and in which Space when there are several."""
    space = f"{problem.space_id}: " if problem.space_id is not None else ""
    hint = f" (hint: {problem.error.hint})" if problem.error.hint else ""
    return f"{space}{problem.error.code}: {problem.error.message}{hint}"


def summary(report: Report) -> str:
    """What was counted, in one line."""
    return ", ".join(_parts(report))


def _parts(report: Report) -> Iterator[str]:
    written = sum(1 for outcome in report.outcomes if outcome.receipt is not None)
    if report.checks or report.spaces or report.baseline or not (written or report.problems):
        yield from _found(report)
    if written:
        yield f"{many(written, 'mutation')} applied"
    if report.problems:
        yield f"{len(report.problems)} could not run"


def _found(report: Report) -> Iterator[str]:
    """What the checks came to; not said of a script that has none."""
    checks = report.checks
    where = f"{_spaces(report)}, " if report.spaces else ""
    yield f"{where}{many(len(checks), 'check')}: {sum(1 for check in checks if check.passed)} passed"
    new = "new " if report.baseline else ""
    found = [many(report.count(name), f"{new}{name}") for name in reversed(SEVERITIES) if report.count(name)]
    yield f"found {', '.join(found)}" if found else f"nothing {new}found"
    for count, word in (
        (report.known, "known"),
        (report.suppressed, "suppressed"),
        (len(report.fixed), "fixed"),
        (sum(1 for check in checks if check.skipped is not None), "skipped"),
    ):
        if count:
            yield f"{count} {word}"


def _spaces(report: Report) -> str:
    answered = sum(1 for space in report.spaces if space.answered)
    total = many(len(report.spaces), "Space")
    return total if answered == len(report.spaces) else f"{answered} of {total}"
