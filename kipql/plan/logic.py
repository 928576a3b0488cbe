"""Three-valued comparison (specification §44.2).

True, False and None, which is *unknown*: the outcome whenever an operand is null, absent or unbound, and
whenever the operands are of unlike types, because a comparison between unlike types decides nothing. Nothing
is coerced. Arrays and objects can be equal or not; they have no order.
"""

from collections.abc import Mapping
from operator import ge, gt, le, lt

from kipql.model import element_id
from kipql.plan.cells import Ref, Symbol
from kipql.values import json_type, value_key

ORDERINGS = {"<": lt, "<=": le, ">": gt, ">=": ge}


def equal(left: object, right: object) -> bool | None:
    """Whether two values are one; None when that is unknown."""
    if left is None or right is None:
        return None
    if left.__class__ is right.__class__ and left.__class__ in (str, int):
        return left == right
    if isinstance(left, Symbol) or isinstance(right, Symbol):
        return _same_symbol(left, right)
    ours, theirs = reference(left), reference(right)
    if ours is not None or theirs is not None:
        return _same_reference(left, right, ours, theirs)
    if json_type(left) != json_type(right):
        return None
    return value_key(left) == value_key(right)


def unequal(left: object, right: object) -> bool | None:
    """The opposite of `equal`; unknown stays unknown."""
    same = equal(left, right)
    return None if same is None else not same


def ordered(op: str, left: object, right: object) -> bool | None:
    """`left op right` for two numbers, two strings or two booleans; None for everything else."""
    if left is None or right is None:
        return None
    kind = json_type(left)
    if kind not in ("number", "string", "boolean") or json_type(right) != kind:
        return None
    outcome: bool = ORDERINGS[op](left, right)  # type: ignore[arg-type]
    return outcome


def member(value: object, candidates: object) -> bool | None:
    """IN: `value == c1 || value == c2 || ...`; an empty list matches nothing."""
    if value is None:
        return None
    if not isinstance(candidates, list | tuple):
        return None
    unknown = False
    for candidate in candidates:
        same = equal(value, candidate)
        if same:
            return True
        unknown = unknown or same is None
    return None if unknown else False


def negated(truth: object) -> bool | None:
    """`!truth`: only true and false have an opposite."""
    return not truth if truth.__class__ is bool else None


def reference(value: object) -> str | None:
    """The id that an element or a reference object `{id, ...}` names, else None."""
    if isinstance(value, Ref):
        return element_id(value.code)
    if isinstance(value, Mapping):
        named = value.get("id")
        return named if isinstance(named, str) else None
    return None


def _same_reference(left: object, right: object, ours: str | None, theirs: str | None) -> bool | None:
    """Elements, `{id}` objects and bare ids name one element or they do not."""
    if ours is None:
        return left == theirs if isinstance(left, str) else None
    if theirs is None:
        return right == ours if isinstance(right, str) else None
    return ours == theirs


def _same_symbol(left: object, right: object) -> bool | None:
    """Symbols match by lineage; against text, the text must be the exact ref or the lineage of the symbol."""
    if isinstance(left, Symbol) and isinstance(right, Symbol):
        return left.lineage == right.lineage
    if not isinstance(left, str) or not isinstance(right, str):
        return None
    symbol, text = (left, right) if isinstance(left, Symbol) else (right, left)
    assert isinstance(symbol, Symbol)
    return text == symbol.lineage or lineage_of(text) == symbol.lineage


def lineage_of(ref: str) -> str:
    """The lineage that an exact ref spells: `kip://path@1.0.0/Name` is `kip://path/Name` (§20.14)."""
    head, at, tail = ref.rpartition("@")
    return f"{head}/{tail.partition('/')[2]}" if at and "/" in tail else ref
