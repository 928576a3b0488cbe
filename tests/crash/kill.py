"""kill -9 under load: what was acknowledged is there, of the rest at most what each thread had begun (docs/storage.md).

    python -m tests.crash.kill --rounds 500 [--seed 1]

A child opens a memory, says over a pipe what it is about to do and what was done, and is killed at a random moment,
while it opens, writes, purges, changes the vocabulary, writes a snapshot or rewrites the journal. The parent opens what
is left and compares it with what it was told. A memory lives through many rounds; one round in three has three threads.
"""

import argparse
import os
import random
import select
import signal
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import kipql
from tests.crash.words import CREATE, DEFINE, LIVE, PURGE

LONGEST = 0.35  # seconds until the kill
LIVES = 25  # rounds that a memory lives through
SNAPSHOT_AFTER = 30_000


@dataclass
class Told:
    """What the child said of one memory."""

    keys: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    drafts: set[str] = field(default_factory=set)
    pending: list[str] = field(default_factory=list)  # begun and not acknowledged, when the child was killed
    acknowledged: int = 0

    def hear(self, said: bytes) -> None:
        """Take up the whole lines of a round."""
        begun: dict[str, str] = {}
        for line in said.decode().split("\n")[:-1]:
            thread, what = line.split(" ", 1)
            if what == "done":
                self.acknowledged += 1
                self.count(begun.pop(thread))
            else:
                begun[thread] = what
        self.pending = list(begun.values())

    def count(self, what: str) -> None:
        """Something was done."""
        word, name = what.split(" ", 1)
        if word == "create":
            self.keys.add(name)
        elif word == "purge":
            self.keys.discard(name)
            self.gone.add(name)
        elif word == "define":
            self.drafts.add(name)


@dataclass(frozen=True)
class Round:
    """How a round ended."""

    acknowledged: int
    made_though_pending: int
    seconds: float


def rounds(folder: Path, count: int, seed: int, tell: Callable[[int, Round], None] | None = None) -> list[Round]:
    """Run rounds. Raises AssertionError for a memory that is not what was acknowledged."""
    done, random_, told = list[Round](), random.Random(seed), Told()
    for number in range(count):
        if number % LIVES == 0:
            told = Told()
        before = told.acknowledged
        started = time.perf_counter()
        path = folder / f"memory-{number // LIVES}"
        told.hear(_killed(path, random_, number))
        made = check(path, told, number)
        done.append(Round(told.acknowledged - before, made, time.perf_counter() - started))
        if tell is not None:
            tell(number, done[-1])
    return done


def check(path: Path, told: Told, number: int) -> int:
    """Compare; how many of the writes that were begun are there. The model learns of them."""
    try:
        nexus = kipql.open(path, durability="os", snapshot_after=None)
    except kipql.KipError as error:
        raise AssertionError(f"round {number}: {error.code}: {error.message}") from error
    with nexus:
        found = set(nexus.query(LIVE).rows)
        drafts = {str(row["local_name"]) for row in nexus.query("LIST PREDICATES").rows}
        head, made = nexus.space_seq, 0
        for what in told.pending:
            word, name = what.split(" ", 1)
            there = {
                "create": name in found,
                "purge": name in told.keys and name not in found,
                "define": name in drafts,
            }
            if there.get(word, False):
                told.count(what)
                made += 1
        assert found == told.keys, (number, found ^ told.keys)
        assert told.drafts <= drafts, (number, told.drafts - drafts)
        assert head == len(told.keys) + 2 * len(told.gone) + len(told.drafts), (number, head)
        half = set(nexus.query(LIVE + " AS OF SEQ :seq", {"seq": head // 2}).rows)
        assert half <= found, "the past has nothing that was erased"
        if told.gone:
            held = b"".join(each.read_bytes() for each in sorted(path.glob("spaces/*/*")) if each.name != "lock")
            assert not [name for name in told.gone if name.encode() in held], (number, "purged bytes are on the disk")
    return made


def _killed(path: Path, random_: random.Random, number: int) -> bytes:
    """What a child said until it was killed."""
    wait, seed = random_.uniform(0, LONGEST), random_.randrange(1 << 30)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            _live(path, writing, random.Random(seed), 3 if number % 3 == 2 else 1)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writing)
    said, until = b"", time.monotonic() + wait
    while (left := until - time.monotonic()) > 0:
        if select.select([reading], [], [], left)[0]:
            piece = os.read(reading, 1 << 16)
            if not piece:
                raise AssertionError(f"round {number}: the child ended by itself")
            said += piece
    os.kill(child, signal.SIGKILL)
    while piece := os.read(reading, 1 << 16):
        said += piece
    os.close(reading)
    os.waitpid(child, 0)
    return said


def _live(path: Path, out: int, random_: random.Random, threads: int) -> None:
    durability = random_.choice(("fsync", "os"))
    nexus = kipql.open(path, durability=durability, snapshot_after=random_.choice((SNAPSHOT_AFTER, 1_000_000)))
    seeds = [random_.randrange(1 << 30) for _ in range(threads)]
    mine = [set[str]() for _ in range(threads)]
    for key in nexus.query(LIVE).rows:
        mine[sum(key.encode()) % threads].add(key)

    def work(thread: int) -> None:
        own = random.Random(seeds[thread])
        try:
            while True:
                _step(nexus, own, mine[thread], lambda what: os.write(out, f"{thread} {what}\n".encode()))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)  # the parent hears that the child ended by itself

    for thread in range(1, threads):
        threading.Thread(target=work, args=(thread,), daemon=True).start()
    work(0)


def _step(nexus: kipql.Nexus, own: random.Random, mine: set[str], say: Callable[[str], object]) -> None:
    choice, name = own.random(), f"k{own.randrange(1 << 40):010x}"
    if choice < 0.06 and mine:
        victim = own.choice(sorted(mine))
        mine.discard(victim)
        say(f"purge {victim}")
        nexus.execute(PURGE, {"key": victim})
    elif choice < 0.10:
        say("snapshot -")
        nexus.snapshot()
    elif choice < 0.11:
        say(f"define {name}")
        nexus.execute(DEFINE % name)
    else:
        say(f"create {name}")
        nexus.execute(CREATE, {"key": name})
        mine.add(name)
    say("done")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    def tell(number: int, each: Round) -> None:
        if number % 50 == 49:
            print(f"round {number + 1}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        done = rounds(Path(folder), options.rounds, options.seed, tell)
    acknowledged = sum(each.acknowledged for each in done)
    pending = sum(each.made_though_pending for each in done)
    seconds = sum(each.seconds for each in done)
    print(f"{len(done)} rounds in {seconds:.0f} s: {acknowledged} writes acknowledged, all there; {pending} more were")


if __name__ == "__main__":
    main()
