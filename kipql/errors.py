"""One error class and one table of codes (specification §86, §87).

A KipError is data: the same value is the wire error, the caret text for people, a SARIF result and an
editor squiggle. It is made where the rule that was broken lives; nothing else in the package raises to a
caller.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kipql.spans import Span, caret, position


class Code(NamedTuple):
    """What is always true of an error code: its category (§86.2) and what a retry needs (§86.3)."""

    category: str
    retry: str


def _codes(category: str, retry: str, *names: str) -> dict[str, Code]:
    return {name: Code(category, retry) for name in names}


CODES: Mapping[str, Code] = {
    # §87.1 protocol and syntax
    **_codes("syntax", "requires_different_input", "InvalidSyntax", "InvalidIdentifier", "DuplicateLocalHandle"),
    **_codes("protocol", "requires_different_input", "InvalidRequestEnvelope", "LanguageMismatch", "ReadonlyViolation"),
    **_codes("protocol", "requires_different_input", "DuplicateMutationTarget"),
    **_codes("protocol", "non_retryable", "UnsupportedProtocolVersion", "UnsupportedCapability"),
    **_codes("protocol", "non_retryable", "UnsupportedIsolation"),
    # §87.2 schema
    **_codes("schema", "requires_different_input", "SchemaSymbolNotFound", "SchemaSymbolAmbiguous"),
    **_codes("schema", "requires_different_input", "SchemaSymbolConflict", "SchemaFieldNotFound"),
    **_codes("schema", "requires_different_input", "TypeMismatch", "ConstraintViolation"),
    **_codes("schema", "requires_refresh", "SchemaPackageUnavailable", "SchemaEnvironmentChanged"),
    **_codes("schema", "non_retryable", "HistoricalSchemaUnavailable"),
    # §87.3 identity and reference
    **_codes("data", "requires_different_input", "NotFoundOrNotVisible", "ReferenceError"),
    **_codes("data", "requires_different_input", "StructuralReferenceInvalid"),
    **_codes("data", "requires_different_input", "IdentitySelectorRequired", "NameIdentityForbidden"),
    **_codes("data", "requires_different_input", "IdentityConflict", "ClientKeyConflict", "IdentityMergeConflict"),
    # §87.4 epistemic and mutability
    **_codes("epistemic", "requires_different_input", "ImmutableField", "EpistemicRevisionRequired"),
    **_codes("epistemic", "requires_different_input", "EvidenceCorrectionRequired", "InvalidLifecycleTransition"),
    **_codes("epistemic", "requires_different_input", "SupersessionMismatch", "EvidenceCorrectionConflict"),
    **_codes("epistemic", "requires_different_input", "ActivityTerminal", "ProjectionTargetUnbound"),
    **_codes("epistemic", "requires_different_input", "ProjectionTargetUnbounded", "ProjectionPolicyUnavailable"),
    **_codes("epistemic", "requires_authority", "RetractionNotAuthorized", "ProjectionNotAuthorized"),
    # §87.5 governance
    **_codes("governance", "requires_authority", "Unauthenticated", "NotAuthorized", "RequiresApproval"),
    **_codes("governance", "requires_authority", "RequiresStrongerAuthentication", "ActorBindingRequired"),
    **_codes("governance", "requires_different_input", "ProtectedSystemField", "ProtectedGovernanceField"),
    **_codes("governance", "requires_different_input", "ProtectedSchemaState"),
    **_codes("governance", "non_retryable", "LegalHoldConflict", "PurgeDenied"),
    # §87.6 transaction
    **_codes("transaction", "requires_refresh", "VersionConflict", "PreconditionFailed"),
    **_codes("transaction", "safe_same_request", "SerializationConflict"),
    **_codes("transaction", "requires_different_input", "IdempotencyConflict", "TransactionTooLarge"),
    **_codes("transaction", "non_retryable", "TransactionUnknown"),
    **_codes("transaction", "outcome_lookup_required", "OutcomeUnknown"),
    # §87.7 history and cursors
    **_codes("history", "requires_new_snapshot", "HistoricalSnapshotUnavailable", "CursorExpired"),
    **_codes("history", "requires_different_input", "CursorMismatch", "CursorTypeMismatch", "CursorInvalid"),
    # §87.8 search
    **_codes("search", "requires_different_input", "SearchModeUnsupported", "HistoricalSearchUnavailable"),
    **_codes("search", "safe_same_request", "SearchIndexUnavailable"),
    # §87.9 artifacts and proofs
    **_codes("artifact", "requires_reacquire_artifact", "ArtifactUnavailable", "BlobUnavailable", "DigestMismatch"),
    **_codes("artifact", "requires_different_input", "ArtifactTooLarge", "ArtifactParseError"),
    **_codes("artifact", "requires_different_input", "CapsuleValidationFailed", "ImportPreviewConflict"),
    **_codes("artifact", "non_retryable", "ProofInvalid", "SignerUnknown"),
    # §87.10 resources and runtime
    **_codes("resource", "requires_different_input", "ResourceExhausted", "ResultLimitExceeded"),
    **_codes("resource", "safe_same_request", "ExecutionTimeout", "RateLimited"),
    **_codes("system", "non_retryable", "InternalError"),
    # kipql's own: the memory on disk (docs/errors.md)
    **_codes("system", "non_retryable", "NotAMemory", "MemoryDamaged", "MemoryFormatUnsupported"),
    **_codes("system", "safe_same_request", "MemoryLocked", "MemoryUnavailable"),
}


class KipError(Exception):
    """The only exception that leaves kipql.

    code      a name from `CODES` (§87)
    message   what was found, one sentence
    span      where in the text, when the error is about a text
    hint      what to do about it
    details   JSON-compatible facts for programs (`details.plane`, `details.family`, ...)
    text      the source text, so that `str()` can draw the caret; set by whoever holds it (`in_text`)

    >>> import kipql
    >>> try:
    ...     kipql.open().query("FIND(?p.name)")
    ... except kipql.KipError as error:
    ...     print(error.code, error.category, error.retry)
    InvalidSyntax syntax requires_different_input
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        span: Span | None = None,
        hint: str | None = None,
        details: Mapping[str, Any] | None = None,
        text: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span
        self.hint = hint
        self.details: dict[str, Any] = dict(details or {})
        self.text = text

    def __reduce__(self) -> tuple[Any, ...]:
        # Exception would call the class with the message alone; a process hands its errors to another one (audits).
        given = {"span": self.span, "hint": self.hint, "details": self.details, "text": self.text}
        return _again, (type(self), self.code, self.message, given)

    @property
    def category(self) -> str:
        """The category of the code (§86.2)."""
        return CODES[self.code].category

    @property
    def retry(self) -> str:
        """What a retry needs (§86.3)."""
        return CODES[self.code].retry

    def in_text(self, text: str) -> "KipError":
        """This error, knowing the text that its span points into (the first text given stays)."""
        if self.text is None:
            self.text = text
        return self

    def to_dict(self) -> dict[str, Any]:
        """The wire error of §86.1; a position, when known, is in `details.position`."""
        details = dict(self.details)
        if self.span is not None and self.text is not None:
            at = position(self.text, self.span.start)
            details["position"] = {"line": at.line, "column": at.column, "column_utf16": at.column_utf16}
        return {
            "code": self.code,
            "category": self.category,
            "message": self.message,
            "hint": self.hint,
            "retry": {"class": self.retry},
            "details": details,
        }

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.message}"]
        if self.span is not None and self.text is not None:
            at = position(self.text, self.span.start)
            lines[0] = f"{at.line}:{at.column}: {lines[0]}"
            lines.append(caret(self.text, self.span))
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


def _again(kind: type[KipError], code: str, message: str, given: Mapping[str, Any]) -> KipError:
    return kind(code, message, **given)
