"""`nexus.govern.trust` on a session: reads control state, changes it by commits of its own (§22.6)."""

from collections.abc import Mapping

from kipql.belief.control import identity
from kipql.exec.references import resolve
from kipql.govern.trust import Trust, TrustRecord
from kipql.runtime import installing
from kipql.runtime.session import Session
from kipql.values import Json


def trust_of(session: Session) -> Trust:
    """The trust records of a session's Space."""
    control, store = session.space.control, session.space.store

    def read(seq: int | None) -> Mapping[str, TrustRecord]:
        return control.trust_records(session.view() if seq is None else session.at(seq))

    def version(seq: int | None) -> str:
        return control.trust_version(store.head if seq is None else seq)

    def change(kind: str, payload: dict[str, Json]) -> None:
        session.authority.require("manage_trust")
        installing.change(session, kind, payload)

    return Trust(
        read,
        version,
        lambda reference: resolve(session.view(), reference),
        change,
        lambda actor: identity(session.view(), actor),
    )
