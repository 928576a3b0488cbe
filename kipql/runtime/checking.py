"""What VALIDATE and PREVIEW run: the statement they are given, without its consequences (§69)."""

from collections.abc import Mapping

from kipql.errors import KipError
from kipql.lang import ast
from kipql.limits import Budget
from kipql.runtime.guard import wire_error
from kipql.runtime.parsed import Parsed
from kipql.runtime.session import Session
from kipql.runtime.writing import rehearse
from kipql.values import Json

# What says nothing about the text: another transaction, the clock, the disk. So does a token of another state.
_SURROUNDINGS = ("SerializationConflict", "ExecutionTimeout", "MemoryUnavailable")


def validate(
    session: Session, language: str, text: str, parameters: Mapping[str, object], budget: Budget
) -> dict[str, Json]:
    """Whether a text is a legal statement of a language here: `{valid, language, errors, unbound_parameters}`.

    A query is planned against the Schema Environment. A mutation whose parameters are all given is rehearsed
    against the present state; with open parameters only its form is known.
    """
    unbound: list[str] = []
    errors: list[dict[str, object]] = []
    try:
        parsed = _of_language(session, language, text)
        unbound = [param.name for param in parsed.parameters if param.name not in parameters]
        if isinstance(parsed.node, ast.Find):
            parsed.prepared(session.view().environment)
        elif not unbound:
            rehearse(session, parsed, parameters, budget)
    except KipError as error:
        if error.code in _SURROUNDINGS or error.details.get("precondition") == "snapshot_token":
            raise
        errors.append(wire_error(error.in_text(text)))
    return {"valid": not errors, "language": language, "errors": errors, "unbound_parameters": unbound}


def preview(session: Session, text: str, parameters: Mapping[str, object], budget: Budget) -> dict[str, Json]:
    """What a mutation would change now. Raises what executing it would raise, with the position in its text."""
    try:
        return rehearse(session, _of_language(session, "KML", text), parameters, budget)
    except KipError as error:
        raise error.in_text(text) from None


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
