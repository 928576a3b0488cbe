"""What a variable can be bound to, and what an expression can yield (specification §42.4).

A *cell* is what a solution holds for a variable: None when it is unbound, an int for a term (an element code,
or the negative code of a Literal), a `Value` for a JSON value that a field position bound, or a `Virtual` (an
edge, a belief). A *value* is what an expression works with: a JSON value, a `Ref` for an element, a `Symbol` for
a Schema symbol; null, absent and unbound are all None.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from kipql.model import element_id
from kipql.values import Json, json_type, value_key


class Ref:
    """An element inside an expression; elements are equal by identity, never by content (§42.5)."""

    __slots__ = ("code",)

    def __init__(self, code: int) -> None:
        self.code = code

    @property
    def id(self) -> str:
        """The public id of the element."""
        return element_id(self.code)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ref) and other.code == self.code

    def __hash__(self) -> int:
        return hash((Ref, self.code))

    def __repr__(self) -> str:
        return f"Ref({self.id})"


class NullLiteral:
    """The Literal null where it must differ from unbound: what IS_LITERAL and LITERAL_TYPE see (§9.5)."""


NULL = NullLiteral()


class Symbol(str):
    """An exact Schema ref that remembers its lineage: symbols match by lineage (§20.14), read as text."""

    __slots__ = ("lineage",)
    lineage: str

    def __new__(cls, ref: str, lineage: str) -> "Symbol":
        symbol = super().__new__(cls, ref)
        symbol.lineage = lineage
        return symbol


WRITTEN = ("attributes", "facets", "payload")
"""Members below which stands what people wrote: their names, their texts, their nulls."""

SYMBOL_MEMBERS = ("schema_ref", "predicate_ref")
"""Members of the wire that hold an exact Schema ref."""


def holds_symbol(steps: Sequence[str | int]) -> bool:
    """Whether the member at a path is a Schema symbol where it is an exact ref (§20.14)."""
    return steps[-1] in SYMBOL_MEMBERS and steps[0] not in WRITTEN


class Value:
    """A JSON value as a binding; two are one when their contents are (§42.5)."""

    __slots__ = ("_key", "json")

    def __init__(self, json: Json) -> None:
        self.json = json
        self._key: object = None

    @property
    def key(self) -> object:
        """What makes two of them one: the content."""
        if self._key is None:
            self._key = identity(self.json)
        return self._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Value({self.json!r})"


class Virtual:
    """A binding that is no stored element but has members: an edge (§43.7), a belief (§46.2)."""

    __slots__ = ()
    tag = "virtual"

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two of them one."""
        raise NotImplementedError

    def member(self, name: str) -> Json:
        """One member; None for a name it does not have."""
        raise NotImplementedError

    def json(self) -> dict[str, Json]:
        """All of it as an object."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Virtual) and other.tag == self.tag and other.key == self.key)

    def __hash__(self) -> int:
        return hash(self.key)


class EdgeBinding(Virtual):
    """One Structural Reference as a binding: the relation, with its position where the field is ordered."""

    __slots__ = ("field", "index", "role", "source", "target")
    tag = "edge"

    def __init__(self, source: int, field: str, target: int, index: int | None, role: str | None) -> None:
        self.source = source
        self.field = field
        self.target = target
        self.index = index
        self.role = role

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.source, self.field, self.target, -1 if self.index is None else self.index, self.role or "")

    def member(self, name: str) -> Json:
        """A virtual member: index, field, role, source, target; None for any other name."""
        if name in ("source", "target"):
            return {"id": element_id(getattr(self, name))}
        return getattr(self, name) if name in ("index", "field", "role") else None

    def json(self) -> dict[str, Json]:
        """The whole edge as an object."""
        return {name: self.member(name) for name in ("source", "field", "target", "index", "role")}


Cell: TypeAlias = int | Value | Virtual | None


def identity(value: object) -> object:
    """A hashable identity of an expression's value: elements by identity, symbols by lineage, data by content."""
    if isinstance(value, Ref):
        return ("element", value.code)
    if isinstance(value, Symbol):
        return ("symbol", value.lineage)
    if isinstance(value, Virtual):
        return (value.tag, value.key)
    return value_key(value)


_RANKS = {
    "boolean": 0,
    "number": 1,
    "string": 2,
    "symbol": 2,
    "element": 3,
    "edge": 4,
    "belief": 4,
    "array": 5,
    "object": 6,
    "null": 7,
}


def order(value: object) -> tuple[int, Any]:
    """A total order over the values of expressions: booleans, numbers, strings, elements, the rest, null last."""
    key = identity(value)
    assert isinstance(key, tuple)
    rank = _RANKS[key[0]]
    if rank >= _RANKS["array"]:
        return (rank, "" if value is None else canonical_text(value))
    return (rank, str(value) if key[0] == "symbol" else key[1])


def canonical_text(value: Json) -> str:
    """A text that is equal exactly for equal JSON values (object keys sorted)."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key!r}:{canonical_text(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(canonical_text, value)) + "]"
    return repr(value_key(value))


def kind_told(value: object) -> str:
    """What a value is called in a message: by its JSON type, or what else it is."""
    if isinstance(value, Ref):
        return "element"
    return value.tag if isinstance(value, Virtual) else json_type(value)
