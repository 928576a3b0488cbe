"""`python -m benchmarks.operations`: what the six questions leave out, in kipql, with SQLite beside it where it can.

    writes     a prepared ASSERT a commit; MUTATE of a hundred; `nexus.load` of new claims; microseconds an Assertion
    durable    a prepared ASSERT a commit on disk, in each durability
    memory     growth of the resident memory an Assertion, by Assertions a commit, each in a process of its own
    past       q2 at a past sequence over q2 now, as nothing changed and as every person changed since
    paths      whom someone reaches over at most three steps, beside the joins written out
    pages      a page of a hundred, the first and those behind cursors
    search     SEARCH of a name

Figures are medians in microseconds of one thread; the sides take turns. A load is measured by stretches of twenty
thousand in time of the processor: one is long enough to be interrupted.
"""

import argparse
import gc
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter_ns, process_time_ns
from typing import Any

import kipql
from benchmarks.about import about
from benchmarks.measure import Mismatch, compare, normal
from benchmarks.questions_data import BATCH, PACKAGE, PREDICATES, RELATIONS, World, inputs, world
from benchmarks.questions_sides import INDEXES, Q2, QUERIES, SCHEMA, Kipql, Sqlite
from benchmarks.worker import resident
from kipql import lang
from kipql.times import FOREVER, format_instant

ASSERT = 'ASSERT (:s, :p, :o) {by: :a, mode: "stated", confidence: 0.5}'
PATH = 'FIND(?x.key) WHERE { (:s, "knows"{1,3}, ?x) }'
SQL_PATH = """SELECT h.key FROM (
  SELECT object AS id FROM proposition WHERE subject = ?1 AND predicate = 0
  UNION SELECT q.object FROM proposition p CROSS JOIN proposition q ON q.subject = p.object AND q.predicate = 0
    WHERE p.subject = ?1 AND p.predicate = 0
  UNION SELECT r.object FROM proposition p CROSS JOIN proposition q ON q.subject = p.object AND q.predicate = 0
    CROSS JOIN proposition r ON r.subject = q.object AND r.predicate = 0 WHERE p.subject = ?1 AND p.predicate = 0
) x CROSS JOIN human h ON h.id = x.id"""
PAGE = 'FIND(?c.key) WHERE { ?c {type: "Human"} } ORDER BY ?c.name LIMIT 100'
SQL_PROPOSITION = "INSERT INTO proposition VALUES (?, ?, ?, ?, ?)"
SQL_INSERT = "INSERT INTO assertion VALUES (?, ?, ?, ?, ?, ?, 0, 1, NULL, ?, ?, ?, ?)"
TOLD = """ASSERT (:subject, :predicate, :object)
  {by: :by, mode: :mode, at: :at, valid: :valid}"""
STRETCH = 20_000
"""Assertions of one call of `nexus.load`, and of SQLite's turn."""
_START = 1_800_000_000_000
PAST = QUERIES[Q2] + " AS OF SEQ :k"


@dataclass(frozen=True, slots=True)
class Figure:
    """One line: kipql's microseconds, the other side's where there is one."""

    name: str
    micros: float
    other: float | None = None
    note: str = ""


class Bench:
    """One world in kipql and SQLite."""

    def __init__(self, size: int, calls: int) -> None:
        self.world: World = world(size)
        self.calls = calls
        self.ours, self.theirs = Kipql(self.world), Sqlite(self.world)
        self.asked = inputs(self.world, calls, 7)

    @property
    def nexus(self) -> kipql.Nexus:
        return self.ours.nexus


def each(call: Callable[[Any], Any], given: Iterator[Any] | list[Any]) -> float:
    """Median microseconds of a call."""
    spent = []
    for value in given:
        began = perf_counter_ns()
        call(value)
        spent.append(perf_counter_ns() - began)
    return median(spent) / 1000


def _claims(bench: Bench, start: int) -> Iterator[dict[str, str]]:
    """Parameters of new Propositions with an Assertion each."""
    return _of(bench.world, start)


def _of(world: World, start: int = 0) -> Iterator[dict[str, str]]:
    people, step = len(world.people), 7_919
    for number in range(start, 10**9):
        subject, other = number * 13 % people, (number * step + 1) % people
        yield {"s": f"C-{subject + 1}", "p": RELATIONS[number % 3], "o": f"C-{other + 1}", "a": f"C-{number % 40 + 1}"}


def writes(bench: Bench) -> Iterator[Figure]:
    """An Assertion a commit, a hundred, and a load."""
    execute, calls = bench.nexus.prepare(ASSERT).execute, bench.calls
    insert = bench.theirs.connection.execute
    rows = ((10**7 + n, 0, n, 0, n, 1, 0, 0, 0, 0) for n in range(10**9))
    given = [(one, row) for one, row in islice(zip(_claims(bench, 0), rows, strict=False), 3 * calls)]
    found = compare(
        "write", 0, given, lambda v: execute(v[0]), lambda v: insert(SQL_INSERT, v[1]), check=False, rounds=1
    )
    note = f"{1e6 / found.kipql:,.0f}/s; SQLite: one INSERT of as many columns"
    yield Figure("ASSERT, prepared, one a commit", found.kipql, found.sqlite, note)
    hundred = [_mutate(list(islice(_claims(bench, 10**6 + 100 * n), 100))) for n in range(max(5, calls // 30))]
    time = each(lambda text: bench.nexus.execute(text), hundred)
    parsing = each(lang.parse, hundred)
    note = f"{parsing / 100:.1f} of it parsing"
    yield Figure("MUTATE of 100 ASSERT, a new text each, an ASSERT", time / 100, note=note)
    yield from _loads(bench)


def _loads(bench: Bench) -> Iterator[Figure]:
    """The same claims into both, a thousand a commit and ten thousand; each says when, and from when it holds. A
    stretch is one call, as a load is: the sides take turns after each."""
    stretches = max(10, bench.calls // 100)
    for at, batch in enumerate((BATCH, 10 * BATCH)):
        claims = list(islice(_claims(bench, (2 + at) * 10**6), stretches * STRETCH))
        ours, theirs = _stretches(bench, claims, batch, first_row=(2 + at) * 10**7)
        note = f"{1e6 / median(ours):,.0f}/s; SQLite: executemany of both tables, unchecked; least {min(ours):.1f} and "
        label = f"load, an Assertion, {batch:,} a commit (time of the processor)"
        yield Figure(label, median(ours), median(theirs), f"{note}{min(theirs):.1f}")


def _stretches(
    bench: Bench, claims: list[dict[str, str]], batch: int, first_row: int
) -> tuple[list[float], list[float]]:
    """Microseconds of the processor an Assertion, stretch by stretch, kipql's and SQLite's."""
    seen: dict[tuple[int, int, int], int] = {}
    records = [_record(one, number) for number, one in enumerate(claims)]
    tuples, rows = [], []
    for number, one in enumerate(claims):
        key = (int(one["s"][2:]) - 1, RELATIONS.index(one["p"]), int(one["o"][2:]) - 1)
        row = seen.setdefault(key, first_row + number)
        tuples.append((row, *key, 0) if row == first_row + number else None)
        actor, start = int(one["a"][2:]) - 1, _START + number * 1_000
        rows.append((first_row + number, row, *key, actor, start, FOREVER, 0, FOREVER))
    connection = bench.theirs.connection
    spent: tuple[list[float], list[float]] = ([], [])
    gc.collect()
    for start in range(0, len(records), STRETCH):
        began = process_time_ns()
        bench.nexus.load(records[start : start + STRETCH], batch=batch)
        spent[0].append((process_time_ns() - began) / 1000 / STRETCH)
        began = process_time_ns()
        for commit in range(start, start + STRETCH, batch):
            connection.execute("BEGIN")
            connection.executemany(SQL_PROPOSITION, filter(None, tuples[commit : commit + batch]))
            connection.executemany(SQL_INSERT, rows[commit : commit + batch])
            connection.execute("COMMIT")
        spent[1].append((process_time_ns() - began) / 1000 / STRETCH)
    return spent


def durable(bench: Bench) -> Iterator[Figure]:
    """A prepared ASSERT a commit on disk, beside SQLite that promises as much: WAL and `synchronous`."""
    people = list(islice(bench.world.records(), min(1_000, len(bench.world.people))))
    small = replace(bench.world, people=bench.world.people[: len(people)])
    for durability, synchronous in (("none", "OFF"), ("os", "NORMAL"), ("fsync", "FULL")):
        with TemporaryDirectory() as folder, kipql.open(f"{folder}/m", packages=[PACKAGE], durability=durability) as m:
            m.load(people)
            other = sqlite3.connect(f"{folder}/m.sqlite", isolation_level=None)
            other.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}; {SCHEMA}\n{INDEXES}")
            execute, insert = m.prepare(ASSERT).execute, other.execute
            rows = ((n, 0, n, 0, n, 1, 0, 0, 0, 0) for n in range(10**9))
            given = list(islice(zip(_of(small), rows, strict=False), bench.calls))
            found = compare(
                "durable",
                0,
                given,
                partial(_first, execute),
                partial(_second, insert),
                check=False,
                rounds=1,
            )
            other.close()
            yield Figure(f"ASSERT on disk, {durability}", found.kipql, found.sqlite, f"synchronous = {synchronous}")


def _mutate(claims: list[dict[str, str]]) -> str:
    lines = (
        f'  ASSERT ("{c["s"]}", "{c["p"]}", "{c["o"]}") {{by: "{c["a"]}", mode: "stated", confidence: 0.5}}'
        for c in claims
    )
    return "MUTATE {\n" + "\n".join(lines) + "\n}"


def _first(call: Callable[..., Any], given: tuple[Any, Any]) -> Any:
    return call(given[0])


def _second(call: Callable[..., Any], given: tuple[Any, Any]) -> Any:
    return call(SQL_INSERT, given[1])


def _record(claim: dict[str, str], number: int) -> dict[str, Any]:
    told = format_instant(_START + number * 1_000)
    return {
        "kind": "assertion", "subject": claim["s"], "predicate": claim["p"], "object": claim["o"], "by": claim["a"],
        "mode": "stated", "at": told, "valid": {"from": told},
    }  # fmt: skip


def past(bench: Bench) -> Iterator[Figure]:
    """The same hop now and at a past sequence; then again with every person changed since."""
    now, then = bench.nexus.prepare(QUERIES[Q2]).query, bench.nexus.prepare(PAST).query
    head = bench.nexus.space_seq
    given = [{"s": f"C-{one.human + 1}", "p": PREDICATES[one.predicate]} for one in bench.asked]

    def beside(name: str, note: str) -> Figure:
        both = [(value, {**value, "k": head}) for value in given]
        for value, at in both:
            if normal(now(value).rows) != normal(then(at).rows):
                raise Mismatch(f"{name} on {value}")
        made = compare("past", 0, both, lambda v: then(v[1]).rows, lambda v: now(v[0]).rows, check=False, rounds=5)
        return Figure(name, made.kipql, made.sqlite, note)

    yield beside("q2 at a past sequence", "the other: q2 now")
    change = 'UPDATE ?c SET ATTRIBUTES {seen: 1} WHERE { ?c {type: "Human"} FILTER(?c.attributes.rank == :r) }'
    ranks = sorted({human.rank for human in bench.world.people})
    for rank in ranks:
        bench.nexus.execute(change, {"r": rank})
    yield beside("q2 at a past sequence, every person changed since", "the other: q2 now")


def paths(bench: Bench) -> Iterator[Figure]:
    """Three steps."""
    query, execute = bench.nexus.prepare(PATH).query, bench.theirs.connection.execute
    given = [one.human for one in bench.asked[: max(20, bench.calls // 5)]]
    found = compare(
        "path",
        0,
        given,
        lambda human: query({"s": f"C-{human + 1}"}).rows,
        lambda human: execute(SQL_PATH, (human,)).fetchall(),
        shown=(lambda rows: rows, lambda rows: [row[0] for row in rows]),
    )
    yield Figure(
        'path "knows"{1,3}',
        found.kipql,
        found.sqlite,
        f"{found.rows} rows; SQLite: three joins; WITH RECURSIVE reads the whole table",
    )


def pages(bench: Bench) -> Iterator[Figure]:
    """A page of a hundred: the first, the tenth, the last that there is, each through its cursor."""
    query, further = bench.nexus.prepare(PAGE).query, bench.nexus.prepare(f"{PAGE} CURSOR :c").query
    last = max(2, len(bench.world.people) // 100)
    cursor, wanted, at = None, {1, 10, min(last, 100)}, 0
    while at < max(wanted):
        at += 1
        if at in wanted:
            time = each(lambda c: (query() if c is None else further({"c": c})).rows, [cursor] * 9)
            yield Figure(f"page {at} of {last}, ordered", time)
        result = query() if cursor is None else further({"c": cursor})
        cursor = result.next_cursor
        if cursor is None:
            return


def search(bench: Bench) -> Iterator[Figure]:
    """A name among all of them."""
    query = bench.nexus.prepare("SEARCH CONCEPT :q LIMIT 10").query
    began = perf_counter_ns()
    _ = query({"q": "Human 1"}).rows
    first = (perf_counter_ns() - began) / 1000
    yield Figure("SEARCH, first (makes the index)", first)
    rare = each(lambda n: query({"q": f"{n}"}).rows, [one.human for one in bench.asked])
    yield Figure("SEARCH of a number that one name has", rare)
    common = each(lambda n: query({"q": f"Human {n}"}).rows, [one.human for one in bench.asked[:20]])
    yield Figure("SEARCH of two words, one in every name", common)


GROUPS: dict[str, Callable[[Bench], Iterator[Figure]]] = {
    "past": past,
    "paths": paths,
    "pages": pages,
    "search": search,
    "writes": writes,
    "durable": durable,
}


def grown(size: int, each_commit: int) -> float:
    """Bytes of resident memory an Assertion, of a memory that holds nothing else but the people."""
    made = world(size)
    records = made.records()
    with kipql.open(packages=[PACKAGE]) as nexus:
        nexus.load(islice(records, len(made.people)), batch=BATCH)
        keys = {human.key: f"C-{number + 1}" for number, human in enumerate(made.people)}
        before = resident()
        refs = ("subject", "object", "by")
        told = ({**one, **{name: keys[one[name]["ref"]] for name in refs}} for one in records)
        if each_commit == 1:
            execute = nexus.prepare(TOLD).execute
            for one in told:
                execute(one)
        else:
            nexus.load(told, batch=each_commit)
        return (resident() - before) / len(made.claims)


def memory(size: int) -> Iterator[Figure]:
    """Each in a process of its own."""
    for each_commit in (1, BATCH):
        code = f"from benchmarks.operations import grown; print(grown({size}, {each_commit}))"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True)
        yield Figure(f"bytes an Assertion, {each_commit:,} a commit", float(done.stdout))


def table(found: list[Figure]) -> str:
    """A line a figure."""
    lines = ["| what | kipql, µs | other, µs | ratio | |", "|---|--:|--:|--:|---|"]
    for one in found:
        ratio = "" if one.other is None else f"{one.micros / one.other:.2f}"
        other = "" if one.other is None else f"{one.other:,.1f}"
        lines.append(f"| {one.name} | {one.micros:,.1f} | {other} | {ratio} | {one.note} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operations", description="Writes, memory, past, paths.")
    parser.add_argument("--size", type=int, default=100_000, help="Assertions")
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--group", action="append", choices=(*GROUPS, "memory"), help="(repeatable)")
    parser.add_argument("--out", type=Path, help="a file for the figures as JSON")
    given = parser.parse_args(arguments)
    wanted = given.group or (*GROUPS, "memory")
    begun, found = about(("SQLite",)), []
    if set(wanted) & set(GROUPS):
        bench = Bench(given.size, given.calls)
        found += [figure for name, group in GROUPS.items() if name in wanted for figure in group(bench)]
    if "memory" in wanted:
        found += list(memory(given.size))
    print(table(found))
    if given.out:
        lines = {"about": begun, "size": given.size, "figures": [asdict(one) for one in found]}
        given.out.write_text(json.dumps(lines, indent=2) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
