"""A report as SARIF 2.1.0, for code scanning.

A check is a rule and a finding a result, with its fingerprint, its state against the baseline and its suppression. What
could not run is a notification of the invocation, which then was not successful. What is fixed is not a result: viewers
that know no baseline would show it as found.
"""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePath
from urllib.parse import quote

import kipql
from kipql.audit.report import Finding, Outcome, Report
from kipql.audit.reports.wording import message_of, problem_message, suppression_text
from kipql.escape import json_text, terminal
from kipql.runtime.texts import Problem
from kipql.values import Json

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
_MARKUP = re.compile(r"[\\\[\]]")
_BRACES = str.maketrans({"{": "{{", "}": "}}"})


def report_sarif(report: Report, fail_on: str) -> str:
    """The whole log, one run."""
    checks = report.checks
    ids = _rule_ids(checks)
    run = {
        "tool": {
            "driver": {
                "name": "kipql",
                "version": kipql.__version__,
                "rules": [_rule(check, rule) for check, rule in zip(checks, ids, strict=True)],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report, fail_on)],
        "results": [
            _result(report, check, finding, ids[at], at)
            for at, check in enumerate(checks)
            for finding in check.findings
        ],
        "properties": {"space_seq": None if report.spaces else report.space_seq, "as_of": report.at, "now": report.now},
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule_ids(checks: Sequence[Outcome]) -> list[str]:
    """The name of each check; of one that several scripts have, with its script."""
    times = Counter(check.step.name for check in checks)
    return [
        check.step.name if times[check.step.name] == 1 else f"{check.step.path}:{check.step.name}" for check in checks
    ]


def _rule(check: Outcome, rule: str) -> Json:
    said = check.step.directives
    properties = {"tags": list(said.tags), "owner": said.owner, "expect": said.expect.text, "skipped": check.skipped}
    return {
        "id": rule,
        "shortDescription": {"text": _text(said.title or check.step.name)},
        "defaultConfiguration": {"level": said.severity},
        "properties": {name: value for name, value in properties.items() if value},
    }


def _result(report: Report, check: Outcome, finding: Finding, rule: str, at: int) -> Json:
    result: dict[str, Json] = {
        "ruleId": rule,
        "ruleIndex": at,
        "level": check.severity,
        "message": {"text": _text(message_of(finding))},
        "locations": [{"physicalLocation": _location(check.step.path, check.step.line)}],
        "partialFingerprints": {"kipql/v1": finding.fingerprint},
    }
    if report.baseline:
        result["baselineState"] = "unchanged" if finding.known else "new"
    if check.suppressed:
        result["suppressions"] = [{"kind": "inSource", "justification": _text(suppression_text(check) or "")}]
    properties = {"row": dict(finding.row) if finding.row is not None else None, "space_id": finding.space_id}
    result["properties"] = {name: value for name, value in properties.items() if value is not None}
    return result


def _invocation(report: Report, fail_on: str) -> Json:
    return {
        "executionSuccessful": not report.problems,
        "exitCode": report.exit_code(fail_on),
        "toolExecutionNotifications": [_notification(problem, "error") for problem in report.problems],
        "toolConfigurationNotifications": [
            *(_notification(problem, "warning") for problem in report.warnings),
            *(_lapsed(check) for check in report.checks if check.lapsed),
        ],
    }


def _notification(problem: Problem, level: str) -> Json:
    found: dict[str, Json] = {
        "level": level,
        "descriptor": {"id": problem.error.code},
        "message": {"text": _text(problem_message(problem))},
    }
    if problem.path:
        found["locations"] = [{"physicalLocation": _location(problem.path, problem.line, problem.column)}]
    return found


def _lapsed(check: Outcome) -> Json:
    return {
        "level": "note",
        "descriptor": {"id": "suppression"},
        "message": {"text": _text(f"{check.step.name}: {suppression_text(check)}")},
        "locations": [{"physicalLocation": _location(check.step.path, check.step.line)}],
    }


def _location(path: str, line: int, column: int = 0) -> Json:
    found: dict[str, Json] = {"artifactLocation": _artifact(path)}
    if line:
        found["region"] = {"startLine": line, **({"startColumn": column} if column else {})}
    return found


def _artifact(path: str) -> Json:
    if Path(path).is_absolute():
        return {"uri": Path(path).as_uri()}
    return {"uri": quote("stdin" if path == "-" else PurePath(path).as_posix()), "uriBaseId": ROOT}


def _text(text: str) -> str:
    """A plain message: no embedded link, no placeholder, no unseen character (SARIF §3.11)."""
    return _MARKUP.sub(r"\\\g<0>", terminal(text)).translate(_BRACES)
