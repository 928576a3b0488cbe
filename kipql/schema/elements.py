"""What the rules ask about elements: the part of a View that validation reads."""

from typing import Protocol

from kipql.errors import KipError
from kipql.model import A_KIND, CONCEPT, KIND_NAMES, element_id, kind_of
from kipql.schema.definitions import Endpoint, Format
from kipql.times import parse_instant
from kipql.values import Json, Scalar, json_type


class Elements(Protocol):
    """Elements as they will be when the transaction commits. Codes are those of `kipql.model`."""

    def kind(self, code: int) -> int: ...

    def concept_type(self, code: int) -> str:
        """The exact ref of a Concept's type."""
        ...

    def literal(self, code: int) -> Scalar:
        """The Literal of a negative code; a reference that this Space can not resolve is an object."""
        ...

    def exists(self, code: int) -> bool: ...


def check_element(endpoint: Endpoint, code: int, elements: Elements, what: str) -> None:
    """Raises ConstraintViolation when the element may not stand at this end."""
    kind = kind_of(code)
    concept_type = elements.concept_type(code) if kind == CONCEPT and endpoint.concept_types else None
    if not endpoint.admits(kind, concept_type):
        found = f"a {concept_type}" if concept_type else A_KIND[kind]
        raise KipError("ConstraintViolation", f"{what} can not be {element_id(code)}, {found}", hint=admitted(endpoint))


def check_literal(endpoint: Endpoint, value: Json, what: str) -> None:
    """Raises ConstraintViolation when the Literal may not stand at this end; TypeMismatch for a non-string where
    the declared format is timestamp (§6.5)."""
    if isinstance(value, dict):  # a reference this Space can not resolve is unknown, not wrong
        if endpoint.admits_elements:
            return
        raise KipError("ConstraintViolation", f"{what} must be a Literal", hint=admitted(endpoint))
    if value is None:
        if endpoint.nullable:
            return
        code = "TypeMismatch" if endpoint.format == "timestamp" else "ConstraintViolation"
        raise KipError(code, f"{what} can not be null", hint="only a Predicate that declares nullable admits it")
    if not endpoint.admits_literals:
        raise KipError("ConstraintViolation", f"{what} must be an element, not a Literal", hint=admitted(endpoint))
    if endpoint.literal_types and json_type(value) not in endpoint.literal_types:
        code = "TypeMismatch" if endpoint.format == "timestamp" else "ConstraintViolation"
        raise KipError(code, f"{what} can not be a {json_type(value)}", hint=admitted(endpoint))
    if endpoint.format is not None and isinstance(value, str):
        check_format(endpoint.format, value, what)


def check_format(name: Format, value: str, what: str) -> None:
    """`timestamp`, `uri` and what a package defines are checked; any other name constrains nothing (§20.15)."""
    if name.pattern is not None:
        if name.pattern.search(value) is None:
            raise KipError("ConstraintViolation", f"{what} is no {name}: {value!r}")
    elif name == "timestamp":
        parse_instant(value, what)
    elif name == "uri":
        scheme, colon, rest = value.partition(":")
        legal = (
            scheme.isascii()
            and scheme[:1].isalpha()
            and scheme.replace("+", "").replace("-", "").replace(".", "").isalnum()
        )
        if not (colon and rest and legal) or any(character.isspace() for character in value):
            raise KipError("ConstraintViolation", f"{what} is not a URI: {value!r}")


def admitted(endpoint: Endpoint) -> str:
    """What may stand at an end, for a hint."""
    parts = [*sorted(KIND_NAMES[kind] for kind in endpoint.kinds), *endpoint.concept_types]
    parts += [f"a {name} Literal" for name in sorted(endpoint.literal_types)]
    return f"it is declared as {' or '.join(parts)}" if parts else "it is declared without constraint"
