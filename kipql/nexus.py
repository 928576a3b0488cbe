"""Nexus: a memory as a program sees it (specification §2.4, §70).

Everything a caller can do starts here. A Nexus is one Space of an open memory seen by one Principal; `space`,
`as_principal` and `readonly` give the same memory seen otherwise.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self

from kipql.errors import KipError
from kipql.govern.principals import Principal, principal_of
from kipql.limits import DEFAULT_LIMITS, Cancel, Limits
from kipql.model import KINDS
from kipql.runtime import installing
from kipql.runtime.folder import path_of
from kipql.runtime.guard import reraise
from kipql.runtime.loading import BATCH, Loaded, load
from kipql.runtime.memory import DEFAULT_SPACE, Memory
from kipql.runtime.parsed import Parsed
from kipql.runtime.prepared import Statement
from kipql.runtime.reading import answer
from kipql.runtime.receipt import Receipt
from kipql.runtime.result import Result
from kipql.runtime.session import Session
from kipql.runtime.transaction import Transaction
from kipql.runtime.writing import write_alone
from kipql.times import Clock
from kipql.values import Json

if TYPE_CHECKING:
    import networkx

    from kipql.runtime.governing import Govern
    from kipql.runtime.repair import Repair
    from kipql.runtime.watches import Watches
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
            parsed = session.statements.parse(text, session.limits.narrowed(limits))
            return answer(session, parsed, parameters, limits, cancel)
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
            parsed = session.statements.parse(text, session.limits.narrowed(limits))
            if not parsed.mutation:
                return answer(session, parsed, parameters, limits, cancel)
            return write_alone(session, parsed, parameters, limits, cancel)
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
        from kipql.runtime.request import answer

        def enter(space_id: str | None) -> Session:
            seen = self if principal is None else self.as_principal(principal)
            return seen._session if space_id is None else seen._on(space_id, create=False)

        return answer(envelope, enter)

    def prepare(self, text: str, *, as_of: int | None = None, for_time: str | None = None) -> Statement:
        """Parse and plan a statement once, to run it often with `query` or `execute`.

        as_of     the sequence of a statement that takes AS OF SEQ and says none
        for_time  the time of a FIND that says none, as FOR TIME writes it

        Raises KipError: InvalidSyntax, or for a query whatever its symbols and scopes are wrong about.

        >>> import kipql
        >>> named = kipql.open().prepare('FIND(?p.id) WHERE { ?p {type: "Person", name: :name} }')
        >>> named.query({"name": "Ada"}).rows
        []
        """
        try:
            parsed = self._memory.statements.parse(text)
            if as_of is not None or for_time is not None:
                from kipql.runtime.standing import completed

                parsed = Parsed(parsed.text, completed(parsed.node, as_of, for_time))
            return self._statement(parsed)
        except Exception as error:
            reraise(error, text)

    def transaction(self, *, limits: Limits | None = None, cancel: threading.Event | None = None) -> Transaction:
        """Several statements in one commit, reading their own writes; see `Transaction`.

        limits, cancel  as in `query`, for the whole transaction

        >>> import kipql
        >>> nexus = kipql.open()
        >>> with nexus.transaction() as tx:
        ...     for name in ("Ada", "Bo"):
        ...         _ = tx.execute('CREATE CONCEPT ?p { TYPE "Person" NAME :name }', {"name": name})
        >>> nexus.space_seq
        1
        """
        return Transaction(self._session, limits, cancel)

    def load(
        self,
        records: Iterable[Mapping[str, Json]],
        *,
        batch: int = BATCH,
        limits: Limits | None = None,
        cancel: threading.Event | None = None,
    ) -> Loaded:
        """Write many records, every check on, one commit per `batch` records.

        records  mappings with `kind` and the members of that kind, as CREATE, ENSURE and ASSERT know them; what
                 one names with `as`, a later one refers to with `{"ref": name}` (`kipql.mutate.load`)
        limits   narrows this Nexus's limits, for each batch anew
        cancel   set from another thread, it ends the load; the batches before stay

        Raises KipError with `details.record`, the number of the record from 0; batches before it stay.

        >>> import kipql
        >>> kipql.open().load([{"kind": "concept", "type": "Person", "name": "Ada", "as": "ada"}]).ids
        {'ada': 'C-1'}
        """
        try:
            return load(self._session, records, batch, limits, cancel)
        except Exception as error:
            reraise(error)

    # the same memory seen otherwise

    def readonly(self) -> "Nexus":
        """This memory without any way to write: the parse tree decides, never a label (§76).

        >>> import kipql
        >>> try:
        ...     kipql.open().readonly().execute('CREATE CONCEPT ?a { TYPE "Person" }')
        ... except kipql.KipError as error:
        ...     print(error.code)
        ReadonlyViolation
        """
        return self._derive(self._with(readonly=True))

    def as_principal(self, principal: Principal | str) -> "Nexus":
        """This memory as another Principal: it may do what `govern` allows it, and is recorded in the origin of
        what it writes (§28.1). Only a host does this: whoever holds a Nexus can act as anybody.

        Raises Unauthenticated for what names no Principal.

        >>> import kipql
        >>> kipql.open().as_principal("planner").principal.id
        'planner'
        """
        return self._derive(replace(self._session, principal=principal_of(principal)))

    def space(self, space_id: str) -> "Nexus":
        """Another Space of this memory, made if it does not exist yet.

        Raises NotFoundOrNotVisible for a new id when only reading, NotAuthorized for one in a governed memory, but to
        the owner, TypeMismatch for what is no id.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> nexus.space("kip:space:work").space_id, nexus.spaces()
        ('kip:space:work', ['kip:space:default', 'kip:space:work'])
        """
        if not isinstance(space_id, str) or not 0 < len(space_id) <= 512:
            raise KipError("TypeMismatch", "a Space id is a non-empty string of at most 512 characters")
        try:
            return self._derive(self._on(space_id, create=not self._memory.readonly))
        except Exception as error:
            reraise(error)

    def spaces(self) -> list[str]:
        """The ids of the Spaces of this memory that the Principal holds anything in, ordered.

        >>> import kipql
        >>> kipql.open().spaces()
        ['kip:space:default']
        """
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
            installing.install(self._session, packages)
        except Exception as error:
            reraise(error)

    def install_package(self, package: "Package | Mapping[str, Json] | str") -> None:
        """Activate one Schema Package; see `install_packages`.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> nexus.install_package("kip://domains/general@1.0.0")
        >>> nexus.query('DESCRIBE PREDICATE "lives_in"').one()["ref"]
        'kip://domains/general@1.0.0/lives_in'
        """
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
            return installing.promote(self._session, symbol, into, kind)
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
            installing.install_policy(self._session, policy)
        except Exception as error:
            reraise(error)

    def capture(self, text: str, parameters: Parameters = None, *, expectation: str = "snapshot") -> dict[str, Json]:
        """Make a selection that a derivation will rely on, and keep its selector (§57.7).

        text         a FIND without AS OF SEQ, LIMIT and CURSOR; of beliefs their status counts, and what a slot accepts
        expectation  `snapshot` or `complete` (the same selection), `accepted` (so is every belief), `empty`

        The answer is a QueryDependency for `DependencyBasis.queries`: what carries it is `needs_review` as soon as the
        same query selects otherwise. One commit keeps the selector, as Evidence of the class `kipql:selector`.

        Raises PreconditionFailed when the expectation does not hold now, and what a query and a write raise.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> blockers = nexus.capture('FIND(?c) WHERE { ?c {type: "Commitment"} }', expectation="empty")
        >>> blockers["kind"], blockers["selector"]["artifact_ref"]
        ('query', 'E-1')
        """
        from kipql.runtime.selecting import capture

        try:
            return capture(self._session, text, parameters, expectation)
        except Exception as error:
            reraise(error, text)

    # capsules

    def export_capsule(
        self,
        roots: Sequence[str] | None = None,
        *,
        as_of: int | None = None,
        limits: Limits | None = None,
        cancel: threading.Event | None = None,
        **options: Json,
    ) -> dict[str, Json]:
        """A Capsule: a portable, sealed artifact of what this Principal may export, at one snapshot (§63.4).

        roots    ids of the elements it is about; None is everything there is to export
        as_of    an earlier sequence
        options  those of EXPORT CAPSULE's WITH: `closure` ("closed", "referential", "selective"), `provenance_depth`,
                 `include_schema`, `payloads` ("inline", "omitted")

        The statement EXPORT CAPSULE does the same for what a WHERE selects. Raises NotAuthorized without `export`,
        NotFoundOrNotVisible for a root that is not there, ConstraintViolation for an option, ResourceExhausted.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> _ = nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
        >>> capsule = nexus.export_capsule()
        >>> capsule["format"], capsule["payload"]["manifest"]["roots"]
        ('KIP-Cognitive-Capsule', ['C-1'])
        """
        from kipql.runtime import capsules

        try:
            session = self._session
            return capsules.export(session, roots, options, as_of, session.budget(limits, cancel))
        except Exception as error:
            reraise(error)

    def preview_import(
        self,
        capsule: "Mapping[str, Json] | str | bytes",
        plan: Mapping[str, Json] | None = None,
        *,
        limits: Limits | None = None,
        cancel: threading.Event | None = None,
    ) -> dict[str, Json]:
        """What importing a Capsule would do now: `{plan, counts, conflicts, errors, effect, changes}` (§69.3).

        `plan["records"]` has a row for every record: `{id, kind, action, target, reason, left_out}`. Change the rows
        and give the plan to `import_capsule`. A row whose action is "conflict" waits for a decision: "create", "match"
        with a `target`, or "skip". Nothing is written and no id is reserved. Arguments and errors are those of
        `import_capsule`.

        >>> import kipql
        >>> source, target = kipql.open(), kipql.open()
        >>> _ = source.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
        >>> found = target.preview_import(source.export_capsule())
        >>> found["effect"], found["plan"]["records"][0]["action"], target.space_seq
        ('changes', 'create', 0)
        """
        from kipql.runtime import capsules

        try:
            session = self._session
            return capsules.preview(session, capsule, plan, session.budget(limits, cancel))
        except Exception as error:
            reraise(error)

    def import_capsule(
        self,
        capsule: "Mapping[str, Json] | str | bytes",
        plan: Mapping[str, Json] | None = None,
        *,
        idempotency_key: str | None = None,
        limits: Limits | None = None,
        cancel: threading.Event | None = None,
    ) -> Receipt:
        """Import a Capsule in one commit (§41.2). A host decision: no statement does it.

        capsule  the JSON object, or its text
        plan     an Import Plan, such as `preview_import` answers; None resolves conservatively. Its `mode` is "merge",
                 or "isolate" to put what comes in into quarantine; `same_owner` says that the Capsule is this memory's
                 own cognition: local keys come along, and an agent's pins, turns and articles are not quarantined

        Content and attribution come along, standing does not: claims become `imported`, Skills `proposed`, and no
        authority, hold, grant or trust is taken over. The Receipt's `result` is `{import_id, mode, counts, mapping}`;
        the same Capsule again is `no_effect`.

        Raises ArtifactParseError, ArtifactTooLarge, DigestMismatch, CapsuleValidationFailed (`details.path`),
        SchemaPackageUnavailable (`details.symbols`), ImportPreviewConflict (`details.conflicts`) while something is
        undecided, NotAuthorized without `import` and what each element needs, ReadonlyViolation.

        >>> import kipql
        >>> source, target = kipql.open(), kipql.open()
        >>> _ = source.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
        >>> target.import_capsule(source.export_capsule()).result["mapping"]
        {'C-1': 'C-1'}
        """
        from kipql.runtime import capsules

        try:
            session = self._session
            return capsules.bring(session, capsule, plan, idempotency_key, session.budget(limits, cancel))
        except Exception as error:
            reraise(error)

    @property
    def watches(self) -> "Watches":
        """The armed Watches of this Space, to evaluate against what was committed (capability `watch_evaluation`);
        see `kipql.runtime.watches.Watches`.

        >>> import kipql
        >>> kipql.open().watches.evaluate()
        []
        """
        from kipql.runtime.watches import Watches

        return Watches(self._session)

    @property
    def repair(self) -> "Repair":
        """Corrections of the record: a merge withdrawn (§11.5), a recording invalidated (§57.8); see
        `kipql.runtime.repair.Repair`.

        >>> import kipql
        >>> kipql.open().repair.decisions()
        []
        """
        from kipql.runtime.repair import Repair

        return Repair(self._session)

    @property
    def govern(self) -> "Govern":
        """The host's side of Governance: who may do what, and how elements are protected (§28); see
        `kipql.runtime.governing.Govern`.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> _ = nexus.govern.grant("reader", "discover", "read")
        >>> nexus.govern.describe("reader")["permissions"]
        ['discover', 'read']
        """
        from kipql.runtime.governing import Govern

        return Govern(self._memory, self._session)

    # looking at the memory

    @property
    def space_id(self) -> str:
        """The id of this Space.

        >>> import kipql
        >>> kipql.open().space_id
        'kip:space:default'
        """
        return self._session.space.id

    @property
    def space_seq(self) -> int:
        """The head: the sequence of the last commit, 0 before the first (§33.1).

        >>> import kipql
        >>> kipql.open().space_seq
        0
        """
        return self._session.space.store.head

    @property
    def principal(self) -> Principal:
        """Who this Nexus acts as.

        >>> import kipql
        >>> kipql.open(principal="planner").principal.id
        'planner'
        """
        return self._session.principal

    @property
    def limits(self) -> Limits:
        """The limits that calls start from (docs/limits.md).

        >>> import kipql
        >>> kipql.open(limits=kipql.Limits(rows=1_000)).limits.rows
        1000
        """
        return self._session.limits

    def digest(self) -> str:
        """`sha256:` over every visible element in id order, canonical JSON, `_system` included.

        Two memories with one digest hold the same elements with the same history counters.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> before = nexus.digest()
        >>> _ = nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
        >>> before[:7], nexus.digest() == before
        ('sha256:', False)
        """
        session = self._session
        try:
            return session.space.store.digest(session.view())
        except Exception as error:
            reraise(error)

    def subscribe(self, callback: Callable[[dict[str, Json]], Any]) -> Callable[[], None]:
        """Call `callback` with the change envelope of every commit from now on, in order (§36); of a Principal
        from whom something is hidden, with what it may see of those that show it anything.

        It runs in a committing thread after the commit is durable, one envelope at a time; what it raises is logged,
        not passed on.
        Returns a function that ends the subscription. Raises TypeMismatch for what can not be called.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> told = []
        >>> end = nexus.subscribe(lambda envelope: told.append(envelope["space_seq"]))
        >>> _ = nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
        >>> end()
        >>> told
        [1]
        """
        from kipql.runtime.subscribing import subscribe

        return subscribe(self._session, callback)

    def stats(self) -> dict[str, Json]:
        """Counts of this Space as this Principal sees it: `{space_id, space_seq, schema_environment_version,
        identity_version, elements}`, `elements` being a count for each kind.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> _ = nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
        >>> nexus.stats()["elements"]
        {'concept': 1, 'proposition': 0, 'assertion': 0, 'evidence': 0, 'activity': 0}
        """
        view = self._session.view()
        try:
            return {
                "space_id": view.space_id,
                "space_seq": view.seq,
                "schema_environment_version": view.environment.version,
                "identity_version": view.identity_version,
                "elements": {kind: len(view.rows(number)) for number, kind in enumerate(KINDS)},
            }
        except Exception as error:
            reraise(error)

    def explain(self, text: str, parameters: Parameters = None) -> str:
        """The plan of a FIND as text; it is run only where parameters are given (`{}` for none), and the counters of
        that run follow (§45).

        Raises UnsupportedCapability for what is no FIND, and what `query` raises.

        >>> import kipql
        >>> print(kipql.open().explain('FIND(?c.name) WHERE { ?c {type: "Person"} }'))
        concept ?c [type Person]
        solutions are distinct
        """
        from kipql.runtime.explaining import explain

        try:
            session = self._session
            return explain(session, session.statements.parse(text), parameters)
        except Exception as error:
            reraise(error, text)

    def backup(self, path: str | Path, *, cancel: threading.Event | None = None) -> None:
        """Copy the memory to a new folder, each Space at a commit boundary, while reads go on. The owner's alone.

        cancel  set from another thread, it ends the work, and the folder does not appear

        Raises NotAuthorized, and MemoryUnavailable when the folder exists, is inside the memory or can not be written.

        >>> import kipql, tempfile
        >>> with tempfile.TemporaryDirectory() as folder, kipql.open(f"{folder}/brain.kip") as nexus:
        ...     nexus.backup(f"{folder}/copy.kip")
        ...     with kipql.open(f"{folder}/copy.kip", readonly=True) as copy:
        ...         copy.digest() == nexus.digest()
        True
        """
        from kipql.runtime.copying import backup

        try:
            self._session.authority.require_full("a backup")
            backup(self._memory, path_of(path), Cancel(cancel))
        except Exception as error:
            reraise(error)

    def dump(self, target: "str | Path | IO[str] | IO[bytes]", *, cancel: threading.Event | None = None) -> None:
        """Write the memory as lines of JSON, every Space with all its history, while reads go on (docs/storage.md).
        The owner's alone. `kipql.load_dump` makes the same memory of it again.

        target  a path, where a file appears whole or not at all, or an open file
        cancel  set from another thread, it ends the work; no other limit does

        What was purged is not in it, nor is the key of cursors. Raises NotAuthorized, TypeMismatch,
        SerializationConflict inside a transaction, MemoryUnavailable when the disk refuses.

        >>> import io, kipql
        >>> file = io.StringIO()
        >>> kipql.open().dump(file)
        >>> file.getvalue().splitlines()[0]
        '{"governed":false,"kipql_dump":1,"spaces":["kip:space:default"]}'
        """
        from kipql.runtime.dump import dump

        try:
            self._session.authority.require_full("a dump")
            dump(self._memory, target, Cancel(cancel))
        except Exception as error:
            reraise(error)

    def snapshot(self) -> int:
        """Write what this Space holds to a snapshot, from which the memory opens at once, and drop the journal before
        it; its size in bytes. No history is lost, and neither readers nor writers wait for it. The owner's alone.

        It also happens by itself (`snapshot_after` of `open`). Raises NotAuthorized, ReadonlyViolation,
        UnsupportedCapability in memory, SerializationConflict inside a transaction, MemoryUnavailable.

        >>> import kipql, tempfile
        >>> with tempfile.TemporaryDirectory() as folder, kipql.open(f"{folder}/brain.kip") as nexus:
        ...     _ = nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
        ...     nexus.snapshot() > 0
        True
        """
        try:
            self._session.refuse_writing()
            self._session.authority.require_full("a snapshot")
            return self._session.space.snapshot()
        except Exception as error:
            reraise(error)

    def refresh(self) -> int:
        """Opened read-only: see what another process committed since; the head. A Nexus that follows does so by itself
        at the start of every operation, and one that was opened with `follow=False` only here. A writer and a memory
        without a folder have nothing to look for.

        Raises MemoryDamaged, MemoryUnavailable.

        >>> import kipql, tempfile
        >>> with tempfile.TemporaryDirectory() as folder, kipql.open(f"{folder}/brain.kip") as nexus:
        ...     reader = kipql.open(f"{folder}/brain.kip", readonly=True, follow=False)
        ...     _ = nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
        ...     reader.space_seq, reader.refresh()
        (0, 1)
        """
        try:
            space = self._memory.space(self._session.space.id, create=False)
            if self._memory.readonly and self._memory.path is not None:
                space.look()
            return space.store.head
        except Exception as error:
            reraise(error)

    def to_networkx(self) -> "networkx.MultiDiGraph[str]":
        """The head of this Space as a networkx graph: Concepts, and Propositions as edges.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> _ = nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
        >>> list(nexus.to_networkx())
        ['C-1']
        """
        from kipql.runtime.picture import to_networkx

        try:
            return to_networkx(self._session.view())
        except Exception as error:
            reraise(error)

    # life

    def close(self) -> None:
        """Close the memory. A Nexus derived from another one leaves it open; closing twice is allowed.

        >>> import kipql
        >>> kipql.open().close()
        """
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

    def _derive(self, session: Session) -> "Nexus":
        return type(self)(self._memory, session, derived=True)

    def _statement(self, parsed: Parsed) -> Statement:
        return Statement(self._session, parsed)

    def _with(self, *, readonly: bool) -> Session:
        session = self._session
        return self._memory.session(session.space.id, session.principal, readonly=readonly or session.readonly)

    def _on(self, space_id: str, *, create: bool) -> Session:
        session = self._session
        return self._memory.session(space_id, session.principal, readonly=session.readonly, create=create)


class _Following(Nexus):
    """A Nexus that looks for what another process committed whenever an operation takes its session."""

    __slots__ = ("_held",)

    @property
    def _session(self) -> Session:
        self._held.space.look()
        return self._held

    @_session.setter
    def _session(self, session: Session) -> None:
        self._held = session

    def _statement(self, parsed: Parsed) -> Statement:
        from kipql.runtime.following import FollowingStatement

        return FollowingStatement(self._session, parsed)


def open(
    path: str | Path | None = None,
    *,
    readonly: bool = False,
    follow: bool = True,
    packages: Sequence["Package | Mapping[str, Json] | str"] = (),
    limits: Limits | None = None,
    clock: Clock | None = None,
    principal: Principal | str | None = None,
    durability: str = "fsync",
    snapshot_after: int | None = 8 << 20,
    embedder: Callable[[Sequence[str]], Sequence[Sequence[float]]] | None = None,
) -> Nexus:
    """Open a memory and return its default Space (§5).

    path        a folder, made if it is missing; None keeps everything in memory
    readonly    refuse every mutation by its parse tree; the folder must exist
    follow      read-only: see at the start of every operation what another process has committed; False sees the memory
                as it was when it was opened, or last asked to `refresh`
    packages    Schema Packages to activate beside Core and the cognitive-memory Profile: Packages, artifacts,
                or refs of shipped ones ("kip://domains/general@1.0.0", "kip://kipql/agent@1.0.0")
    limits      bounds of every call; a call may narrow them
    clock       returns an aware datetime; default: the system's UTC
    principal   who this Nexus acts as; default: the owner
    durability  "fsync": a commit is on the disk before it returns; "os": it is with the operating system, and survives
                the process but not the machine; "none": it is written some time later, at the latest at close
    snapshot_after  bytes of journal after which a commit writes a snapshot, and at close a fraction of them does
                (docs/storage.md); None: only `snapshot` does
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
        for name, given in (("clock", clock), ("embedder", embedder)):
            if given is not None and not callable(given):
                raise KipError("TypeMismatch", f"a {name} is called; {type(given).__name__} can not be")
        memory = Memory(
            path_of(path) if path is not None else None,
            readonly=readonly,
            limits=limits if limits is not None else DEFAULT_LIMITS,
            clock=clock,
            durability=durability,
            snapshot_after=_bytes(snapshot_after),
            embedder=embedder,
            follow=_flag(follow),
        )
        try:
            session = memory.session(DEFAULT_SPACE, principal_of(principal), readonly=readonly, create=not readonly)
            installing.install(session, packages)
        except BaseException:
            memory.close()
            raise
    except Exception as error:
        reraise(error)
    return (_Following if memory.follows else Nexus)(memory, session)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise KipError("TypeMismatch", f"follow is true or false, not {value!r}")
    return value


def _bytes(value: int | None) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise KipError("TypeMismatch", f"snapshot_after is a number of bytes, not {value!r}", hint="or None")
    return value


def session_of(nexus: Nexus) -> Session:
    """The Session behind a Nexus, for what the package builds on top of it (`kipql.lake`)."""
    return nexus._session
