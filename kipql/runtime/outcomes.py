"""Idempotency: the retained outcomes of a Space (§34).

A key is scoped by Principal and names one request, recognised by its digest. Every finalized outcome is kept,
`no_effect` included; an aborted transaction leaves no trace, so its key stays free. Outcomes are on disk: with
the commit frame, or as a note where there was no commit.
"""

import json
from dataclasses import dataclass, field
from threading import RLock
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.runtime.receipt import Receipt, committed
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.store import Store

NOTE = "idempotency"


@dataclass(frozen=True, slots=True)
class Binding:
    """The key under which a transaction's outcome is kept; `index` tells the operations of one request apart."""

    principal_id: str
    key: str
    digest: str
    index: int = 0


@dataclass(slots=True)
class _Kept:
    digest: str
    receipts: dict[int, Receipt] = field(default_factory=dict)


class Outcomes:
    """The retained outcomes of one Space, by Principal and key. What a store kept is read when somebody first asks."""

    __slots__ = ("_held", "_lock", "_store")

    def __init__(self, store: "Store") -> None:
        self._store: Store | None = store  # until it was read
        self._held: dict[tuple[str, str], _Kept] = {}
        self._lock = RLock()

    @property
    def _kept(self) -> dict[tuple[str, str], _Kept]:
        if self._store is not None:
            with self._lock:
                if (store := self._store) is not None:
                    self._load(store)
                    self._store = None
        return self._held

    def replay(self, binding: Binding) -> Receipt | None:
        """The outcome that this request already has. Raises IdempotencyConflict when the key names another."""
        kept = self._kept.get((binding.principal_id, binding.key))
        if kept is None:
            return None
        if kept.digest != binding.digest:
            raise KipError(
                "IdempotencyConflict",
                f"the idempotency key {binding.key!r} was used for another request",
                hint="use a new key for new work",
            )
        return kept.receipts.get(binding.index)

    def find(self, principal_id: str, key: str) -> Receipt | None:
        """The outcome of a key: of the last transaction that the request made under it."""
        kept = self._kept.get((principal_id, key))
        return kept.receipts[max(kept.receipts)] if kept is not None else None

    def keep(self, binding: Binding, receipt: Receipt) -> None:
        """Bind a key to an outcome that is durable."""
        _keep(self._kept, binding, receipt)

    def _load(self, store: "Store") -> None:
        view = store.view()
        for kept in store.idempotency.values():
            binding = Binding(kept["principal_id"], kept["name"], kept["digest"], kept["index"])
            if (seq := kept["space_seq"]) is not None:
                receipt = committed(view.commit(seq), store.space_id, kept["handles"], kept["result"])
            else:
                receipt = Receipt(
                    status="no_effect",
                    space_id=store.space_id,
                    snapshot_seq=kept["snapshot_seq"],
                    schema_environment_version=kept["schema_environment_version"],
                    principal_id=binding.principal_id,
                    handles=kept["handles"],
                    result=kept["result"],
                )
            _keep(self._held, binding, receipt)


def _keep(kept: dict[tuple[str, str], _Kept], binding: Binding, receipt: Receipt) -> None:
    known = kept.setdefault((binding.principal_id, binding.key), _Kept(binding.digest))
    known.receipts[binding.index] = receipt


def packed(binding: Binding, receipt: Receipt) -> dict[str, Json]:
    """What the store keeps: in the commit's own frame, or as a note when there is no commit."""
    return {
        "key": json.dumps([binding.principal_id, binding.index, binding.key]),
        "principal_id": binding.principal_id,
        "name": binding.key,
        "digest": binding.digest,
        "index": binding.index,
        "space_seq": receipt.space_seq,
        "snapshot_seq": receipt.snapshot_seq,
        "schema_environment_version": receipt.schema_environment_version,
        "handles": dict(receipt.handles),
        "result": receipt.result,
    }
