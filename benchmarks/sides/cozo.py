"""Cozo in memory: stored relations keyed by subject and Predicate, CozoScript with parameters."""

from collections.abc import Callable, Sequence
from typing import Any

from cozo_embedded import CozoDbPy

from benchmarks.questions_data import PREDICATES, SLOT, Asked, World
from benchmarks.questions_sides import Q1, Q2, Q3, Q4, Q5, Q6
from benchmarks.sides.tables import Columns, tables
from kipql.times import FOREVER

RELATIONS = {
    "human": "{id: Int => key: String, name: String, rank: Int}",
    "by_key": "{key: String => name: String}",
    "proposition": "{subject: Int, predicate: Int, object: Int => seq: Int}",
    "assertion": """{subject: Int, predicate: Int, id: Int
  => object: Int, actor: Int, start: Int, until: Int, seq: Int}""",
}
QUESTIONS = {
    Q1: "?[name] := *by_key{key: $key, name}",
    Q2: "?[key] := *proposition{subject: $s, predicate: $p, object}, *human{id: object, key}",
    Q3: """?[key, rank, x] := *proposition{subject: $s, predicate: $p, object: x},
  *proposition{subject: x, predicate: $q, object: y}, *human{id: y, key, rank}, rank < $r
:order rank, key
:limit 20""",
    Q4: f"""begun[id, object, actor, start, until] := *assertion{{subject: $s, predicate: {PREDICATES.index(SLOT)}, id,
  object, actor, start, until, seq}}, seq <= $k, start <= $t
ended[id] := begun[id, object, actor, start, _], begun[_, other, actor, later, _], later > start, other != object
?[object] := begun[id, object, _, _, until], until > $t, until < {FOREVER}
?[object] := begun[id, object, _, _, until], until == {FOREVER}, not ended[id]""",
    Q5: """?[key, a, b] := *assertion{subject: $s, predicate: $p, id: a, object: x, start: from, seq: made},
  from <= $t, made <= $k, *assertion{subject: x, predicate: $q, id: b, object: z, start: next, seq: told},
  next <= $t, told <= $k, *human{id: z, key}""",
    Q6: "?[predicate, count(id)] := *assertion{predicate, id, start, seq}, start <= $t, seq <= $k",
}


class Cozo:
    """Relations in memory; a result is a set, so what makes rows differ is among the columns."""

    name = "Cozo"

    def __init__(self, world: World) -> None:
        made = tables(world)
        self.keys = list(made.human["key"])
        self.store = store = CozoDbPy("mem", "", "{}")
        for name, form in RELATIONS.items():
            store.run_script(f":create {name} {form}", {}, False)
        self._load("human", made.human)
        self._load("by_key", {name: made.human[name] for name in ("key", "name")})
        self._load("proposition", {name: c for name, c in made.proposition.items() if name != "id"})
        self._load("assertion", {name: c for name, c in made.assertion.items() if name != "proposition"})

    def _load(self, name: str, columns: Columns) -> None:
        plain = [column if isinstance(column, list) else column.tolist() for column in columns.values()]
        rows = [list(row) for row in zip(*plain, strict=True)]
        for at in range(0, len(rows), 50_000):
            self.store.import_relations({name: {"headers": list(columns), "rows": rows[at : at + 50_000]}})

    def prepare(self, question: str, asked: Asked) -> dict[str, Any]:
        return {
            Q1: {"key": self.keys[asked.human]},
            Q2: {"s": asked.human, "p": asked.predicate},
            Q3: {"s": asked.human, "p": asked.predicate, "q": asked.second, "r": asked.rank},
            Q4: {"s": asked.human, "k": asked.seq, "t": asked.instant},
            Q5: {"s": asked.human, "p": asked.predicate, "q": asked.second, "t": asked.instant, "k": asked.seq},
            Q6: {"t": asked.instant, "k": asked.seq},
        }[question]

    def ask(self, question: str) -> Callable[[Any], Sequence[Any]]:
        script, run = QUESTIONS[question], self.store.run_script
        return lambda parameters: run(script, parameters, True)["rows"]

    def shown(self, question: str, rows: Sequence[Any]) -> list[Any]:
        match question:
            case str() if question == Q3:
                return [(key, rank) for key, rank, _ in rows]
            case str() if question == Q4:
                return [rows[0][0]] if len(rows) == 1 else []
            case str() if question == Q6:
                return [(PREDICATES[predicate], count) for predicate, count in rows]
            case _:
                return [row[0] for row in rows]
