"""The data set of the six questions: who knows whom, and where each is posted, told one claim after the other.

A size is a number of Assertions. A tenth as many people have a key, a name and a rank; half of the claims are
relations (`knows`, `trusts`, `follows`), one Assertion to a Proposition; the other half are five claims to a slot
(`posted_to`, functional) in two values by one or two actors. All of it is told in the order of the valid time, so
that the claims of one slot lie far apart. One in eight postings states an end of its own. Everything follows from
the size and the seed.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kipql.times import FOREVER, format_instant

RELATIONS = ("knows", "trusts", "follows")
SLOT = "posted_to"
PREDICATES = (*RELATIONS, SLOT)
DAY = 86_400_000
FIRST = 1_700_000_000_000 // DAY * DAY
SECOND = 1_000
DAYS, PER_PERSON, PER_SLOT, ACTORS, RANKS, BATCH = 1_000, 5, 5, 40, 1_000, 1_000

PACKAGE: dict[str, Any] = {
    "format": "KIP-Schema-Package",
    "manifest": {"package_id": "kip://benchmarks/people", "version": "1.0.0"},
    "definitions": {
        "concept_types": {
            "Human": {
                "kind": "ConceptType",
                "description": "One of us.",
                "attributes": {"open": True, "fields": {"rank": {"type": "integer"}}},
            }
        },
        "predicates": {
            name: {"kind": "PredicateType", "description": name, **({"functional": True} if name == SLOT else {})}
            for name in PREDICATES
        },
    },
}


@dataclass(frozen=True, slots=True)
class Human:
    key: str
    name: str
    rank: int


@dataclass(frozen=True, slots=True)
class Claim:
    """One Assertion; people by number, the Predicate by its place in `PREDICATES`."""

    subject: int
    predicate: int
    object: int
    actor: int
    start: int
    until: int


@dataclass(frozen=True, slots=True)
class World:
    """People and claims, in the order they are told."""

    people: list[Human]
    claims: list[Claim]

    def record_of(self, claim: int) -> int:
        """The number of a claim's record in the load."""
        return len(self.people) + claim

    def commit_of(self, record: int) -> int:
        """The commit that a record of the load is in."""
        return record // BATCH + 1

    @property
    def head(self) -> int:
        """The last commit."""
        return self.commit_of(len(self.people) + len(self.claims) - 1)

    def records(self) -> Iterator[dict[str, Any]]:
        """What `nexus.load` takes."""
        for human in self.people:
            yield {
                "kind": "concept", "type": "Human", "key": human.key, "name": human.name, "as": human.key,
                "attributes": {"rank": human.rank},
            }  # fmt: skip
        keys = [human.key for human in self.people]
        for claim in self.claims:
            valid = {"from": format_instant(claim.start)}
            if claim.until != FOREVER:
                valid["until"] = format_instant(claim.until)
            yield {
                "kind": "assertion", "subject": {"ref": keys[claim.subject]}, "predicate": PREDICATES[claim.predicate],
                "object": {"ref": keys[claim.object]}, "by": {"ref": keys[claim.actor]}, "mode": "stated",
                "at": format_instant(claim.start), "valid": valid,
            }  # fmt: skip


def world(assertions: int, seed: int = 6) -> World:
    """The world of a size."""
    chance = random.Random(seed)
    count = max(assertions // (PER_PERSON + PER_SLOT), ACTORS + 2)
    people = [Human(f"h{n}", f"Human {n}", chance.randrange(RANKS)) for n in range(count)]
    claims = []
    for subject in range(count):
        known: set[tuple[int, int]] = set()
        while len(known) < PER_PERSON:
            known.add((chance.randrange(len(RELATIONS)), chance.randrange(count)))
        for predicate, target in sorted(known):
            claims.append(Claim(subject, predicate, target, chance.randrange(ACTORS), _moment(chance), FOREVER))
        values = chance.sample(range(count), 2)
        actors = chance.sample(range(ACTORS), chance.choice((1, 1, 1, 2)))
        for number in range(PER_SLOT):
            start = _moment(chance)
            until = start + chance.randint(1, 300) * DAY if chance.randrange(8) == 0 else FOREVER
            claims.append(Claim(subject, len(RELATIONS), values[number % 2], chance.choice(actors), start, until))
    claims.sort(key=lambda claim: (claim.start, claim.subject, claim.predicate, claim.object))
    return World(people, claims)


def _moment(chance: random.Random) -> int:
    """A second of the time that is told about."""
    return FIRST + chance.randrange(DAYS * 86_400) * SECOND


@dataclass(frozen=True, slots=True)
class Asked:
    """The inputs of one call of every question, numbers and instants."""

    human: int
    predicate: int
    second: int
    rank: int
    seq: int
    instant: int


def inputs(world: World, count: int, seed: int) -> list[Asked]:
    """Different people, relations, bounds, sequences and instants; half of the sequences are the head."""
    chance = random.Random(seed)
    people = chance.sample(range(len(world.people)), min(count, len(world.people)))
    head, first = world.head, world.commit_of(len(world.people))
    return [
        Asked(
            human,
            chance.randrange(len(RELATIONS)),
            chance.randrange(len(RELATIONS)),
            chance.randrange(RANKS // 4, RANKS),
            chance.choice((head, chance.randint(min(first, head), head))),
            _moment(chance),
        )
        for human in people
    ]
