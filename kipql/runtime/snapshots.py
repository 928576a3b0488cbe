"""Snapshot tokens: several requests that read one state (specification §78, `read.snapshot_token`).

A token is an opaque, authenticated name of one sequence of one Space. It gives no authority: whoever sends it reads
with what it may see now, so a token is worth as much as AS OF SEQ, and may be handed on. It lives as long as the
Space: history is never dropped.

Every read of a request that carries a token runs on its state. A write must start from that state, or it fails with
PreconditionFailed: nobody writes on a state that the client did not reason from.
"""

from dataclasses import replace
from typing import NoReturn

from kipql.errors import KipError
from kipql.runtime.form import refuse
from kipql.runtime.result import Result
from kipql.runtime.session import Session
from kipql.values import Json

_FAMILY = "snapshot"
MEMBER = "read.snapshot_token"


def coordinate(session: Session, seq: int) -> dict[str, Json]:
    """The state at a sequence as the response names it, with the token that reads it again."""
    space, view = session.space, session.view()
    return {
        "space_id": space.id,
        "snapshot_seq": seq,
        "schema_environment_version": (view if view.seq == seq else space.at(seq)).environment.version,
        "snapshot_token": space.cursors.name(_FAMILY, space.id, seq),
    }


def pinned(session: Session, token: str | None) -> Session:
    """The session that reads what a token names; the same one without a token.

    Raises HistoricalSnapshotUnavailable for a token that this Space did not issue, or can not read.
    """
    if token is None:
        return session
    try:
        seq, _ = session.space.cursors.open(token, _FAMILY, session.space.id)
    except KipError:
        _unavailable()  # forged, edited, of another kind or of another Space: all the same to a client (§86.4)
    if seq > session.space.store.head:
        _unavailable()
    return replace(session, pinned=seq)


def check_start(session: Session) -> None:
    """Refuse to write on another state than the one that was read. Raises PreconditionFailed."""
    head = session.space.store.head
    if session.pinned is not None and session.pinned != head:
        raise KipError(
            "PreconditionFailed",
            f"the snapshot token names sequence {session.pinned}, and the Space is at {head}",
            hint="read again without the token, and decide anew",
            details={"precondition": "snapshot_token", "expected": session.pinned, "found": head},
        )


def check_read(session: Session, result: Result) -> Result:
    """Refuse a statement that names another state than its request, by AS OF or by its cursor.

    Raises InvalidRequestEnvelope.
    """
    if session.pinned is None:
        return result
    seq = result.context.get("snapshot_seq")
    if seq != session.pinned:
        refuse(MEMBER, f"names sequence {session.pinned}, and the statement names {seq}", "leave one of them out")
    return result


def _unavailable() -> NoReturn:
    raise KipError(
        "HistoricalSnapshotUnavailable",
        "this is not a snapshot token that the Space can read",
        hint="pass snapshot.snapshot_token of a response unchanged, or leave read out",
        details={"member": MEMBER},
    )
