"""What VALIDATE and PREVIEW run: the statement they are given, without its consequences (§69)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.lang import ast
from kipql.limits import Budget
from kipql.runtime.guard import wire_error
from kipql.runtime.parsed import Parsed
from kipql.runtime.session import Session
from kipql.runtime.writing import rehearse
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.schema.environment import Environment

# What says nothing about the text: another transaction, the clock, the disk. So does a token of another state.
_SURROUNDINGS = ("SerializationConflict", "UnsupportedIsolation", "ExecutionTimeout", "MemoryUnavailable")


def validate(
    session: Session, language: str, text: str, parameters: Mapping[str, object], budget: Budget
) -> dict[str, Json]:
    """Whether a text is a legal statement of a language here, and what is hardly meant in it (`warnings`).

    A query is planned against the Schema Environment of the state that it reads (§48.6). A mutation whose parameters
    are all given is rehearsed against the present state; with open parameters only its form is known.
    """
    unbound: list[str] = []
    errors: list[dict[str, object]] = []
    warnings: list[dict[str, Json]] = []
    try:
        parsed = _of_language(session, language, text)
        warnings = [caveat.to_dict(text) for caveat in parsed.caveats]
        unbound = [param.name for param in parsed.parameters if param.name not in parameters]
        if isinstance(parsed.node, ast.Find):
            environment = _environment(session, parsed.node, parameters)
            parsed.prepared(environment).planned(environment)
        elif not unbound:
            rehearse(session, parsed, parameters, budget)
    except KipError as error:
        if error.code in _SURROUNDINGS or error.details.get("precondition") == "snapshot_token":
            raise
        errors.append(wire_error(error.in_text(text)))
    return {
        "valid": not errors,
        "language": language,
        "errors": errors,
        "warnings": warnings,
        "unbound_parameters": unbound,
    }


def preview(session: Session, text: str, parameters: Mapping[str, object], budget: Budget) -> dict[str, Json]:
    """What a mutation would change now. Raises what executing it would raise, with the position in its text."""
    try:
        return rehearse(session, _of_language(session, "KML", text), parameters, budget)
    except KipError as error:
        raise error.in_text(text) from None


def _environment(session: Session, find: ast.Find, parameters: Mapping[str, object]) -> "Environment":
    """The Schema Environment of the past state that AS OF names, else that of the head."""
    head, seq = session.view(), find.as_of
    named = seq.value if isinstance(seq, ast.Literal) else None if seq is None else parameters.get(seq.name)
    past = isinstance(named, int) and not isinstance(named, bool) and 0 <= named < head.seq
    return session.at(named).environment if past else head.environment  # type: ignore[arg-type]  # an int where `past`


def _of_language(session: Session, language: str, text: str) -> Parsed:
    parsed = session.statements.parse(text)
    if parsed.language != language:
        raise KipError(
            "LanguageMismatch",
            f"the text is {parsed.language}, not {language}",
            span=parsed.node.span,
            details={"declared": language, "found": parsed.language},
        )
    return parsed
