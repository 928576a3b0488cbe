"""The world in kipql, asked through the public surface."""

from pathlib import Path
from typing import Any

import kipql
from benchmarks.world import PACKAGE, Claim, Thing, World

QUERIES = {
    "key": 'FIND(?c.name) WHERE { ?c {type: "Human", key: :key} }',
    "one hop": 'FIND(?o.name) WHERE { ?c {type: "Human", key: :key} (?c, "acquainted", ?o) }',
    "two hops": """FIND(?o.name, ?o.key) WHERE {
  ?c {type: "Human", key: :key}
  (?c, "acquainted", ?via)
  ?link (?via, "acquainted", ?o)
  FILTER(?o.attributes.age > 40)
} ORDER BY ?o.key LIMIT 20""",
    "as of": 'FIND(?o.name) WHERE { ?c {type: "Human", key: :key} (?c, "acquainted", ?o) } AS OF SEQ :seq',
    "scan": 'FIND(COUNT(?c)) WHERE { ?c {type: "Human"} FILTER(?c.attributes.age > :age) }',
}
ASSERT = (
    'ASSERT ({type: "Human", key: :subject}, :predicate, {type: :kind, key: :object}) '
    '{by: {type: "Human", key: :actor}, mode: "stated", confidence: :confidence}'
)
BATCH = 250


class Kipql:
    """One memory, in memory or in a folder."""

    name = "kipql"

    def __init__(self, path: Path | None = None) -> None:
        self.nexus = kipql.open(path, packages=[PACKAGE])
        self.prepared = {group: self.nexus.prepare(text) for group, text in QUERIES.items()}

    def build(self, world: World) -> list[int]:
        """Load the world in batches; the commit of each thing and claim, in order."""
        records = [*map(_thing, world.things), *map(_claim, world.claims)]
        first = self.nexus.space_seq + 1
        self.nexus.load(records, batch=BATCH)
        return [first + number // BATCH for number in range(len(records))]

    def query(self, group: str, parameters: dict[str, object]) -> list[object]:
        """The rows of one group's query."""
        rows: list[object] = self.prepared[group].query(parameters).rows
        return rows

    def write(self, claim: Claim) -> None:
        """One claim, one transaction."""
        self.nexus.execute(
            ASSERT,
            {
                "subject": claim.subject,
                "predicate": claim.predicate,
                "kind": claim.object_type,
                "object": claim.object,
                "actor": claim.actor,
                "confidence": claim.confidence,
            },
        )

    def text(self, group: str, literal: str) -> str:
        """The query of a group as a text of its own."""
        return QUERIES[group].replace(":key", f'"{literal}"')

    def close(self) -> None:
        self.nexus.close()


def _thing(thing: Thing) -> dict[str, Any]:
    attributes = {} if thing.age is None else {"attributes": {"age": thing.age}}
    name = f"{thing.type} {thing.key}"
    return {"kind": "concept", "type": thing.type, "key": thing.key, "name": thing.name, "as": name, **attributes}


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "kind": "assertion",
        "subject": {"ref": f"Human {claim.subject}"},
        "predicate": claim.predicate,
        "object": {"ref": f"{claim.object_type} {claim.object}"},
        "by": {"ref": f"Human {claim.actor}"},
        "mode": "stated",
        "confidence": claim.confidence,
    }
