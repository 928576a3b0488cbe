"""Constraints: what binds whatever is done, asked for or not.

Four places hold them: articles of a canon that declare a rule, lessons whose `scope` is "constraint", claims that
something must or must not contain a text, and rules that somebody gave in words of their own (`must_heed`). They never
depend on likeness to the question, and no budget cuts them.
"""

from typing import Any

from kipql.memory.brief.items import CONSTRAINT, STALE, Channel, Plain, Warned, in_scope, local, provenance
from kipql.memory.brief.reading import Ask, Found, Reading

LIMIT = 500


def constraint_asks(reading: Reading) -> list[Ask]:
    """The reads that `constraints` takes, in its order."""
    fixed = [Ask(name, {"limit": LIMIT}) for name in ("constraint_rule", "constraint_lesson", "constraint_claim")]
    heeded = [Ask("constraint_heed", {"predicate": each, "limit": LIMIT}) for each in reading.asked.heed]
    return [*fixed, *heeded]


def constraints(reading: Reading, rules: Found, lessons: Found, claims: Found, *heeded: Found) -> Channel:
    """All constraints in scope. What is merely claimed and contested binds as a warning, what is rejected does not."""
    channel = Channel("constraints")
    for identity, key, address, capsule, body in rules.rows:
        channel.items.append(_item(identity, key, f"{address}: {capsule or body or ''}", "rule"))
    for identity, key, summary, validity, imported, task in lessons.rows:
        if in_scope(task, reading.asked.scope.task_ref):
            item = _item(identity, key, str(summary), "lesson")
            channel.items.append(
                provenance(item, validity, imported, channel.warnings, what="a constraint", label=str(summary))
            )
    for row in claims.rows:
        _claim(row, f"{row[2] or row[1]} {local(row[3])} {row[4]!r}", "claim", channel)
    for row in (row for found in heeded for row in found.rows):
        _claim(row, str(row[4]), "heed", channel)
    reads = (rules, lessons, claims, *heeded)
    channel.completed = all(found.error is None for found in reads)
    channel.truncated = any(found.truncated for found in reads)
    return channel


def _claim(row: Any, said: str, source: str, channel: Channel) -> None:
    identity, _, key, _, _, status, validity, support, opposition = row
    if status == "accepted":
        item = _item(identity, key, said, source) | {"support": list(support), "opposition": list(opposition)}
        channel.items.append(item)
    elif status != "insufficient" and status != "rejected":
        stale = f", {validity}" if validity in STALE else ""
        warned = f"a constraint that is not settled ({status}{stale}): {said}"
        channel.warnings.append(Warned("critical", "unsettled_constraint", warned, (identity,)))


def _item(identity: str, key: str | None, text: str, source: str) -> Plain:
    return {"ref": identity, "key": key, "role": CONSTRAINT, "text": text, "source": source, "status": "accepted"}
