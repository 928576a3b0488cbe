"""`python -m benchmarks.belief`: BELIEF SLOT beside SQL that gives the same answer (see README.md here).

Every slot has five Assertions in two values, by one or two actors, each with an exact start; one in eight states an
end of its own, one in sixteen rejects its value, one in fifty is retracted by a later commit. The SQL does what a
belief does with such claims, over a table as general as that: stated or observed, in no context, recorded by the
sequence and not retracted by it (AS OF), begun and not past an end of their own (FOR TIME); a later claim of the same
actor that disagrees ends one without an end of its own (§25.4); a value that holds with support only is accepted,
unless another one is supported too. Every step is one search of one covering index. Full output is measured against
both ways to write it: a row per claim that a few lines of Python group (the faster one), and everything in SQL.

Both sides are handed parameters that are ready and return their materialised answer: kipql `.rows`, SQLite
`fetchall()`. A different slot each call. What is compared before anything is timed is made from those answers
outside the clock.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.belief_sides import (
    ACTORS,
    CANDIDATES,
    CLAIMS,
    DAY,
    DAYS,
    FIRST,
    HELD,
    HOLDS,
    PER_SLOT,
    SCAN,
    VALUES,
    Sides,
)
from benchmarks.measure import Measure, compare
from benchmarks.report import table
from kipql.times import format_instant

ASKED = 'WHERE { ?b BELIEF SLOT (:s, "holds") }'
FULL = f"FIND(?b) {ASKED} AS OF SEQ :k FOR TIME :t"
QUERIES = {
    "accepted value": f"FIND(?b.accepted_values) {ASKED} AS OF SEQ :k FOR TIME :t",
    "status": f"FIND(?b.status) {ASKED} AS OF SEQ :k FOR TIME :t",
    "accepted value, present": f"FIND(?b.accepted_values) {ASKED} FOR TIME :t",
    "full output": FULL,
    "full output, SQL groups": FULL,
}
CONTESTED = (
    'FIND(?s.id) WHERE { ?s {type: "Holder"} ?b BELIEF SLOT (?s, "holds") FILTER(?b.status == "contested") } '
    "AS OF SEQ :k FOR TIME :t"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One input as both sides want it."""

    ours: dict[str, Any]
    theirs: tuple[int | None, ...]


def asked(sides: Sides, inputs: Sequence[tuple[int, int, int]]) -> list[Asked]:
    """The inputs with their parameters made."""
    first = HELD + ACTORS
    return [
        Asked({"s": f"C-{first + slot + 1}", "k": seq, "t": format_instant(instant)}, (slot, HOLDS, seq, instant))
        for slot, seq, instant in inputs
    ]


# --- what both sides must agree on --------------------------------------------------------------------


def _sql_status(found: list[tuple[int, int, int]]) -> str:
    supported = [row for row in found if row[1]]
    if not supported:
        return "insufficient"
    return "accepted" if len(supported) == 1 and not supported[0][2] else "contested"


def _sql_accepted(found: list[tuple[int, int, int]]) -> list[str]:
    if _sql_status(found) != "accepted":
        return []
    return [f"C-{object_ + 1}" for object_, supported, _ in found if supported]


def _ids(kind: str, rows: Sequence[int]) -> list[str]:
    return [f"{kind}-{row + 1}" for row in sorted(rows)]


def _full(rows: list[Any]) -> list[Any]:
    return [
        (each["status"], each["support"]["assertion_ids"], each["opposition"]["assertion_ids"])
        for each in rows[0]["candidate_projections"]
    ]


def candidates(found: list[tuple[int, int, int, int]]) -> list[tuple[int, str, list[int], list[int]]]:
    """(object, status, support, opposition) from a row per claim: less work than to let SQL group them."""
    sides: dict[int, tuple[list[int], list[int]]] = {}
    for object_, stance, number, holds in found:
        both = sides.get(object_)
        if both is None:
            both = sides[object_] = ([], [])
        if holds:
            both[stance].append(number)
    supported = 0
    for support, _ in sides.values():
        if support:
            supported += 1
    return [
        (
            object_,
            "contested" if support and (opposed or supported > 1) else "accepted" if support
            else "rejected" if opposed else "insufficient",
            support,
            opposed,
        )
        for object_, (support, opposed) in sides.items()
    ]  # fmt: skip


def _shown_candidates(found: list[tuple[int, str, list[int], list[int]]]) -> list[Any]:
    return [(status, _ids("A", support), _ids("A", opposed)) for _, status, support, opposed in found]


def _shown_in_sql(found: list[tuple[int, str, str | None, str | None]]) -> list[Any]:
    def listed(text: str | None) -> list[int]:
        return [int(one) for one in str(text).split(",")] if text is not None else []

    return _shown_candidates([(o, status, listed(support), listed(opposed)) for o, status, support, opposed in found])


def same(found: Any) -> Any:
    """The rows as they are fetched."""
    return found


Shown = Callable[[Any], Any]
SIDES: dict[str, tuple[str, Shown, Shown, Shown]] = {
    "accepted value": (VALUES, same, lambda rows: [one["id"] for one in rows[0]], _sql_accepted),
    "status": (VALUES, same, lambda rows: rows, lambda found: [_sql_status(found)]),
    "accepted value, present": (VALUES, same, lambda rows: [one["id"] for one in rows[0]], _sql_accepted),
    "full output": (CLAIMS, candidates, _full, _shown_candidates),
    "full output, SQL groups": (CANDIDATES, same, _full, _shown_in_sql),
}
"""Per group: the SQL, what Python does to its rows within the clock, and what is compared of each side's answer."""


def point(sides: Sides, group: str, inputs: Sequence[Asked], rounds: int = 3) -> Measure:
    """One slot a call."""
    sql, finish, ours_shown, theirs_shown = SIDES[group]
    query, execute = sides.nexus.prepare(QUERIES[group]).query, sides.sql.execute
    if group.endswith("present"):
        inputs = [Asked(one.ours, (*one.theirs[:2], sides.head, one.theirs[3])) for one in inputs]
    return compare(
        group,
        sides.slots * PER_SLOT,
        inputs,
        lambda one: query(one.ours).rows,
        lambda one: finish(execute(sql, one.theirs).fetchall()),
        shown=(ours_shown, theirs_shown),
        rounds=rounds,
    )


def contested(sides: Sides) -> Measure:
    """Every contested slot of the memory in one scan."""
    first = HELD + ACTORS
    query, execute = sides.nexus.prepare(CONTESTED).query, sides.sql.execute
    inputs = [(sides.head, FIRST + day * DAY) for day in (DAYS // 4, DAYS // 2)]
    return compare(
        "contested, scan",
        sides.slots * PER_SLOT,
        [Asked({"k": seq, "t": format_instant(instant)}, (None, HOLDS, seq, instant)) for seq, instant in inputs],
        lambda one: query(one.ours).rows,
        lambda one: execute(SCAN, one.theirs).fetchall(),
        shown=(lambda rows: rows, lambda found: [f"C-{first + row[0] + 1}" for row in found]),
        rounds=1,
    )


def measures(assertions: int, calls: int) -> list[Measure]:
    """The groups at one size, each with answers checked first."""
    sides = Sides(assertions)
    inputs = asked(sides, sides.inputs(calls))
    return [*(point(sides, group, inputs) for group in QUERIES), contested(sides)]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.belief", description="Measure BELIEF SLOT.")
    parser.add_argument("--size", type=int, action="append", help="Assertions (repeatable; default 100000)")
    parser.add_argument("--calls", type=int, default=3_000, help="slots a group is asked about (default 3000)")
    chosen = parser.parse_args(arguments)
    print(table([measure for size in chosen.size or [100_000] for measure in measures(size, chosen.calls)]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
