"""What a run says about itself: the date, the machine, its load, the versions."""

import os
import platform
import sqlite3
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import kipql
from benchmarks import sides


def about(engines: Iterable[str]) -> dict[str, Any]:
    """Facts by name; `load` is the number of runnable processes over the last minute."""
    facts: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit(),
        "kipql": getattr(kipql, "__version__", "unknown"),
        "Python": platform.python_version(),
        "machine": f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "load": round(os.getloadavg()[0], 1),
    }
    for engine in engines:
        package = sides.PACKAGES.get(engine)
        if package is not None:
            facts[engine] = version(package)
        elif engine == "SQLite":
            facts[engine] = sqlite3.sqlite_version
    return facts


def commit() -> str:
    """The commit of this checkout, marked when files differ from it."""
    command = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
