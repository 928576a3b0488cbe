"""polars: frames sorted by what is looked up, a binary search for the slice, and expressions over that slice."""

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from benchmarks.questions_data import PREDICATES, SLOT, Asked, World
from benchmarks.questions_sides import Q1, Q2, Q3, Q4, Q5, Q6
from benchmarks.sides.tables import tables
from kipql.times import FOREVER

_SLOT, _MANY = PREDICATES.index(SLOT), len(PREDICATES)
_CODE = pl.col("subject") * _MANY + pl.col("predicate")


class Frames:
    """`code` is subject and Predicate in one number; a person's number is the row."""

    name = "polars"

    def __init__(self, world: World) -> None:
        made = tables(world)
        self.keys = list(made.human["key"])
        self.people = pl.DataFrame(dict(made.human))
        self.by_key = self.people.select("key", "name").sort("key")
        self.told = pl.DataFrame(dict(made.assertion)).with_columns(code=_CODE).sort("code")
        self.known = pl.DataFrame(dict(made.proposition)).with_columns(code=_CODE).sort("code")
        self.scanned = self.told.select("predicate", "start", "seq")

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
            return [(PREDICATES[predicate], count) for predicate, count in rows]
        return list(rows)

    def key(self, key: str) -> list[Any]:
        at = self.by_key["key"].search_sorted(key)
        return [self.by_key["name"][at]] if self.by_key["key"][at] == key else []

    def hop(self, asked: Asked) -> list[Any]:
        found = _slice(self.known, asked.human * _MANY + asked.predicate)
        return self.people["key"].gather(found["object"]).to_list()

    def two_hops(self, asked: Asked) -> list[Any]:
        found = self._second(self.known, _slice(self.known, asked.human * _MANY + asked.predicate), asked.second)
        people = self.people.select("key", "rank")[found["object"]]
        return people.filter(pl.col("rank") < asked.rank).sort("rank", "key").head(20).rows()

    def belief(self, asked: Asked) -> list[Any]:
        begun = _slice(self.told, asked.human * _MANY + _SLOT).filter(
            (pl.col("start") <= asked.instant) & (pl.col("seq") <= asked.seq)
        )
        pairs = begun.join(begun.select("actor", "start", "object"), on="actor", suffix="_later")
        ended = pairs.filter((pl.col("start_later") > pl.col("start")) & (pl.col("object_later") != pl.col("object")))[
            "id"
        ].unique()
        stands = (pl.col("until") < FOREVER) | ~pl.col("id").is_in(ended.implode())
        values = begun.filter((pl.col("until") > asked.instant) & stands)["object"].unique().to_list()
        return values if len(values) == 1 else []

    def both(self, asked: Asked) -> list[Any]:
        counts = (pl.col("start") <= asked.instant) & (pl.col("seq") <= asked.seq)
        first = _slice(self.told, asked.human * _MANY + asked.predicate).filter(counts)
        found = self._second(self.told, first, asked.second).filter(counts)
        return self.people["key"].gather(found["object"]).to_list()

    def scan(self, asked: Asked) -> list[Any]:
        counted = self.scanned.lazy().filter((pl.col("start") <= asked.instant) & (pl.col("seq") <= asked.seq))
        return counted.group_by("predicate").len().collect().rows()

    @staticmethod
    def _second(frame: pl.DataFrame, first: pl.DataFrame, predicate: int) -> pl.DataFrame:
        """The rows of the objects of `first`: a slice each, since a join would read the whole frame."""
        slices = [_slice(frame, other * _MANY + predicate) for other in first["object"].to_list()]
        return pl.concat(slices) if slices else frame.clear()


def _slice(frame: pl.DataFrame, code: int) -> pl.DataFrame:
    column = frame["code"]
    low = column.search_sorted(code, "left")
    return frame.slice(low, column.search_sorted(code, "right") - low)
