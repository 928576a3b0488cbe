"""MemoryInterface: the binding itself, from a request to a response (KIP 2.0 Memory Interface).

It serves `memory_basic` and nothing above. The Brain it stands for is a Formation of the host's and policy of memory;
the state is a Nexus, which a host may use beside it in every other way.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.interface import attention, forgetting, repairing
from kipql.memory.interface.fitting import MINIMUM, fit
from kipql.memory.interface.forgetting import Surface
from kipql.memory.interface.forming import Formation
from kipql.memory.interface.intake import (
    INTENT,
    OUTCOME,
    Intake,
    acknowledged,
    acknowledgement,
    close_intake,
    formed_refs,
    key_of,
    noted,
    open_intake,
    progress,
    receipt,
)
from kipql.memory.interface.pieces import NAME, Tokenizer, pieces
from kipql.memory.interface.processing import UNSPECIFIED, Processor
from kipql.memory.interface.reading import reading
from kipql.memory.interface.recalling import Recaller
from kipql.memory.interface.rules import HEED, RuleFormation
from kipql.memory.interface.scopes import FACET, Scope, resolve
from kipql.memory.interface.sources import (
    CLASSES,
    Admission,
    Captured,
    Source,
    Sources,
    captured,
    check,
    digest,
    speaker_id,
)
from kipql.memory.interface.wire import LEVELS, MOST, VERSION, Request, echo, read

if TYPE_CHECKING:
    from kipql import Nexus, Transaction

_DEPENDS = {"memory_basic": (), "memory_experience": ("memory_basic",), "memory_learning": ("memory_experience",)}


class MemoryInterface:
    """The five intents over a Nexus.

    nexus       the memory, as the Principal that the transport authenticated
    formation   what is read out of a source; None keeps sources only
    sources     the host's resolver of source refs that were not staged
    admit       why a source may not be kept, asked before anything of it is written
    surfaces    copies outside the memory that forgetting has to reach
    defer       leave formation to `process()`; recall then says what is pending
    wait        let recall wait for its barriers up to the deadline, where another thread processes
    constraints predicates whose claims are rules that every recall carries
    tokenizers  name -> a function from text to its number of tokens; the first is the default

    >>> import kipql
    >>> memory = MemoryInterface(kipql.open())
    >>> ref = memory.stage("m-1", "I live in Rome.", speaker="ada", observed_at="2026-01-10T00:00:00.000Z")
    >>> memory.observe(ref)["result"]["summary"]
    'formed 1 claim'
    >>> memory.recall("Where does Ada live?")["result"]["items"][0]["text"]
    'ada lives in Rome'
    """

    def __init__(
        self,
        nexus: "Nexus",
        formation: Formation | None = RuleFormation(),  # noqa: B008 - frozen
        *,
        sources: Sources | None = None,
        admit: Admission | None = None,
        surfaces: Sequence[Surface] = (),
        defer: bool = False,
        wait: bool = False,
        constraints: Sequence[str] = (HEED,),
        channel_limit: int = 48,
        levels: Sequence[str] = LEVELS,
        tokenizers: Mapping[str, Tokenizer] | None = None,
        max_output_tokens: int = 4000,
        deadline_ms: int = 3000,
    ) -> None:
        check_levels(levels)
        self.nexus = nexus
        self._processor = Processor(nexus, formation, tuple(surfaces))
        self._recaller = Recaller(nexus, tuple(constraints), channel_limit, wait)
        self._resolver = sources
        self._admit = admit
        self._defer = defer
        self._tokenizers = dict(tokenizers or {NAME: pieces})
        self._budget = {"max_output_tokens": max_output_tokens, "deadline_ms": deadline_ms}
        self._staged: dict[str, Source] = {}

    # --- the host's side --------------------------------------------------------------------------------

    def stage(self, ref: str, content: Any, **attested: Any) -> str:
        """Hold a source ready under a ref; the members are those of `Source`. Answers the ref.

        Raises TypeMismatch or ConstraintViolation for what is no source, DigestMismatch for a ref that is taken.
        """
        try:
            source = check(Source(ref=ref, content=content, **attested))
        except TypeError as error:
            raise kipql.KipError("TypeMismatch", f"a source has no such member: {error}") from None
        if self._staged.setdefault(ref, source) != source:
            raise kipql.KipError("DigestMismatch", "another source is staged under this ref")
        return ref

    def process(self) -> list[str]:
        """Settle what is recorded, as far as it can be; the receipts that were settled."""
        return self._processor.process()

    def review(self) -> list[str]:
        """Raise attention for Watches that fire and Commitments that are due, each as a commit; their Activities."""
        return attention.review(self.nexus, reading(self.nexus, Scope(), None, None).valid_at)

    def progress(self, receipt_ref: str) -> dict[str, Any]:
        """How far a receipt has come. Raises NotFoundOrNotVisible."""
        return progress(self.nexus, receipt(self.nexus, receipt_ref))

    def descriptor(self) -> dict[str, Any]:
        """What a deployment publishes about this binding (§2)."""
        tokenizer = next(iter(self._tokenizers))
        return {
            "kip_memory": VERSION,
            "bundles": list(LEVELS),
            "default_scope": {},
            "default_budget": {**self._budget, "tokenizer": tokenizer},
            "tokenizer": tokenizer,
            "minimum_response_tokens": MINIMUM,
            "default_space": {"id": self.nexus.space_id},
        }

    # --- the agent's side -------------------------------------------------------------------------------

    def request(self, envelope: Any) -> dict[str, Any]:
        """Answer a request (kip-memory Request) with a response. Never raises: an error is in the response."""
        head = echo(envelope)
        try:
            request = read(envelope)
            self._check_space(request)
            if request.operation == "recall":
                return self._recall(head, request)
            return {**head, **self._mutate(request)}
        except kipql.KipError as error:
            return {**head, "status": "failed", "error": wire_error(error)}
        except Exception as error:  # a callable of the host's may raise anything
            failure = kipql.KipError("InternalError", f"the request could not be served: {type(error).__name__}")
            return {**head, "status": "failed", "error": wire_error(failure)}

    def observe(self, source_ref: str, **members: Any) -> dict[str, Any]:
        """observe; `members` are those of the request, such as `scope` and `idempotency_key`."""
        return self._ask("observe", {"source_ref": source_ref}, members)

    def revise(
        self, source_ref: str, change_kind: str, target_ref: str | None = None, **members: Any
    ) -> dict[str, Any]:
        """revise."""
        named = {} if target_ref is None else {"target_ref": target_ref}
        return self._ask("revise", {"source_ref": source_ref, "change_kind": change_kind, **named}, members)

    def feedback(self, source_ref: str, **members: Any) -> dict[str, Any]:
        """feedback."""
        return self._ask("feedback", {"source_ref": source_ref}, members)

    def forget(self, target_ref: str, mode: str, **members: Any) -> dict[str, Any]:
        """forget."""
        return self._ask("forget", {"target_ref": target_ref, "mode": mode}, members)

    def recall(self, query: str | None = None, **members: Any) -> dict[str, Any]:
        """recall; `scope` and `budget` are members of the request, the rest of its input."""
        outer = {name: members.pop(name) for name in ("scope", "budget", "requires") if name in members}
        given = {**({} if query is None else {"query": query}), **members}
        return self.request({"kip_memory": VERSION, "operation": "recall", "input": given, **outer})

    def _ask(self, operation: str, given: Mapping[str, Any], members: Mapping[str, Any]) -> dict[str, Any]:
        key = f"{operation}:{digest(given, members.get('scope'))}"
        envelope = {"kip_memory": VERSION, "operation": operation, "idempotency_key": key, **members}
        extra = {name: envelope.pop(name) for name in ("decision_ref", "attempt_ref") if name in envelope}
        return self.request({**envelope, "input": {**given, **extra}})

    # --- mutations --------------------------------------------------------------------------------------

    def _mutate(self, request: Request) -> dict[str, Any]:
        scope = resolve(self.nexus, request.task_ref, request.context_refs)
        key = key_of(self.nexus.principal.id, request.operation, request.key)
        meaning = digest(request.operation, scope.facet, dict(request.input))
        found = acknowledged(self.nexus, self.nexus, key)
        if found is None:
            intent = self._intent(request)
            with self.nexus.transaction() as tx:
                if acknowledged(self.nexus, tx, key) is None:
                    self._intake(tx, request, scope, key, meaning, intent)
            self._settle(key)
            found = acknowledged(self.nexus, self.nexus, key)
            assert found is not None
        self._same(request, found, meaning)
        return self._response(request, found)

    def _intent(self, request: Request) -> dict[str, Any]:
        """What the intake is to do, kept with it. Raises what makes it impossible, before anything is written."""
        given = request.input
        if request.operation == "forget":
            return {"mode": given["mode"], **forgetting.choose(self.nexus, given["target_ref"], given["mode"])}
        if given.get("change_kind") == "misrecorded" and not repairing.supported(self.nexus):
            raise kipql.KipError(
                "UnsupportedCapability",
                "recordings can not be repaired here, and a misrecording is no correction by the speaker",
                details={"capability": "recording_repair"},
            )
        for name, activity_class in (("decision_ref", "action_gate"), ("attempt_ref", "action_attempt")):
            if given.get(name) is not None:
                self._check_activity(given[name], activity_class)
        live = self._live(given["source_ref"])
        known = captured(self.nexus, given["source_ref"])
        if live is None and known is None:
            raise kipql.KipError("NotFoundOrNotVisible", "there is no such source here")
        if "outcome" in (CLASSES.get(live.role) if live else None, CLASSES.get(known.role) if known else None):
            raise kipql.KipError(
                "UnsupportedCapability",
                "an outcome that is observed by an instrument needs memory_learning",
                details={"capability": "memory_learning"},
            )
        _check_same(live, known)
        kept = {name: value for name, value in given.items() if value is not None}
        if live is not None:
            order = {"stream": live.stream, "ordinal": live.ordinal, "after": list(live.after)}
            kept |= {name: value for name, value in order.items() if value not in (None, [])}
        return kept

    def _intake(
        self, tx: "Transaction", request: Request, scope: Scope, key: str, meaning: str, intent: dict[str, Any]
    ) -> None:
        inputs = [intent[name] for name in ("decision_ref", "attempt_ref") if name in intent]
        refusal = None
        if request.operation == "forget":
            forgetting.erase(tx, intent["targets"])
        else:
            live = self._live(intent["source_ref"])
            known = captured(tx, intent["source_ref"])
            refusal = self._admit(live) if self._admit is not None and live is not None and known is None else None
            if refusal is None:
                inputs.append(known.id if known is not None else self._capture(tx, live, scope))
        made = open_intake(
            tx,
            operation=request.operation,
            key=key,
            meaning=meaning,
            scope=scope,
            intent={"source_ref": intent["source_ref"]} if refusal is not None else intent,
            inputs=inputs,
        )
        if refusal is not None:
            close_intake(tx, made, {"disposition": "skipped", "summary": "skipped by policy", "reason": str(refusal)})

    def _capture(self, tx: "Transaction", source: Source | None, scope: Scope) -> str:
        assert source is not None
        at = source.observed_at or reading(self.nexus, Scope(), None, None).valid_at
        speaker = speaker_id(tx, tx, source.speaker)
        text = _CAPTURE + ("" if speaker is None else ' SET STRUCTURAL { ("source", :speaker) }') + " }"
        values = {"key": source.client_key, "class": CLASSES[source.role], "at": at, "speaker": speaker}
        payload = {"mode": "inline", "inline": source.content}
        given = {**values, "payload": payload, "task": scope.task_id, "contexts": list(scope.contexts)}
        made = tx.execute(text, given)
        assert isinstance(made, kipql.Receipt)
        return made.handles["e"]

    def _settle(self, key: str) -> None:
        found = acknowledged(self.nexus, self.nexus, key)
        if found is None:
            return
        if found.operation == "forget":
            self._processor.settle(found)
        elif not self._defer:
            self._processor.process()

    def _same(self, request: Request, intake: Intake, meaning: str) -> None:
        """Hold a repeated key against what it stood for. Raises IdempotencyConflict."""
        ref = request.input.get("source_ref")
        try:
            if ref is not None:
                _check_same(self._live(ref), captured(self.nexus, ref))
        except kipql.KipError as error:
            raise kipql.KipError("IdempotencyConflict", error.message) from None
        if intake.meaning != meaning:
            raise kipql.KipError(
                "IdempotencyConflict", "this idempotency key stands for another request", hint="use a new key"
            )

    def _response(self, request: Request, intake: Intake) -> dict[str, Any]:
        state = progress(self.nexus, intake)
        done: dict[str, Any] = {"receipt": acknowledgement(intake), "progress": state}
        if state["phase"] == "failed":
            return {**done, "status": "failed", "error": state["error"]}
        status = "succeeded" if state["phase"] == "available" else "pending"
        if intake.operation == "forget":
            result = forgetting.result(self.nexus, intake)
            return {**done, "status": status if status == "succeeded" else "partial", "result": result}
        outcome = noted(self.nexus, intake, OUTCOME)
        waiting = "recorded; nothing is formed of it yet"
        result = {
            "summary": outcome.get("summary") or ("settled" if state["phase"] == "available" else waiting),
            "memory_refs": formed_refs(intake)[:MOST],
        }
        warnings = [UNSPECIFIED] if noted(self.nexus, intake, INTENT).get("change_kind") == "unspecified" else []
        warnings += [outcome["reason"][:4096]] if outcome.get("reason") else []
        return {**done, "status": status, "result": result, **({"warnings": warnings} if warnings else {})}

    # --- recall -----------------------------------------------------------------------------------------

    def _recall(self, head: Mapping[str, Any], request: Request) -> dict[str, Any]:
        name = request.tokenizer or next(iter(self._tokenizers))
        if name not in self._tokenizers:
            raise kipql.KipError(
                "UnsupportedCapability",
                "the tokenizer of the budget is not supported",
                hint=", ".join(self._tokenizers),
                details={"capability": "tokenizer"},
            )
        made = self._recaller.recall(request, request.deadline_ms or self._budget["deadline_ms"])
        most = request.max_output_tokens or self._budget["max_output_tokens"]
        return fit(self._recaller, head, made, self._tokenizers[name], most)

    # --- checks -----------------------------------------------------------------------------------------

    def _live(self, ref: str) -> Source | None:
        found = self._staged.get(ref)
        if found is None and self._resolver is not None:
            found = self._resolver(ref)
            if found is not None and check(found).ref != ref:
                raise kipql.KipError("DigestMismatch", "the host's resolver answered another source")
        return found

    def _check_space(self, request: Request) -> None:
        if any(each != self.nexus.space_id for each in request.space.values()):
            raise kipql.KipError("NotFoundOrNotVisible", "there is no such Space on this connection")

    def _check_activity(self, ref: str, activity_class: str) -> None:
        text = "FIND(?x.id) WHERE { ?x ACTIVITY {id: :id} FILTER(?x.activity_class == :class) }"
        known = ref[:2] == "X-" and ref[2:].isdecimal()
        if not known or not self.nexus.query(text, {"id": ref, "class": activity_class}).rows:
            raise kipql.KipError("NotFoundOrNotVisible", "there is no such decision or attempt here")


_CAPTURE = f"""CREATE EVIDENCE ?e {{
  CLIENT KEY :key
  SET FIELDS {{evidence_class: :class, payload: :payload, observed_at: :at}}
  SET FACET "{FACET}" {{task_ref: :task, context_refs: :contexts}}
 """


def check_levels(levels: Sequence[str]) -> None:
    """Raise for levels that can not be served: ConstraintViolation for a set that is none, UnsupportedCapability."""
    for level in levels:
        if level not in _DEPENDS:
            raise kipql.KipError("ConstraintViolation", f"{level!r} is no level", hint=", ".join(_DEPENDS))
        missing = [each for each in _DEPENDS[level] if each not in levels]
        if missing:
            raise kipql.KipError("ConstraintViolation", f"{level} needs {missing[0]}", hint="name it too")
    above = [each for each in levels if each not in LEVELS]
    if above or "memory_basic" not in levels:
        raise kipql.KipError("UnsupportedCapability", f"this binding serves {', '.join(LEVELS)} and nothing else")


def _check_same(live: Source | None, known: Captured | None) -> None:
    """Raise DigestMismatch where a source that is offered is not the one that was captured under its ref."""
    if live is None or known is None or not known.held or known.ref != live.ref:
        return
    if digest(live.content) != digest(known.content) or live.role != known.role:
        raise kipql.KipError(
            "DigestMismatch", "another source was captured under this ref", hint="sources never change"
        )


def wire_error(error: kipql.KipError) -> dict[str, Any]:
    """An error as kip-response has it: what is not there is left out."""
    return {name: value for name, value in error.to_dict().items() if value is not None}
