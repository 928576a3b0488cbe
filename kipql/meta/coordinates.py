"""DESCRIBE SPACE, SNAPSHOT and TRANSACTION; LIST SPACES: where a Space stands and what a commit did (§68)."""

from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.lang import ast
from kipql.meta.paging import fingerprint, paged
from kipql.meta.session import MetaResult, MetaSession
from kipql.model import KINDS
from kipql.store.changes import KIP
from kipql.times import format_instant, parse_instant
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.history import Commit


def describe_space(statement: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE SPACE [id]: one Space, the request's own when none is named."""
    view = session.view
    if statement.subject is not None:
        wanted = session.text(statement.subject, "a Space")
        if wanted != view.space_id:
            known = next((row for row in session.spaces() if row["space_id"] == wanted), None)
            if known is None:
                raise KipError("NotFoundOrNotVisible", f"there is no Space {wanted!r}", span=statement.subject.span)
            return MetaResult(known)
    return MetaResult(
        {
            "space_id": view.space_id,
            "space_seq": view.seq,
            "schema_environment_version": view.environment.version,
            "identity_version": view.identity_version,
            "elements": {kind: len(view.rows(number)) for number, kind in enumerate(KINDS)},
        }
    )


def list_spaces(statement: ast.List, session: MetaSession) -> MetaResult:
    """LIST SPACES: id, head and environment version of each, ordered by id."""
    shape = fingerprint(session, statement.target)
    return paged(session, "list", shape, lambda _: session.spaces(), statement.limit, statement.cursor)


def describe_snapshot(statement: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE SNAPSHOT [AS OF SEQ s | AT TIME t]: the coordinate, not the content (§68).

    Raises HistoricalSnapshotUnavailable for a sequence that the Space has not reached.
    """
    view = session.view
    if statement.as_of is not None:
        view = session.at(session.count(statement.as_of, "AS OF SEQ"))
    elif statement.at_time is not None:
        view = session.at(view.snapshot_at(parse_instant(session.value(statement.at_time), "AT TIME")))
    commit = view.commit(view.seq) if view.discloses(view.seq) else None
    return MetaResult(
        {
            "space_id": view.space_id,
            "space_seq": view.seq,
            "tx_id": commit.tx_id if commit else None,
            "committed_at": format_instant(commit.at) if commit else None,
            "schema_environment_version": view.environment.version,
        }
    )


def describe_transaction(statement: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE TRANSACTION tx_id | BY IDEMPOTENCY KEY key: the envelope and whether it committed.

    Raises TransactionUnknown for an id or key that no retained outcome has.
    """
    assert statement.subject is not None
    name = session.text(statement.subject, "an idempotency key" if statement.by_key else "a transaction id")
    if not statement.by_key:
        commit = session.view.transaction(name)
        if commit is None:
            raise KipError("TransactionUnknown", f"no transaction {name!r} is known", span=statement.subject.span)
        return MetaResult(_described(commit, session))
    outcome = session.outcome(name)
    if outcome is None:
        raise KipError(
            "TransactionUnknown",
            f"no retained outcome has the idempotency key {name!r}",
            span=statement.subject.span,
            details={"expired": False},
        )
    if outcome.space_seq is None:
        return MetaResult({"kip": KIP, **outcome.to_dict()})
    return MetaResult(_described(session.at(outcome.space_seq).commit(outcome.space_seq), session))


def _described(commit: "Commit", session: MetaSession) -> dict[str, Json]:
    return {**session.store.envelope(commit), "snapshot_seq": commit.seq - 1, "status": "committed"}
