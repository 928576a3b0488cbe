"""A session: one Space seen by one Principal with certain rights and limits.

The facade, the request envelope and prepared statements all run through the functions of `reading` and `work`
with a Session; nothing else in the runtime knows who is calling.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.exec.reading import Projections
from kipql.govern.authority import Authority
from kipql.govern.principals import Principal
from kipql.govern.view import authorized
from kipql.limits import Budget, Limits
from kipql.runtime.capabilities import available
from kipql.runtime.parsed import Statements
from kipql.runtime.receipt import Receipt, committed
from kipql.runtime.space import Space
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.runtime.outcomes import Binding
    from kipql.store.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Who reads and writes what.

    principal   who calls; what that allows is looked up at every use, so a revoked grant is gone at once (§28.6)
    elsewhere   whether another Space of the memory is governed
    rows        rows of LIST SPACES for a Principal
    registry    the capability entries of the memory (§67.4)
    projecting  the clock, policies and trust that beliefs are read with
    pinned      the sequence that a snapshot token binds every read to (§78), None for the head
    """

    space: Space
    principal: Principal
    elsewhere: Callable[[], bool]
    limits: Limits
    statements: Statements
    readonly: bool
    rows: Callable[[Principal], list[dict[str, Json]]]
    registry: Mapping[str, Json]
    projecting: Projections
    pinned: int | None = None

    @property
    def authority(self) -> Authority:
        """What the caller holds now."""
        return self.space.governance.authority(self.principal, self.elsewhere)

    def authority_of(self, principal: Principal) -> Authority:
        """What another Principal holds now."""
        return self.space.governance.authority(principal, self.elsewhere)

    @property
    def projections(self) -> Projections:
        """What beliefs are read with, under the authorization view of now."""
        authority = self.authority
        if authority.full:
            return self.projecting
        return replace(self.projecting, authorization_view=authority.view_id, holds=authority.holds)

    @property
    def capabilities(self) -> Mapping[str, Json]:
        """The capability entries, `available` as the caller's permissions leave them."""
        return available(self.registry, self.authority)

    def spaces(self) -> list[dict[str, Json]]:
        """The rows of LIST SPACES that the caller may see; the Space that reads are pinned in as it was then (§78)."""
        rows = self.rows(self.principal)
        if self.pinned is None:
            return rows
        view = self.space.at(self.pinned)
        was = {"space_seq": view.seq, "schema_environment_version": view.environment.version}
        return [{**row, **was} if row["space_id"] == self.space.id else row for row in rows]

    def view(self) -> "View":
        """The head, or the state that reads are pinned to, as this caller may see it."""
        if self.pinned is not None:
            return self.at(self.pinned)
        authority = self.authority
        return self.space.view() if authority.full else authorized(self.space.view(), authority)

    def at(self, seq: int) -> "View":
        """The Space at a sequence, as this caller may see it now (§68.2)."""
        return authorized(self.space.at(seq), self.authority)

    def retained(self, binding: "Binding | None") -> Receipt | None:
        """The outcome that a request already has (§34.3), its changes as this caller may see them now (§68.2). Raises
        IdempotencyConflict when its key names another one."""
        known = self.space.outcomes.replay(binding) if binding is not None else None
        if known is None or known.space_seq is None or self.authority.sees_all:
            return known
        told = authorized(self.space.at(known.space_seq), self.authority).commit(known.space_seq)
        return committed(told, self.space.id, known.handles, known.result)

    def budget(self, limits: Limits | None = None, cancel: threading.Event | None = None) -> Budget:
        """A fresh Budget for one call."""
        return Budget(self.limits.narrowed(limits), cancel)

    def refuse_writing(self) -> None:
        """Raise ReadonlyViolation in a read-only session."""
        if self.readonly:
            raise KipError("ReadonlyViolation", "this session only reads", hint="open the memory writable")
