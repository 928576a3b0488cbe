"""`python -m benchmarks.belief`: BELIEF SLOT beside SQL that does the same succession (see README.md here).

Every slot has five Assertions in two values, all stated with an exact start: an actor's later value ends that
actor's earlier one. A different slot each call; both sides answer at a past sequence and at a world time.
"""

import argparse
import random
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import kipql
from benchmarks.measure import Measure, compare
from benchmarks.report import table
from kipql.times import format_instant

PACKAGE: dict[str, Any] = {
    "format": "KIP-Schema-Package",
    "manifest": {"package_id": "kip://benchmarks/slots", "version": "1.0.0"},
    "definitions": {
        "concept_types": {name: {"kind": "ConceptType", "description": name} for name in ("Holder", "Held")},
        "predicates": {"holds": {"kind": "PredicateType", "description": "One at a time.", "functional": True}},
    },
}
DAY = 86_400_000
FIRST = 1_700_000_000_000 // DAY * DAY
PER_SLOT, HELD, ACTORS, BATCH = 5, 50, 20, 1_000

ACCEPTED = 'FIND(?b.accepted_values) WHERE { ?b BELIEF SLOT (:s, "holds") } AS OF SEQ :k FOR TIME :t'
STATUS = 'FIND(?b.status) WHERE { ?b BELIEF SLOT (:s, "holds") } AS OF SEQ :k FOR TIME :t'
PRESENT = 'FIND(?b.accepted_values) WHERE { ?b BELIEF SLOT (:s, "holds") } FOR TIME :t'
FULL = 'FIND(?b) WHERE { ?b BELIEF SLOT (:s, "holds") } AS OF SEQ :k FOR TIME :t'

LIVE = """FROM claim a
WHERE a.subject = ?1 AND a.seq <= ?2 AND a.start <= ?3
AND NOT EXISTS (SELECT 1 FROM claim b
  WHERE b.subject = a.subject AND b.actor = a.actor AND b.object <> a.object
  AND b.start > a.start AND b.start <= ?3 AND b.seq <= ?2)"""
VALUES = f"SELECT DISTINCT a.object {LIVE}"
CANDIDATES = f"SELECT a.object, a.id {LIVE} ORDER BY a.object, a.id"


@dataclass(frozen=True, slots=True)
class Row:
    """One Assertion; a slot is its subject."""

    subject: int
    object: int
    actor: int
    start: int


def rows(slots: int, seed: int = 4) -> Iterator[Row]:
    """Five claims a slot in two values, by one or two actors, at distinct days."""
    chance = random.Random(seed)
    for subject in range(slots):
        values = chance.sample(range(HELD), 2)
        actors = chance.sample(range(ACTORS), chance.choice((1, 1, 1, 2)))
        days = sorted(chance.sample(range(1_000), PER_SLOT))
        for number, day in enumerate(days):
            yield Row(subject, values[number % 2], chance.choice(actors), FIRST + day * DAY)


class Sides:
    """The same claims in kipql and in SQLite, in memory."""

    def __init__(self, assertions: int) -> None:
        self.slots = assertions // PER_SLOT
        claims = list(rows(self.slots))
        self.nexus = kipql.open(packages=[PACKAGE])
        things = [_concept("Held", f"v{n}") for n in range(HELD)]
        things += [_concept("Holder", f"a{n}") for n in range(ACTORS)]
        things += [_concept("Holder", f"s{n}") for n in range(self.slots)]
        self.nexus.load([*things, *map(_assertion, claims)], batch=BATCH)
        self.head = self.nexus.space_seq
        self.sql = sqlite3.connect(":memory:")
        self.sql.execute("CREATE TABLE claim (id INTEGER PRIMARY KEY, subject, object, actor, start, seq)")
        self.sql.executemany(
            "INSERT INTO claim VALUES (?, ?, ?, ?, ?, ?)",
            (
                (number, row.subject, row.object, row.actor, row.start, (len(things) + number) // BATCH + 1)
                for number, row in enumerate(claims)
            ),
        )
        self.sql.execute("CREATE INDEX slot ON claim (subject, actor, start, object, seq, id)")

    def inputs(self, count: int, seed: int = 5) -> list[tuple[int, int, int]]:
        """(slot, sequence, world time), a different slot each."""
        chance = random.Random(seed)
        slots = chance.sample(range(self.slots), min(count, self.slots))
        return [
            (slot, chance.choice((self.head, chance.randint(1, self.head))), FIRST + chance.randrange(1_000) * DAY)
            for slot in slots
        ]


def _concept(kind: str, key: str) -> dict[str, Any]:
    return {"kind": "concept", "type": kind, "key": key, "as": key}


def _assertion(row: Row) -> dict[str, Any]:
    return {
        "kind": "assertion",
        "subject": {"ref": f"s{row.subject}"},
        "predicate": "holds",
        "object": {"ref": f"v{row.object}"},
        "by": {"ref": f"a{row.actor}"},
        "mode": "stated",
        "at": format_instant(row.start),
        "valid": {"from": format_instant(row.start)},
    }


def measures(assertions: int, calls: int) -> list[Measure]:
    """The groups at one size, each with answers checked first."""
    sides = Sides(assertions)
    ask = {name: sides.nexus.prepare(text) for name, text in QUERIES.items()}
    first = HELD + ACTORS
    times = {instant: format_instant(instant) for _, _, instant in sides.inputs(calls)}

    def given(value: tuple[int, int, int]) -> dict[str, Any]:
        slot, seq, instant = value
        return {"s": f"C-{first + slot + 1}", "k": seq, "t": times[instant]}

    def accepted(value: tuple[int, int, int]) -> object:
        return [[held["id"] for held in row] for row in ask["accepted value"].query(given(value)).rows]

    def sql_accepted(value: tuple[int, int, int]) -> object:
        found = sides.sql.execute(VALUES, value).fetchall()
        return [[f"C-{found[0][0] + 1}"] if len(found) == 1 else []]

    def status(value: tuple[int, int, int]) -> object:
        return ask["status"].query(given(value)).rows

    def sql_status(value: tuple[int, int, int]) -> object:
        found = sides.sql.execute(VALUES, value).fetchall()
        return ["insufficient" if not found else "accepted" if len(found) == 1 else "contested"]

    def present(value: tuple[int, int, int]) -> object:
        return [[held["id"] for held in row] for row in ask["accepted value, present"].query(given(value)).rows]

    def sql_present(value: tuple[int, int, int]) -> object:
        return sql_accepted((value[0], sides.head, value[2]))

    def full(value: tuple[int, int, int]) -> object:
        (slot,) = ask["full output"].query(given(value)).rows
        return [
            (each["status"], each["support"]["assertion_ids"])
            for each in slot["candidate_projections"]
            if each["status"] != "insufficient"
        ]

    def sql_full(value: tuple[int, int, int]) -> object:
        found: dict[int, list[str]] = {}
        for held, number in sides.sql.execute(CANDIDATES, value):
            found.setdefault(held, []).append(f"A-{number + 1}")
        name = "accepted" if len(found) == 1 else "contested"
        return [(name, ids) for ids in found.values()]

    pairs = {
        "accepted value": (accepted, sql_accepted),
        "status": (status, sql_status),
        "accepted value, present": (present, sql_present),
        "full output": (full, sql_full),
    }
    inputs: Sequence[tuple[int, int, int]] = sides.inputs(calls)
    return [compare(name, assertions, inputs, ours, theirs) for name, (ours, theirs) in pairs.items()]


QUERIES = {"accepted value": ACCEPTED, "status": STATUS, "accepted value, present": PRESENT, "full output": FULL}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.belief", description="Measure BELIEF SLOT.")
    parser.add_argument("--size", type=int, action="append", help="Assertions (repeatable; default 100000)")
    parser.add_argument("--calls", type=int, default=3_000, help="slots a group is asked about (default 3000)")
    chosen = parser.parse_args(arguments)
    print(table([measure for size in chosen.size or [100_000] for measure in measures(size, chosen.calls)]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
