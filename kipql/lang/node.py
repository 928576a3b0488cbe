"""What all syntax nodes share: frozen, slotted dataclasses that are cheap to import and to make.

`@node` gives the interface of `@dataclass(frozen=True, slots=True)`: fields, `replace`, match patterns,
equality, hash and repr. The standard decorator compiles six functions for each of some sixty classes at
import (about 30 ms); here they are written once, and a class gets its own `__init__`, which stores through
the slots directly, when its first instance is made.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

from kipql.spans import NOWHERE, Span

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def node(cls: type[T]) -> type[T]:
    """Make `cls` a syntax node."""
    cls.__doc__ = cls.__doc__ or f"`{cls.__name__}`, as its fields say."
    return dataclass(init=False, repr=False, eq=False, slots=True)(cls)


_KEYS: dict[type, Callable[[Any], Any]] = {}


def _key(cls: type) -> Callable[[Any], Any]:
    """What of a node takes part in equality."""
    key = _KEYS.get(cls)
    if key is None:
        names = [item.name for item in fields(cls) if item.compare]
        key = _KEYS[cls] = attrgetter(*names) if names else lambda _: ()
    return key


def _make_init(cls: type) -> None:
    """Compile `cls.__init__` from the fields."""
    scope: dict[str, Any] = {}

    def parameter(item: Field[Any]) -> str:
        if item.default is MISSING:
            return item.name
        scope[f"default_{item.name}"] = item.default
        return f"{item.name}=default_{item.name}"

    items = fields(cls)
    plain = [parameter(item) for item in items if not item.kw_only]
    named = [parameter(item) for item in items if item.kw_only]
    for item in items:
        scope[f"set_{item.name}"] = getattr(cls, item.name).__set__
    lines = [f"def __init__(self, {', '.join([*plain, '*', *named])}):"]
    lines.extend(f" set_{item.name}(self, {item.name})" for item in items)
    exec("\n".join(lines), scope)
    cls.__init__ = scope["__init__"]  # type: ignore[misc]


@node
class Node:
    """The base of every node."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True, repr=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        cls = type(self)
        _make_init(cls)
        cls.__init__(self, *args, **kwargs)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        key = _key(type(self))
        return bool(key(self) == key(other))

    def __hash__(self) -> int:
        return hash((type(self), _key(type(self))(self)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{item.name}={getattr(self, item.name)!r}" for item in fields(self) if item.repr)
        return f"{type(self).__name__}({shown})"

    def __getstate__(self) -> list[Any]:
        return [getattr(self, item.name) for item in fields(self)]

    def __setstate__(self, state: list[Any]) -> None:
        for item, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, item.name, value)
