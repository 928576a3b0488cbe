"""What every test may use: the public data folder, one line that says whether it was there, and how properties run.

The folder is `$KIPQL_SHARED`, else `../shared` beside the checkout. Tests that need it carry the marker
`shared` (or a skip whose reason names it) and are skipped without it; the last line of the run says how
many.
"""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says something about the machine, nothing about the property. A plain run has the same
# examples every time; a run that sets KIPQL_EXAMPLES looks for new ones.
settings.register_profile(
    "kipql",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize="KIPQL_EXAMPLES" not in os.environ,
)
settings.load_profile("kipql")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a job in the background inherits it: Ctrl-C is tested, too
    signal.signal(signal.SIGINT, signal.default_int_handler)


SHARED = Path(os.environ.get("KIPQL_SHARED") or Path(__file__).resolve().parents[2] / "shared")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The public data folder; the test is skipped where there is none."""
    if not SHARED.is_dir():
        pytest.skip("shared: absent")
    return SHARED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not SHARED.is_dir():
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(pytest.mark.skip(reason="shared: absent"))


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", ())
    missing = sum("shared" in str(report.longrepr) for report in skipped)
    found = "present" if SHARED.is_dir() else f"absent, {missing} tests skipped"
    terminalreporter.write_line(f"shared: {found}")
