"""The six questions in kipql, in SQLite and over dicts by hand. Each side answers with rows in the same form.

`prepare` makes what a side wants to be handed, outside the clock; `ask` answers one question.
"""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import kipql
from benchmarks.questions_data import BATCH, PACKAGE, PREDICATES, SLOT, Asked, World
from kipql.times import FOREVER, format_instant

Row = Any


class Side(Protocol):
    """One engine that answers the questions."""

    name: str

    def prepare(self, question: str, asked: Asked) -> Any:
        """The parameters of a call."""

    def ask(self, question: str) -> Callable[[Any], Sequence[Row]]:
        """The function that answers it."""

    def shown(self, question: str, rows: Sequence[Row]) -> list[Row]:
        """Rows as they are compared, made outside the clock: values for one column, tuples for several."""


QUERIES = {
    "q1 key": 'FIND(?c.name) WHERE { ?c {type: "Human", key: :key} }',
    "q2 hop": "FIND(?o.key) WHERE { (:s, :p, ?o) }",
    "q3 two hops": """FIND(?y.key, ?y.attributes.rank) WHERE {
  (:s, :p, ?x) (?x, :q, ?y) FILTER(?y.attributes.rank < :r)
} ORDER BY ?y.attributes.rank, ?y.key LIMIT 20""",
    "q4 belief": "FIND(?b.accepted_values) WHERE { ?b BELIEF SLOT (:s, :p) } AS OF SEQ :k FOR TIME :t",
    "q5 both times": """FIND(?z.key) WHERE {
  ?p1 (:s, :p, ?x) ?a1 ASSERTION {proposition: ?p1, stance: "support"}
  ?p2 (?x, :q, ?z) ?a2 ASSERTION {proposition: ?p2, stance: "support"}
  FILTER(?a1.valid_time.from <= :t && ?a2.valid_time.from <= :t)
} AS OF SEQ :k""",
    "q6 scan": """FIND(?pr, COUNT(?a)) WHERE {
  ?p (?s, ?pr, ?o) ?a ASSERTION {proposition: ?p} FILTER(?a.valid_time.from <= :t)
} AS OF SEQ :k""",
}
NAMES = tuple(QUERIES)
Q1, Q2, Q3, Q4, Q5, Q6 = NAMES


class Kipql:
    """The public surface, prepared statements."""

    name = "kipql"

    def __init__(self, world: World) -> None:
        self.nexus = kipql.open(packages=[PACKAGE])
        self.nexus.load(world.records(), batch=BATCH)
        self.keys = [human.key for human in world.people]

    def prepare(self, question: str, asked: Asked) -> dict[str, Any]:
        subject, at, predicates = f"C-{asked.human + 1}", format_instant(asked.instant), PREDICATES
        given: dict[str, dict[str, Any]] = {
            Q1: {"key": self.keys[asked.human]},
            Q2: {"s": subject, "p": predicates[asked.predicate]},
            Q3: {"s": subject, "p": predicates[asked.predicate], "q": predicates[asked.second], "r": asked.rank},
            Q4: {"s": subject, "p": SLOT, "k": asked.seq, "t": at},
            Q5: {
                "s": subject, "p": predicates[asked.predicate], "q": predicates[asked.second], "t": at, "k": asked.seq,
            },
            Q6: {"t": at, "k": asked.seq},
        }  # fmt: skip
        return given[question]

    def ask(self, question: str) -> Callable[[Any], Sequence[Row]]:
        query = self.nexus.prepare(QUERIES[question]).query
        return lambda parameters: query(parameters).rows

    def probes(self, question: str, given: dict[str, Any]) -> int:
        """What the plan looks at in one call, by its counters."""
        told = self.nexus.explain(QUERIES[question], given)
        return int(told.rpartition(" rows, ")[2].split()[0])

    def shown(self, question: str, rows: Sequence[Row]) -> list[Row]:
        if question == Q4:
            return [int(value["id"][2:]) - 1 for value in rows[0]]
        if question == Q6:
            return [(ref.rpartition("/")[2], count) for ref, count in rows]
        return list(rows)


SCHEMA = """
CREATE TABLE human (id INTEGER PRIMARY KEY, type TEXT, key TEXT, name TEXT, rank INT, seq INT);
CREATE TABLE proposition (id INTEGER PRIMARY KEY, subject INT, predicate INT, object INT, seq INT);
CREATE TABLE assertion (id INTEGER PRIMARY KEY, proposition INT, subject INT, predicate INT, object INT, actor INT,
                        stance INT, mode INT, context INT, start INT, until INT, seq INT, ended INT);
"""
INDEXES = """
CREATE UNIQUE INDEX human_key ON human (key, type, name);
CREATE INDEX tuple ON proposition (subject, predicate, object, seq, id);
CREATE INDEX about ON assertion (proposition, stance, start, seq);
CREATE INDEX slot ON assertion
  (subject, predicate, actor, start, object, stance, mode, context, until, seq, ended);
CREATE INDEX told ON assertion (predicate, start, seq);
ANALYZE;
"""
_COUNTS = "{0}.seq <= ?3 AND {0}.ended > ?3 AND {0}.mode < 2 AND {0}.context IS NULL AND {0}.start <= ?4"
SQL = {
    Q1: "SELECT name FROM human WHERE key = ? AND type = 'Human'",
    Q2: """SELECT h.key FROM proposition p JOIN human h ON h.id = p.object
WHERE p.subject = ? AND p.predicate = ?""",
    Q3: """SELECT h.key, h.rank FROM proposition p JOIN proposition q ON q.subject = p.object
JOIN human h ON h.id = q.object
WHERE p.subject = ?1 AND p.predicate = ?2 AND q.predicate = ?3 AND h.rank < ?4 ORDER BY h.rank, h.key LIMIT 20""",
    Q4: f"""SELECT a.object, MAX(a.stance = 0), MAX(a.stance = 1) FROM assertion a
WHERE a.subject = ?1 AND a.predicate = ?2 AND {_COUNTS.format("a")} AND a.until > ?4
AND (a.until < {FOREVER} OR NOT EXISTS (SELECT 1 FROM assertion b
  WHERE b.subject = a.subject AND b.predicate = a.predicate AND b.actor = a.actor AND b.start > a.start
  AND {_COUNTS.format("b")}
  AND CASE WHEN b.object = a.object THEN b.stance <> a.stance ELSE b.stance = 0 AND a.stance = 0 END))
GROUP BY a.object""",
    Q5: """SELECT h.key FROM proposition p JOIN assertion a ON a.proposition = p.id
JOIN proposition q ON q.subject = p.object JOIN assertion b ON b.proposition = q.id JOIN human h ON h.id = q.object
WHERE p.subject = ?1 AND p.predicate = ?2 AND p.seq <= ?5 AND a.stance = 0 AND a.start <= ?4 AND a.seq <= ?5
AND q.predicate = ?3 AND q.seq <= ?5 AND b.stance = 0 AND b.start <= ?4 AND b.seq <= ?5""",
    Q6: "SELECT predicate, COUNT(*) FROM assertion WHERE start <= ?1 AND seq <= ?2 GROUP BY predicate",
}


class Sqlite:
    """SQLite in memory, SQL by hand over covering indexes; every row has the commit that made it."""

    name = "SQLite"

    def __init__(self, world: World) -> None:
        self.connection = connection = sqlite3.connect(":memory:", isolation_level=None)
        self.keys = [human.key for human in world.people]
        connection.executescript(SCHEMA)
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO human VALUES (?, 'Human', ?, ?, ?, ?)",
            ((n, h.key, h.name, h.rank, world.commit_of(n)) for n, h in enumerate(world.people)),
        )
        told: dict[tuple[int, int, int], int] = {}
        for number, claim in enumerate(world.claims):
            seq, key = world.commit_of(world.record_of(number)), (claim.subject, claim.predicate, claim.object)
            row = told.get(key)
            if row is None:
                row = told[key] = len(told)
                connection.execute("INSERT INTO proposition VALUES (?, ?, ?, ?, ?)", (row, *key, seq))
            connection.execute(
                "INSERT INTO assertion VALUES (?, ?, ?, ?, ?, ?, 0, 1, NULL, ?, ?, ?, ?)",
                (number, row, *key, claim.actor, claim.start, claim.until, seq, FOREVER),
            )
        connection.execute("COMMIT")
        connection.executescript(INDEXES)

    def prepare(self, question: str, asked: Asked) -> tuple[Any, ...]:
        return {
            Q1: (self.keys[asked.human],),
            Q2: (asked.human, asked.predicate),
            Q3: (asked.human, asked.predicate, asked.second, asked.rank),
            Q4: (asked.human, PREDICATES.index(SLOT), asked.seq, asked.instant),
            Q5: (asked.human, asked.predicate, asked.second, asked.instant, asked.seq),
            Q6: (asked.instant, asked.seq),
        }[question]

    def ask(self, question: str) -> Callable[[Any], Sequence[Row]]:
        sql, execute = SQL[question], self.connection.execute
        return lambda parameters: execute(sql, parameters).fetchall()

    def shown(self, question: str, rows: Sequence[Row]) -> list[Row]:
        if question == Q4:
            supported = [row for row in rows if row[1]]
            return [supported[0][0]] if len(supported) == 1 and not supported[0][2] else []
        if question == Q6:
            return [(PREDICATES[predicate], count) for predicate, count in rows]
        return [row[0] if len(row) == 1 else row for row in rows]


class Dicts:
    """Dicts and tuples, each question a function over them: what a program would keep that asked nothing else."""

    name = "dicts"

    def __init__(self, world: World) -> None:
        self.people = [(human.key, human.name, human.rank) for human in world.people]
        self.by_key = {human.key: human.name for human in world.people}
        self.out: dict[tuple[int, int], list[int]] = {}
        self.told: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self.slots: dict[int, list[tuple[int, int, int, int, int]]] = {}
        self.all = [(c.predicate, c.start, world.commit_of(world.record_of(n))) for n, c in enumerate(world.claims)]
        for number, claim in enumerate(world.claims):
            seq, key = world.commit_of(world.record_of(number)), (claim.subject, claim.predicate)
            if PREDICATES[claim.predicate] == SLOT:
                held = (claim.object, claim.actor, claim.start, claim.until, seq)
                self.slots.setdefault(claim.subject, []).append(held)
            else:
                self.out.setdefault(key, []).append(claim.object)
                self.told.setdefault(key, []).append((claim.object, claim.start, seq))

    def prepare(self, question: str, asked: Asked) -> Any:
        return self.people[asked.human][0] if question == Q1 else asked

    def ask(self, question: str) -> Callable[[Any], Sequence[Row]]:
        asks: dict[str, Callable[[Any], Sequence[Row]]] = {
            Q1: self.key,
            Q2: self.hop,
            Q3: self.two_hops,
            Q4: self.belief,
            Q5: self.both,
            Q6: self.scan,
        }
        return asks[question]

    def shown(self, question: str, rows: Sequence[Row]) -> list[Row]:
        return [(PREDICATES[predicate], count) for predicate, count in rows] if question == Q6 else list(rows)

    def key(self, key: str) -> list[Row]:
        found = self.by_key.get(key)
        return [] if found is None else [found]

    def hop(self, asked: Asked) -> list[Row]:
        people = self.people
        return [people[other][0] for other in self.out.get((asked.human, asked.predicate), ())]

    def two_hops(self, asked: Asked) -> list[Row]:
        people, out, second, most, found = self.people, self.out, asked.second, asked.rank, []
        for via in out.get((asked.human, asked.predicate), ()):
            for other in out.get((via, second), ()):
                key, _, rank = people[other]
                if rank < most:
                    found.append((rank, key))
        found.sort()
        return [(key, rank) for rank, key in found[:20]]

    def belief(self, asked: Asked) -> list[Row]:
        seq, at = asked.seq, asked.instant
        begun = [held for held in self.slots.get(asked.human, ()) if held[4] <= seq and held[2] <= at]
        values = {
            value
            for value, actor, start, until, _ in begun
            if until > at
            and (until < FOREVER or not any(o[1] == actor and o[2] > start and o[0] != value for o in begun))
        }
        return list(values) if len(values) == 1 else []

    def both(self, asked: Asked) -> list[Row]:
        people, told, second, seq, at = self.people, self.told, asked.second, asked.seq, asked.instant
        return [
            people[other][0]
            for via, start, made in told.get((asked.human, asked.predicate), ())
            if start <= at and made <= seq
            for other, start_, made_ in told.get((via, second), ())
            if start_ <= at and made_ <= seq
        ]

    def scan(self, asked: Asked) -> list[Row]:
        counts: dict[int, int] = {}
        at, last = asked.instant, asked.seq
        for predicate, start, seq in self.all:
            if start <= at and seq <= last:
                counts[predicate] = counts.get(predicate, 0) + 1
        return list(counts.items())
