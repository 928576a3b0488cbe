"""Waking up: the working picture, and every change since the sequence it speaks for.

All pages of the changes are read. A cursor that expired is begun anew once; what can not be read to the end is told,
and then the picture is not current.
"""

from kipql.memory.brief.items import Channel, Plain, Warned, in_scope, provenance
from kipql.memory.brief.queries import query
from kipql.memory.brief.reading import Found, Reading

PAGE = 200
_RESTART = ("CursorExpired", "CursorMismatch", "CursorInvalid")


def working_states(reading: Reading) -> Channel:
    """The working pictures of this scope, the latest first. They are made from other memories and are no Evidence."""
    found = reading.ask("wake")
    channel = Channel("working_state", completed=found.error is None, truncated=found.truncated)
    for identity, key, summary, horizon, basis_seq, validity, imported, task in found.rows:
        asked = reading.asked.scope.task_ref
        if in_scope(task, asked) and (asked is None or task == asked):
            item = {"ref": identity, "key": key, "role": "working_state", "text": summary, "horizon": horizon}
            item |= {"basis_seq": basis_seq, "evidence": False}
            label = str(summary)
            channel.items.append(
                provenance(item, validity, imported, channel.warnings, what="a working picture", label=label)
            )
    return channel


def changes(reading: Reading, since: int) -> Channel:
    """Every commit after a sequence up to the state that is read, as names and versions."""
    channel = Channel("changes")
    for attempt in (1, 2):
        pages = _pages(reading, since)
        channel.items = [_commit(row) for page in pages for row in page.rows if row["space_seq"] <= reading.seq]
        last = pages[-1]
        channel.completed = last.error is None
        if channel.completed or last.error not in _RESTART or attempt == 2:
            break
        reading.gaps.pop()  # it is read again
    whole = [row["coverage"]["complete"] for page in pages for row in page.rows if "coverage" in row]
    channel.truncated = not all(whole)
    if not channel.completed or channel.truncated:
        text = f"the changes after sequence {since} could not all be read: the working picture may be out of date"
        channel.warnings.append(Warned("critical", "incomplete_changes", text))
    return channel


def _pages(reading: Reading, since: int) -> list[Found]:
    pages = [reading.meta(query("changes"), {"since": since, "limit": PAGE})]
    while pages[-1].cursor is not None:
        pages.append(reading.meta("CHANGES SINCE :cursor LIMIT :limit", {"cursor": pages[-1].cursor, "limit": PAGE}))
    return pages


def _commit(row: Plain) -> Plain:
    touched = [{name: change.get(name) for name in ("op", "kind", "id")} for change in row.get("changes", ())]
    return {"space_seq": row["space_seq"], "at": row["committed_at"], "changes": touched}
