"""Terms at run time: constants as codes, codes as values, values as codes (specification §9, §43.2).

A bare string in an object position can be an id or a Literal. The Predicate says which; where it admits both,
both are matched, since a read finds what was stored whichever it was.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.exec.references import canonical_concepts, resolve
from kipql.model import PROPOSITION, kind_of, parse_id
from kipql.plan.cells import Cell, Ref, Symbol, Value, Virtual
from kipql.spans import NOWHERE, Span
from kipql.values import CanonicalReference, Json, canonical_string, json_type

if TYPE_CHECKING:
    from kipql.schema.environment import Environment
    from kipql.store.view import View

NO_LINEAGE = (1 << 20) - 1  # the number of a lineage that the Space does not use


def lineage_number(view: "View", lineage: str) -> int:
    """The number of a lineage in the Space; one that matches nothing when it is not used."""
    number = view.lineage_number(lineage)
    return NO_LINEAGE if number is None else number


def symbol_number(view: "View", group: str, name: Json, where: Span = NOWHERE) -> int:
    """The lineage number of a symbol that a parameter names. Raises SchemaSymbolNotFound, SchemaSymbolAmbiguous."""
    return lineage_number(view, symbol_lineage(view, group, name, where))


def symbol_lineage(view: "View", group: str, name: Json, where: Span = NOWHERE) -> str:
    """The lineage of a symbol that a parameter names."""
    if not isinstance(name, str):
        raise KipError("TypeMismatch", f"a Schema symbol is a string, not {json_type(name)}", span=where)
    try:
        return _named_lineage(view.environment, group, name)
    except KipError as error:
        error.span = error.span or where
        raise


@lru_cache(maxsize=4_096)
def _named_lineage(environment: "Environment", group: str, name: str) -> str:
    lineage: str = getattr(environment, group)(name).lineage
    return lineage


def constant_terms(
    view: "View", value: Json, literal: bool, element: bool, merges: bool, where: Span = NOWHERE
) -> tuple[int, ...]:
    """The codes that a constant in a term position matches, merged identities included."""
    if not literal and not merges and value.__class__ is str:
        code = view.code(value)
        return () if code is None else (code,)
    try:
        codes = _constant(view, value, literal, element)
    except KipError as error:
        error.span = error.span or where
        raise
    return widened(view, codes) if merges else codes


def _constant(view: "View", value: Json, literal: bool, element: bool) -> tuple[int, ...]:
    if isinstance(value, Mapping):
        if set(value) == {"canonical_id"}:
            return canonical_terms(view, value["canonical_id"])
        code = resolve(view, value)
        return () if code is None else (code,)
    if isinstance(value, list | tuple):
        raise KipError("TypeMismatch", "a term is an element or a Literal, not an array")
    if not literal:
        if not isinstance(value, str):
            raise KipError("TypeMismatch", f"an element is named here, not a {json_type(value)}")
        code = view.code(value)
        return () if code is None else (code,)
    codes = []
    if element and isinstance(value, str) and (code := view.code(value)) is not None:
        codes.append(code)
    if (code := view.literal_code(value)) is not None:
        codes.append(code)
    return tuple(codes)


def canonical_terms(view: "View", canonical_id: Json, merges: bool = False) -> tuple[int, ...]:
    """What `{canonical_id}` matches: the recalled Concepts that carry it, and the reference where it was stored."""
    hidden = view.left_out(0)
    codes = [code for code in canonical_concepts(view, canonical_id) if hidden is None or code >> 3 not in hidden]
    reference = reference_code(view, canonical_id)
    if reference is not None:
        codes.append(reference)
    return widened(view, codes) if merges else tuple(codes)


def reference_code(view: "View", canonical_id: str) -> int | None:
    """The term of a canonical reference that some Proposition holds."""
    find: Callable[[Any], int | None] = view.literal_code
    return find(CanonicalReference(canonical_string(canonical_id)))


def widened(view: "View", codes: "list[int] | tuple[int, ...]") -> tuple[int, ...]:
    """The codes and every code merged with one of them."""
    return tuple(dict.fromkeys(other for code in codes for other in (view.same(code) if code >= 0 else (code,))))


def known_element(view: "View", value: Json, kind: int, where: Span = NOWHERE) -> int | None:
    """The element of a kind that an `id` constant names; None when nothing of that kind has it."""
    try:
        code = resolve(view, value)
    except KipError as error:
        error.span = error.span or where
        raise
    return code if code is not None and kind_of(code) == kind else None


def known_proposition(view: "View", value: Json, where: Span = NOWHERE) -> int | None:
    """The Proposition of `(id: x)`, None when recall leaves it out."""
    code = known_element(view, value, PROPOSITION, where)
    hidden = view.left_out(PROPOSITION)
    return None if code is None or (hidden is not None and code >> 3 in hidden) else code


# --- codes and values ---------------------------------------------------------------------------------


def literal_json(view: "View", code: int) -> Json:
    """The JSON of a negative code: a scalar, or `{canonical_id}` for a reference to what is not in the Space."""
    return view.literal(code)


def term_value(view: "View", code: int | None) -> object:
    """The value of a term: a Ref, a JSON value, None when unbound."""
    if code is None:
        return None
    return Ref(code) if code >= 0 else literal_json(view, code)


def cell_value(view: "View", cell: Cell) -> object:
    """The value of any cell."""
    if cell.__class__ is int:
        return term_value(view, cell)
    return cell.json if isinstance(cell, Value) else cell


def finished(view: "View", value: object) -> Json:
    """What a value projects as: an element whole, an edge or a belief as an object, a symbol as its exact ref."""
    if isinstance(value, Ref):
        return view.element(value.code)
    if isinstance(value, Virtual):
        return value.json()
    if isinstance(value, Symbol):
        return str(value)
    if isinstance(value, list | tuple):
        return [finished(view, item) for item in value]
    if isinstance(value, Mapping):
        return {name: finished(view, item) for name, item in value.items()}
    return value


def boxed(view: "View", value: Json) -> Cell:
    """The cell of a value that a field position binds: `{id}` is the element, a stored Literal its term."""
    if isinstance(value, Mapping) and set(value) == {"id"} and isinstance(value["id"], str):
        code = view.code(value["id"])
        return Value(value) if code is None else code
    return Value(value)


def symbol_value(view: "View", ref: str) -> Symbol:
    """An exact ref that remembers its lineage."""
    return Symbol(ref, view.environment.lineage(ref))


def symbol_cell(view: "View", number: int) -> Value:
    """A symbol number as a boxed cell."""
    return Value(symbol_value(view, view.symbol_ref(number)))


def identity_of(view: "View", cell: Cell) -> object:
    """A hashable identity of a cell, the same for a Literal whether it is a term or a field's value."""
    if cell.__class__ is int and cell < 0:
        return Value(literal_json(view, cell))
    return cell


def same_cell(view: "View", left: Cell, right: Cell) -> bool:
    """Whether two bound cells are one value: what unifies."""
    return identity_of(view, left) == identity_of(view, right)


def term_of(view: "View", cell: Cell) -> int | None:
    """The term that a bound cell is in a term position, None when nothing stored can match it."""
    if cell.__class__ is int:
        return cell
    if not isinstance(cell, Value):
        return None
    value = cell.json
    if isinstance(value, Mapping):
        if set(value) == {"canonical_id"} and isinstance(value["canonical_id"], str):
            return reference_code(view, value["canonical_id"])
        return None
    if isinstance(value, list | tuple):
        return None
    return view.literal_code(str(value) if isinstance(value, Symbol) else value)


def id_term(view: "View", text: Json) -> int | None:
    """The element that an id string names."""
    code = parse_id(text) if isinstance(text, str) else None
    return code if code is not None and view.exists(code) else None
