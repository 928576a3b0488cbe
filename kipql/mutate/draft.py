"""A planned write: what one element will be when the statement is applied (§53.4, §58.3).

A plan is a graph of Drafts. A Draft collects assignments by path; two different values for one path are refused,
whatever the order of the clauses, and the same value twice is one assignment. A reference inside a value is an
element code, or the Draft itself while the element has no code yet.

Paths: ("fields", name) ("attributes", key) ("facets", ref, key) ("edges", field, target) ("retention",)
("state",) ("lifecycle", name) ("merged_into",) ("payload",) ("links", name, target).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from kipql.errors import KipError
from kipql.model import KIND_NAMES, AnyRecord, element_id
from kipql.spans import NOWHERE, Span
from kipql.values import value_key

Path: TypeAlias = tuple[Any, ...]


class Removed:
    """The value of a path that UNSET names."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "REMOVED"


REMOVED = Removed()


@dataclass(frozen=True, slots=True)
class Placement:
    """How SET STRUCTURAL places a reference: its role (citations) or its position (ordered fields)."""

    role: str | None = None
    index: int | None = None


class Assigned(NamedTuple):
    value: Any
    span: Span


class Draft:
    """The assignments planned for one element. `base` is its state at the start, None for a new one; `code` is
    None until a new element is numbered."""

    __slots__ = ("assigned", "base", "client_key", "code", "created", "kind", "span")

    def __init__(self, kind: int, base: AnyRecord | None, code: int | None, span: Span) -> None:
        self.kind = kind
        self.base = base
        self.code = code
        self.span = span
        self.client_key: str | None = None
        self.created: dict[Path, Assigned] = {}
        self.assigned: dict[Path, Assigned] = {}

    @property
    def target(self) -> "Target":
        """How others refer to this element."""
        return self if self.code is None else self.code

    def assign(self, path: Path, value: Any, span: Span = NOWHERE) -> None:
        """Plan one value. Raises DuplicateMutationTarget when the plan already has another for this path."""
        known = self.assigned.get(path)
        if known is None:
            self.assigned[path] = Assigned(value, span)
        elif not same(known.value, value):
            raise KipError(
                "DuplicateMutationTarget",
                f"{self.name} is given two different values for {path_text(path)}",
                span=span,
                hint="keep one of the two; their order decides nothing (§53.4)",
            )

    def value(self, *path: Any) -> Any:
        """The planned value of a path, None when nothing was planned."""
        known = self.assigned.get(path)
        return None if known is None else known.value

    def under(self, *prefix: Any) -> Iterator[tuple[Path, Assigned]]:
        """The assignments whose path begins with `prefix`, in the order they were planned."""
        length = len(prefix)
        return ((path, given) for path, given in self.assigned.items() if path[:length] == prefix)

    @property
    def name(self) -> str:
        """How a message calls this element."""
        return f"a new {KIND_NAMES[self.kind]}" if self.code is None else element_id(self.code)


class Redirected(int):
    """The survivor that an identity resolved to, with the merged element that was named (§11.3)."""

    supplied: int

    def __new__(cls, survivor: int, supplied: int) -> "Redirected":
        made = super().__new__(cls, survivor)
        made.supplied = supplied
        return made


Target: TypeAlias = int | Draft


@dataclass(frozen=True, slots=True)
class Handle:
    """A handle inside a value: reads as the id of the element it stands for."""

    target: Target


def same(left: Any, right: Any) -> bool:
    """Whether two planned values are one: JSON by content, everything else by equality."""
    if left.__class__ is not right.__class__ and not (isinstance(left, int | float) and isinstance(right, int | float)):
        return False
    if isinstance(left, dict | list | bool | int | float):
        return value_key(left) == value_key(right)
    return bool(left == right)


def path_text(path: Path) -> str:
    """A path for people: `attributes.role`, `facets["Wear"].level`."""
    words = [str(step).rpartition("/")[2] if isinstance(step, str) else "reference" for step in path]
    if path[0] == "facets":
        return f'facets["{words[1]}"].{words[2]}'
    if path[0] == "single":
        return f"the Structural Field {words[1]}"
    return ".".join(words)
