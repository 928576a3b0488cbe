"""RecallCoverage: which channels a recall read, and whether to the end (Profile §20.2).

The seven named channels are always told. A channel that was not read, could not be read, or was cut leaves the coverage
incomplete, and then no automatic action may rest on it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kipql.memory.brief.items import Channel, Plain
from kipql.memory.brief.reading import Found, Reading

CHANNELS = ("constraints", "commitments", "dependencies", "failures", "experiences", "skills", "evidence")


def coverage(
    reading: Reading, channels: Mapping[str, Channel], preconditions: Sequence[str] = (), *, plans: bool = False
) -> Plain:
    """The record, as the schema has it. Channels that are not given were not read."""
    told = {name: _told(channels.get(name)) for name in CHANNELS}
    eligible = not preconditions and all(one["completed"] and not one["truncated"] for one in told.values())
    record: Plain = {
        "basis": reading.basis,
        "channels": told,
        "unverified_preconditions": list(dict.fromkeys(preconditions)),
        "action_eligible": eligible,
    }
    if plans:
        record["plans"] = {found.name: _plan(reading, found) for found in reading.found if found.name != "meta"}
    return record


def _told(channel: Channel | None) -> dict[str, bool]:
    if channel is None:
        return {"completed": False, "truncated": False}
    return {"completed": channel.completed, "truncated": channel.truncated}


def _plan(reading: Reading, found: Found) -> Plain:
    scope = reading.asked.scope
    return {
        "selector": reading.pin_of(found.name),
        "scope": {"task_ref": scope.task_ref, "context_refs": list(scope.context_refs)},
        "method": "approximate" if found.approximate else "exact",
        "snapshot_seq": reading.seq,
        "index_seq": found.index_seq,
        "covered_through_seq": reading.seq,
        "authorization_view": reading.basis["authorization_view"],
        "complete": found.complete,
        "truncation_reason": found.reason,
    }


def narrowed(basis: Plain, found: Sequence[Mapping[str, Any]]) -> Plain:
    """A basis that holds no longer than any belief it was made with."""
    ends = [one["next_invalid_at"] for one in found if one.get("next_invalid_at")]
    return basis | {"next_invalid_at": min(ends)} if ends else basis
