"""DuckDB in memory: the same tables with its indexes, one prepared statement a question.

It plans a statement with parameters again for every EXECUTE; that is how its client prepares.
"""

from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import numpy as np

from benchmarks.questions_data import PREDICATES, SLOT, Asked, World
from benchmarks.questions_sides import Q1, Q2, Q3, Q4, Q5, Q6
from benchmarks.sides.succession import accepted
from benchmarks.sides.tables import tables

SQL = {
    Q1: "SELECT name FROM human WHERE key = ?",
    Q2: "SELECT h.key FROM proposition p JOIN human h ON h.id = p.object WHERE p.subject = ? AND p.predicate = ?",
    Q3: """SELECT h.key, h.rank FROM proposition p JOIN proposition q ON q.subject = p.object
JOIN human h ON h.id = q.object
WHERE p.subject = $1 AND p.predicate = $2 AND q.predicate = $3 AND h.rank < $4 ORDER BY h.rank, h.key LIMIT 20""",
    # with the succession in it, it takes ten times as long
    Q4: f"""SELECT object, actor, start, until FROM assertion
WHERE subject = $1 AND predicate = {PREDICATES.index(SLOT)} AND seq <= $2 AND start <= $3""",
    Q5: """SELECT h.key FROM assertion a JOIN assertion b ON b.subject = a.object JOIN human h ON h.id = b.object
WHERE a.subject = $1 AND a.predicate = $2 AND b.predicate = $3 AND a.start <= $4 AND b.start <= $4
AND a.seq <= $5 AND b.seq <= $5""",
    Q6: "SELECT predicate, count(*) FROM assertion WHERE start <= ? AND seq <= ? GROUP BY predicate",
}


class Duck:
    """Columns in, ART indexes on what is looked up; two threads at most, as the machine has cores."""

    name = "DuckDB"

    def __init__(self, world: World) -> None:
        made = tables(world)
        self.keys = list(made.human["key"])
        self.connection = connection = duckdb.connect(":memory:")
        for name in ("human", "proposition", "assertion"):
            columns = {key: np.asarray(column) for key, column in getattr(made, name).items()}
            if name == "human":
                columns = {key: c.astype(object) if c.dtype.kind == "U" else c for key, c in columns.items()}
            connection.register("given", columns)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
            connection.unregister("given")
        for table, column in (("human", "key"), ("human", "id"), ("proposition", "subject"), ("assertion", "subject")):
            connection.execute(f"CREATE INDEX {table}_{column} ON {table} ({column})")
        connection.execute("ANALYZE")

    def prepare(self, question: str, asked: Asked) -> list[Any]:
        return {
            Q1: [self.keys[asked.human]],
            Q2: [asked.human, asked.predicate],
            Q3: [asked.human, asked.predicate, asked.second, asked.rank],
            Q4: [asked.human, asked.seq, asked.instant],
            Q5: [asked.human, asked.predicate, asked.second, asked.instant, asked.seq],
            Q6: [asked.instant, asked.seq],
        }[question]

    def ask(self, question: str) -> Callable[[Any], Sequence[Any]]:
        sql, execute = SQL[question], self.connection.execute
        if question == Q4:
            return lambda given: accepted(execute(sql, given).fetchall(), given[2])
        return lambda parameters: execute(sql, parameters).fetchall()

    def shown(self, question: str, rows: Sequence[Any]) -> list[Any]:
        if question == Q4:
            return list(rows)
        if question == Q6:
            return [(PREDICATES[predicate], count) for predicate, count in rows]
        return [row[0] if len(row) == 1 else row for row in rows]
