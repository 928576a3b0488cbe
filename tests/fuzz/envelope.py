"""The envelope: a line of JSON lines, answered as `kipql wire` does, by a memory that is read-only and one that is not.

Every answer is JSON, none says InternalError, and the read-only memory stays what it was.
"""

import json
from copy import deepcopy
from random import Random
from typing import Any

from tests.fuzz.running import instrumented, run

with instrumented(__name__):
    import kipql
    from kipql.cli.wire_command import answer
    from tests.properties.memories import FOUNDING
    from tests.properties.vocabulary import PACKAGE

LIMITS = kipql.Limits(seconds=10.0, ticks=100_000, rows=5_000, buffered=20_000, projections=2_000)
_FRESH = 200
"""Requests that one writable memory lives through."""


def memory() -> kipql.Nexus:
    """A small memory."""
    nexus = kipql.open(packages=[PACKAGE], limits=LIMITS)
    nexus.execute(FOUNDING)
    return nexus


class Target:
    """The two memories, made when they are first needed."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, data: bytes) -> None:
        if self._count % _FRESH == 0:
            if self._count:
                assert self._still.digest() == self._digest, "a read-only request changed the memory"
            self._still, self._writable = memory(), memory()
            self._digest, self._reading = self._still.digest(), self._still.readonly()
        self._count += 1
        for nexus in (self._reading, self._writable):
            _sound(answer(nexus, data))
        assert self._still.space_seq == 1


def _sound(reply: Any) -> None:
    json.dumps(reply, allow_nan=False)
    for part in (reply, *reply.get("results", ())):
        error = part.get("error")
        assert error is None or error["code"] != "InternalError", error


target = Target()

_NAMES = (
    "kip", "space", "operations", "command", "parameters", "op_id", "execution", "mode", "on_error", "idempotency_key",
    "options", "dry_run", "deadline_ms", "read", "snapshot_token", "ingest", "evidence", "key", "evidence_class",
    "payload", "preconditions", "space_seq", "schema_environment_version", "requires", "context", "purpose", "risk",
    "extensions", "id", "request_id", "principal", "$install",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**20, "", "2.0", "C-1", "atomic", "independent", "sequence", "stop", "continue", "\u202e",
    [], {}, [1], {"id": "C-1"}, {"mode": "atomic"}, "FIND(?c.id) WHERE { ?c CONCEPT {} } LIMIT 1", "DESCRIBE PROTOCOL",
    'CREATE CONCEPT ?a { TYPE "Robot" }', 'FIND(?c) WHERE { ?c {name: :v} }', "LIST TYPES", "HISTORY SINCE :v",
    'MUTATE { CREATE CONCEPT ?a { TYPE "Robot" } }', "PREVIEW :v", "VALIDATE KML :v", 'SEARCH CONCEPT "r" LIMIT 2',
)  # fmt: skip


def mutated(data: bytes, longest: int, seed: int) -> bytes:
    """Another request: its tree with members taken out, put in, copied and exchanged. Now and then other bytes."""
    random = Random(seed)
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        tree = {"kip": "2.0", "operations": [{"command": "DESCRIBE PROTOCOL"}]}
    for _ in range(random.choice((1, 1, 2, 4))):
        tree = _changed(tree, random)
    made = json.dumps(tree, ensure_ascii=random.random() < 0.8).encode("utf-8", "surrogatepass")
    if random.random() < 0.1 and made:
        at = random.randrange(len(made))
        made = made[:at] + random.randbytes(random.randrange(3)) + made[at + 1 :]
    return made[:longest]


def _changed(tree: Any, random: Random) -> Any:
    places = list(_places(tree))
    if not places or random.random() < 0.05:
        return _value(random)
    holder, name = random.choice(places)
    match random.randrange(5):
        case 0:
            del holder[name]
        case 1:
            holder[name] = _value(random)
        case 2:
            other, key = random.choice(places)
            holder[name] = json.loads(json.dumps(other[key])) if key in _keys(other) else None
        case 3 if isinstance(holder, dict):
            holder[random.choice(_NAMES)] = _value(random)
        case 3:
            holder.append(_value(random))
        case _:
            value = holder[name]
            holder[name] = _bent(value, random) if isinstance(value, str) else _value(random)
    return tree


def _value(random: Random) -> Any:
    """One of the values, its own: it may be put into itself later."""
    return deepcopy(random.choice(_VALUES))


def _keys(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))


def _bent(text: str, random: Random) -> str:
    words = text.split(" ")
    other = random.choice([value for value in _VALUES if isinstance(value, str)]).split(" ")
    words[random.randrange(len(words))] = random.choice(other)
    return " ".join(words)[:2_000]


def _places(tree: Any) -> Any:
    """Every (holder, name) of a tree, near the root first."""
    if isinstance(tree, dict | list):
        found = list(tree.items() if isinstance(tree, dict) else enumerate(tree))
        for name, _ in found:
            yield tree, name
        for _, value in found:
            yield from _places(value)


if __name__ == "__main__":
    run("envelope", target, mutator=mutated)
