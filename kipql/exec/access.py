"""Candidate rows of an element pattern from its constants: the shortest posting (architecture §3, §4.3).

Candidates are a superset of the matches that the tests named here could find; the tests are checked again
where a posting may hold rows whose value has changed. A key and a type never change.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kipql.model import CONCEPT, parse_id
from kipql.plan import nodes
from kipql.plan.logic import member, reference
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View


def rows_by_key(view: "View", key: Json, lineage: int | None) -> Sequence[int]:
    """Concepts with a key, of a type when one is given; no key is anything but a string."""
    return view.keyed(key, lineage) if isinstance(key, str) else ()


def rows_by_keys(view: "View", keys: Json, lineage: int | None, spend: Callable[[int], None]) -> Sequence[int]:
    """Concepts with any of several keys, a look-up each. An item that is no scalar may name an element: then all."""
    if not isinstance(keys, list | tuple):
        return ()
    spend(len(keys))
    if not all(isinstance(key, str | int | float | bool | None) for key in keys):
        return view.rows(CONCEPT) if lineage is None else view.of_type(lineage)
    return sorted({row for key in set(keys) for row in rows_by_key(view, key, lineage)})


def key_matcher(keys: Json) -> Callable[[Json], bool]:
    """Whether a key is in a list, as IN says it; of scalars only a string can be a key."""
    if isinstance(keys, list | tuple) and all(isinstance(key, str | int | float | bool | None) for key in keys):
        return frozenset(key for key in keys if isinstance(key, str)).__contains__
    return lambda key: member(key, keys) is True


def rows_by_ids(view: "View", kind: int, ids: Json, spend: Callable[[int], None]) -> Sequence[int]:
    """Elements of a kind with any of several ids, a look-up each. Exactly those: an id never changes."""
    if not isinstance(ids, list | tuple):
        return ()
    spend(len(ids))
    codes = {parse_id(named) for each in ids if (named := _named(each)) is not None}
    return sorted(code >> 3 for code in codes if code is not None and code & 7 == kind and view.exists(code))


def id_matcher(kind: int, ids: Json) -> Callable[[int], bool]:
    """Whether the element of a row is in a list, as IN says it: by its id, or by a reference `{id}`."""
    listed = ids if isinstance(ids, list | tuple) else ()
    codes = frozenset(parse_id(named) for each in listed if (named := _named(each)) is not None)
    return lambda row: row * 8 + kind in codes


def _named(item: Json) -> str | None:
    return item if isinstance(item, str) else reference(item)


def rows_by_name(view: "View", name: Json) -> Sequence[int]:
    """Concepts that have or had a name."""
    return view.named(name) if isinstance(name, str) else ()


def rows_by_value(view: "View", kind: int, steps: tuple[str, ...], value: Json) -> Sequence[int] | None:
    """Rows that have or had a scalar at a path; None where no posting can say."""
    if not isinstance(value, str | int | float | bool):
        return None
    # A bare id also equals a reference object `{id}`, which no posting of scalars lists.
    if isinstance(value, str) and parse_id(value) is not None:
        return None
    return view.with_value(kind, steps, value)


def shortest(*found: Sequence[int] | None) -> Sequence[int] | None:
    """The shortest of the postings that exist."""
    known = [rows for rows in found if rows is not None]
    return min(known, key=len) if known else None


def shortest_or(view: "View", kind: int, *found: Sequence[int] | None) -> Sequence[int]:
    """The shortest of the postings that exist, or every row of the kind."""
    best = shortest(*found)
    return view.rows(kind) if best is None else best


def key_test(tests: tuple[nodes.Test, ...]) -> nodes.Equals | None:
    """The test of a Concept's key against a constant."""
    return next((t for t in tests if isinstance(t, nodes.Equals) and t.steps == ("key",)), None)


def keys_test(tests: tuple[nodes.Test, ...]) -> nodes.KeyIn | None:
    """The test of a Concept's key against a list."""
    return next((t for t in tests if isinstance(t, nodes.KeyIn)), None)


def ids_test(tests: tuple[nodes.Test, ...]) -> nodes.IdIn | None:
    """The test of an element's id against a list."""
    return next((t for t in tests if isinstance(t, nodes.IdIn)), None)


def type_test(tests: tuple[nodes.Test, ...]) -> nodes.HasType | None:
    """The test of a Concept's type."""
    return next((t for t in tests if isinstance(t, nodes.HasType)), None)


def name_test(tests: tuple[nodes.Test, ...]) -> nodes.Equals | None:
    """The test of a Concept's name against a constant."""
    return next((t for t in tests if isinstance(t, nodes.Equals) and t.steps == ("name",)), None)


def value_tests(kind: int, tests: tuple[nodes.Test, ...]) -> list[nodes.Equals]:
    """The tests that a posting of values could answer."""
    taken = (("key",), ("name",), ("id",)) if kind == CONCEPT else (("id",),)
    return [
        t
        for t in tests
        if isinstance(t, nodes.Equals) and t.steps not in taken and all(isinstance(step, str) for step in t.steps)
    ]
