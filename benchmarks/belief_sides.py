"""The slots that `benchmarks.belief` asks about, the same claims in kipql and in SQLite, and the SQL (see there)."""

import random
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import kipql
from kipql.times import FOREVER, format_instant

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
DAYS, PER_SLOT, HELD, ACTORS, BATCH = 1_000, 5, 50, 20, 1_000
SUPPORT, REJECT = 0, 1
STATED = 1

SCHEMA = """
CREATE TABLE claim (id INTEGER PRIMARY KEY, subject INT, predicate INT, object INT, actor INT, stance INT, mode INT,
                    context INT, start INT, until INT, seq INT, ended INT);
"""
INDEX = """CREATE INDEX slot ON claim
(subject, predicate, actor, start, object, stance, mode, context, until, seq, ended, id)"""
HOLDS = 1  # the number of the Predicate

_COUNTS = "{0}.seq <= ?3 AND {0}.ended > ?3 AND {0}.mode < 2 AND {0}.context IS NULL AND {0}.start <= ?4"
_HOLDS = f"""{_COUNTS.format("a")} AND a.until > ?4
AND (a.until < {FOREVER} OR NOT EXISTS (SELECT 1 FROM claim b
  WHERE b.subject = a.subject AND b.predicate = a.predicate AND b.actor = a.actor AND b.start > a.start
  AND {_COUNTS.format("b")}
  AND CASE WHEN b.object = a.object THEN b.stance <> a.stance ELSE b.stance = 0 AND a.stance = 0 END))"""
_SLOT = "a.subject = ?1 AND a.predicate = ?2"
VALUES = f"""SELECT a.object, MAX(a.stance = 0), MAX(a.stance = 1)
FROM claim a WHERE {_SLOT} AND {_HOLDS} GROUP BY a.object"""
CLAIMS = f"""SELECT a.object, a.stance, a.id, {_HOLDS}
FROM claim a WHERE {_SLOT} AND a.seq <= ?3"""
CANDIDATES = f"""SELECT object,
  CASE WHEN s AND (r OR SUM(s) OVER () > 1) THEN 'contested' WHEN s THEN 'accepted' WHEN r THEN 'rejected'
       ELSE 'insufficient' END, support, opposition
FROM (SELECT object, MAX(holds AND stance = 0) s, MAX(holds AND stance = 1) r,
    group_concat(CASE WHEN holds AND stance = 0 THEN id END) support,
    group_concat(CASE WHEN holds AND stance = 1 THEN id END) opposition
  FROM (SELECT a.object, a.stance, a.id, {_HOLDS} holds FROM claim a WHERE {_SLOT} AND a.seq <= ?3)
  GROUP BY object)"""
SCAN = f"""SELECT DISTINCT subject FROM (SELECT a.subject, MAX(a.stance = 0) s, MAX(a.stance = 1) r
  FROM claim a WHERE a.predicate = ?2 AND {_HOLDS} GROUP BY a.subject, a.object)
GROUP BY subject HAVING MAX(s AND r) OR SUM(s) > 1"""


@dataclass(frozen=True, slots=True)
class Row:
    """One Assertion; a slot is its subject."""

    subject: int
    object: int
    actor: int
    stance: int
    start: int
    until: int
    retracted: bool


def rows(slots: int, seed: int = 4) -> Iterator[Row]:
    """Five claims a slot in two values, by one or two actors, at distinct days."""
    chance = random.Random(seed)
    for subject in range(slots):
        values = chance.sample(range(HELD), 2)
        actors = chance.sample(range(ACTORS), chance.choice((1, 1, 1, 2)))
        days = sorted(chance.sample(range(DAYS), PER_SLOT))
        for number, day in enumerate(days):
            start = FIRST + day * DAY
            until = start + chance.randint(1, 300) * DAY if chance.randrange(8) == 0 else FOREVER
            stance = REJECT if chance.randrange(16) == 0 else SUPPORT
            retracted = chance.randrange(50) == 0
            yield Row(subject, values[number % 2], chance.choice(actors), stance, start, until, retracted)


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
        ended = self._retract([number for number, row in enumerate(claims) if row.retracted])
        self.head = self.nexus.space_seq
        self.sql = sqlite3.connect(":memory:")
        self.sql.executescript(SCHEMA)
        made = len(things)
        self.sql.executemany(
            "INSERT INTO claim VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    n,
                    c.subject,
                    HOLDS,
                    c.object,
                    c.actor,
                    c.stance,
                    STATED,
                    None,
                    c.start,
                    c.until,
                    _commit(made + n),
                    ended.get(n, FOREVER),
                )
                for n, c in enumerate(claims)
            ),
        )
        self.sql.execute(INDEX)
        self.sql.execute("ANALYZE")

    def _retract(self, numbers: list[int]) -> dict[int, int]:
        """Retract Assertions, many in one commit; the commit that ended each."""
        ended = {}
        for at in range(0, len(numbers), BATCH):
            part = numbers[at : at + BATCH]
            with self.nexus.transaction() as tx:
                for number in part:
                    tx.execute('TRANSITION :said TO "retracted"', {"said": f"A-{number + 1}"})
            ended.update(dict.fromkeys(part, self.nexus.space_seq))
        return ended

    def inputs(self, count: int, seed: int = 5) -> list[tuple[int, int, int]]:
        """(slot, sequence, world time), a different slot each."""
        chance = random.Random(seed)
        slots = chance.sample(range(self.slots), min(count, self.slots))
        return [
            (slot, chance.choice((self.head, chance.randint(1, self.head))), FIRST + chance.randrange(DAYS) * DAY)
            for slot in slots
        ]


def _commit(record: int) -> int:
    """The commit that a record of the load was in."""
    return record // BATCH + 1


def _concept(kind: str, key: str) -> dict[str, Any]:
    return {"kind": "concept", "type": kind, "key": key, "as": key}


def _assertion(row: Row) -> dict[str, Any]:
    valid = {"from": format_instant(row.start)}
    if row.until != FOREVER:
        valid["until"] = format_instant(row.until)
    return {
        "kind": "assertion",
        "subject": {"ref": f"s{row.subject}"},
        "predicate": "holds",
        "object": {"ref": f"v{row.object}"},
        "by": {"ref": f"a{row.actor}"},
        "mode": "stated",
        "stance": "reject" if row.stance == REJECT else "support",
        "at": format_instant(row.start),
        "valid": valid,
    }
