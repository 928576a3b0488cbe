"""Running a fixture: one Space, set-up in order, cases in order; one failing case hides no other.

A verdict is `passed`, `executed` (the expectation is withheld), `skipped` (UnsupportedCapability that the
case did not expect, which is never a pass) or `failed`, with a line that says why.
"""

import json
from dataclasses import dataclass
from functools import cache

from tests.conformance.compare import contains, equal, normal
from tests.conformance.engine import Answer, Space
from tests.conformance.suite import Case, fixture


@dataclass(frozen=True, slots=True)
class Verdict:
    outcome: str
    why: str = ""


def judge(case: Case, answer: Answer) -> Verdict:
    """What an answer is worth."""
    wanted = case.expect.get("error")
    if answer.code == "UnsupportedCapability" and wanted != "UnsupportedCapability" and not case.withheld:
        return Verdict("skipped", f"UnsupportedCapability: {(answer.error or {}).get('message')}")
    if case.withheld:
        return Verdict("executed")
    if wanted is not None:
        if answer.code == wanted:
            return Verdict("passed")
        return Verdict("failed", f"expected the error {wanted}, got {shown(answer)}")
    if answer.error is not None:
        return Verdict("failed", f"expected success, got {shown(answer)}")
    if "result" in case.expect:
        expectation = case.expect["result"]
        found = normal(answer.result, expectation)
        if not equal(found, expectation, case.ordered):
            return Verdict("failed", f"expected {json.dumps(expectation)}\n     got {json.dumps(found)}")
    if "result_contains" in case.expect:
        expectation = case.expect["result_contains"]
        if not contains(normal(answer.result, expectation), expectation):
            return Verdict("failed", f"expected at least {json.dumps(expectation)}\n got {shown(answer)}")
    return Verdict("passed")


def shown(answer: Answer) -> str:
    if answer.error is not None:
        return f"{answer.code}: {answer.error.get('message')}"
    return json.dumps(answer.result)


@cache
def run(name: str) -> tuple[Verdict, ...]:
    """The verdicts of a fixture's cases. A failed set-up fails them all and says which step it was."""
    suite = fixture(name)
    try:
        space = Space(suite)
        for number, step in enumerate(suite.setup, 1):
            answer = space.send(step)
            if answer.error is not None:
                unsupported = answer.code == "UnsupportedCapability"
                verdict = Verdict("skipped" if unsupported else "failed", f"set-up step {number}: {shown(answer)}")
                return (verdict,) * len(suite.cases)
    except Exception as error:  # whatever leaves the engine but a reply is a defect, told per case
        return (Verdict("failed", f"set-up raised {type(error).__name__}: {error}"),) * len(suite.cases)
    return tuple(attempted(space, case) for case in suite.cases)


def attempted(space: Space, case: Case) -> Verdict:
    """The verdict of one case. `nexus.request` answers and never raises, whatever it is sent."""
    try:
        return judge(case, space.send(case.step))
    except Exception as error:
        return Verdict("failed", f"raised {type(error).__name__}: {error}")
