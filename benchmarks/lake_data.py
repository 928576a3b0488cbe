"""The data set of the six questions as a lake, written from its columns without a memory in between.

A memory of ten million Assertions takes more room than a small machine has; its lake does not. What is written is what
an export writes, row for row (tests/benchmarks/test_lake.py): instants aside, which are those of `AT` here.
"""

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import kipql
from benchmarks.questions_data import BATCH, PACKAGE, PREDICATES, SLOT, World
from kipql import lake
from kipql.lake import layout, manifest
from kipql.lake.cells import text
from kipql.lake.layout import Table
from kipql.lake.manifest import Manifest
from kipql.lake.parts import Parts
from kipql.model import ASSERTION, CONCEPT, PROPOSITION
from kipql.times import FOREVER, format_instant

AT = 1_800_000_000_000
SPACE = "kip:space:default"
REF = "kip://benchmarks/people@1.0.0/"
Row = tuple[Any, ...]


def _system(planes: Mapping[str, Any]) -> dict[str, Any]:
    at, tx = format_instant(AT), f"{SPACE}#%(seq)d"
    return {
        "state": "active", "version": 1, "created_at": at, "updated_at": at, "created_tx": tx, "updated_tx": tx,
        "plane_versions": planes, "origin": {"channel": "local", "import_id": None, "principal_id": "kip:owner"},
    }  # fmt: skip


WRITTEN = {"attributes": 1, "facets": {}, "retention": 0, "structural": 0}
BARE = {**WRITTEN, "attributes": 0}
_COMMON: dict[str, Any] = {
    "space_id": SPACE,
    "facets": {},
    "retention": {"expires_at": None, "legal_hold": False, "retention_class": None},
}
_PLAIN = {"authority_class": "descriptive", "classification": None}


def _template(value: Mapping[str, Any]) -> str:
    """The JSON of an element whose members are still to be filled in; `%(x)d` is a number and has no quotes."""
    import re

    return re.sub(r'"(%\(\w+\)d)"', r"\1", text({**_COMMON, **value}))


_CONCEPT = _template(
    {
        "id": "C-%(n)d", "kind": "concept", "key": "%(key)s", "name": "%(name)s", "schema_ref": f"{REF}Human",
        "attributes": {"rank": "%(rank)d"}, "aliases": [], "canonical_id": None, "merged_into": None, "structural": {},
        "governance": _PLAIN, "_system": _system(WRITTEN),
    }
)  # fmt: skip
_PROPOSITION = _template(
    {
        "id": "P-%(n)d", "kind": "proposition", "subject": {"id": "C-%(subject)d"}, "object": {"id": "C-%(object)d"},
        "predicate_ref": f"{REF}%(predicate)s", "governance": _PLAIN, "_system": _system(BARE),
    }
)  # fmt: skip
_ASSERTION = _template(
    {
        "id": "A-%(n)d", "kind": "assertion", "proposition": {"id": "P-%(proposition)d"}, "stance": "support",
        "mode": "stated", "confidence": None, "asserted_at": "%(at)s", "asserted_by": {"id": "C-%(actor)d"},
        "valid_time": {"from": "%(at)s", "until": "UNTIL"}, "context_refs": [], "evidence": [],
        "lifecycle": {"retracted_at": None, "status": "active", "superseded_by": [], "supersedes": []},
        "governance": {**_PLAIN, "authority_lineage": []}, "_system": _system(WRITTEN),
    }
).replace('"UNTIL"', "%(until)s")  # fmt: skip


def write(world: World, folder: Path, name: str = "one") -> Manifest:
    """Write the lake of a world. Its manifest."""
    parts = Parts(folder, name, f"1-{world.head}")
    for table, row in rows(world):
        parts.put(table, row)
    made = Manifest(
        name=name, space_id=SPACE, head=world.head, coverage=SPACE, anchor="", literals=0,
        version=kipql.__version__, parts=parts.close(),
    )  # fmt: skip
    manifest.write(folder, made)
    return made


def rows(world: World) -> Iterator[tuple[Table, Row]]:
    """Every row of the lake, table by table and in the order of an export."""
    yield from _concepts(world)
    yield from _propositions(world)
    yield from _assertions(world)
    for seq in range(1, world.head + 1):
        row = {
            "seq": seq, "at": AT, "tx_id": f"{SPACE}#{seq}", "transaction_class": "cognitive",
            "environment_version": 1, "principal_id": "kip:owner",
        }  # fmt: skip
        yield layout.COMMITS, tuple(row.get(name, 1) for name in layout.COMMITS.names)
    yield from _schema()


def _state(code: int, seq: int) -> Row:
    letter = "CPA"[code & 7]
    return code, f"{letter}-{(code >> 3) + 1}", seq, None, "active", True, 1, seq


def _version(code: int, kind: str, seq: int, planes: Mapping[str, Any]) -> tuple[Table, Row]:
    state = _state(code, seq)
    return layout.VERSIONS, (code, state[1], kind, seq, None, 1, "active", text(planes))


def _concepts(world: World) -> Iterator[tuple[Table, Row]]:
    for number, human in enumerate(world.people):
        seq, code = number // BATCH + 1, number * 8 + CONCEPT
        filled = _CONCEPT % {
            "n": number + 1, "key": human.key, "name": human.name, "rank": human.rank, "seq": seq
        }  # fmt: skip
        fields = [("/attributes/rank", str(human.rank))]
        own = (f"{REF}Human", human.key, human.name, None, None)
        yield layout.CONCEPTS, (*_state(code, seq), *own, fields, filled)
        yield _version(code, "concept", seq, WRITTEN)


def _told(world: World) -> Iterator[tuple[int, int, bool]]:
    """(sequence, Proposition, whether it is new) of each claim."""
    known: dict[int, int] = {}
    people = len(world.people)
    for number, claim in enumerate(world.claims):
        key = (claim.subject * people + claim.object) * len(PREDICATES) + claim.predicate
        before = len(known)
        yield (people + number) // BATCH + 1, known.setdefault(key, before), len(known) > before


def _propositions(world: World) -> Iterator[tuple[Table, Row]]:
    for claim, (seq, number, new) in zip(world.claims, _told(world), strict=True):
        if new:
            code, predicate = number * 8 + PROPOSITION, PREDICATES[claim.predicate]
            filled = _PROPOSITION % {
                "n": number + 1, "subject": claim.subject + 1, "object": claim.object + 1, "predicate": predicate,
                "seq": seq,
            }  # fmt: skip
            own = (claim.subject * 8 + CONCEPT, f"{REF}{predicate}", claim.object * 8 + CONCEPT)
            yield layout.PROPOSITIONS, (*_state(code, seq), *own, [], filled)
            yield _version(code, "proposition", seq, BARE)


def _assertions(world: World) -> Iterator[tuple[Table, Row]]:
    for number, (claim, (seq, proposition, _)) in enumerate(zip(world.claims, _told(world), strict=True)):
        code, at = number * 8 + ASSERTION, format_instant(claim.start)
        until = None if claim.until == FOREVER else format_instant(claim.until)
        filled = _ASSERTION % {
            "n": number + 1, "proposition": proposition + 1, "at": at, "actor": claim.actor + 1, "seq": seq,
            "until": text(until),
        }  # fmt: skip
        own = (
            proposition * 8 + PROPOSITION, claim.actor * 8 + CONCEPT, "support", "stated", None, at, at, until, True,
            "active",
        )  # fmt: skip
        yield layout.ASSERTIONS, (*_state(code, seq), *own, [], filled)
        yield _version(code, "assertion", seq, WRITTEN)


def _schema() -> Iterator[tuple[Table, Row]]:
    """What an empty memory with the package says about its schema."""
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder, kipql.open(packages=[PACKAGE]) as nexus:
        lake.export(nexus, folder, name="empty")
        for part in manifest.read(Path(folder), "empty").of(layout.SCHEMA.name):
            for row in pq.read_table(os.path.join(folder, part.path), partitioning=None).to_pylist():  # noqa: PTH118
                yield layout.SCHEMA, tuple(row[name] for name in layout.SCHEMA.names)


__all__ = ["AT", "SLOT", "rows", "write"]
