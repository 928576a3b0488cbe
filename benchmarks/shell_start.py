"""How long a person waits for the shell: for its first prompt on a terminal, and for the words of a completion.

The prompt is read from a pseudo-terminal, a new process each time, until it stands there. Completion is asked as the
prompt asks it, in a shell that knows its memory; of the places below the slowest counts.
"""

import os
import pty
import select
import struct
import sys
import termios
from collections.abc import Mapping
from fcntl import ioctl
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.kip_side import Kipql
from benchmarks.world import World

PLACES = (
    "",
    "FIND(?x.",
    'FIND(?x) WHERE { ?x {type: "',
    'FIND(?x) WHERE { ?x {type: "Human", key: "h1',
    'FIND(?x) WHERE { ?x {name: "',
    'FIND(?x, ?y) WHERE { ?x {type: "Human", key: "h1"} (?x, "',
    'FIND(?x, ?y, ?c) WHERE { ?x {type: "Human"} (?x, "acquainted", ?y) ?c ASSERTION {} FILTER(?c.',
    'ASSERT (?x, "acquainted", ?y) {by: ?x, mode: "',
)
_WAIT = 60.0  # seconds


def build(folder: Path, size: int) -> Path:
    """A memory with so many Assertions."""
    path = folder / "world.kip"
    side = Kipql(path)
    side.build(World(size))
    side.close()
    return path


def first_prompt(path: Path, environment: Mapping[str, str]) -> tuple[float, float]:
    """Milliseconds from the start of the process to the prompt on a terminal, and how many the processor worked."""
    begun = perf_counter()
    process, terminal = pty.fork()
    if process == 0:
        os.execve(sys.executable, [sys.executable, "-m", "kipql", str(path)], dict(environment))
    try:
        ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        seen = b""
        while b"world>" not in seen:
            if not select.select([terminal], [], [], _WAIT)[0]:
                raise TimeoutError(seen.decode(errors="replace"))
            seen += os.read(terminal, 65_536)
            if b"\x1b[6n" in seen:  # it asks where the cursor is, as of any terminal
                os.write(terminal, b"\x1b[1;1R")
                seen = seen.replace(b"\x1b[6n", b"")
        taken, worked = (perf_counter() - begun) * 1_000, _worked(process)
        os.write(terminal, b"\x04")
        _drained(terminal)
    finally:
        os.close(terminal)
        os.waitpid(process, 0)
    return taken, worked


def _worked(process: int) -> float:
    """Milliseconds that the threads of a process have run (Linux)."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(thread.read_text("ascii").split()[0]) for thread in threads) / 1e6


def _drained(terminal: int) -> None:
    """Read until the process is gone."""
    try:
        while select.select([terminal], [], [], _WAIT)[0] and os.read(terminal, 65_536):
            pass
    except OSError:  # that is how a pseudo-terminal ends
        pass


def completions(path: Path, runs: int) -> dict[str, float]:
    """Median milliseconds of a completion at each place."""
    import kipql
    from kipql.editing.completing import offers
    from kipql.editing.vocabulary import Vocabulary

    found = {}
    with kipql.open(path, readonly=True) as nexus:
        words = Vocabulary(nexus)
        for member in ("key", "name"):
            words.ask(member)
        for text in PLACES:
            times = []
            assert offers(text, len(text), words), text
            for _ in range(runs):
                begun = perf_counter()
                offers(text, len(text), words)
                times.append((perf_counter() - begun) * 1_000)
            found[text] = median(times)
    return found
