"""One plain ASSERT as a commit of its own, in memory, by the owner: the everyday write on the shortest way (§32, §56).

It does what `Work` does with the same statement: one transaction at a time, the transaction time read once, all
checks before anything is written, a commit, a Receipt. What could make it more than that (a folder, Governance over
the caller, a narrowed or cancelled call, another writer, a claim that is not plain, anything wrong) makes it answer
None with nothing written, and the long way decides and reports.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.govern.principals import OWNER
from kipql.lang import ast
from kipql.limits import Limits
from kipql.model import ASSERTION, Origin, element_code, element_id
from kipql.mutate.claims import Unusual, claims_of
from kipql.mutate.direct import Shape, shape_of
from kipql.runtime.receipt import Receipt, later, members
from kipql.runtime.session import Session
from kipql.store.changes import entries_at
from kipql.values import Json, check_json, check_number, check_text

if TYPE_CHECKING:
    from kipql.runtime.parsed import Parsed
    from kipql.store.store import Store

_SHORT = 4_096  # characters of a parameter; a longer one is counted against the limits on the long way

_FEW = 8  # members of an object, or items of an array


class Claim:
    """A plain ASSERT of a parsed statement, with the limits it was found to be within."""

    __slots__ = ("_handle", "_limits", "_names", "_shape")

    def __init__(self, parsed: "Parsed", shape: Shape) -> None:
        self._names = tuple(param.name for param in parsed.parameters)
        self._shape = shape
        self._handle = shape.handle
        self._limits: Limits | None = None

    def run(self, session: Session, parameters: Mapping[str, object] | None) -> Receipt | None:
        """Commit it; None when the long way has to."""
        limits = session.limits
        if limits is not self._limits:
            if not _ample(limits, len(self._names)):
                return None
            self._limits = limits
        try:
            said = self._shape.said(self._bound(parameters))
        except (Unusual, KipError, LookupError):
            return None
        space = session.space
        if space.governance.policy.labels.order:
            return None
        at = space.begin_at_once()
        if at is None:
            return None
        try:
            found = _commit(space.store, at, session.principal.origin, said)
        finally:
            space.end_at_once()
        if found is None:
            return None
        seq, row = found
        space.tell(seq)
        return self._receipt(space.store, seq, at, row)

    def _bound(self, given: Mapping[str, object] | None) -> dict[str, Json]:
        """The values of the parameters, as `plan.parameters` binds them. Raises Unusual, LookupError or KipError."""
        bound: dict[str, Json] = {}
        if given is None:
            given = bound
        elif given.__class__ is not dict:
            raise Unusual
        for name in self._names:
            value: Any = given[name]
            kind = value.__class__
            if kind is str:
                if len(value) > _SHORT:
                    raise Unusual
                bound[name] = check_text(value)
            elif kind is int or kind is float:
                bound[name] = check_number(value)
            elif value is None or kind is bool:
                bound[name] = value
            elif kind is dict or kind is list:
                bound[name] = _small(check_json(value))
            else:
                raise Unusual
        return bound

    def _receipt(self, store: "Store", seq: int, at: int, row: int) -> Receipt:
        handles = {} if self._handle is None else {self._handle: element_id(element_code(ASSERTION, row))}
        view = store.view(seq)
        return later(
            lambda: members(store.space_id, seq, at, view.environment.version, OWNER.id, handles),
            lambda: entries_at(store.graph, seq),
        )


def _commit(store: "Store", at: int, origin: Origin, said: tuple[Any, ...]) -> tuple[int, int] | None:
    """Write one claim and commit it: the sequence and the row of the Assertion; None when nothing was written."""
    base, graph = store.newest, store.graph
    literals = len(graph.literals)
    try:
        row = claims_of(graph, base.schema_entry).write(base, at, *said)
        return store.add_at_once(at, origin), row
    except (Unusual, KipError):
        return None
    except BaseException:
        if store.newest is base:
            store.undo_at_once(base, literals)
        raise


def _small(value: Json) -> Json:
    """A reference, an interval or an array of references, as short as those of a plain claim are."""
    items = value.values() if value.__class__ is dict else value
    if len(value) > _FEW or any(item.__class__ is str and len(item) > _SHORT for item in items):
        raise Unusual
    return value


def _ample(limits: Limits, parameters: int) -> bool:
    """Whether one claim is within the limits, whatever it says."""
    return (
        limits.seconds >= 1 and limits.ticks >= 100 and limits.depth >= 4 and limits.parameters >= parameters * _SHORT
    )


def claim_of(parsed: "Parsed") -> Claim | None:
    """The short way of a parsed mutation, found once; None when it has none."""
    known = parsed.claim
    if known is None:
        shape = shape_of(parsed.node) if isinstance(parsed.node, ast.Assert) else None
        known = parsed.claim = Claim(parsed, shape) if shape is not None and shape.plain else False
    return known or None
