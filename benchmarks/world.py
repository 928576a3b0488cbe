"""The data of the benchmarks: people, organizations and topics, and claims between them.

Everything follows from the size and a seed, so that both engines hold the same world. A size is a number of
Propositions, each with one Assertion: of ten, six say who knows whom, two where someone works, two what
interests them. There are a fifth as many people as Propositions.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

PACKAGE: dict[str, Any] = {
    "format": "KIP-Schema-Package",
    "manifest": {"package_id": "kip://benchmarks/people", "version": "1.0.0"},
    "definitions": {
        "concept_types": {
            name: {
                "kind": "ConceptType",
                "description": text,
                "attributes": {"open": True, "fields": {"age": {"type": "integer"}}},
            }
            for name, text in (("Human", "Someone."), ("Firm", "An employer."), ("Subject", "A field of interest."))
        },
        "predicates": {
            name: {
                "kind": "PredicateType",
                "description": text,
                "subject": {"kinds": ["Concept"]},
                "object": {"kinds": ["Concept"]},
            }
            for name, text in (
                ("acquainted", "The subject knows the object."),
                ("employed_by", "The subject works for the object."),
                ("drawn_to", "The object interests the subject."),
            )
        },
    },
}
NAMES = ("Ada", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ines", "Jo")


@dataclass(frozen=True, slots=True)
class Thing:
    """A Concept: `type` is a local name, `age` is only for humans."""

    type: str
    key: str
    name: str
    age: int | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A Proposition with its one Assertion, made by `actor`; all but the predicate are keys."""

    subject: str
    predicate: str
    object: str
    object_type: str
    actor: str
    confidence: float


class World:
    """One data set; `things` come before `claims`, in this order."""

    def __init__(self, propositions: int, seed: int = 2) -> None:
        chance = random.Random(seed)
        self.size = propositions
        people = max(10, propositions // 5)
        others = max(5, people // 20)
        self.things = [
            *(Thing("Human", f"h{n}", chance.choice(NAMES), chance.randint(18, 90)) for n in range(people)),
            *(Thing("Firm", f"f{n}", f"Firm {n}") for n in range(others)),
            *(Thing("Subject", f"s{n}", f"Subject {n}") for n in range(others)),
        ]
        self.claims = list(self._claims(chance, people, others))

    def _claims(self, chance: random.Random, people: int, others: int) -> Iterator[Claim]:
        seen: set[tuple[str, str, str]] = set()
        while len(seen) < self.size:
            subject = f"h{chance.randrange(people)}"
            match chance.randrange(10):
                case 0 | 1:
                    predicate, target, kind = "employed_by", f"f{chance.randrange(others)}", "Firm"
                case 2 | 3:
                    predicate, target, kind = "drawn_to", f"s{chance.randrange(others)}", "Subject"
                case _:
                    predicate, target, kind = "acquainted", f"h{chance.randrange(people)}", "Human"
            if (subject, predicate, target) not in seen:
                seen.add((subject, predicate, target))
                actor = f"h{chance.randrange(people)}"
                yield Claim(subject, predicate, target, kind, actor, chance.choice((0.25, 0.5, 0.75, 1.0)))

    def sample(self, number: int, seed: int = 3) -> list[str]:
        """Keys of people to ask about."""
        people = [thing.key for thing in self.things if thing.type == "Human"]
        return random.Random(seed).choices(people, k=number)
