"""`python -m benchmarks compare A B`: the six questions at two commits, in pairs.

Each commit is laid out in a worktree in a temporary folder, with these benchmarks in place of its own, so that only
`kipql` differs; `.` is this checkout as it stands. A pair is a process of each, taking turns; the ratio of B to A is
the median over the pairs, and its range is shown, since a difference within it is none.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from benchmarks.peers import Asking, Found, Process, ask_all, figure
from benchmarks.questions import COLD, WARM
from benchmarks.questions_sides import NAMES

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Pairs:
    """One question and kind over all pairs: microseconds of A and of B, pair by pair."""

    question: str
    kind: str
    first: tuple[float, ...]
    second: tuple[float, ...]

    @property
    def ratios(self) -> list[float]:
        """B as a multiple of A, smallest first."""
        return sorted(b / a for a, b in zip(self.first, self.second, strict=True))


@contextmanager
def laid_out(commit: str, repository: Path) -> Iterator[Path]:
    """A folder to run a commit's `kipql` in."""
    if commit == ".":
        yield HERE.parent
        return
    with tempfile.TemporaryDirectory(prefix="kipql-compare-") as parent:
        folder = Path(parent) / "tree"
        _git(repository, "worktree", "add", "--detach", str(folder), commit)
        try:
            shutil.rmtree(folder / "benchmarks", ignore_errors=True)
            shutil.copytree(HERE, folder / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
            yield folder
        finally:
            _git(repository, "worktree", "remove", "--force", str(folder))


def _git(repository: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(repository), *arguments], check=True, capture_output=True)


def compared(
    commits: tuple[str, str], size: int, pairs: int, questions: Sequence[str], asking: Asking, repository: Path
) -> list[Pairs]:
    """Both commits, one pair of processes after the other; which is started first alternates."""
    with ExitStack() as stack:
        folders = [stack.enter_context(laid_out(commit, repository)) for commit in commits]
        runs: list[list[Found]] = []
        for number in range(pairs):
            order = (0, 1) if number % 2 == 0 else (1, 0)
            processes = [Process("AB"[at], "kipql", size, asking, folders[at]) for at in order]
            runs.append(ask_all(processes, size, questions, asking)[0])
    keys = dict.fromkeys((one.question, one.kind) for one in runs[0])
    return [Pairs(question, kind, *(_times(runs, question, kind, name) for name in "AB")) for question, kind in keys]


def _times(runs: Sequence[Sequence[Found]], question: str, kind: str, name: str) -> tuple[float, ...]:
    wanted = (question, kind, name)
    return tuple(one.micros for run in runs for one in run if (one.question, one.kind, one.engine) == wanted)


def table(commits: tuple[str, str], found: Sequence[Pairs]) -> str:
    """Medians and the ratio of B to A with its range."""
    lines = [
        f"| question | | {commits[0]} µs | {commits[1]} µs | ratio | least | most |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for one in found:
        ratios = one.ratios
        shown = [figure(median(times)) for times in (one.first, one.second)]
        shown += [f"{ratio:.2f}" for ratio in (median(ratios), ratios[0], ratios[-1])]
        lines.append(f"| {one.question} | {one.kind} | {' | '.join(shown)} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks compare", description="The six questions at two commits."
    )
    parser.add_argument("first", help="a commit, or . for the working tree")
    parser.add_argument("second", help="the one that is compared with it")
    parser.add_argument("--size", type=int, default=100_000, help="Assertions")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--question", action="append", help="only questions that start with this (repeatable)")
    parser.add_argument("--calls", type=int, help="fewer inputs, warm and cold")
    parser.add_argument("--out", type=Path, help="a file for the pairs as JSON")
    parser.add_argument("--repository", type=Path, default=HERE.parent, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    asking = Asking(min(WARM, given.calls or WARM), min(COLD, given.calls or COLD))
    wanted = [name for name in NAMES if not given.question or name.startswith(tuple(given.question))]
    commits = (given.first, given.second)
    found = compared(commits, given.size, given.pairs, wanted, asking, given.repository)
    print(table(commits, found))
    if given.out:
        given.out.write_text(json.dumps({"commits": commits, "pairs": [asdict(one) for one in found]}, indent=2) + "\n")
    return 0
