"""The data set as columns, for engines that load whole columns: people, relations by tuple, and claims.

A relation of the data has one Assertion and a slot's value several: `told` numbers the Propositions.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.questions_data import BATCH, World

Columns = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tables:
    """`human`, `proposition` and `assertion`, column by name."""

    human: Columns
    proposition: Columns
    assertion: Columns


def tables(world: World) -> Tables:
    """The columns of a world; an instant is a number of milliseconds, a commit a number."""
    people, claims = world.people, world.claims
    count, first = len(claims), len(people)
    read = {
        name: np.fromiter((getattr(claim, name) for claim in claims), np.int64, count)
        for name in ("subject", "predicate", "object", "actor", "start", "until")
    }
    seq = (np.arange(count) + first) // BATCH + 1
    told: dict[tuple[int, int, int], int] = {}
    proposition = np.fromiter(
        (told.setdefault((c.subject, c.predicate, c.object), len(told)) for c in claims), np.int64, count
    )
    _, begun = np.unique(proposition, return_index=True)
    return Tables(
        {
            "id": np.arange(first),
            "key": [human.key for human in people],
            "name": [human.name for human in people],
            "rank": np.fromiter((human.rank for human in people), np.int64, first),
        },
        {
            "id": np.arange(len(told)),
            **{name: read[name][begun] for name in ("subject", "predicate", "object")},
            "seq": seq[begun],
        },
        {"id": np.arange(count), "proposition": proposition, **read, "seq": seq},
    )
