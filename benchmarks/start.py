"""What a start costs: the interpreter alone, `import kipql`, `kipql --version`, one-shot queries and the first prompt
of the shell on a memory of 100,000 Assertions, in turns, each in a new process; and what a completion costs there.

Compiled files are kept in a folder of the run, as an installation keeps them; the first call of each is not timed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import perf_counter

from benchmarks.shell_start import build, completions, first_prompt

COUNT = "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }"
MAKE = 'CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }'
PROMPT = "first prompt"
_QUERY = ("-m", "kipql", "query", "-c", COUNT)


def starts(folder: Path) -> dict[str, tuple[str, ...]]:
    """The arguments of Python for each line of the report."""
    return {
        "python": ("-c", "pass"),
        "import kipql": ("-c", "import kipql"),
        "kipql --version": ("-m", "kipql", "--version"),
        "query": _QUERY,
        "query --db": (*_QUERY, "--db", str(folder / "memory.kip")),
    }


def measure(runs: int, folder: Path, memory: Path) -> dict[str, tuple[float, float, float]]:
    """Median and least milliseconds of `runs` starts, and the median that the processor worked; the sides take turns,
    the shell opens `memory`."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": str(folder / "compiled"), "KIPQL_HOME": str(folder / "home")}
    _call(("-m", "kipql", "exec", "--db", str(folder / "memory.kip"), "-c", MAKE), environment)
    sides = starts(folder)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in (*sides, PROMPT)}
    for run in range(runs + 1):
        for name, arguments in sides.items():
            taken = _call(arguments, environment)
            if run:
                found[name].append(taken)
        taken = first_prompt(memory, environment)
        if run:
            found[PROMPT].append(taken)
    return {
        name: (median(taken for taken, _ in times), min(taken for taken, _ in times), median(work for _, work in times))
        for name, times in found.items()
    }


def _call(arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    begun, before = perf_counter(), getrusage(RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], env=dict(environment), stdout=subprocess.DEVNULL, check=True)
    taken, after = perf_counter() - begun, getrusage(RUSAGE_CHILDREN)
    return taken * 1_000, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1_000


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start", description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--size", type=int, default=100_000, help="Assertions of the shell's memory")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        memory = build(Path(folder), given.size)
        found = measure(given.runs, Path(folder), memory)
        words = completions(memory, given.runs)
    print(f"| start | median of {given.runs}, ms | least, ms | processor's median, ms |\n|---|---:|---:|---:|")
    for name, (middle, least, worked) in found.items():
        print(f"| {name} | {middle:.0f} | {least:.0f} | {worked:.0f} |")
    print(f"\n| completion behind | median of {given.runs}, ms |\n|---|---:|")
    for text, taken in words.items():
        print(f"| `{text}` | {taken:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
