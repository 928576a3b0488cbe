"""Nexus: a memory as a program sees it (specification §2.4, §70).

Everything a caller can do starts here. A Nexus is one Space of an open memory seen by one Principal; `space`,
`as_principal` and `readonly` give the same memory seen otherwise.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from kipql.errors import KipError
from kipql.govern.principals import Principal, principal_of
from kipql.limits import DEFAULT_LIMITS, Limits
from kipql.model import KINDS
from kipql.runtime.folder import path_of
from kipql.runtime.governing import Govern
from kipql.runtime.guard import reraise
from kipql.runtime.loading import BATCH, Loaded, load
from kipql.runtime.memory import DEFAULT_SPACE, Memory
from kipql.runtime.prepared import Statement
from kipql.runtime.reading import read
from kipql.runtime.receipt import Receipt
from kipql.runtime.repair import Repair
from kipql.runtime.request import answer
from kipql.runtime.result import Result
from kipql.runtime.session import Session
from kipql.runtime.transaction import Transaction
from kipql.runtime.watches import Watches
from kipql.runtime.writing import write
from kipql.times import Clock
from kipql.values import Json

if TYPE_CHECKING:
    import networkx

    from kipql.schema.packages import Package

Parameters = Mapping[str, object] | None


class Nexus:
    """One Space of an open memory, seen by one Principal. Made by `kipql.open`.

    Reads run beside each other and beside a write, each on the snapshot it started with; writes run one at a
    time. A Nexus may be used from several threads. It is a context manager that closes the memory.

    >>> import kipql
    >>> with kipql.open() as nexus:
    ...     receipt = nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
    ...     nexus.query('FIND(?p.name) WHERE { ?p {type: "Person"} }').rows
    ['Ada']
    """

    __slots__ = ("_derived", "_memory", "_session")

    def __init__(self, memory: Memory, session: Session, *, derived: bool = False) -> None:
        self._memory = memory
        self._session = session
        self._derived = derived

    # reading and writing

    def query(
        self,
        text: str,
        parameters: Parameters = None,
        *,
        limits: Limits | None = None,
        cancel: threading.Event | None = None,
    ) -> Result:
        """Run one KQL or META statement and return its rows (§42, §63).

        text        one statement, at most `limits.text` bytes of UTF-8
        parameters  values for `:name` placeholders, bound as data, never as text (§74)
        limits      narrows this Nexus's limits for this call; it can not widen them
        cancel      set it from another thread to stop the call

        Raises KipError: InvalidSyntax (with a span), ReadonlyViolation for any mutation, ReferenceError for a
        missing parameter, ResourceExhausted or ExecutionTimeout at a limit (`details.cancelled` tells which).

        >>> import kipql
        >>> kipql.open().query("FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }").scalar()
        0
        """
        session = self._session
        try:
            budget = session.budget(limits, cancel)
            return read(session, session.statements.parse(text, budget.limits), parameters, budget)
        except Exception as error:
            reraise(error, text)

    def execute(
        self,
        text: str,
        parameters: Parameters = None,
        *,
        limits: Limits | None = None,
        cancel: threading.Event | None = None,
    ) -> Result | Receipt:
        """Run one statement of any language: a Result for a read, a Receipt for a write (§32, §51).

        A write is one transaction, MUTATE included: all of it is durable when this returns, or none of it
        happened. Arguments and errors are those of `query`, and whatever the statement itself may raise
        (SchemaSymbolNotFound, ConstraintViolation, VersionConflict, ...).

        >>> import kipql
        >>> kipql.open().execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }').handles
        {'a': 'C-1'}
        """
        session = self._session
        try:
            budget = session.budget(limits, cancel)
            parsed = session.statements.parse(text, budget.limits)
            if not parsed.mutation:
                return read(session, parsed, parameters, budget)
            return write(session, parsed, parameters, budget)
        except Exception as error:
            reraise(error, text)

    def request(self, envelope: Mapping[str, Json], *, principal: Principal | str | None = None) -> dict[str, Json]:
        """Answer a wire request (§71) with a wire response (§81). Never raises: an error is in the reply.

        envelope   a JSON object as kip-request describes it
        principal  who is asking, as the transport authenticated them; default: this Nexus's Principal

        >>> import kipql
        >>> reply = kipql.open().request({"kip": "2.0", "operations": [{"command": "DESCRIBE PROTOCOL"}]})
        >>> reply["status"], reply["results"][0]["result"]["kip"]
        ('succeeded', '2.0')
        """

        def enter(space_id: str | None) -> Session:
            seen = self if principal is None else self.as_principal(principal)
            return seen._session if space_id is None else seen._on(space_id, create=False)

        return answer(envelope, enter)

    def prepare(self, text: str) -> Statement:
        """Parse and plan a statement once, to run it often with `query` or `execute`.

        Raises KipError: InvalidSyntax, or for a query whatever its symbols and scopes are wrong about.
        """
        try:
            return Statement(self._session, self._session.statements.parse(text))
        except Exception as error:
            reraise(error, text)

    def transaction(self, *, limits: Limits | None = None, cancel: threading.Event | None = None) -> Transaction:
        """Several statements in one commit, reading their own writes; see `Transaction`."""
        return Transaction(self._session, limits, cancel)

    def load(self, records: Iterable[Mapping[str, Json]], *, batch: int = BATCH) -> Loaded:
        """Write many records, every check on, one commit per `batch` records.

        records  mappings with `kind` and the members of that kind, as CREATE, ENSURE and ASSERT know them; what
                 one names with `as`, a later one refers to with `{"ref": name}` (`kipql.mutate.load`)

        Raises KipError with `details.record`, the number of the record from 0; batches before it stay.

        >>> import kipql
        >>> kipql.open().load([{"kind": "concept", "type": "Person", "name": "Ada", "as": "ada"}]).ids
        {'ada': 'C-1'}
        """
        try:
            return load(self._session, records, batch)
        except Exception as error:
            reraise(error)

    # the same memory seen otherwise

    def readonly(self) -> "Nexus":
        """This memory without any way to write: the parse tree decides, never a label (§76)."""
        return Nexus(self._memory, self._with(readonly=True), derived=True)

    def as_principal(self, principal: Principal | str) -> "Nexus":
        """This memory as another Principal: it may do what `govern` allows it, and is recorded in the origin of
        what it writes (§28.1). Only a host does this: whoever holds a Nexus can act as anybody.

        Raises Unauthenticated for what names no Principal.
        """
        return Nexus(self._memory, replace(self._session, principal=principal_of(principal)), derived=True)

    def space(self, space_id: str) -> "Nexus":
        """Another Space of this memory, made if it does not exist yet.

        Raises NotFoundOrNotVisible for a new id when only reading.
        """
        if not isinstance(space_id, str) or not 0 < len(space_id) <= 512:
            raise KipError("TypeMismatch", "a Space id is a non-empty string of at most 512 characters")
        try:
            return Nexus(self._memory, self._on(space_id, create=not self._session.readonly), derived=True)
        except Exception as error:
            reraise(error)

    def spaces(self) -> list[str]:
        """The ids of the Spaces of this memory that the Principal holds anything in, ordered."""
        return [str(row["space_id"]) for row in self._session.spaces()]

    # host decisions

    def install_packages(self, packages: Sequence["Package | Mapping[str, Json] | str"]) -> None:
        """Activate Schema Packages together: Packages, artifacts, or refs of shipped ones (§20.8).

        Before the first commit this belongs to the set-up: no sequence, environment version 1. Later it is one
        commit with a `schema` control change. Active packages are left as they are.

        Raises ConstraintViolation, SchemaPackageUnavailable, SchemaSymbolConflict or ReadonlyViolation.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> nexus.install_packages(["kip://domains/general@1.0.0"])
        >>> nexus.space_seq
        0
        """
        try:
            self._memory.install(self._session, packages)
        except Exception as error:
            reraise(error)

    def install_package(self, package: "Package | Mapping[str, Json] | str") -> None:
        """Activate one Schema Package; see `install_packages`."""
        self.install_packages([package])

    def promote(self, symbol: str, into: str, *, kind: str | None = None) -> Receipt:
        """Promote a draft symbol to a symbol of an installed package: from now on both match as one (§20.16).

        symbol  a symbol that DEFINE made: its name or its exact ref
        into    the installed symbol of the same kind
        kind    "ConceptType" or "PredicateType", where the names are both

        What was written under the draft symbol keeps its exact ref. Promoting again to the same symbol is
        `no_effect`. Raises SchemaSymbolNotFound, SchemaSymbolAmbiguous, SchemaSymbolConflict,
        ConstraintViolation, IdentityConflict or ReadonlyViolation.

        >>> import kipql
        >>> nexus = kipql.open(packages=["kip://domains/general@1.0.0"])
        >>> _ = nexus.execute('DEFINE PREDICATE "resides_in" { description: "Where the subject lives." }')
        >>> nexus.promote("resides_in", "lives_in").status
        'committed'
        """
        try:
            return self._memory.promote(self._session, symbol, into, kind)
        except Exception as error:
            reraise(error)

    def install_policy(self, policy: Mapping[str, Json]) -> None:
        """Put an epistemic policy into force (§21.10): WITH EPISTEMIC {policy: ...} may name it from now on.

        policy  `{policy_id, version, description, eligibility: {modes}, precedence: {order}, method: {score_model},
                weights: {accept_at, reject_at, default_trust, unstated}}`; all but `policy_id` may be left out

        Before the first commit it takes no sequence. Later it is one commit with a `policy` control change, and a
        read AS OF an earlier sequence does not know it. A version never changes: a changed policy needs a new one.

        Raises ConstraintViolation, TypeMismatch, ReadonlyViolation, NotAuthorized.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> nexus.install_policy({"policy_id": "acme:newest", "version": "1", "precedence": {"order": ["recency"]}})
        >>> nexus.query('DESCRIBE EPISTEMIC POLICY "acme:newest"').one()["precedence"]
        ['recency']
        """
        try:
            self._memory.install_policy(self._session, policy)
        except Exception as error:
            reraise(error)

    @property
    def watches(self) -> Watches:
        """The armed Watches of this Space, to evaluate against what was committed (capability `watch_evaluation`)."""
        return Watches(self._session)

    @property
    def repair(self) -> Repair:
        """Corrections of the record: a merge withdrawn (§11.5), a recording invalidated (§57.8)."""
        return Repair(self._session)

    @property
    def govern(self) -> Govern:
        """The host's side of Governance: who may do what, and how elements are protected (§28)."""
        return Govern(self._memory, self._session)

    # looking at the memory

    @property
    def space_id(self) -> str:
        """The id of this Space."""
        return self._session.space.id

    @property
    def space_seq(self) -> int:
        """The head: the sequence of the last commit, 0 before the first (§34)."""
        return self._session.space.store.head

    @property
    def principal(self) -> Principal:
        """Who this Nexus acts as."""
        return self._session.principal

    @property
    def limits(self) -> Limits:
        """The limits that calls start from."""
        return self._session.limits

    def digest(self) -> str:
        """`sha256:` over every visible element in id order, canonical JSON, `_system` included.

        Two memories with one digest hold the same elements with the same history counters.
        """
        return self._session.space.store.digest(self._session.view())

    def subscribe(self, callback: Callable[[dict[str, Json]], Any]) -> Callable[[], None]:
        """Call `callback` with the change envelope of every commit from now on, in order (§36); of a Principal
        from whom something is hidden, with what it may see of those that show it anything.

        It runs in the committing thread after the commit is durable; what it raises is logged, not passed on.
        Returns a function that ends the subscription.
        """
        if not callable(callback):
            raise KipError("TypeMismatch", f"a callback is called; {type(callback).__name__} can not be")
        session = self._session
        subscribers = session.space.subscribers

        def told(envelope: dict[str, Json]) -> None:
            if not session.authority.sees_all:
                view = session.at(envelope["space_seq"])
                if not view.discloses(view.seq):
                    return
                envelope = session.space.store.envelope(view.commit(view.seq))
            callback(envelope)

        subscribers.append(told)

        def unsubscribe() -> None:
            if told in subscribers:
                subscribers.remove(told)

        return unsubscribe

    def stats(self) -> dict[str, Json]:
        """Counts of this Space: elements per kind, head, environment version."""
        view = self._session.view()
        return {
            "space_id": view.space_id,
            "space_seq": view.seq,
            "schema_environment_version": view.environment.version,
            "identity_version": view.identity_version,
            "elements": {kind: len(view.rows(number)) for number, kind in enumerate(KINDS)},
        }

    def explain(self, text: str, parameters: Parameters = None) -> str:
        """The plan of a FIND as text, with counters when its parameters are given. Raises KipError."""
        from kipql.runtime.explaining import explain

        try:
            return explain(self._session, self._session.statements.parse(text), parameters)
        except Exception as error:
            reraise(error, text)

    def backup(self, path: str | Path) -> None:
        """Copy the memory to a new folder, each Space at a commit boundary, while reads go on. The owner's alone.

        Raises NotAuthorized, and MemoryUnavailable when the folder exists, is inside the memory or can not be written.
        """
        from kipql.runtime.copying import backup

        try:
            self._session.authority.require_full("a backup")
            backup(self._memory, path_of(path))
        except Exception as error:
            reraise(error)

    def to_networkx(self) -> "networkx.MultiDiGraph[str]":
        """The head of this Space as a networkx graph: Concepts, and Propositions as edges."""
        from kipql.runtime.picture import to_networkx

        return to_networkx(self._session.view())

    # life

    def close(self) -> None:
        """Close the memory. A Nexus derived from another one leaves it open."""
        if not self._derived:
            self._memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        where = self._memory.path or "in memory"
        only = ", read-only" if self._session.readonly else ""
        return f"<Nexus {self.space_id} at {self.space_seq}, {where}{only}>"

    def _with(self, *, readonly: bool) -> Session:
        session = self._session
        return self._memory.session(session.space.id, session.principal, readonly=readonly or session.readonly)

    def _on(self, space_id: str, *, create: bool) -> Session:
        session = self._session
        return self._memory.session(space_id, session.principal, readonly=session.readonly, create=create)


def open(
    path: str | Path | None = None,
    *,
    readonly: bool = False,
    packages: Sequence["Package | Mapping[str, Json] | str"] = (),
    limits: Limits | None = None,
    clock: Clock | None = None,
    principal: Principal | str | None = None,
    durability: str = "fsync",
    embedder: Callable[[Sequence[str]], Sequence[Sequence[float]]] | None = None,
) -> Nexus:
    """Open a memory and return its default Space (§5).

    path        a folder, made if it is missing; None keeps everything in memory
    readonly    refuse every mutation by its parse tree; the folder must exist
    packages    Schema Packages to activate beside Core and the cognitive-memory Profile: Packages, artifacts,
                or refs of shipped ones ("kip://domains/general@1.0.0", "kip://kipql/agent@1.0.0")
    limits      bounds of every call; a call may narrow them
    clock       returns an aware datetime; default: the system's UTC
    principal   who this Nexus acts as; default: the owner
    durability  "fsync" makes a commit durable before it returns
    embedder    a list of texts to as many vectors of one length, for SEARCH in the modes semantic and hybrid;
                without one these modes are refused (§66.3)

    Raises KipError: NotAMemory, MemoryLocked, MemoryDamaged, MemoryFormatUnsupported, MemoryUnavailable, and
    what `install_packages` raises.

    >>> import kipql
    >>> kipql.open().space_seq
    0
    """
    try:
        if limits is not None and not isinstance(limits, Limits):
            raise KipError("TypeMismatch", f"limits are kipql.Limits, not {type(limits).__name__}")
        memory = Memory(
            path_of(path) if path is not None else None,
            readonly=readonly,
            limits=limits if limits is not None else DEFAULT_LIMITS,
            clock=clock,
            durability=durability,
            embedder=embedder,
        )
        try:
            session = memory.session(DEFAULT_SPACE, principal_of(principal), readonly=readonly, create=not readonly)
            memory.install(session, packages)
        except BaseException:
            memory.close()
            raise
    except Exception as error:
        reraise(error)
    return Nexus(memory, session)
