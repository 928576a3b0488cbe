"""A memory large enough to run into every limit, by the public surface alone."""

from collections.abc import Iterator
from typing import Any

import kipql

PEOPLE = 6_000
CHAIN = 100


def memory(**options: Any) -> kipql.Nexus:
    """People who prefer each other in a chain, each said by the first; one name that is hard to match."""
    nexus = kipql.open(**options)
    nexus.load(_records())
    return nexus


def _records() -> Iterator[dict[str, Any]]:
    for at in range(PEOPLE):
        yield {"kind": "concept", "type": "Person", "name": f"person {at % 1_000}", "as": f"p{at}"}
    for at in range(CHAIN):
        ends = {"subject": {"ref": f"p{at}"}, "predicate": "prefers", "object": {"ref": f"p{at + 1}"}}
        yield {"kind": "assertion", **ends, "by": {"ref": "p0"}, "mode": "stated"}
    for at in range(CHAIN):
        ends = {"subject": {"ref": "p5000"}, "predicate": "prefers", "object": {"ref": f"p{at}"}}
        yield {"kind": "assertion", **ends, "by": {"ref": "p0"}, "mode": "stated"}
    yield {"kind": "concept", "type": "Insight", "name": "a" * 40 + "!", "attributes": {"summary": "hard to match"}}
