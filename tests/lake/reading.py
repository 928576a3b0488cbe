"""A lake read back by hand: Parquet and nothing else."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from kipql.lake import layout, manifest


def table(lake: Path, name: str, space: str) -> list[dict[str, Any]]:
    """The rows of a table of a Space, with the ends of later exports applied."""
    found = []
    for part in manifest.read(lake, space).of(name):
        found += pq.read_table(lake / part.path, partitioning=None).to_pylist()
    anew = {each.name for each in (layout.ENDS, *layout.WHOLE)}
    if name in anew or not found or "seq_from" not in found[0]:
        return found
    ends = {(row["code"], row["seq_from"]): row["seq_to"] for row in table(lake, layout.ENDS.name, space)}
    for row in found:
        if row["seq_to"] is None:
            row["seq_to"] = ends.get((row["code"], row["seq_from"]))
    return found


def holds(row: dict[str, Any], seq: int) -> bool:
    """Whether a state stands at a sequence."""
    return row["seq_from"] <= seq and (row["seq_to"] is None or seq < row["seq_to"])


def elements(lake: Path, space: str, seq: int) -> list[Any]:
    """Every element at a sequence, in the order of its kind and number."""
    payloads = {row["code"]: row["payload"] for row in table(lake, "payloads", space) if holds(row, seq)}
    found = []
    for kind in layout.STATE_TABLES:
        rows = [row for row in table(lake, kind.name, space) if holds(row, seq)]
        for row in sorted(rows, key=lambda row: row["code"]):
            element = json.loads(row["element"])
            if kind is layout.EVIDENCE:
                element["payload"] = json.loads(payloads.get(row["code"], "null"))
            found.append(element)
    return found
