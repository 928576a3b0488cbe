"""`nexus.subscribe`: the change stream as it is made (§36), and of it what a subscriber may see."""

from collections.abc import Callable
from typing import Any

from kipql.errors import KipError
from kipql.runtime.session import Session
from kipql.values import Json


def subscribe(session: Session, callback: Callable[[dict[str, Json]], Any]) -> Callable[[], None]:
    """Hand the envelope of every commit from now on to a callback; the function that ends it. Raises TypeMismatch."""
    if not callable(callback):
        raise KipError("TypeMismatch", f"a callback is called; {type(callback).__name__} can not be")

    def told(envelope: dict[str, Json]) -> None:
        seen = _disclosed(session, envelope)
        if seen is not None:
            callback(seen)

    return session.space.subscribe(told)


def _disclosed(session: Session, envelope: dict[str, Json]) -> dict[str, Json] | None:
    """The envelope as the session's Principal may see it now, None when that is nothing."""
    if session.authority.sees_all:
        return envelope
    view = session.at(envelope["space_seq"])
    return session.space.store.envelope(view.commit(view.seq)) if view.discloses(view.seq) else None
