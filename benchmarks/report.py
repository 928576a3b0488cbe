"""The report: JSON for programs, a Markdown table for people."""

import json
import platform
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import kipql
from benchmarks.measure import Measure


def table(measures: Sequence[Measure]) -> str:
    """Medians in microseconds; a ratio below 1 means that kipql is the faster."""
    lines = [
        "| group | propositions | kipql µs | SQLite µs | ratio | rows | calls |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for m in measures:
        sqlite, ratio = ("", "") if m.sqlite is None or m.ratio is None else (figure(m.sqlite), f"{m.ratio:.2f}")
        lines.append(f"| {m.group} | {m.size:,} | {figure(m.kipql)} | {sqlite} | {ratio} | {m.rows} | {m.calls} |")
    return "\n".join(lines)


def figure(microseconds: float) -> str:
    return f"{microseconds:,.0f}" if microseconds >= 100 else f"{microseconds:.1f}"


def write(measures: Sequence[Measure], folder: Path) -> None:
    """`results.json` and `results.md` in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "kipql": getattr(kipql, "__version__", "unknown"),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "machine": f"{platform.system()} {platform.machine()}",
    }
    rows = [{**asdict(m), "ratio": m.ratio} for m in measures]
    (folder / "results.json").write_text(json.dumps({"about": about, "measures": rows}, indent=2) + "\n", "utf-8")
    facts = ", ".join(f"{name} {value}" for name, value in about.items())
    (folder / "results.md").write_text(f"{facts}\n\n{table(measures)}\n", "utf-8")
