"""What is believed of each slot, at each state and for all of world time.

Between two instants at which time alone may change a belief, it does not (`next_invalid_at`, §21.12): so a belief is
asked once for each such stretch, and the page looks it up. Nothing is judged in the page.
"""

from collections.abc import Mapping
from typing import Any

from kipql.errors import KipError
from kipql.fronts.html.bounds import Bounds, Cut
from kipql.fronts.html.runs import runs
from kipql.fronts.html.states import Graph, called
from kipql.nexus import Nexus
from kipql.runtime.prepared import Statement
from kipql.times import parse_instant

_BEGINNING = "0001-01-01T00:00:00.000Z"
_QUERY = (
    "FIND(?b) WHERE { ?b BELIEF SLOT (:subject, :predicate) } AS OF SEQ :seq FOR TIME :time "
    'WITH EPISTEMIC {explanation: "ledger"}'
)


def slots(nexus: Nexus, graph: Graph, bounds: Bounds, cut: Cut) -> list[dict[str, Any]]:
    """Each slot with its runs of `{claims, cells}`; a cell is `[from, status, accepted, candidates, verdicts, why]`."""
    asked = nexus.prepare(_QUERY)
    wanted: dict[tuple[str, str], int] = {}  # the first state at which a slot is there: before it nothing is believed
    for identity, (subject, predicate, _) in graph.ends.items():
        first = graph.edges[identity][0][0]
        wanted[subject, predicate] = min(first, wanted.get((subject, predicate), first))
    drawn: list[dict[str, Any]] = []
    for (subject, predicate), first in list(wanted.items())[: bounds.slots]:
        given = {"subject": {"id": subject}, "predicate": predicate}
        views = [_view(asked, {**given, "seq": state.seq}, graph.names) for state in graph.states[first:]]
        told = runs([None] * first + [view if view["claims"] else None for view in views])
        drawn.append({"subject": subject, "predicate": predicate.rpartition("/")[2], "runs": told})
    cut.more("slots", len(drawn), len(wanted))
    return [each for each in drawn if each["runs"]]


def _view(asked: Statement, given: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    cells: list[list[Any]] = []
    claims: list[dict[str, Any]] = []
    time: str | None = _BEGINNING
    while time is not None:
        try:
            belief = asked.query({**given, "time": time}).scalar()
        except KipError as error:
            if error.code != "SchemaSymbolNotFound":  # the word came later than the state
                raise
            break
        entries = belief["explanation"]["entries"]
        claims = claims or [_claim(entry, names) for entry in entries]
        cell = _cell(belief, entries, names)
        if not cells or cells[-1][1:] != cell:
            cells.append([None if time == _BEGINNING else parse_instant(time), *cell])
        time = belief["basis"]["next_invalid_at"]
    return {"claims": claims, "cells": cells}


def _cell(belief: Mapping[str, Any], entries: Any, names: Mapping[str, str]) -> list[Any]:
    return [
        belief["status"],
        [called(value, names) for value in belief["accepted_values"]],
        {each["proposition_id"]: each["status"] for each in belief["candidate_projections"]},
        [[entry["verdict"], entry["counts"]] for entry in entries],
        ", ".join(
            [
                *([f"rule {rule}"] if (rule := belief["explanation"].get("rule")) else []),
                *belief["uncertainty"]["reasons"],
            ]
        ),
    ]


def _claim(entry: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    times = entry["effective_time"] or entry["valid_time"]
    return {
        "id": entry["assertion_id"],
        "says": called(entry["value"], names),
        "who": called(entry["actor"], names),
        "stance": entry["stance"],
        "mode": entry["mode"],
        "confidence": entry["confidence"],
        "at": parse_instant(entry["asserted_at"]),
        "from": _bound(times["from"]),
        "until": _bound(times["until"]),
    }


def _bound(written: Any) -> list[int | None]:
    """The earliest and the latest instant of a bound."""
    if isinstance(written, str):
        return [parse_instant(written)] * 2
    sides = written if isinstance(written, Mapping) else {}
    return [None if sides.get(side) is None else parse_instant(sides[side]) for side in ("earliest", "latest")]
