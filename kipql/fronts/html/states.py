"""The graph of a memory at each of its states: the Concepts and Propositions that were there, and their names."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kipql.fronts.html.bounds import Bounds, Cut
from kipql.fronts.html.runs import Run, runs
from kipql.nexus import Nexus
from kipql.render.people import people, show
from kipql.times import parse_instant

_LONG = 160
_ATTRIBUTES = 20


@dataclass(frozen=True, slots=True)
class State:
    """A commit that AS OF reaches: its sequence and when it was, in ms; 0 is before the first."""

    seq: int
    at: int | None


@dataclass(frozen=True, slots=True)
class Graph:
    """What was there at each state.

    concepts, edges  the runs of each id       names  of Concepts, the latest
    ends             subject, Predicate and object of each Proposition
    """

    states: Sequence[State]
    concepts: Mapping[str, list[Run]]
    edges: Mapping[str, list[Run]]
    ends: Mapping[str, tuple[str, str, Any]]
    names: Mapping[str, str]


def graph(nexus: Nexus, bounds: Bounds, cut: Cut) -> Graph:
    """The graph of a memory under the bounds."""
    states = _states(nexus, bounds, cut)
    things = nexus.prepare(
        "FIND(?c.id, ?c.schema_ref, ?c.key, ?c.name, ?c.attributes) WHERE { ?c CONCEPT {} } AS OF SEQ :n"
    )
    tuples = nexus.prepare(
        "FIND(?p.id, ?p.subject, ?p.predicate_ref, ?p.object) WHERE { ?p (?s, ?q, ?o) } AS OF SEQ :n"
    )
    concepts: dict[str, dict[int, Any]] = {}
    edges: dict[str, dict[int, Any]] = {}
    ends: dict[str, tuple[str, str, Any]] = {}
    names: dict[str, str] = {}
    for at in range(len(states) - 1, -1, -1):  # from the head backwards: what is left out is the oldest
        said = tuples.query({"n": states[at].seq}).rows
        often = Counter(end["id"] for _, subject, _, target in said for end in (subject, target) if _element(end))
        there = things.query({"n": states[at].seq}).rows
        for identity, ref, key, name, attributes in sorted(there, key=lambda row: -often[row[0]]):
            if identity in concepts or len(concepts) < bounds.concepts:
                concepts.setdefault(identity, {})[at] = _card(ref, key, name, attributes)
            names.setdefault(identity, name or key or identity)
        for identity, subject, predicate, target in said:
            if identity in edges or (len(edges) < bounds.propositions and _drawn(subject, target, concepts)):
                edges.setdefault(identity, {})[at] = True
            ends.setdefault(identity, (subject["id"], predicate, target))
    cut.more("Concepts", len(concepts), len(names))
    cut.more("Propositions", len(edges), len(ends))
    every = range(len(states))
    return Graph(
        states,
        {identity: runs(cards.get(at) for at in every) for identity, cards in concepts.items()},
        {identity: runs(shown.get(at) for at in every) for identity, shown in edges.items()},
        {identity: ends[identity] for identity in edges},
        names,
    )


def _states(nexus: Nexus, bounds: Bounds, cut: Cut) -> list[State]:
    """The states under the bounds, up to the head; commits that the reader may not see are none."""
    counted = nexus.stats()["elements"]
    slots = min(bounds.slots, counted["proposition"])
    most = max(1, bounds.reached(counted["concept"] + counted["proposition"], slots))
    after = max(0, nexus.space_seq - most)
    seen = nexus.query("CHANGES AFTER SEQ :n LIMIT :most", {"n": after, "most": most}).rows
    commits = [State(each["space_seq"], parse_instant(each["committed_at"])) for each in seen]
    cut.more("the last states", most, nexus.space_seq)
    return [State(after, None), *commits] if after == 0 or not commits else commits


def _drawn(subject: Any, target: Any, concepts: Mapping[str, Any]) -> bool:
    """Whether both ends of a tuple are on the page; a Literal always is."""
    return all(end["id"] in concepts for end in (subject, target) if _element(end))


def _element(end: Any) -> bool:
    return isinstance(end, dict) and isinstance(end.get("id"), str)


def _card(ref: str, key: str | None, name: str | None, attributes: Mapping[str, Any]) -> list[Any]:
    told = [[member, cut_short(people(value))] for member, value in list(attributes.items())[:_ATTRIBUTES]]
    return [ref.rpartition("/")[2], key, None if name is None else cut_short(name), told]


def cut_short(text: str) -> str:
    """A text that fits a page."""
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def called(value: Any, names: Mapping[str, str]) -> str:
    """What to call a value: an element by its name, a Literal as it is."""
    if isinstance(value, dict) and isinstance(value.get("id"), str):
        return cut_short(names.get(value["id"], value["id"]))
    return cut_short(show(value))
