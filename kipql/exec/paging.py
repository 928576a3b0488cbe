"""Pages of a query: LIMIT, CURSOR and the snapshot a traversal is pinned to (specification §44.8).

Rows of one plan at one snapshot come in one order, so a page is a range of positions. The cursor is bound to
the query, its parameters, the Space and the family; a continuation reads the snapshot of the first page, and
starts its join where the first page did: how long a posting is can change after the snapshot.
"""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from kipql.cursors import Cursors, expired
from kipql.errors import KipError
from kipql.lang import ast
from kipql.plan import clauses
from kipql.plan.cells import canonical_text
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View

FAMILY = "kql"
COMPILED = "compiled"
Snapshots = Callable[[int], "View"]


class Page(NamedTuple):
    """Where a page lies: the view it reads, its first position, and how many rows it may have; `at` is the instant
    of the first page's read, where its answer depends on one; `entry` the operator its join started at, where the
    postings decided; `mode` the engine that answered: the order of rows is its own."""

    view: "View"
    start: int
    most: int | None
    at: int | None = None
    entry: int | None = None
    mode: str | None = None


def snapshot(view: "View", seq: int) -> "View":
    """The same Space at a sequence up to this view's. Raises HistoricalSnapshotUnavailable beyond it."""
    if seq == view.seq:
        return view
    if seq > view.seq:
        raise KipError(
            "HistoricalSnapshotUnavailable",
            f"the Space is at sequence {view.seq}; it has no state {seq}",
            hint=f"use 0 to {view.seq}",
        )
    return view.at(seq)


def page(
    find: ast.Find, view: "View", parameters: Mapping[str, Json], cursors: Cursors | None, at: Snapshots | None
) -> Page:
    """The page that AS OF SEQ, LIMIT and CURSOR ask for.

    Raises TypeMismatch, HistoricalSnapshotUnavailable, CursorInvalid, CursorMismatch, CursorTypeMismatch or
    CursorExpired.
    """
    take = at or (lambda seq: snapshot(view, seq))
    most = None if find.limit is None else clauses.count(find.limit, parameters, "LIMIT")
    if find.as_of is not None:
        seq = clauses.count(find.as_of, parameters, "AS OF SEQ")
        try:
            view = take(seq)
        except KipError as error:
            error.span = find.as_of.span
            raise
    token = clauses.cursor(find, parameters)
    if token is None:
        return Page(view, 0, most)
    assert find.cursor is not None
    try:
        mark = fingerprint(find, view.coverage, parameters)
        pinned, position, instant, entry, mode = _opened(cursors, token, mark)
        return Page(_pinned(take, pinned), position, most, instant, entry, mode)
    except KipError as error:
        error.span = find.cursor.span
        raise


def issued(
    cursors: Cursors,
    mark: str,
    seq: int,
    position: int,
    instant: int | None,
    entry: int | None = None,
    mode: str | None = None,
) -> str:
    """The cursor of the next page. A page of beliefs goes on at the instant of the first one's read (§44.8)."""
    held = [position, instant, entry]
    return cursors.issue(FAMILY, mark, seq, held if mode in (None, COMPILED) else [*held, mode])


def _opened(cursors: Cursors | None, token: str, mark: str) -> tuple[int, int, int | None, int | None, str]:
    if cursors is None:
        raise KipError(
            "CursorInvalid", "this reader issues no cursors", details={"family": FAMILY, "reason": "malformed"}
        )
    seq, held = cursors.open(token, FAMILY, mark)
    parts = held if isinstance(held, list) else [held]
    position, instant, entry = (*parts, None, None)[:3]
    return seq, int(position), instant, entry, parts[3] if len(parts) > 3 else COMPILED


def _pinned(take: Snapshots, seq: int) -> "View":
    try:
        return take(seq)
    except KipError:
        expired(FAMILY)


def fingerprint(find: ast.Find, space_id: str, parameters: Mapping[str, Json]) -> str:
    """What a cursor belongs to: everything of the query but the CURSOR clause."""
    skipped = find.cursor.name if isinstance(find.cursor, ast.Param) else None
    clauses_of = ("items", "where", "as_of", "for_time", "epistemic", "order_by", "limit")
    parts = [space_id, *(getattr(find, name) for name in clauses_of)]
    values = {name: value for name, value in parameters.items() if name != skipped}
    text = f"{parts!r}{canonical_text(values)}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
