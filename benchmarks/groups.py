"""The groups of the benchmark: parse (cold and cached), key, one hop, two hops, as of, scan, write, open."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import kipql
from benchmarks.kip_side import Kipql
from benchmarks.measure import Measure, compare
from benchmarks.sqlite_side import Sqlite
from benchmarks.world import Claim, World


class Bench:
    """One size: the world in both engines, in memory, and the inputs to ask about."""

    def __init__(self, size: int, calls: int) -> None:
        self.size = size
        self.calls = calls
        self.world = World(size)
        self.kip = Kipql()
        self.seqs = self.kip.build(self.world)
        self.sql = Sqlite()
        self.sql.build(self.world, self.seqs)
        self.keys = self.world.sample(calls)

    def close(self) -> None:
        self.kip.close()
        self.sql.close()

    def asked(self, group: str, inputs: list[dict[str, object]]) -> Measure:
        return compare(
            group,
            self.size,
            inputs,
            lambda parameters: self.kip.query(group, parameters),
            lambda parameters: self.sql.query(group, parameters),
        )


def parse_cold(bench: Bench) -> Measure:
    """A text never seen before, to the point where its first row could be read."""
    fresh = iter(range(10**9))

    def text(side: Kipql | Sqlite) -> str:
        return side.text("two hops", f"h{next(fresh)}")

    return compare(
        "parse cold",
        bench.size,
        range(bench.calls),
        lambda _: kipql.parse(text(bench.kip)),
        lambda _: bench.sql.connection.execute("EXPLAIN " + text(bench.sql)),
        check=False,
    )


def parse_cached(bench: Bench) -> Measure:
    """The same text again and again, prepared each time."""
    ours, theirs = bench.kip.text("two hops", "h1"), "EXPLAIN " + bench.sql.text("two hops", "h1")
    return compare(
        "parse cached",
        bench.size,
        range(bench.calls),
        lambda _: bench.kip.nexus.prepare(ours),
        lambda _: bench.sql.connection.execute(theirs),
        check=False,
    )


def key(bench: Bench) -> Measure:
    """A Concept by type and key."""
    return bench.asked("key", [{"key": key} for key in bench.keys])


def one_hop(bench: Bench) -> Measure:
    """Whom someone knows."""
    return bench.asked("one hop", [{"key": key} for key in bench.keys])


def two_hops(bench: Bench) -> Measure:
    """Whom their acquaintances know, filtered by an attribute, ordered, the first twenty."""
    return bench.asked("two hops", [{"key": key} for key in bench.keys])


def as_of(bench: Bench) -> Measure:
    """Whom someone knew at a commit half-way through the load."""
    middle = bench.seqs[len(bench.seqs) // 2]
    return bench.asked("as of", [{"key": key, "seq": middle} for key in bench.keys])


def scan(bench: Bench) -> Measure:
    """Counting people by an attribute that has no index."""
    return bench.asked("scan", [{"age": age} for age in range(30, 70, max(1, 160 // bench.calls))])


def _claims(bench: Bench) -> list[Claim]:
    """Claims not in the world, each of which is one new Proposition with one Assertion."""
    firm = [thing.key for thing in bench.world.things if thing.type == "Firm"]
    people = list(dict.fromkeys(bench.keys))
    return [
        Claim(person, "drawn_to", firm[number % len(firm)], "Firm", person, 0.5) for number, person in enumerate(people)
    ]


def write(bench: Bench) -> Measure:
    """One claim in one transaction, in memory."""
    return _written("write", bench, bench.kip, bench.sql)


def _written(group: str, bench: Bench, kip: Kipql, sql: Sqlite) -> Measure:
    return compare(
        group, bench.size, _claims(bench), kip.write, lambda claim: sql.write(claim, 10**6), check=False, rounds=1
    )


def on_disk(bench: Bench, groups: set[str]) -> Iterator[Measure]:
    """Writing with an fsync a commit, and opening up to the first answer."""
    folder = Path(tempfile.mkdtemp(prefix="kipql-bench-"))
    try:
        kip, sql = Kipql(folder / "world.kip"), Sqlite(folder / "world.sqlite")
        sql.build(bench.world, kip.build(bench.world))
        if "write durable" in groups:
            yield _written("write durable", bench, kip, sql)
        kip.close()
        sql.close()
        if "open" in groups:
            question: dict[str, object] = {"key": bench.keys[0]}
            yield compare(
                "open",
                bench.size,
                range(3),
                lambda _: _opened(Kipql, folder / "world.kip", question),
                lambda _: _opened(Sqlite, folder / "world.sqlite", question),
                rounds=1,
            )
    finally:
        shutil.rmtree(folder)


def _opened(side: type[Kipql] | type[Sqlite], path: Path, question: dict[str, object]) -> list[object]:
    opened = side(path)
    try:
        return opened.query("key", question)
    finally:
        opened.close()


GROUPS: dict[str, Callable[[Bench], Measure]] = {
    "parse cold": parse_cold,
    "parse cached": parse_cached,
    "key": key,
    "one hop": one_hop,
    "two hops": two_hops,
    "as of": as_of,
    "scan": scan,
    "write": write,
}
ON_DISK = ("write durable", "open")


def run(size: int, calls: int, groups: set[str]) -> Iterator[Measure]:
    """Every wanted group at one size."""
    bench = Bench(size, calls)
    try:
        for group, measure in GROUPS.items():
            if group in groups:
                yield measure(bench)
        if groups & set(ON_DISK):
            yield from on_disk(bench, groups)
    finally:
        bench.close()
