"""The outcome of a run as data: what was checked, what was found, what could not run, and the exit code.

Exit code: 0 clean, 1 findings of at least the `fail_on` severity, 2 something could not run; 2 outranks 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kipql.audit.directives import SEVERITIES
from kipql.audit.script import Step
from kipql.audit.source import Problem
from kipql.values import Json

NEVER = "never"
FAIL_ON = (*reversed(SEVERITIES), NEVER)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a check; `row` is None when the finding is about the number of rows."""

    message: str
    row: Mapping[str, Json] | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A step that ran: a check with its findings, or a plain statement with its rows."""

    step: Step
    findings: tuple[Finding, ...] = ()
    columns: tuple[str, ...] = ()
    rows: Sequence[Sequence[Json]] = ()
    receipt: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """Everything of one run, in the order of the files. `warnings` are what is hardly meant in the statements that ran;
    they decide nothing."""

    outcomes: tuple[Outcome, ...] = ()
    problems: tuple[Problem, ...] = ()
    space_seq: int = field(default=0)
    warnings: tuple[Problem, ...] = ()

    @property
    def checks(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.step.directives.is_check)

    def count(self, severity: str) -> int:
        """The number of findings of one severity."""
        return sum(len(check.findings) for check in self.checks if check.step.directives.severity == severity)

    def exit_code(self, fail_on: str) -> int:
        if self.problems:
            return 2
        if fail_on == NEVER:
            return 0
        return int(any(self.count(severity) for severity in SEVERITIES[SEVERITIES.index(fail_on) :]))
