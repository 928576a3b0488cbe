"""The world in SQLite: hand-written SQL over tables with covering indexes.

Every row carries the commit that made it, so that "as of" is a condition on it, as a careful schema would
have it.
"""

import sqlite3
from pathlib import Path

from benchmarks.world import Claim, World

SCHEMA = """
CREATE TABLE concept (id INTEGER PRIMARY KEY, type TEXT, key TEXT, name TEXT, age INTEGER, seq INTEGER);
CREATE TABLE proposition (id INTEGER PRIMARY KEY, subject INTEGER, predicate TEXT, object INTEGER, seq INTEGER);
CREATE TABLE assertion (id INTEGER PRIMARY KEY, proposition INTEGER, actor INTEGER, stance TEXT, mode TEXT,
                        confidence REAL, seq INTEGER);
CREATE UNIQUE INDEX concept_key ON concept (key, type, id, name, age, seq);
CREATE INDEX concept_type ON concept (type, age);
CREATE UNIQUE INDEX proposition_tuple ON proposition (subject, predicate, object, seq);
CREATE INDEX proposition_object ON proposition (object, predicate, subject, seq);
CREATE INDEX assertion_proposition ON assertion (proposition, actor, confidence);
"""
QUERIES = {
    "key": "SELECT name FROM concept WHERE type = 'Human' AND key = :key",
    "one hop": """
        SELECT o.name FROM concept c JOIN proposition p ON p.subject = c.id AND p.predicate = 'acquainted'
        JOIN concept o ON o.id = p.object WHERE c.type = 'Human' AND c.key = :key""",
    "two hops": """
        SELECT o.name, o.key FROM concept c
        JOIN proposition p ON p.subject = c.id AND p.predicate = 'acquainted'
        JOIN proposition q ON q.subject = p.object AND q.predicate = 'acquainted'
        JOIN concept o ON o.id = q.object
        WHERE c.type = 'Human' AND c.key = :key AND o.age > 40 ORDER BY o.key LIMIT 20""",
    "as of": """
        SELECT o.name FROM concept c
        JOIN proposition p ON p.subject = c.id AND p.predicate = 'acquainted' AND p.seq <= :seq
        JOIN concept o ON o.id = p.object WHERE c.type = 'Human' AND c.key = :key AND c.seq <= :seq""",
    "scan": "SELECT COUNT(*) FROM concept WHERE type = 'Human' AND +age > :age",
}
"""`+age` keeps SQLite from answering the scan by a range of an index that no one has for every attribute."""


class Sqlite:
    """One database, in memory or in a file."""

    name = "SQLite"

    def __init__(self, path: Path | None = None) -> None:
        self.connection = sqlite3.connect(":memory:" if path is None else path, isolation_level=None)
        if path is not None:
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = FULL")

    def build(self, world: World, seqs: list[int]) -> None:
        """Load the world; `seqs` are the commits of its things and claims, as the other side made them."""
        ids = {(thing.type, thing.key): row for row, thing in enumerate(world.things, 1)}
        self.connection.executescript(SCHEMA)
        self.connection.execute("BEGIN")
        self.connection.executemany(
            "INSERT INTO concept VALUES (?, ?, ?, ?, ?, ?)",
            (
                (row, thing.type, thing.key, thing.name, thing.age, seqs[row - 1])
                for row, thing in enumerate(world.things, 1)
            ),
        )
        base = len(world.things)
        for row, claim in enumerate(world.claims, 1):
            subject, target = ids["Human", claim.subject], ids[claim.object_type, claim.object]
            self._claim(row, subject, target, ids["Human", claim.actor], claim, seqs[base + row - 1])
        self.connection.execute("COMMIT")
        self.connection.execute("ANALYZE")

    def _claim(self, row: int | None, subject: int, target: int, actor: int, claim: Claim, seq: int) -> None:
        made = self.connection.execute(
            "INSERT INTO proposition VALUES (?, ?, ?, ?, ?)", (row, subject, claim.predicate, target, seq)
        )
        self.connection.execute(
            "INSERT INTO assertion VALUES (?, ?, ?, 'support', 'stated', ?, ?)",
            (row, made.lastrowid, actor, claim.confidence, seq),
        )

    def query(self, group: str, parameters: dict[str, object]) -> list[object]:
        """The rows of one group's query; rows of one column are plain values, as KIP has it."""
        rows = self.connection.execute(QUERIES[group], parameters).fetchall()
        return [row[0] if len(row) == 1 else list(row) for row in rows]

    def write(self, claim: Claim, seq: int) -> None:
        """One claim, one transaction: look the three up, insert what is new."""
        find = "SELECT id FROM concept WHERE key = ? AND type = ?"
        execute = self.connection.execute
        execute("BEGIN IMMEDIATE")
        subject = execute(find, (claim.subject, "Human")).fetchone()[0]
        target = execute(find, (claim.object, claim.object_type)).fetchone()[0]
        actor = execute(find, (claim.actor, "Human")).fetchone()[0]
        self._claim(None, subject, target, actor, claim, seq)
        execute("COMMIT")

    def text(self, group: str, literal: str) -> str:
        """The query of a group as a text of its own, for measuring how long a new text takes."""
        return QUERIES[group].replace(":key", f"'{literal}'")

    def close(self) -> None:
        self.connection.close()
