"""`python -m benchmarks`: measure kipql beside SQLite; `compare A B`: two commits (see README.md here)."""

import argparse
import sys
from pathlib import Path

from benchmarks import comparing
from benchmarks.groups import GROUPS, ON_DISK, run
from benchmarks.report import table, write

EVERY = (*GROUPS, *ON_DISK)


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["compare"]:
        return comparing.main(given[1:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure kipql beside SQLite.")
    parser.add_argument("--size", type=int, action="append", help="Propositions (repeatable; default 10000 and 100000)")
    parser.add_argument("--calls", type=int, default=200, help="inputs a group is asked with (default 200)")
    parser.add_argument("--group", action="append", choices=EVERY, help="only this group (repeatable)")
    parser.add_argument("--out", type=Path, help="a folder for results.json and results.md")
    parser.add_argument("--smoke", action="store_true", help="tiny: 300 Propositions, 5 calls; proves that it runs")
    chosen = parser.parse_args(given)
    sizes = [300] if chosen.smoke else chosen.size or [10_000, 100_000]
    calls = 5 if chosen.smoke else chosen.calls
    measures = [measure for size in sizes for measure in run(size, calls, set(chosen.group or EVERY))]
    print(table(measures))
    if chosen.out:
        write(measures, chosen.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
