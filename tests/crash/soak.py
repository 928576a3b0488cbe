"""A soak: many writes with readers beside them, the memory of the process measured as it goes (docs/storage.md).

    python -m tests.crash.soak --writes 200000 [--readers 2]

One thread writes single commits with durability "os" (the disk is not what is measured) and lets snapshots happen;
reader threads ask for present and past states all the time and check what they get. At the end the memory is opened
again. What a write costs in memory is its data; a leak would show as growth that the data does not explain, so the
bytes a write are told for each tenth of the run.
"""

import argparse
import gc
import random
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import kipql
from tests.crash.words import CREATE

TENTHS = 10
COUNT = 'FIND(COUNT(?c)) WHERE { ?c {type: "Person"} }'
ONE = 'FIND(?c.name) WHERE { ?c {type: "Person", key: :key} } AS OF SEQ :seq'


@dataclass
class Soaked:
    """What a soak measured; the lists have an entry for each tenth of the writes."""

    bytes_a_write: list[float] = field(default_factory=list)
    writes_a_second: list[float] = field(default_factory=list)
    reads: int = 0
    wrong: list[str] = field(default_factory=list)
    longest_read: float = 0.0
    open_seconds: float = 0.0


def soak(folder: Path, writes: int, readers: int) -> Soaked:
    """Run it."""
    found, ended = Soaked(), threading.Event()
    with kipql.open(folder / "memory", durability="os") as nexus:
        threads = [threading.Thread(target=_read, args=(nexus, found, ended, number)) for number in range(readers)]
        for thread in threads:
            thread.start()
        try:
            _write(nexus, writes, found)
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        head = nexus.space_seq
    started = time.perf_counter()
    with kipql.open(folder / "memory") as again:
        found.open_seconds = time.perf_counter() - started
        if (again.space_seq, again.query(COUNT).scalar()) != (head, writes) or head != writes:
            found.wrong.append(f"reopened at {again.space_seq} after {head}")
    return found


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def _write(nexus: kipql.Nexus, writes: int, found: Soaked) -> None:
    create = nexus.prepare(CREATE)
    before, tenth = resident(), max(1, writes // TENTHS)
    started = time.perf_counter()
    for number in range(1, writes + 1):
        create.execute({"key": f"k{number}"})
        if number % tenth == 0:
            now, seconds = resident(), time.perf_counter() - started
            found.bytes_a_write.append((now - before) / tenth)
            found.writes_a_second.append(tenth / seconds)
            print(f"{number} writes, {tenth / seconds:.0f} a second", file=sys.stderr, flush=True)
            before, started = now, time.perf_counter()


def _read(nexus: kipql.Nexus, found: Soaked, ended: threading.Event, seed: int) -> None:
    own = random.Random(seed)
    while not ended.is_set():
        time.sleep(0.002)  # readers that share the interpreter with the writer
        head = nexus.space_seq
        if not head:
            continue
        number, seq = own.randrange(1, head + 1), own.randrange(1, head + 1)
        started = time.perf_counter()
        rows = list(nexus.query(ONE, {"key": f"k{number}", "seq": seq}).rows)
        found.longest_read = max(found.longest_read, time.perf_counter() - started)
        found.reads += 1
        if rows != ([f"k{number}"] if number <= seq else []):
            found.wrong.append(f"k{number} as of {seq}: {rows}")
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writes", type=int, default=200_000)
    parser.add_argument("--readers", type=int, default=2)
    options = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = soak(Path(folder), options.writes, options.readers)
    print(f"{options.writes} writes, {options.readers} readers: {time.perf_counter() - started:.0f} s")
    print("bytes a write, by tenths:", " ".join(f"{each:.0f}" for each in found.bytes_a_write))
    print("writes a second, by tenths:", " ".join(f"{each:.0f}" for each in found.writes_a_second))
    print(
        f"{found.reads} reads, the longest {found.longest_read * 1000:.0f} ms; reopened in {found.open_seconds:.2f} s"
    )
    if found.wrong:
        raise SystemExit("WRONG: " + "; ".join(found.wrong[:5]))


if __name__ == "__main__":
    main()
