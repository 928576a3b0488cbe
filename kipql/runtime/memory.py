"""An open memory: its Spaces, and what they share (§5).

One folder (or nothing, in memory), one store per Space, one table of parsed statements. The facade and every
session derived from it hold the same Memory.
"""

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.exec.reading import Projections
from kipql.govern.principals import OWNER, Principal
from kipql.limits import Limits
from kipql.runtime import folder, shipped
from kipql.runtime.capabilities import capabilities
from kipql.runtime.parsed import Statements
from kipql.runtime.session import Session
from kipql.runtime.space import Space
from kipql.times import Clock
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.search.vectors import Embedder
    from kipql.store.store import Store

DEFAULT_SPACE = "kip:space:default"


class Memory:
    """The Spaces of one folder, opened when first asked for.

    Raises NotAMemory, MemoryFormatUnsupported, MemoryDamaged, MemoryLocked or MemoryUnavailable.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        readonly: bool,
        limits: Limits,
        clock: Clock | None,
        durability: str,
        snapshot_after: int | None = None,
        embedder: "Embedder | None" = None,
        follow: bool = True,
    ) -> None:
        from kipql.store.disk import DURABILITIES

        if durability not in DURABILITIES:
            raise KipError("ConstraintViolation", f"{durability!r} is no durability", hint=" or ".join(DURABILITIES))
        if path is not None:
            folder.open_folder(path, readonly=readonly)
        self.path = path
        self.readonly = readonly
        self.follows = follow and readonly and path is not None
        self.limits = limits
        self.statements = Statements(limits)
        self._clock = clock
        self._durability = durability
        self._snapshot_after = snapshot_after
        self._embedder = embedder
        self._spaces: dict[str, Space] = {}
        self._lock = Lock()
        self._closed = False

    def space(self, space_id: str, *, create: bool) -> Space:
        """An open Space. Raises NotFoundOrNotVisible for one that does not exist and may not be created."""
        with self._lock:
            if self._closed:
                raise KipError("MemoryUnavailable", "this memory is closed", hint="open it again")
            known = self._spaces.get(space_id)
            if known is None:
                if not create and space_id not in self._ids():
                    raise KipError("NotFoundOrNotVisible", f"there is no Space {space_id!r}")
                known = self._spaces[space_id] = self._open(space_id)
            return known

    def ids(self) -> list[str]:
        """The ids of every Space, ordered."""
        with self._lock:
            return self._ids()

    def close(self) -> None:
        """Close every store. Closing twice is allowed."""
        with self._lock:
            spaces, self._spaces, self._closed = list(self._spaces.values()), {}, True
        for space in spaces:
            space.close()

    def session(self, space_id: str, principal: Principal, *, readonly: bool, create: bool = False) -> Session:
        """A session on a Space. Raises NotAuthorized for a new Space in a governed memory, but to the owner."""
        only = readonly or self.readonly
        create = create and not only
        if create and principal != OWNER and space_id not in self.ids() and self._governed():
            raise KipError("NotAuthorized", "a new Space is for the owner", details={"permission": "owner"})
        space = self.space(space_id, create=create)
        return Session(
            space=space,
            principal=principal,
            elsewhere=self._governed,
            limits=self.limits,
            statements=self.statements,
            readonly=only,
            rows=self.space_rows,
            registry=capabilities(readonly=only, embedder=self._embedder is not None),
            projecting=Projections(space.now, space.control),
        )

    def space_rows(self, principal: Principal) -> list[dict[str, Json]]:
        """The rows of LIST SPACES: the Spaces in which a Principal holds anything."""
        rows = []
        for space_id in self.ids():
            space = self.space(space_id, create=False)
            if not space.governance.authority(principal, self._governed).permissions:
                continue
            view = space.view()
            rows.append(
                {
                    "space_id": space_id,
                    "space_seq": view.seq,
                    "schema_environment_version": view.environment.version,
                }
            )
        return rows

    def _governed(self) -> bool:
        """Whether rules decide in any Space."""
        if any(space.governance.policy.configured for space in list(self._spaces.values())):
            return True
        return self.path is not None and folder.is_governed(self.path)

    def remember_governed(self) -> None:
        """Rules decide in a Space from now on: the memory's other Spaces are the owner's alone."""
        if self.path is not None:
            folder.remember_governed(self.path)

    def _ids(self) -> list[str]:
        if self.path is None:
            return sorted(self._spaces)
        return sorted({*folder.space_ids(self.path), *self._spaces})

    def _open(self, space_id: str) -> Space:
        store = self._store(space_id)
        try:
            return self._made(store)
        except BaseException:
            store.close()
            raise

    def _store(self, space_id: str) -> "Store":
        from kipql.store.store import Store

        path = None
        if self.path is not None:
            folder.check_space(self.path, space_id)
            path = folder.space_folder(self.path, space_id)
        store = Store(
            path,
            space_id=space_id,
            durability=self._durability,
            snapshot_after=self._snapshot_after,
            readonly=self.readonly,
            clock=self._clock,
            limits=self.limits,
            schema=shipped.load_schema,
        )
        if self._embedder is not None:
            from kipql.search.run import use_embedder

            use_embedder(store.graph, self._embedder)
        return store

    def _made(self, store: "Store") -> Space:
        space_id = store.space_id
        space = Space(store, self._clock, lambda: self._store(space_id))
        if self.follows:
            space.replaced.add(self.statements.forget)
        if store.head == 0 and not store.readonly and not store.notes.get("schema"):
            space.set_up([dict(package.artifact) for package in shipped.initial()])
        if self.path is not None and not store.readonly:
            folder.remember_space(self.path, store.space_id)
        return space
