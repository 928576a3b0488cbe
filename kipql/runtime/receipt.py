"""Receipt: the client's view of a transaction outcome (§33.2).

Most writers look at one member of it or at none, so what a commit has to say is put together when it is asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kipql.times import format_instant
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.model import Origin
    from kipql.store.history import Commit


def _nothing() -> dict[str, Json]:
    return {}


class _Later:
    """Members that are filled in at the first look."""

    __slots__ = ("_changes", "_members")
    _members: Callable[[], dict[str, Any]]
    _changes: Callable[[], Sequence[Mapping[str, Json]]]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in type(self).__dataclass_fields__:
                raise AttributeError(f"a Receipt has no member {name!r}")
            put = object.__setattr__
            if name == "changes":
                put(self, name, self._changes())
            else:
                for member, value in self._members().items():
                    put(self, member, value)
            return object.__getattribute__(self, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt(_Later):
    """What a write did.

    status       "committed", or "no_effect" when nothing changed (then there is no sequence, §32.8)
    snapshot_seq the sequence that the transaction started from
    space_seq    the sequence of the commit; None for no_effect
    tx_id        the engine's name of the transaction; None for no_effect
    committed_at protocol timestamp of the commit; None for no_effect
    handles      local handle -> element id (`{"alice": "C-1"}`), also of a single statement
    changes      the entries of the change envelope: names and versions, never values (§36.1)
    result       what the statement or host operation itself answers (DEFINE, an import, a repair), else None
    replayed     whether this is a retained outcome of the same request (§34.3)

    >>> import kipql
    >>> receipt = kipql.open().execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
    >>> receipt.status, receipt.space_seq, receipt.handles
    ('committed', 1, {'a': 'C-1'})
    """

    status: str
    space_id: str
    snapshot_seq: int
    space_seq: int | None = None
    tx_id: str | None = None
    committed_at: str | None = None
    transaction_class: str = "cognitive"
    schema_environment_version: int = 1
    principal_id: str = ""
    handles: Mapping[str, str] = field(default_factory=_nothing)
    changes: Sequence[Mapping[str, Json]] = ()
    result: Json = None
    replayed: bool = False

    def to_dict(self) -> dict[str, Json]:
        """The wire Receipt (kip-response, `Receipt`): members that do not apply are left out, never null."""
        wire: dict[str, Json] = {
            "status": self.status,
            "space_id": self.space_id,
            "snapshot_seq": self.snapshot_seq,
            "transaction_class": self.transaction_class,
            "schema_environment_version": self.schema_environment_version,
            "origin": {"principal_id": self.principal_id, "actor_binding_id": None, "delegation_digest": None},
            "change_summary": {"handles": dict(self.handles), "changes": len(self.changes)},
        }
        if self.space_seq is not None:
            wire |= {"space_seq": self.space_seq, "tx_id": self.tx_id, "committed_at": self.committed_at}
        return wire


def committed(commit: "Commit", space_id: str, handles: Mapping[str, str], result: Json = None) -> Receipt:
    """The Receipt of a commit."""
    return later(
        lambda: members(
            space_id,
            commit.seq,
            commit.at,
            commit.environment_version,
            commit.origin.principal_id,
            handles,
            result,
            commit.transaction_class,
        ),
        commit.entries,
    )


def later(members: Callable[[], dict[str, Any]], changes: Callable[[], Sequence[Mapping[str, Json]]]) -> Receipt:
    """A Receipt that asks for its members when it is looked at, and for its changes apart from the others."""
    receipt = Receipt.__new__(Receipt)
    object.__setattr__(receipt, "_members", members)
    object.__setattr__(receipt, "_changes", changes)
    return receipt


def members(
    space_id: str,
    seq: int,
    at: int,
    environment_version: int,
    principal_id: str,
    handles: Mapping[str, str],
    result: Json = None,
    transaction_class: str = "cognitive",
) -> dict[str, Any]:
    """The members of the Receipt of a commit, its changes left out."""
    return {
        "status": "committed",
        "space_id": space_id,
        "snapshot_seq": seq - 1,
        "space_seq": seq,
        "tx_id": f"{space_id}#{seq}",
        "committed_at": format_instant(at),
        "transaction_class": transaction_class,
        "schema_environment_version": environment_version,
        "principal_id": principal_id,
        "handles": handles,
        "result": result,
        "replayed": False,
    }


def without_effect(
    seq: int, space_id: str, environment_version: int, origin: "Origin", handles: Mapping[str, str], result: Json = None
) -> Receipt:
    """The Receipt of a transaction that changed nothing."""
    return Receipt(
        status="no_effect",
        space_id=space_id,
        snapshot_seq=seq,
        schema_environment_version=environment_version,
        principal_id=origin.principal_id,
        handles=handles,
        result=result,
    )
