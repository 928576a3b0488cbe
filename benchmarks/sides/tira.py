"""tiramemsu, a bitemporal store of statements on SQLite, in a file of a temporary folder (it has no memory of its own).

One transaction per commit of the load, so that `as_of` is the commit; valid times are the statements' own and the
actor is a statement about one. Its parameters are the view's instants only: `prepare` writes the texts.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tiramemsu import Database, Iri

from benchmarks.questions_data import BATCH, PREDICATES, SLOT, Asked, World
from benchmarks.questions_sides import Q1, Q2, Q3, Q4, Q5, Q6
from benchmarks.sides.succession import accepted
from kipql.times import FOREVER, format_instant

_BASE = "urn:tiramemsu:v:"


class Tira:
    """One database; an Assertion is a statement, its Proposition what it states."""

    name = "tiramemsu"

    def __init__(self, world: World) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.store = Database(str(Path(self.folder.name) / "people.db"))
        self.keys = [human.key for human in world.people]
        total = len(world.people) + len(world.claims)
        with self.store.bulk_import() as loading:
            for first in range(0, total, BATCH):
                with loading.chunk() as tx:
                    for record in range(first, min(first + BATCH, total)):
                        _tell(tx, world, record)
        self.now = self.store.now()

    def prepare(self, question: str, asked: Asked) -> tuple[Any, Any]:
        subject, predicate, second = f"v:h{asked.human}", PREDICATES[asked.predicate], PREDICATES[asked.second]
        then, at = self.store.as_of(tx=asked.seq), format_instant(asked.instant)
        if question == Q1:
            return self.now, f'SELECT ?name WHERE {{ ?c v:key "{self.keys[asked.human]}" ; a v:Human ; v:name ?name }}'
        if question == Q2:
            return self.now, f"SELECT ?key WHERE {{ {subject} v:{predicate} ?o . ?o v:key ?key }}"
        if question == Q3:
            return (
                self.now,
                f"""SELECT ?key ?rank WHERE {{ {subject} v:{predicate} ?x . ?x v:{second} ?y .
?y v:rank ?rank ; v:key ?key FILTER(?rank < {asked.rank}) }} ORDER BY ?rank ?key LIMIT 20""",
            )
        if question == Q4:
            text = f"SELECT ?r ?o ?by WHERE {{ {subject} v:{SLOT} ?o ~ ?r . ?r v:by ?by }}"
            return then, (Iri(f"{_BASE}h{asked.human}"), text, asked.instant)
        if question == Q5:  # a relation has no end of its own, so that what holds at the time began by then
            text = f"SELECT ?key WHERE {{ {subject} v:{predicate} ?x . ?x v:{second} ?z . ?z v:key ?key }}"
            return then.valid_at(asked.instant), text
        names = " ".join(f"v:{name}" for name in PREDICATES)
        return (
            then,
            f"""SELECT ?p (COUNT(?r) AS ?n) WHERE {{ VALUES ?p {{ {names} }} ?s ?p ?o ~ ?r .
?r tm:validFrom ?f FILTER(?f <= "{at}"^^xsd:dateTime) }} GROUP BY ?p""",
        )

    def ask(self, question: str) -> Callable[[Any], Sequence[Any]]:
        return self._belief if question == Q4 else lambda given: list(given[0].sparql(given[1]))

    def shown(self, question: str, rows: Sequence[Any]) -> list[Any]:
        match question:
            case str() if question == Q1:
                return [row["name"] for row in rows]
            case str() if question == Q3:
                return [(row["key"], row["rank"]) for row in rows]
            case str() if question == Q4:
                return list(rows)
            case str() if question == Q6:
                return [(row["p"].value.removeprefix(_BASE), row["n"]) for row in rows]
            case _:
                return [row["key"] for row in rows]

    @staticmethod
    def _belief(given: Any) -> list[int]:
        """The statements of the slot and their actors; the succession is the caller's, as it has none."""
        view, (subject, text, at) = given
        actors = {row["r"].eid: row["by"].value for row in view.sparql(text)}
        begun = [
            (one.o.value, actors[one.eid], one.valid_from, FOREVER if one.valid_to is None else one.valid_to)
            for one in view.triples(s=subject, p=_SLOT)
            if one.valid_from <= at
        ]
        return [int(value.removeprefix(f"{_BASE}h")) for value in accepted(begun, at)]


_SLOT = Iri(_BASE + SLOT)


def _tell(tx: Any, world: World, record: int) -> None:
    """One record of the load into a transaction."""
    if record < len(world.people):
        human, subject = world.people[record], Iri(f"{_BASE}h{record}")
        tx.create(subject, Iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), Iri(f"{_BASE}Human"))
        for name in ("key", "name", "rank"):
            tx.create(subject, Iri(_BASE + name), getattr(human, name))
        return
    claim = world.claims[record - len(world.people)]
    told = tx.create(
        Iri(f"{_BASE}h{claim.subject}"),
        Iri(_BASE + PREDICATES[claim.predicate]),
        Iri(f"{_BASE}h{claim.object}"),
        valid_from=claim.start,
        valid_to=None if claim.until == FOREVER else claim.until,
    )
    tx.create(told, Iri(f"{_BASE}by"), Iri(f"{_BASE}h{claim.actor}"))
