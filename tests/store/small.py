"""Small Spaces for the store's tests: a schema that needs no packages, records in a line, random transactions."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kipql.model import (
    ACTIVITY,
    ASSERTION,
    CONCEPT,
    EVIDENCE,
    PROPOSITION,
    Activity,
    AnyRecord,
    Assertion,
    Concept,
    Edge,
    Evidence,
    Origin,
    Proposition,
    Retention,
)
from kipql.store import Store, Transaction, View
from kipql.store.symbols import written_lineage
from kipql.times import Bound, Interval

PACKAGE = "kip://lab@1.0.0"
PERSON, TOOL = f"{PACKAGE}/Person", f"{PACKAGE}/Tool"
KNOWS, AGE, LIKES = f"{PACKAGE}/knows", f"{PACKAGE}/age", f"{PACKAGE}/likes"
STATE, USE = f"{PACKAGE}/State", f"{PACKAGE}/Use"
PART = f"{PACKAGE}/has_part"


@dataclass(frozen=True)
class Environment:
    """As much of a Schema Environment as the store reads. Packages are `{renames: {old lineage: new}}`."""

    version: int
    renames: dict[str, str] = field(default_factory=dict)
    lineages: dict[str, str] = field(default_factory=dict)

    def lineage(self, ref: str) -> str:
        lineage = written_lineage(ref)
        return self.renames.get(lineage, lineage)


def schema(before: Any, artifacts: Sequence[Any], version: int) -> Any:
    renames = dict(before.renames) if before is not None else {}
    for artifact in artifacts:
        renames |= artifact.get("renames", {})
    return Environment(version, renames)


def store(path: Path | None = None, **options: Any) -> Store:
    return Store(path, schema=schema, **options)


def concept(name: str | None = None, **members: Any) -> Concept:
    return Concept(**{"schema": PERSON, "name": name, **members})


def claim(proposition: int, actor: int, **members: Any) -> Assertion:
    made = {"stance": "support", "mode": "stated", "asserted_at": 1_000, **members}
    return Assertion(proposition=proposition, asserted_by=actor, **made)


def commit(space: Store, write: Callable[[Transaction], Any], at: int | None = None) -> Any:
    """One transaction; what `write` returns."""
    transaction = space.begin(1_000 * (space.head + 1) if at is None else at)
    try:
        made = write(transaction)
    except BaseException:
        transaction.rollback()
        raise
    transaction.commit() if transaction.seal() else transaction.rollback()
    return made


def change(space: Store, code: int, **members: Any) -> None:
    """One commit that changes one element."""
    commit(space, lambda tx: tx.put(code, replace(tx.view.record(code), **members)))


def pair(space: Store) -> tuple[int, int, int, int]:
    """A Space with two Persons, a Proposition and an Assertion: their codes."""

    def write(tx: Transaction) -> tuple[int, int, int, int]:
        alice, bob = tx.create(concept("Alice", key="a")), tx.create(concept("Bob", key="b"))
        knows = tx.create(Proposition(subject=alice, predicate=KNOWS, object=bob))
        return alice, bob, knows, tx.create(claim(knows, alice, confidence=0.9))

    made: tuple[int, int, int, int] = commit(space, write)
    return made


class Writer:
    """Random but repeatable writes: the same seed makes the same Space."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def transaction(self, tx: Transaction, size: int = 4) -> None:
        for _ in range(self.random.randint(1, size)):
            self.write(tx)

    def write(self, tx: Transaction) -> None:
        choice = self.random.random()
        if choice < 0.55:
            tx.create(self.new(tx))
        else:
            code = self.any(tx.view, self.random.choice((0, 0, 1, 2, 2, 3, 4)))
            if code is not None:
                tx.put(code, self.changed(tx, code))

    def any(self, view: View, kind: int) -> int | None:
        rows = view.bounds[kind]
        return self.random.randrange(rows) * 8 + kind if rows else None

    def new(self, tx: Transaction) -> AnyRecord:
        view, pick = tx.view, self.random
        kind = pick.choice((CONCEPT, CONCEPT, PROPOSITION, PROPOSITION, ASSERTION, ASSERTION, EVIDENCE, ACTIVITY))
        subject, other = self.any(view, CONCEPT), self.any(view, CONCEPT)
        proposition, evidence = self.any(view, PROPOSITION), self.any(view, EVIDENCE)
        if subject is None or other is None or kind == CONCEPT:
            key = f"k{view.bounds[CONCEPT]}" if pick.random() < 0.5 else None
            name = pick.choice(("Ann", "Ben", None))
            parts = {PART: (Edge(other),)} if other is not None and pick.random() < 0.3 else {}
            attributes = {"n": pick.choice((1, True, "1", 1.5))}
            return Concept(
                schema=pick.choice((PERSON, TOOL)), key=key, name=name, structural=parts, attributes=attributes
            )
        if kind == PROPOSITION or (kind == ASSERTION and proposition is None):
            value = other if pick.random() < 0.5 else tx.literal(pick.choice((1, True, "x", None, 2.5, pick.random())))
            return Proposition(subject=subject, predicate=pick.choice((KNOWS, AGE, LIKES)), object=value)
        if kind == ASSERTION:
            assert proposition is not None
            return self.claim(proposition, subject, evidence)
        if kind == EVIDENCE:
            payload = {"mode": "inline", "inline": {"text": pick.choice("abc"), "n": pick.randrange(3)}}
            return Evidence(evidence_class="message", payload=payload, source=(Edge(subject),))
        return Activity(activity_class="inference", inputs=(Edge(subject),), outputs=(Edge(other),))

    def claim(self, proposition: int, actor: int, evidence: int | None) -> Assertion:
        pick = self.random
        instant = pick.randrange(5_000)
        ends = (None, Bound(instant, instant), Bound(instant, instant + 10), Bound(None, instant))
        valid = Interval(pick.choice(ends), pick.choice((None, Bound(instant + 99, instant + 99))))
        return Assertion(
            proposition=proposition,
            asserted_by=actor,
            stance=pick.choice(("support", "reject", "uncertain")),
            mode=pick.choice(("stated", "observed", "inferred")),
            asserted_at=pick.randrange(9_000),
            confidence=pick.choice((None, 0, 1, 0.25)),
            valid=valid if pick.random() < 0.6 else Interval(None, None),
            evidence=(Edge(evidence, pick.choice(("support", None))),) if evidence is not None else (),
            context=(actor,) if pick.random() < 0.2 else (),
            classification="private" if pick.random() < 0.1 else None,
            origin=Origin("kip:other", "import", "i-1") if pick.random() < 0.1 else Origin("kip:owner", "local"),
            client_key="k" if pick.random() < 0.2 else None,
        )

    def changed(self, tx: Transaction, code: int) -> AnyRecord:
        record, pick = tx.view.record(code), self.random
        choice = pick.random()
        if choice < 0.25:
            return replace(record, retention=Retention(pick.choice((None, "short"))))
        if choice < 0.45:
            return replace(record, facets={STATE: {"n": pick.randrange(3)}, **({USE: {}} if choice < 0.3 else {})})
        if isinstance(record, Concept):
            return self.changed_concept(tx, code, record, choice)
        if isinstance(record, Assertion) and record.status == "active" and choice < 0.9:
            return replace(record, status="retracted", retracted_at=tx.at)
        if isinstance(record, Activity):
            return replace(record, status="completed", ended_at=tx.at)
        return replace(record, state=pick.choice(("active", "archived", "tombstoned")))

    def changed_concept(self, tx: Transaction, code: int, record: Concept, choice: float) -> Concept:
        pick = self.random
        other = self.any(tx.view, CONCEPT)
        assert other is not None
        if choice < 0.55 and tx.view.canonical(other) != code and record.merged_into is None:
            return replace(record, state="merged", merged_into=other)
        if choice < 0.7:
            return replace(record, name=pick.choice(("Ann", "Ben", "Cid", None)))
        if choice < 0.85:
            return replace(record, structural={PART: (Edge(other), Edge(code))})
        return replace(record, attributes={"n": pick.choice((1, True, "1")), "m": [1, {"a": None}]})


def grown(seed: int, commits: int, path: Path | None = None, **options: Any) -> Store:
    """A Space after random commits."""
    space, writer = store(path, **options), Writer(seed)
    while space.head < commits:
        commit(space, writer.transaction)
    return space
