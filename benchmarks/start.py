"""What a start costs: the interpreter alone, `import kipql`, and one-shot queries, in turns, each in a new process.

Compiled files are kept in a folder of the run, as an installation keeps them; the first call of each is not timed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

COUNT = "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }"
MAKE = 'CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }'
_QUERY = ("-m", "kipql", "query", "-c", COUNT)


def starts(folder: Path) -> dict[str, tuple[str, ...]]:
    """The arguments of Python for each line of the report."""
    return {
        "python": ("-c", "pass"),
        "import kipql": ("-c", "import kipql"),
        "query": _QUERY,
        "query --db": (*_QUERY, "--db", str(folder / "memory.kip")),
    }


def measure(runs: int, folder: Path) -> dict[str, tuple[float, float]]:
    """Median and least milliseconds of `runs` starts, the sides taking turns."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    _call(("-m", "kipql", "exec", "--db", str(folder / "memory.kip"), "-c", MAKE), environment)
    sides = starts(folder)
    found: dict[str, list[float]] = {name: [] for name in sides}
    for run in range(runs + 1):
        for name, arguments in sides.items():
            taken = _call(arguments, environment)
            if run:
                found[name].append(taken)
    return {name: (median(times), min(times)) for name, times in found.items()}


def _call(arguments: Sequence[str], environment: Mapping[str, str]) -> float:
    begun = perf_counter()
    subprocess.run([sys.executable, *arguments], env=dict(environment), stdout=subprocess.DEVNULL, check=True)
    return (perf_counter() - begun) * 1_000


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start", description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(given.runs, Path(folder))
    print(f"| start | median of {given.runs}, ms | least, ms |\n|---|---:|---:|")
    for name, (middle, least) in found.items():
        print(f"| {name} | {middle:.0f} | {least:.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
