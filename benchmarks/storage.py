"""`python -m benchmarks.storage`: the memory on disk beside SQLite (see README.md here).

Commits per second in each durability, the time to write a snapshot and the longest pause of a reader meanwhile, cold
and warm opening up to the first answer (in a process of its own, the library imported), recovery by replay, bytes on
disk.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

import kipql
from benchmarks.kip_side import _claim, _thing
from benchmarks.sqlite_side import Sqlite
from benchmarks.world import PACKAGE, World

LOOK_UP = 'FIND(?c.name) WHERE { ?c {type: "Human", key: :key} }'
SQL = "SELECT name FROM concept WHERE type = 'Human' AND key = ?"
OPEN_KIPQL = f"""
import sys, time, crc32c, kipql, kipql.store.thaw
kipql.open().query({LOOK_UP!r}.replace("Human", "Person"), {{"key": "h7"}})
began = time.perf_counter()
nexus = kipql.open(sys.argv[1], readonly=True)
opened = time.perf_counter()
assert nexus.query({LOOK_UP!r}, {{"key": "h7"}}).rows
print(opened - began, time.perf_counter() - opened)
"""
OPEN_SQLITE = f"""
import sys, time, sqlite3
began = time.perf_counter()
connection = sqlite3.connect(sys.argv[1])
opened = time.perf_counter()
assert connection.execute({SQL!r}, ("h7",)).fetchall()
print(opened - began, time.perf_counter() - opened)
"""
SYNCHRONOUS = {"fsync": "FULL", "os": "NORMAL", "none": "OFF"}  # the nearest of SQLite in WAL mode
REPLAY_MOST = 100_000


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.storage", description=__doc__)
    parser.add_argument("--size", type=int, action="append", help="Assertions (repeatable; default 10000 and 100000)")
    parser.add_argument("--commits", type=int, default=400, help="commits timed per durability (default 400)")
    parser.add_argument("--batch", type=int, default=1, help="Assertions per commit when loading (default 1)")
    parser.add_argument(
        "--during", type=int, metavar="N", help="only the longest commit during a snapshot and a backup of N Assertions"
    )
    parser.add_argument("--folder", type=Path, help="where to write (default: a temporary folder)")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    chosen = parser.parse_args(arguments)
    root = Path(tempfile.mkdtemp(dir=chosen.folder))
    found: list[tuple[str, object, object]] = []
    try:
        everything = chain(commits(root, chosen.commits), sizes(root, chosen.size or [10_000, 100_000], chosen.batch))
        for line in during_lines(root, chosen.during) if chosen.during else everything:
            found.append(line)
            print(f"{line[0]:58} {line[1]!s:>14} {line[2]!s:>14}", flush=True)
    finally:
        shutil.rmtree(root)
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def sizes(root: Path, chosen: list[int], batch: int) -> Iterator[tuple[str, object, object]]:
    for size in chosen:
        yield from size_lines(root / str(size), size, batch)


# --- the longest commit during a snapshot and a backup ---------------------------------------------------

QUIET = 3.0  # seconds of commits with nothing beside them


def during_lines(root: Path, size: int) -> Iterator[tuple[str, object, object]]:
    """One thread commits without a pause; the milliseconds of its longest commit and of the median one."""
    world = World(size)
    yield f"{size} Assertions, one thread that commits, ms", "longest", "median"
    for durability in ("os", "fsync"):
        path = root / f"during-{durability}"
        with kipql.open(path, packages=[PACKAGE], durability="none", snapshot_after=None) as nexus:
            names = nexus.load(map(_thing, world.things), batch=10_000).ids
            ids = {f"{thing.type} {thing.key}": names[_thing(thing)["as"]] for thing in world.things}
            nexus.load((_by_id(_claim(claim), ids) for claim in world.claims), batch=1_000)
            nexus.snapshot()
        with kipql.open(path, durability=durability, snapshot_after=None) as nexus:
            for name, act in (
                ("nothing", partial(sleep, QUIET)),
                ("a snapshot", nexus.snapshot),
                ("a second snapshot", nexus.snapshot),
                ("a backup", partial(nexus.backup, root / f"copy-{durability}")),
            ):
                spent = commits_beside(nexus, name, act)
                yield (
                    f"  {durability}, beside {name} ({len(spent)} commits)",
                    round(max(spent) * 1e3, 1),
                    round(median(spent) * 1e3, 2),
                )
        shutil.rmtree(path)
        shutil.rmtree(root / f"copy-{durability}")


def commits_beside(nexus: kipql.Nexus, name: str, act: Callable[[], object]) -> list[float]:
    """The seconds of each commit that a thread made while something was done."""
    create, done, spent = nexus.prepare('CREATE CONCEPT ?c { TYPE "Human" NAME :name }'), threading.Event(), [0.0]

    def write() -> None:
        while not done.is_set():
            began = perf_counter()
            create.execute({"name": f"{name} {len(spent)}"})
            spent.append(perf_counter() - began)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        act()
    finally:
        done.set()
        writer.join()
    return spent[1:] or spent


# --- commits per second ----------------------------------------------------------------------------------


def commits(root: Path, number: int) -> Iterator[tuple[str, object, object]]:
    """One claim, one commit, each durability; then eight threads at once."""
    yield "commits/s", "kipql", "SQLite"
    world = World(max(number * 10, 1_000))
    for durability in ("fsync", "os", "none"):
        count = number if durability == "fsync" else number * 5
        ours = kipql_commits(root / f"kip-{durability}", world, durability, count, threads=1)
        theirs = sqlite_commits(root / f"sql-{durability}.db", world, durability, count)
        yield f"durability {durability} (SQLite {SYNCHRONOUS[durability]})", ours, theirs
    for threads in (2, 8):
        ours = kipql_commits(root / f"kip-{threads}", world, "fsync", number, threads=threads)
        yield f"durability fsync, {threads} threads", ours, "-"


def kipql_commits(path: Path, world: World, durability: str, count: int, *, threads: int) -> int:
    with kipql.open(path, packages=[PACKAGE], durability=durability) as nexus:
        names = nexus.load(map(_thing, world.things), batch=10_000).ids
        made = nexus.prepare(
            'ASSERT (:subject, :predicate, :object) {by: :actor, mode: "stated", confidence: :confidence}'
        )
        given = [
            {
                "subject": {"id": names[f"Human {claim.subject}"]},
                "predicate": claim.predicate,
                "object": {"id": names[f"{claim.object_type} {claim.object}"]},
                "actor": {"id": names[f"Human {claim.actor}"]},
                "confidence": claim.confidence,
            }
            for claim in world.claims[:count]
        ]

        def write(part: int) -> None:
            for parameters in given[part::threads]:
                made.execute(parameters)

        workers = [threading.Thread(target=write, args=(part,)) for part in range(threads)]
        began = perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return round(count / (perf_counter() - began))


def sqlite_commits(path: Path, world: World, durability: str, count: int) -> int:
    side = Sqlite(path)
    side.connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS[durability]}")
    few = World(10)
    few.things, few.claims = world.things, []
    side.build(few, [1] * len(few.things))
    began = perf_counter()
    for seq, claim in enumerate(world.claims[:count], 2):
        side.write(claim, seq)
    rate = round(count / (perf_counter() - began))
    side.close()
    return rate


# --- one size --------------------------------------------------------------------------------------------


def size_lines(folder: Path, size: int, batch: int) -> Iterator[tuple[str, object, object]]:
    """Assertions with their Propositions: load, snapshot, open."""
    world = World(size)
    folder.mkdir()
    yield f"{size} Assertions, {batch} a commit", "kipql", "SQLite"
    nexus = kipql.open(folder / "kip", packages=[PACKAGE], durability="none", snapshot_after=None)
    nexus.load(map(_thing, world.things), batch=10_000)
    names = {f"{thing.type} {thing.key}": f"C-{row + 1}" for row, thing in enumerate(world.things)}
    shift = int(nexus.query('FIND(?c) WHERE { ?c {type: "Human", key: "h0"} }').scalar()["id"][2:]) - 1
    names = {name: f"C-{int(id_[2:]) + shift}" for name, id_ in names.items()}
    began = perf_counter()
    nexus.load((_by_id(_claim(claim), names) for claim in world.claims), batch=batch)
    yield "  load, s", round(perf_counter() - began, 2), "-"
    if size <= REPLAY_MOST:
        nexus.close()
        yield (
            "  recovery: opening by replay, s",
            round(opening(OPEN_KIPQL, folder / "kip", cold=False, rounds=1)[0], 3),
            "-",
        )
        nexus = kipql.open(folder / "kip", durability="none", snapshot_after=None)
    pause, spent, length = snapshot_beside_a_reader(nexus)
    yield "  writing a snapshot, s", round(spent, 2), "-"
    yield "  longest pause of a reader meanwhile, ms", round(pause * 1e3, 1), "-"
    nexus.close()
    side = Sqlite(folder / "sql.db")
    side.build(world, list(range(1, len(world.things) + size + 1)))
    side.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    side.close()
    theirs = (folder / "sql.db").stat().st_size
    yield "  bytes on disk per Assertion", round(length / size), round(theirs / size)
    for name, cold in (("cold", True), ("warm", False)):
        one, other = opening(OPEN_KIPQL, folder / "kip", cold=cold), opening(OPEN_SQLITE, folder / "sql.db", cold=cold)
        yield f"  {name} open, ms", *(round(each[0] * 1e3, 1) for each in (one, other))
        yield f"  {name} first look-up, ms", *(round(each[1] * 1e3, 1) for each in (one, other))
    shutil.rmtree(folder)


def _by_id(record: dict[str, object], names: dict[str, str]) -> dict[str, object]:
    """The references of a claim as ids: names would have to be carried through a million batches."""
    for member in ("subject", "object", "by"):
        record[member] = {"id": names[record[member]["ref"]]}  # type: ignore[index]
    return record


def snapshot_beside_a_reader(nexus: kipql.Nexus) -> tuple[float, float, int]:
    """(longest time between two answers of a reader thread, seconds for the snapshot, its bytes)."""
    query, done, gaps = nexus.prepare(LOOK_UP), threading.Event(), [0.0]

    def read() -> None:
        last = perf_counter()
        while not done.is_set():
            assert query.query({"key": "h7"}).rows
            now = perf_counter()
            gaps.append(now - last)
            last = now

    reader = threading.Thread(target=read)
    reader.start()
    began = perf_counter()
    length = nexus.snapshot()
    spent = perf_counter() - began
    done.set()
    reader.join()
    return max(gaps), spent, length


def opening(script: str, path: Path, *, cold: bool, rounds: int = 5) -> tuple[float, float]:
    """Median seconds to open and to the first answer then, each round in a new process; `cold` asks the system to
    forget the file's pages first."""
    found = []
    for _ in range(rounds):
        if cold:
            forget(path)
        done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
        found.append([float(number) for number in done.stdout.split()])
    return median(each[0] for each in found), median(each[1] for each in found)


def forget(path: Path) -> None:
    """Drop the pages of a file, or of every file of a folder, from the cache (Linux)."""
    drop: Callable[[int, int, int, int], None] = os.posix_fadvise
    for file in [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]:
        descriptor = os.open(file, os.O_RDONLY)
        os.fsync(descriptor)
        drop(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


if __name__ == "__main__":
    raise SystemExit(main())
