"""The fuzz: generated statements through every door of the engine.

    python -m tests.properties.fuzz --count 20000 --seed 1

A third of the statements are sentences of the grammar, a third are statements that people wrote, bent, the rest are
made to hurt. Each is parsed, formatted, checked, asked of a read-only memory, executed on a writable one, and sent to
both in a request envelope. Nothing but a KipError may come out, never one that says InternalError; and the read-only
memory stays the same to the digest.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import kipql
from kipql.audit.static import check_statement
from kipql.errors import KipError
from kipql.lang import walk
from tests.properties.corpus import corpus, parameter
from tests.properties.hostile import hostile, mutated
from tests.properties.memories import FOUNDING
from tests.properties.sampling import Sampler
from tests.properties.vocabulary import PACKAGE

LIMITS = kipql.Limits(seconds=2.0, ticks=200_000, rows=5_000, buffered=20_000, projections=2_000)
_FRESH = 400
"""Statements that one writable memory lives through."""


@dataclass(slots=True)
class Report:
    """What came out."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def statements(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Generated statements with the name of their family."""
    random, written = Random(seed), corpus()
    sampler = Sampler(random)
    makers: tuple[tuple[str, Callable[[], str]], ...] = (
        ("valid", sampler.statement),
        ("mutated", lambda: mutated(random, written)),
        ("hostile", lambda: hostile(random)),
    )
    for number in range(count):
        family, make = makers[number % len(makers)]
        yield family, make()


def fuzz(count: int, seed: int) -> Report:
    """Put `count` statements through every door."""
    report, random = Report(), Random(seed + 1)
    still = memory()
    reading, digest = still.readonly(), still.digest()
    writable = memory()
    for number, (family, text) in enumerate(statements(count, seed)):
        if number % _FRESH == _FRESH - 1:
            writable = memory()
        given = parameters(random, text)
        for door, act in doors(random, text, given, reading, writable):
            _try(report, f"{family} {door}", text, act)
        if number % 100 == 99 or number == count - 1:
            _unchanged(report, still, digest, text)
    return report


def memory() -> kipql.Nexus:
    """A small memory with a few of everything."""
    nexus = kipql.open(packages=[PACKAGE], limits=LIMITS)
    nexus.execute(FOUNDING)
    nexus.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: "seen"} }')
    nexus.execute(
        'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "review", status: "running"} '
        'SET STRUCTURAL { ("inputs", "E-1") } }'
    )
    return nexus


def parameters(random: Random, text: str) -> dict[str, object]:
    """Values for the parameters of a text that parses; now and then one is missing."""
    try:
        names = [param.name for param in walk.parameters(kipql.parse(text))]
    except KipError:
        return {}
    return {name: parameter(random) for name in names if random.random() > 0.05}


def doors(
    random: Random, text: str, given: dict[str, object], reading: kipql.Nexus, writable: kipql.Nexus
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Every way into the engine."""
    yield "format", lambda: _formatted(text)
    yield "check", lambda: check_statement(text)
    yield "query", lambda: _read(reading.query(text, given))
    yield "execute read-only", lambda: _read(reading.execute(text, given))
    yield "execute", lambda: _read(writable.execute(text, given))
    request = envelope(random, text, given)
    yield "request read-only", lambda: _answered(reading, request)
    yield "request", lambda: _answered(writable, request)


def envelope(random: Random, text: str, given: dict[str, object]) -> Any:
    """A request with the text, as a client would send it or not."""
    request: dict[str, Any] = {"kip": "2.0", "operations": [{"command": text, "parameters": given}]}
    if random.random() < 0.3:
        request["operations"].append({"command": text, "op_id": "again"})
        request["execution"] = {"mode": random.choice(("independent", "sequence", "atomic"))}
    if random.random() < 0.3:
        request["options"] = {"dry_run": random.random() < 0.7, "deadline_ms": random.choice((1, 500, 2_000))}
    if random.random() < 0.2:
        request["ingest"] = {"evidence": [{"key": "msg", "evidence_class": "note", "payload": parameter(random)}]}
    if random.random() < 0.2:
        name = random.choice(
            ("kip", "space", "execution", "read", "requires", "context", "parameters", "extensions", "ingest")
        )
        request[name] = random.choice(
            (None, 7, "x", [], {}, {"mode": "atomic"}, {"id": text[:50]}, {"snapshot_token": text[:99]})
        )
    return request


def _formatted(text: str) -> None:
    """A text that parses is formatted without another meaning."""
    tree = kipql.parse(text)
    assert kipql.parse(kipql.format(text)) == tree, "formatting changes the meaning"


def _read(answer: Any) -> None:
    if isinstance(answer, kipql.Result):
        json.dumps(answer.result, allow_nan=False)
    else:
        json.dumps(answer.to_dict(), allow_nan=False)


def _answered(nexus: kipql.Nexus, request: Any) -> None:
    reply = nexus.request(request)
    json.dumps(reply, allow_nan=False)
    for error in [reply.get("error"), *(result.get("error") for result in reply["results"])]:
        if error is not None and error["code"] == "InternalError":
            raise AssertionError(error["message"])


def _try(report: Report, door: str, text: str, act: Callable[[], object]) -> None:
    try:
        act()
    except KipError as error:
        str(error)
        json.dumps(error.to_dict(), allow_nan=False)
        report.outcomes[error.code] += 1
        if error.code == "InternalError":
            report.failures.append(f"{door}: {error.message}: {text[:400]!r}")
    except Exception as error:
        report.outcomes["!"] += 1
        report.failures.append(f"{door}: {type(error).__name__}: {error}: {text[:400]!r}")
    else:
        report.outcomes["ok"] += 1


def _unchanged(report: Report, still: kipql.Nexus, digest: str, text: str) -> None:
    if still.digest() != digest or still.space_seq != 3:
        report.failures.append(f"a read-only run changed the memory, at or before {text[:400]!r}")


def main() -> int:
    """Run it, say what came out, and fail when anything did that may not."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=2_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    began = time.monotonic()
    report = fuzz(given.count, given.seed)
    spent = time.monotonic() - began
    print(f"{given.count} statements, seed {given.seed}, {sum(report.outcomes.values())} calls, {spent:.0f} s")
    print(", ".join(f"{code} {times}" for code, times in report.outcomes.most_common()))
    for failure in report.failures[:40]:
        print(failure)
    print(f"{len(report.failures)} failures")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
