"""HISTORY and CHANGES: the chronology of a Space in change envelopes (§36, §68.1).

Both answer in the same unit, one envelope for one commit; HISTORY ELEMENT keeps of each only the changes of
its element. CHANGES adds to every envelope how far the stream is covered by it (§36.1).
"""

from itertools import islice

from kipql.lang import ast
from kipql.meta.paging import fingerprint, paged
from kipql.meta.session import MetaResult, MetaSession
from kipql.model import element_id
from kipql.values import Json


def history(statement: ast.History, session: MetaSession) -> MetaResult:
    """HISTORY ELEMENT x | HISTORY SPACE [FROM SEQ a] [TO SEQ b]; both ends belong to the range.

    Raises NotFoundOrNotVisible for an element that is not there.
    """
    first = session.count(statement.from_seq, "FROM SEQ") if statement.from_seq is not None else 1
    last = session.count(statement.to_seq, "TO SEQ") if statement.to_seq is not None else None
    code = session.element(statement.element) if statement.element is not None else None
    shape = fingerprint(session, "HISTORY", code, first, last)

    def rows(seq: int) -> list[Json]:
        view = session.at(seq)
        until = seq if last is None else min(last, seq)
        if code is None:
            told = (at for at in range(max(first, 1), until + 1) if view.discloses(at))
            return [session.store.envelope(view.commit(at)) for at in told]
        wanted = [at for at in view.changed_in(code) if first <= at <= until]
        return [_narrowed(session.store.envelope(view.commit(at), only=(element_id(code),))) for at in wanted]

    return paged(session, "history", shape, rows, statement.limit, statement.cursor)


def changes(statement: ast.Changes, session: MetaSession) -> MetaResult:
    """CHANGES AFTER SEQ n | SINCE cursor [LIMIT k]: what came after, oldest first; nothing when caught up."""
    shape = fingerprint(session, "CHANGES")
    if statement.since is not None:
        _, position = session.cursors.open(session.text(statement.since, "SINCE"), "changes", shape)
        after = int(position)
    else:
        after = session.count(statement.after_seq, "AFTER SEQ")
    view, head = session.view, session.view.seq
    most = session.count(statement.limit, "LIMIT") if statement.limit is not None else head
    wanted = list(islice((at for at in range(after + 1, head + 1) if view.discloses(at)), most + 1))
    session.budget.buffer(len(wanted))
    rows = [_covered(session.store.envelope(view.commit(at)), session) for at in wanted[:most]]
    # LIMIT 0 asks for nothing; a cursor that does not advance would page for ever.
    more = session.cursors.issue("changes", shape, head, wanted[most - 1]) if 0 < most < len(wanted) else None
    return MetaResult(rows, more, truncated=more is not None)


def _narrowed(whole: dict[str, Json]) -> dict[str, Json]:
    return {name: member for name, member in whole.items() if name != "control_changes"}


def _covered(whole: dict[str, Json], session: MetaSession) -> dict[str, Json]:
    coverage = {
        "through_seq": whole["space_seq"],
        "authorization_view": session.authority.view_id,
        "complete": session.authority.sees_all,
    }
    return {**whole, "coverage": coverage}
