"""The operations of a request on their way: parsed, classified by their tree, bound to an idempotency key."""

import json
from dataclasses import dataclass
from hashlib import sha256

from kipql.errors import KipError
from kipql.lang import ast
from kipql.limits import exhausted
from kipql.runtime.envelope import Operation, Request
from kipql.runtime.outcomes import Binding
from kipql.runtime.parsed import Parsed
from kipql.runtime.response import Wire, failure
from kipql.runtime.session import Session
from kipql.values import check_json


@dataclass(frozen=True, slots=True)
class Step:
    """One operation on its way: parsed, or already failed; `binding` retains the outcome of a write."""

    operation: Operation
    parsed: Parsed | None = None
    failure: KipError | None = None
    binding: Binding | None = None

    @property
    def writes(self) -> bool:
        """Whether it is known to be a mutation."""
        return self.parsed is not None and self.parsed.mutation

    @property
    def defines(self) -> bool:
        """Whether it is a DEFINE, which opens no cognitive transaction (§20.16)."""
        return self.parsed is not None and isinstance(self.parsed.node, ast.Define)

    def done(self, result: Wire) -> Wire:
        """The result of an operation that ran, with what is hardly meant in it (§81)."""
        if self.parsed is not None and (caveats := self.parsed.caveats):
            text = self.parsed.text
            result = {**result, "warnings": [caveat.to_dict(text) for caveat in caveats]}
        return self.labelled(result)

    def labelled(self, result: Wire) -> Wire:
        """The result with the operation's id (§81.1)."""
        return result if self.operation.op_id is None else {"op_id": self.operation.op_id, **result}

    def failed(self, error: Exception) -> Wire:
        """The result of an error in this operation."""
        return self.labelled(failure(error, self.operation.command))


def steps_of(request: Request, session: Session) -> list[Step]:
    """Parse and classify every operation; a text that does not parse fails its own operation only."""
    if len(request.operations) > (most := session.limits.statements):
        exhausted("statements", most, f"the request has {len(request.operations)} operations")
    keyed = request.idempotency_key or any(operation.idempotency_key for operation in request.operations)
    digest = _digest(request, session) if keyed else ""
    steps = []
    for index, operation in enumerate(request.operations):
        try:
            parsed = session.statements.parse(operation.command)
            _check_label(operation, parsed)
        except KipError as error:
            steps.append(Step(operation, failure=error.in_text(operation.command)))
            continue
        key = operation.idempotency_key or request.idempotency_key
        own = operation.idempotency_key is not None
        binding = None
        if key is not None and parsed.mutation and not request.dry_run:
            at = 0 if own or request.mode == "atomic" else index
            binding = Binding(session.authority.principal.id, key, digest, at)
        steps.append(Step(operation, parsed, binding=binding))
    return steps


def _check_label(operation: Operation, parsed: Parsed) -> None:
    if operation.language is not None and operation.language != parsed.language:
        raise KipError(
            "LanguageMismatch",
            f"the operation is labelled {operation.language}, its command is {parsed.language}",
            hint="leave the label out, or correct it",
            details={"declared": operation.language, "found": parsed.language},
        )


def _digest(request: Request, session: Session) -> str:
    """What makes a resend the same request (§34.3): everything but its attempt id and its deadline."""
    plain = {
        "space": session.space.id,
        "mode": request.mode if len(request.operations) > 1 else None,
        "operations": [[each.command, dict(each.parameters)] for each in request.operations],
        "ingest": [dict(entry) for entry in request.ingest],
        "preconditions": [request.space_seq, request.schema_environment_version],
    }
    if request.snapshot_token is not None:
        plain["snapshot_token"] = request.snapshot_token
    text = json.dumps(check_json(plain), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode()).hexdigest()}"
