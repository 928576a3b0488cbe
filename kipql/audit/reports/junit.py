"""A report as JUnit XML, in the shape that the Ant task defined and CI servers read.

A script is a test suite and a check a test case. A check fails when its findings make the exit code 1; what else was
found is in `system-out`. What is suppressed, was not asked or has no answer from some Space is skipped; what
could not run is a case with an error.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from kipql.audit.report import Outcome, Report
from kipql.audit.reports.wording import (
    COMMAND,
    NEW,
    fails,
    message_of,
    problem_message,
    row_text,
    state,
    suppression_text,
)
from kipql.escape import terminal, xml
from kipql.render.values import many
from kipql.runtime.texts import Problem, error_text

_EPOCH = "1970-01-01T00:00:00"


def report_junit(report: Report, fail_on: str) -> str:
    """The whole document."""
    suites: dict[str, tuple[list[Outcome], list[Problem]]] = defaultdict(lambda: ([], []))
    for check in report.checks:
        suites[check.step.path][0].append(check)
    for problem in report.problems:
        suites[problem.path][1].append(problem)
    body = "".join(
        _suite(number, path or COMMAND, checks, problems, report, fail_on)
        for number, (path, (checks, problems)) in enumerate(suites.items())
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{body}</testsuites>'


def _suite(number: int, name: str, checks: list[Outcome], problems: list[Problem], report: Report, fail_on: str) -> str:
    failed = [check for check in checks if fails(check, fail_on)]
    skipped = [check for check in checks if _skipped(check, fail_on) is not None]
    attributes = {
        "id": str(number),
        "name": name,
        "package": "kipql",
        "hostname": "localhost",
        "timestamp": report.now.partition(".")[0] or _EPOCH,
        "tests": str(len(checks) + len(problems)),
        "failures": str(len(failed)),
        "errors": str(len(problems)),
        "skipped": str(len(skipped)),
        "time": f"{sum(check.seconds for check in checks):.3f}",
    }
    cases = (*(_case(check, name, fail_on) for check in checks), *(_error(problem, name) for problem in problems))
    return (
        f"  <testsuite{_attributes(attributes)}>\n"
        f"    <properties>\n{''.join(_properties(report, checks))}    </properties>\n"
        f"{''.join(cases)}"
        f"    <system-out>{_text(_told(checks, fail_on))}</system-out>\n"
        f"    <system-err></system-err>\n"
        f"  </testsuite>\n"
    )


def _properties(report: Report, checks: Iterable[Outcome]) -> Iterator[str]:
    pairs = [("spaces", str(len(report.spaces)))] if report.spaces else [("space_seq", str(report.space_seq))]
    pairs += [("as_of", str(report.at))] if report.at is not None else []
    pairs += [("space_id", report.space_id)] if report.space_id is not None else []
    pairs += [(f"owner of {check.step.name}", check.step.directives.owner or "") for check in checks]
    for name, value in pairs:
        if value:
            yield f"      <property{_attributes({'name': name, 'value': value})}/>\n"


def _case(check: Outcome, suite: str, fail_on: str) -> str:
    attributes = _attributes({"name": check.step.name, "classname": suite, "time": f"{check.seconds:.3f}"})
    skipped = _skipped(check, fail_on)
    if skipped is not None:
        inner = f"<skipped{_attributes({'message': skipped})}/>"
    elif fails(check, fail_on):
        about = {"message": _headline(check), "type": check.severity}
        inner = f"<failure{_attributes(about)}>{_text(_lines(check))}</failure>"
    else:
        return f"    <testcase{attributes}/>\n"
    return f"    <testcase{attributes}>\n      {inner}\n    </testcase>\n"


def _error(problem: Problem, suite: str) -> str:
    place = f" at {problem.line}:{problem.column}" if problem.line else ""
    space = f" in {problem.space_id}" if problem.space_id is not None else ""
    name = f"could not run{space}{place}: {problem.error.code}"
    about = _attributes({"message": problem_message(problem), "type": problem.error.code})
    attributes = _attributes({"name": name, "classname": suite, "time": "0.000"})
    said = _text(error_text(problem.error).split("\n"))
    return f"    <testcase{attributes}>\n      <error{about}>{said}</error>\n    </testcase>\n"


def _skipped(check: Outcome, fail_on: str) -> str | None:
    if check.skipped is not None:
        return check.skipped
    if check.suppressed and check.found:
        return suppression_text(check)
    if check.unanswered and not fails(check, fail_on):
        return f"no answer from {many(check.unanswered, 'Space')}"
    return None


def _headline(check: Outcome) -> str:
    title = check.step.directives.title
    lapsed = f" ({suppression_text(check)})" if check.lapsed else ""
    return f"{f'{title}: ' if title else ''}{many(check.counting, 'finding')}{lapsed}"


def _lines(check: Outcome) -> Iterator[str]:
    """The findings that count, a line each, and the row below."""
    listed = [finding for finding in check.findings if state(check, finding) == NEW]
    for finding in listed:
        yield f"{check.step.path}:{check.step.line}: {check.severity}: {message_of(finding)}"
        if finding.row:
            yield f"    {row_text(finding.row)}"
    if more := check.counting - len(listed):
        yield f"{more} more"


def _told(checks: Iterable[Outcome], fail_on: str) -> Iterator[str]:
    """What was found and fails nothing."""
    for check in checks:
        if check.counting and not fails(check, fail_on):
            yield from _lines(check)


def _attributes(pairs: dict[str, str]) -> str:
    return "".join(f' {name}="{xml(terminal(value))}"' for name, value in pairs.items())


def _text(lines: Iterable[str]) -> str:
    """Lines as content: printed in a log, the document commands nothing there either."""
    return xml("\n".join(map(terminal, lines)))
