"""Oxigraph in memory: people and claims as RDF, SPARQL; a key and a hop by its quad patterns, which are faster.

Its substitutions reach projected variables only, so the parameters are in the text, which `prepare` writes.

A tuple is a triple of its own and every Assertion a node with the fields that the questions read, so that a hop
costs a triple and time travel a node.
"""

from collections.abc import Callable, Iterator, Sequence
from string import Template
from typing import Any

import pyoxigraph as ox

from benchmarks.questions_data import PREDICATES, SLOT, Asked, World
from benchmarks.questions_sides import Q1, Q2, Q3, Q4, Q5, Q6
from benchmarks.sides.succession import accepted

_BASE = "urn:people:"
_PREFIX = f"PREFIX : <{_BASE}>\n"
QUESTIONS = {
    Q3: """SELECT ?key ?rank { $s $p ?x . ?x $q ?y . ?y :rank ?rank . FILTER(?rank < $r) ?y :key ?key }
ORDER BY ?rank ?key LIMIT 20""",
    # with the succession in a NOT EXISTS it reads every slot: 14 ms of 1,200 Assertions
    Q4: """SELECT ?o ?by ?from ?until {
?a :slot $s ; :seq ?made ; :start ?from ; :object ?o ; :actor ?by ; :until ?until
FILTER(?made <= $k && ?from <= $t) }""",
    Q5: """SELECT ?key { ?a :subject $s ; :predicate $p ; :object ?x ; :start ?from ; :seq ?made .
FILTER(?from <= $t && ?made <= $k)
?b :subject ?x ; :predicate $q ; :object ?z ; :start ?next ; :seq ?told . FILTER(?next <= $t && ?told <= $k)
?z :key ?key }""",
    Q6: """SELECT ?predicate (COUNT(?a) AS ?n) { ?a :predicate ?predicate ; :start ?from ; :seq ?made .
FILTER(?from <= $t && ?made <= $k) } GROUP BY ?predicate""",
}
_NAMED = {name: ox.NamedNode(_BASE + name) for name in (*PREDICATES, "Human")}
_FIELDS = {
    name: ox.NamedNode(_BASE + name)
    for name in (
        *("key", "name", "rank", "subject", "predicate", "object"),
        *("slot", "actor", "start", "until", "seq"),
    )
}
_TYPE = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


def _human(number: int) -> ox.NamedNode:
    return ox.NamedNode(f"{_BASE}h{number}")


class Oxigraph:
    """One store, loaded in bulk."""

    name = "Oxigraph"

    def __init__(self, world: World) -> None:
        self.keys = [human.key for human in world.people]
        self.store: Any = ox.Store()
        self.store.bulk_extend(ox.Quad(*triple) for triple in _triples(world))
        self.store.optimize()

    def prepare(self, question: str, asked: Asked) -> Any:
        if question == Q1:
            return ox.Literal(self.keys[asked.human])
        if question == Q2:
            return _human(asked.human), _NAMED[PREDICATES[asked.predicate]]
        text = _PREFIX + Template(QUESTIONS[question]).substitute(
            s=f":h{asked.human}",
            p=f":{PREDICATES[asked.predicate]}",
            q=f":{PREDICATES[asked.second]}",
            r=asked.rank,
            t=asked.instant,
            k=asked.seq,
        )
        return (text, asked.instant) if question == Q4 else text

    def ask(self, question: str) -> Callable[[Any], Sequence[Any]]:
        query, quads = self.store.query, self.store.quads_for_pattern
        key, name, kind, human = _FIELDS["key"], _FIELDS["name"], _TYPE, _NAMED["Human"]
        contains, quad = self.store.__contains__, ox.Quad

        def named(value: Any) -> Sequence[Any]:
            found = (node.subject for node in quads(None, key, value))
            return [(q.object,) for c in found if contains(quad(c, kind, human)) for q in quads(c, name, None)]

        def hop(given: Any) -> Sequence[Any]:
            return [(other.object,) for one in quads(*given, None) for other in quads(one.object, key, None)]

        def belief(given: Any) -> Sequence[Any]:
            rows = query(given[0])
            begun = [(o.value, by.value, int(start.value), int(until.value)) for o, by, start, until in rows]
            return accepted(begun, given[1])

        asks = {Q1: named, Q2: hop, Q4: belief}
        return asks.get(question, lambda text: [tuple(row) for row in query(text)])

    def shown(self, question: str, rows: Sequence[Any]) -> list[Any]:
        match question:
            case str() if question == Q3:
                return [(key.value, int(rank.value)) for key, rank in rows]
            case str() if question == Q4:
                return [int(value.removeprefix(f"{_BASE}h")) for value in rows]
            case str() if question == Q6:
                return [(predicate.value.removeprefix(_BASE), int(count.value)) for predicate, count in rows]
            case _:
                return [value.value for (value,) in rows]


def _triples(world: World) -> Iterator[tuple[Any, Any, Any]]:
    field, literal = _FIELDS, ox.Literal
    people = [_human(number) for number in range(len(world.people))]
    for node, human in zip(people, world.people, strict=True):
        yield node, _TYPE, _NAMED["Human"]
        yield node, field["key"], literal(human.key)
        yield node, field["name"], literal(human.name)
        yield node, field["rank"], literal(human.rank)
    for number, claim in enumerate(world.claims):
        node, predicate = ox.NamedNode(f"{_BASE}a{number}"), PREDICATES[claim.predicate]
        subject, object_ = people[claim.subject], people[claim.object]
        yield subject, _NAMED[predicate], object_
        yield node, field["subject"], subject
        yield node, field["predicate"], _NAMED[predicate]
        yield node, field["object"], object_
        yield node, field["start"], literal(claim.start)
        yield node, field["seq"], literal(world.commit_of(world.record_of(number)))
        if predicate == SLOT:  # the fields that only the slot's question reads
            yield node, field["slot"], subject
            yield node, field["actor"], people[claim.actor]
            yield node, field["until"], literal(claim.until)
