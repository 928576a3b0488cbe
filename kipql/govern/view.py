"""AuthorizedView: a store view without what its caller may not see (specification §30.4, §48.5, §88.6).

With rights to everything the view itself is handed out, so no read pays for a check that can not fail. Otherwise
every posting, count, record, merge and commit is that of a Space that never held what is hidden; operators can
not tell which one they have. Ids and sequences are the Space's own: they have gaps.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kipql.govern.authority import Authority
from kipql.govern.chronicle import Chronicle
from kipql.govern.graph import VisibleGraph
from kipql.govern.visibility import Visibility
from kipql.model import ASSERTION, CONCEPT, PROPOSITION, AnyRecord, element_code
from kipql.store.postings import Rows
from kipql.store.states import state_at
from kipql.store.view import View
from kipql.values import Scalar

if TYPE_CHECKING:
    from kipql.store.environments import Environments
    from kipql.store.history import Bounds, Commit


def authorized(view: View, authority: Authority, also: str | None = None) -> View:
    """The view as this Authority may see it: the same object when nothing is withheld.

    also  a further permission (`search`, `project`) that every element must be permitted for

    A view of a transaction under way may be passed; ask again after each write.
    """
    whole = authority.sees_all and (also is None or authority.everywhere(also))
    if whole and authority.holds("read_raw_origin"):
        return view
    if view.seq > len(view.graph.history):
        return _narrowed(view, authority, also, whole)
    with authority.lock:
        key = ("view", also)
        known: tuple[View, View] | None = authority.cache.get(key)
        if known is None or known[0] is not view:
            known = authority.cache[key] = (view, _narrowed(view, authority, also, whole))
    return known[1]


def _narrowed(view: View, authority: Authority, also: str | None, whole: bool) -> View:
    if whole:
        return WithoutOrigin(view.graph, view._environments, view.seq, view.bounds)
    graph = _graph(view, authority, also)
    return AuthorizedView(graph, view._environments, view.seq, view.bounds)


def within(view: View, permission: str) -> View:
    """What of a view may be searched, or projected; the view itself where that makes no difference."""
    if not isinstance(view, AuthorizedView):
        return view
    authority = view.authority
    if authority.uniform(permission) or view.graph.visibility.also == permission:
        return view
    return authorized(view.whole, authority, permission)


def _graph(view: View, authority: Authority, also: str | None) -> VisibleGraph:
    """The visible graph of a Space for a caller, up to the view's rows."""
    settled = view.seq <= len(view.graph.history)
    with authority.lock:
        key = ("graph", also)
        known: VisibleGraph | None = authority.cache.get(key)
        if known is None:
            known = VisibleGraph(Visibility(view.graph, view.environment, authority, also))
            authority.cache[key] = known
        # Past states are seen as the present rules admit, and states link forward: everything committed is taken in.
        head = len(view.graph.history)
        known.visibility.advance(view.graph.history.bounds(head), head)
        if settled:
            return known
        provisional = known.visibility.copy()
        provisional.advance(view.bounds, view.seq)
    return VisibleGraph(provisional)


class WithoutOrigin(View):
    """Everything, but for how a record came in: its channel and its import (`read_raw_origin`)."""

    __slots__ = ()
    raw_origin = False

    def stored(self) -> View:
        """This view, which narrows no element."""
        return self if self.seq <= len(self.graph.history) else super().stored()


class AuthorizedView(View):
    """What one caller may see of a Space at `seq`. `whole` is the store's view; nothing that reads gets it."""

    __slots__ = ("_shown", "whole")
    narrowed = True
    graph: VisibleGraph  # type: ignore[assignment]  # it answers what readers ask a graph

    def __init__(self, graph: VisibleGraph, environments: "Environments", seq: int, bounds: "Bounds") -> None:
        super().__init__(graph, environments, seq, bounds)  # type: ignore[arg-type]
        self.whole = View(graph.whole, environments, seq, bounds)
        self._shown: dict[int, list[int]] = {}

    @property
    def authority(self) -> Authority:
        """Whose view this is."""
        return self.graph.visibility.authority

    @property
    def raw_origin(self) -> bool:  # type: ignore[override]
        """Whether the channel and the import of a record are shown."""
        return self.authority.holds("read_raw_origin")

    @property
    def coverage(self) -> str:
        return f"{self.space_id}\0{self.authority.view_id}"

    def stored(self) -> View:
        """The whole Space at the last commit, for an index that masks what is hidden by itself."""
        return self.whole.stored()

    # elements

    def code(self, id_text: str) -> int | None:
        code = super().code(id_text)
        return None if code is None or self.graph.visibility.hides(code) else code

    def exists(self, code: int) -> bool:
        return super().exists(code) and not self.graph.visibility.hides(code)

    def rows(self, kind: int) -> Sequence[int]:  # type: ignore[override]
        """The visible rows of a kind."""
        known = self._shown.get(kind)
        if known is None:
            known = self._shown[kind] = self._only(kind, range(self.bounds[kind]))
        return known

    def _only(self, kind: int, rows: Sequence[int]) -> list[int]:
        levels = self.graph.visibility.levels[kind]
        return [row for row in rows if levels[row]]

    def literal_code(self, value: Scalar) -> int | None:
        """The code of a Literal that some visible Proposition holds."""
        code = self.whole.literal_code(value)
        return code if code is not None and self.incoming(code) else None

    # postings

    def slot(self, subject: int, lineage: int) -> Rows:
        return self._only(PROPOSITION, self.whole.slot(subject, lineage))

    def outgoing(self, subject: int) -> Rows:
        return self._only(PROPOSITION, self.whole.outgoing(subject))

    def incoming(self, term: int) -> Rows:
        return self._only(PROPOSITION, self.whole.incoming(term))

    def by_predicate(self, lineage: int) -> Rows:
        return self._only(PROPOSITION, self.whole.by_predicate(lineage))

    def pairs(self, term: int, lineage: int) -> Rows:
        return self._only(PROPOSITION, self.whole.pairs(term, lineage))

    def tuple_row(self, subject: int, lineage: int, term: int) -> int | None:
        row = self.whole.tuple_row(subject, lineage, term)
        if row is None or not self.graph.visibility.hides(row * 8 + PROPOSITION):
            return row
        objects = self.objects
        return next((other for other in self.slot(subject, lineage) if objects[other] == term), None)

    def assertions_of(self, row: int) -> Rows:
        return self._only(ASSERTION, self.whole.assertions_of(row))

    def assertions_by(self, actor: int) -> Rows:
        return self._only(ASSERTION, self.whole.assertions_by(actor))

    def slot_assertions(self, subject: int, lineage: int) -> Rows:
        return self._only(ASSERTION, self.whole.slot_assertions(subject, lineage))

    def live_assertions(self, subject: int, lineage: int) -> Rows:
        ended, seq = self.graph.assertions.ended, self.seq
        return [row for row in self.slot_assertions(subject, lineage) if ended(row) > seq]

    def of_type(self, lineage: int) -> Rows:
        return self._only(CONCEPT, self.whole.of_type(lineage))

    def keyed(self, key: str, lineage: int | None = None) -> Rows:
        """Concepts with this key, where it may be read."""
        rows = self._only(CONCEPT, self.whole.keyed(key, lineage))
        return [row for row in rows if self._reads(row, "key", key)]

    def named(self, name: str) -> Rows:
        return self._only(CONCEPT, self.whole.named(name))

    def with_value(self, kind: int, steps: Sequence[str], value: Scalar) -> Rows | None:
        rows = self.whole.with_value(kind, steps, value)
        return None if rows is None else self._only(kind, rows)

    def _reads(self, row: int, member: str, value: object) -> bool:
        code = element_code(CONCEPT, row)
        if self.graph.visibility.rule(code) is None:
            return True
        state: AnyRecord = state_at(self.graph, code, self.seq)  # type: ignore[arg-type]  # it has what this asks for
        return bool(getattr(state, member) == value)

    # structural references

    def referrers(self, target: int, field: str) -> Sequence[int]:
        """Codes of visible elements that are seen to refer to `target` in a field."""
        if not self.exists(target):
            return []
        found = [code for code in self.whole.referrers(target, field) if self.exists(code)]
        return [code for code in found if any(edge.target == target for edge in self.edges(code, field))]

    # commits

    def commit(self, seq: int) -> "Commit":
        """The Commit of a sequence with the entries of visible elements only (§36.1)."""
        return Chronicle(self).commit(self.whole.commit(seq))

    def discloses(self, seq: int) -> bool:
        """Whether a commit shows this caller anything: a change, a control change, or that it was the caller's."""
        return Chronicle(self).discloses(self.whole.commit(seq))

    def changed_in(self, code: int) -> list[int]:
        """The commits in which something visible of an element changed."""
        return Chronicle(self).changed_in(code)

    def transaction(self, tx_id: str) -> "Commit | None":
        """The Commit with this `tx_id`, None when there is none, or none that shows anything."""
        found = self.whole.transaction(tx_id)
        return None if found is None or not self.discloses(found.seq) else self.commit(found.seq)
