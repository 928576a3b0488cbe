"""Dicts for what is looked up and numpy columns for what is scanned, by hand: the fastest a program could be."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.questions_data import PREDICATES, SLOT, Asked, World
from benchmarks.questions_sides import Q1, Q2, Q3, Q4, Q5, Q6
from benchmarks.sides.tables import tables
from kipql.times import FOREVER

_SLOT, _MANY = PREDICATES.index(SLOT), len(PREDICATES)


class Hybrid:
    """A posting of claims per subject and Predicate over columns of claims."""

    name = "hybrid"

    def __init__(self, world: World) -> None:
        made = tables(world)
        self.keys, self.names = list(made.human["key"]), list(made.human["name"])
        self.row = {key: row for row, key in enumerate(self.keys)}
        self.rank = memoryview(made.human["rank"])
        told = made.assertion
        self.object, self.actor, self.start, self.until, self.seq = (
            memoryview(np.ascontiguousarray(told[name])) for name in ("object", "actor", "start", "until", "seq")
        )
        self.columns = (np.asarray(told["start"]), np.asarray(told["seq"]), np.asarray(told["predicate"], np.int8))
        codes = np.asarray(told["subject"]) * _MANY + np.asarray(told["predicate"])
        order = np.argsort(codes, kind="stable")
        found, starts = np.unique(codes[order], return_index=True)
        parts = np.split(order.astype(np.int32), starts[1:])
        self.postings = {int(code): tuple(part.tolist()) for code, part in zip(found, parts, strict=True)}

    def prepare(self, question: str, asked: Asked) -> Any:
        return self.keys[asked.human] if question == Q1 else asked

    def ask(self, question: str) -> Callable[[Any], Sequence[Any]]:
        asks: dict[str, Callable[[Any], Sequence[Any]]] = {
            Q1: self.key,
            Q2: self.hop,
            Q3: self.two_hops,
            Q4: self.belief,
            Q5: self.both,
            Q6: self.scan,
        }
        return asks[question]

    def shown(self, question: str, rows: Sequence[Any]) -> list[Any]:
        if question == Q6:
            return [(PREDICATES[number], int(count)) for number, count in enumerate(rows) if count]
        return list(rows)

    def key(self, key: str) -> list[Any]:
        row = self.row.get(key)
        return [] if row is None else [self.names[row]]

    def hop(self, asked: Asked) -> list[Any]:
        keys, object_ = self.keys, self.object
        return [keys[object_[row]] for row in self.postings.get(asked.human * _MANY + asked.predicate, ())]

    def two_hops(self, asked: Asked) -> list[Any]:
        postings, object_, rank, second, most = self.postings, self.object, self.rank, asked.second, asked.rank
        keys, found = self.keys, []
        for row in postings.get(asked.human * _MANY + asked.predicate, ()):
            for next_ in postings.get(object_[row] * _MANY + second, ()):
                other = object_[next_]
                if rank[other] < most:
                    found.append((rank[other], keys[other]))
        found.sort()
        return [(key, number) for number, key in found[:20]]

    def belief(self, asked: Asked) -> list[Any]:
        at, last, start, until, actor, object_ = (
            asked.instant,
            asked.seq,
            self.start,
            self.until,
            self.actor,
            self.object,
        )
        seq, values = self.seq, set()
        posting = self.postings.get(asked.human * _MANY + _SLOT, ())
        begun = [row for row in posting if start[row] <= at and seq[row] <= last]
        for row in begun:
            if until[row] > at and (
                until[row] < FOREVER
                or not any(
                    actor[o] == actor[row] and start[o] > start[row] and object_[o] != object_[row] for o in begun
                )
            ):
                values.add(object_[row])
        return list(values) if len(values) == 1 else []

    def both(self, asked: Asked) -> list[Any]:
        postings, object_, start, seq, keys = self.postings, self.object, self.start, self.seq, self.keys
        at, last, second = asked.instant, asked.seq, asked.second
        return [
            keys[object_[next_]]
            for row in postings.get(asked.human * _MANY + asked.predicate, ())
            if start[row] <= at and seq[row] <= last
            for next_ in postings.get(object_[row] * _MANY + second, ())
            if start[next_] <= at and seq[next_] <= last
        ]

    def scan(self, asked: Asked) -> Any:
        start, seq, predicate = self.columns
        return np.bincount(predicate[(start <= asked.instant) & (seq <= asked.seq)], minlength=_MANY)
