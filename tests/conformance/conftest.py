"""The counts of the engine suite at the end of a run."""

from collections import Counter

import pytest

from tests.conformance.tally import OUTCOMES, TALLY


def line(title: str, counts: Counter[str]) -> str:
    parts = [f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome]]
    return f"{title}: {', '.join(parts) or 'nothing'}".replace("executed", "withheld and executed")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not TALLY:
        return
    terminalreporter.section("engine suite")
    total: Counter[str] = Counter()
    for name in sorted({name for name, _ in TALLY}):
        counts = Counter({outcome: TALLY[name, outcome] for outcome in OUTCOMES})
        total += counts
        terminalreporter.write_line(line(f"  {name}", counts))
    terminalreporter.write_line(line("engine suite", total))
