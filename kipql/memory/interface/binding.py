"""MemoryInterface: the binding itself, from a request to a response (KIP 2.0 Memory Interface).

It serves `memory_basic` and nothing above. The Brain it stands for is a Formation of the host's and policy of memory;
the state is a Nexus, which a host may use beside it in every other way.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.brief.question import HEED
from kipql.memory.graph import timestamp
from kipql.memory.interface import attention
from kipql.memory.interface.fitting import MINIMUM, fit
from kipql.memory.interface.forgetting import Surface
from kipql.memory.interface.forming import Formation
from kipql.memory.interface.intake import progress, receipt
from kipql.memory.interface.levels import check_levels
from kipql.memory.interface.mutating import Mutations
from kipql.memory.interface.pieces import NAME, Tokenizer, pieces
from kipql.memory.interface.processing import Processor
from kipql.memory.interface.reading import reading
from kipql.memory.interface.recalling import Recaller
from kipql.memory.interface.rules import RuleFormation
from kipql.memory.interface.scopes import Scope
from kipql.memory.interface.sources import Admission, Source, Sources, check, digest
from kipql.memory.interface.wire import LEVELS, VERSION, Request, echo, read, wire_error

if TYPE_CHECKING:
    from kipql import Nexus


class MemoryInterface(Mutations):
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

        `observed_at` may be a datetime with a zone. Raises TypeMismatch or ConstraintViolation for what is no source,
        DigestMismatch for a ref that is taken.
        """
        if isinstance(moment := attested.get("observed_at"), datetime):
            attested["observed_at"] = timestamp(moment)
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

    def _check_space(self, request: Request) -> None:
        if any(each != self.nexus.space_id for each in request.space.values()):
            raise kipql.KipError("NotFoundOrNotVisible", "there is no such Space on this connection")
