"""LIMIT and CURSOR of LIST, HISTORY and CHANGES (§63.3, §87.7).

A page is a window over rows in a fixed order. The cursor carries the snapshot of the first page and how many
rows were handed out, so the following pages continue the same listing even when the Space has moved on.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256

from kipql.lang import ast
from kipql.meta.session import MetaResult, MetaSession
from kipql.values import Json


def fingerprint(session: MetaSession, *parts: Json) -> str:
    """What a cursor is bound to besides its family: the Space and everything that shapes the rows."""
    text = repr((session.view.space_id, session.authority.view_id, *parts))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def paged(
    session: MetaSession,
    family: str,
    shape: str,
    rows: Callable[[int], Sequence[Json]],
    limit: ast.Value | None,
    cursor: ast.Value | None,
) -> MetaResult:
    """One page of `rows(seq)`: all of them, or `limit` from where `cursor` stopped.

    Raises CursorInvalid, CursorMismatch or CursorTypeMismatch for a cursor that another statement issued.
    """
    most = session.count(limit, "LIMIT") if limit is not None else None
    shape = f"{shape}:{most}"
    seq, start = session.view.seq, 0
    if cursor is not None:
        seq, position = session.cursors.open(session.text(cursor, "CURSOR"), family, shape)
        start = int(position)
    every = rows(seq)
    session.budget.buffer(len(every))
    end = len(every) if most is None else min(len(every), start + most)
    # LIMIT 0 asks for nothing; a cursor that does not advance would page for ever.
    more = session.cursors.issue(family, shape, seq, end) if start < end < len(every) else None
    context = {} if seq == session.view.seq else _pinned(session, seq)
    return MetaResult(list(every[start:end]), more, more is not None, context)


def _pinned(session: MetaSession, seq: int) -> dict[str, Json]:
    """The snapshot that a later page still reads."""
    return {"snapshot_seq": seq, "schema_environment_version": session.at(seq).environment.version}
