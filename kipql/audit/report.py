"""The outcome of a run as data: what was checked, what was found, what could not run, and the exit code.

Everything here is frozen and knows nothing of how it is shown. A finding counts unless its check is suppressed or the
baseline knows it. Exit code: 0 clean, 1 findings that count, of at least the `fail_on` severity, 2 something could not
run; 2 outranks 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kipql.audit.directives import SEVERITIES
from kipql.audit.script import Step
from kipql.runtime.texts import Problem
from kipql.values import Json

NEVER = "never"
FAIL_ON = (*reversed(SEVERITIES), NEVER)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a check.

    row          the row by column, None when the finding is about all of them
    key          the key columns and their values: what makes it the same finding in another run
    fingerprint  of the check and the key, apart from others of this run
    known        whether the baseline has it
    space_id     where it was found, when several Spaces are audited together
    """

    message: str
    row: Mapping[str, Json] | None
    key: Mapping[str, Json] = field(default_factory=dict)
    fingerprint: str = ""
    known: bool = False
    space_id: str | None = None


@dataclass(frozen=True, slots=True)
class Fixed:
    """A finding of the baseline that is not there any more; `space_id` as in a Finding."""

    check: str
    fingerprint: str
    message: str
    space_id: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A step that ran: a check with its findings, or a plain statement with its rows.

    found       how many findings there were, when `findings` holds fewer of them (`--max-findings`)
    seconds     how long it ran
    suppressed  whether a suppression holds, so that its findings do not count
    lapsed      whether it has a suppression that is over
    skipped     why it was not asked at all
    unanswered  how many of several Spaces did not answer it
    at          which of the steps of the run it is
    """

    step: Step
    findings: tuple[Finding, ...] = ()
    columns: tuple[str, ...] = ()
    rows: Sequence[Sequence[Json]] = ()
    receipt: Mapping[str, Json] | None = None
    found: int = 0
    counting: int = 0
    seconds: float = 0.0
    suppressed: bool = False
    lapsed: bool = False
    skipped: str | None = None
    unanswered: int = 0
    at: int = 0

    @property
    def severity(self) -> str:
        """The severity of its findings."""
        return self.step.directives.severity

    @property
    def left_out(self) -> int:
        """How many findings are counted and not listed."""
        return self.found - len(self.findings)

    @property
    def passed(self) -> bool:
        """Whether it ran, everywhere, and found nothing."""
        return not self.found and self.skipped is None and not self.unanswered


@dataclass(frozen=True, slots=True)
class Audited:
    """One of several Spaces that were audited together: its head, the sequence that was asked for, whether it answered
    anything, and the names of the checks that were skipped there."""

    space_id: str
    space_seq: int = 0
    at: int | None = None
    answered: bool = True
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Everything of one run, in the order of the files. `warnings` are what is hardly meant in the statements that ran;
    they decide nothing. `now` is the time of the run, `at` the sequence that was asked for, None for the head. Of
    several Spaces audited together, `spaces` are all of them, and a check is one Outcome over them."""

    outcomes: tuple[Outcome, ...] = ()
    problems: tuple[Problem, ...] = ()
    space_seq: int = 0
    warnings: tuple[Problem, ...] = ()
    fixed: tuple[Fixed, ...] = ()
    space_id: str | None = None
    now: str = ""
    at: int | None = None
    baseline: bool = False
    spaces: tuple[Audited, ...] = ()

    @property
    def checks(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.step.directives.is_check)

    def count(self, severity: str) -> int:
        """The number of findings of one severity that count."""
        return sum(check.counting for check in self.checks if check.severity == severity)

    @property
    def suppressed(self) -> int:
        """The number of findings under a suppression."""
        return sum(check.found for check in self.checks if check.suppressed)

    @property
    def known(self) -> int:
        """The number of findings that the baseline knows and nothing suppresses."""
        return sum(check.found - check.counting for check in self.checks if not check.suppressed)

    def exit_code(self, fail_on: str) -> int:
        if self.problems:
            return 2
        if fail_on == NEVER:
            return 0
        return int(any(self.count(severity) for severity in SEVERITIES[SEVERITIES.index(fail_on) :]))


def limited(report: Report, most: int | None) -> Report:
    """The report with at most `most` findings a check listed, those that count first; every one stays counted."""
    if most is None:
        return report
    return replace(report, outcomes=tuple(_limited(outcome, most) for outcome in report.outcomes))


def _limited(outcome: Outcome, most: int) -> Outcome:
    if len(outcome.findings) <= most:
        return outcome
    listed = sorted(range(len(outcome.findings)), key=lambda at: (outcome.findings[at].known, at))[:most]
    return replace(outcome, findings=tuple(outcome.findings[at] for at in sorted(listed)))
