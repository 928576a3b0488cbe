"""The graph of a Space as far as a caller may see into it: what stands behind an AuthorizedView (§30.4).

A store view and the path getters read states and columns of its graph. This one answers the same questions from
what is shown of each element. It has nothing else: a reader that asks it for a posting, which would tell of hidden
rows, fails instead of leaking.
"""

from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kipql.govern.shown import Shown
from kipql.model import ACTIVITY, ASSERTION, CONCEPT, EVIDENCE, PROPOSITION, AnyRecord, Assertion, Concept, Edge
from kipql.store.identity import InputReference
from kipql.store.records import NEVER, Hot

if TYPE_CHECKING:
    from kipql.govern.visibility import Visibility
    from kipql.store.columns import Assertions
    from kipql.times import Interval


class VisibleGraph:
    """Made once per Visibility; its caches are of what is shown."""

    def __init__(self, visibility: "Visibility") -> None:
        graph = visibility.graph
        self.visibility = visibility
        self.whole = graph
        self.shown = Shown(visibility)
        self.space_id = graph.space_id
        self.symbols = graph.symbols
        self.literals = graph.literals
        self.history = graph.history
        self.keys = graph.keys
        self.fields = graph.fields
        self.merged_from = graph.merged_from
        self.controls = graph.controls
        self.left_seqs = graph.left_seqs
        self.ever_left = graph.ever_left
        self.left_sets: dict[tuple[int, int], frozenset[int]] = {}
        self.objects = {kind: Heads(self, kind) for kind in (CONCEPT, EVIDENCE, ACTIVITY)}
        self.side = {kind: Sides(self, kind) for kind in (PROPOSITION, ASSERTION)}
        self.assertions = Columns(self)
        self.inputs = Inputs(self)
        self.reviewed = Reviewed(self)
        self._identity: tuple[int, array[int]] = (0, array("q"))
        self._erasures = len(graph.kept_entries)

    propositions = property(lambda self: self.whole.propositions)
    pending_at = property(lambda self: self.whole.pending_at)
    pending_origin = property(lambda self: self.whole.pending_origin)

    def head(self, code: int) -> AnyRecord | None:
        """The newest state of an element as it is shown, None when it is the one its columns say."""
        record, seq = self.whole.head(code), self.visibility.seq
        while record is not None and record.seq > seq:
            record = record.prev  # type: ignore[assignment]
        if record is None:
            return None
        if len(self.whole.kept_entries) != self._erasures:
            self._erasures = len(self.whole.kept_entries)
            self.shown.forget()
        return self.shown.head(code, record)

    @property
    def identity_seqs(self) -> "array[int]":
        """The commits that changed how a visible Concept resolves."""
        whole = self.whole.identity_seqs
        done, seqs = self._identity
        settled = len(self.history)
        if done > len(whole):
            done, seqs = 0, array("q")
        if done < len(whole):
            seqs = array("q", seqs)
            committed = done
            for seq in whole[done:]:
                if self._resolves_anew(seq):
                    seqs.append(seq)
                committed += seq <= settled
            if committed == len(whole):
                self._identity = (committed, seqs)
        return seqs

    def _resolves_anew(self, seq: int) -> bool:
        if seq > len(self.history):
            return True  # a transaction under way; its own writer reads it
        low, high = self.history.bounds(seq - 1)[CONCEPT], self.history.bounds(seq)[CONCEPT]
        codes = [code for code in self.history.changed(seq) if code & 7 == CONCEPT]
        codes += [row * 8 + CONCEPT for row in range(low, high)]
        return any(not self.visibility.hides(code) and self._moved(code, seq) for code in codes)

    def _moved(self, code: int, seq: int) -> bool:
        state = self.head(code)
        while state is not None and state.seq > seq:
            state = state.prev  # type: ignore[assignment]
        if not isinstance(state, Concept) or state.seq != seq:
            return False
        before = state.prev.merged_into if isinstance(state.prev, Concept) else None
        return state.merged_into != before


class Heads:
    """The newest states of the objects of a kind, by row."""

    __slots__ = ("_graph", "_kind")

    def __init__(self, graph: VisibleGraph, kind: int) -> None:
        self._graph = graph
        self._kind = kind

    def __getitem__(self, row: int) -> AnyRecord:
        record = self._graph.head(row * 8 + self._kind)
        assert record is not None
        return record


class Sides:
    """The kept states of claims, by row, where there is more to see than their columns say."""

    __slots__ = ("_graph", "_kind")

    def __init__(self, graph: VisibleGraph, kind: int) -> None:
        self._graph = graph
        self._kind = kind

    def get(self, row: int) -> AnyRecord | None:
        """The newest kept state of a row."""
        return self._graph.head(row * 8 + self._kind)

    def __contains__(self, row: int) -> bool:
        return self.get(row) is not None

    def __getitem__(self, row: int) -> AnyRecord:
        record = self.get(row)
        if record is None:
            raise KeyError(row)
        return record


class Columns:
    """The columns of Assertions; citations and ends as they are shown."""

    __slots__ = ("_graph",)

    def __init__(self, graph: VisibleGraph) -> None:
        self._graph = graph

    @property
    def _whole(self) -> "Assertions":
        return self._graph.whole.assertions

    @property
    def asserted_at(self) -> "array[int]":
        return self._whole.asserted_at

    @property
    def contexts(self) -> "Mapping[int, tuple[int, ...]]":
        return self._whole.contexts

    def __len__(self) -> int:
        return len(self._whole)

    def read(self, row: int) -> Hot:
        """The hot fields of a row."""
        return self._whole.read(row)._replace(ended=self.ended(row))

    def ended(self, row: int) -> int:
        """The commit at which its status is seen to leave `active`, NEVER while it is seen active."""
        mark = self._whole.ended(row)
        if mark == NEVER:
            return mark
        state, ended = self._graph.side[ASSERTION].get(row), NEVER
        while isinstance(state, Assertion) and state.status != "active":
            ended, state = state.seq, state.prev  # type: ignore[assignment]
        return ended

    def evidence(self, row: int, flags: int) -> tuple[Edge, ...]:
        """The citations of a row, those that may be seen."""
        held = self._whole.evidence(row, flags)
        if not held:
            return held
        rule = self._graph.visibility.rule(row * 8 + ASSERTION)
        if rule is not None and not rule.shows("evidence"):
            return ()
        return self._graph.shown.visible(held)

    def valid(self, row: int, hot: Hot) -> "Interval":
        """The interval as written."""
        return self._whole.valid(row, hot)

    def stated_confidence(self, row: int) -> int | float | None:
        """The confidence as written."""
        return self._whole.stated_confidence(row)


class Inputs:
    """The supplied references of writes (§11.3), where both ends may be seen."""

    __slots__ = ("_graph",)

    def __init__(self, graph: VisibleGraph) -> None:
        self._graph = graph

    def __len__(self) -> int:
        return len(self._graph.whole.inputs)

    def get(self, code: int, default: Sequence[InputReference] = ()) -> Sequence[InputReference]:
        """Those of an element."""
        graph = self._graph
        hides, seqs = graph.visibility.hides, graph.identity_seqs
        held = graph.whole.inputs.get(code, ())
        return [
            each._replace(identity_version=1 + bisect_right(seqs, each.seq))
            for each in held
            if not hides(each.supplied) and not hides(each.resolved)
        ] or default


class Reviewed:
    """The commits that asked to review an element (§11.5), where the identity that was repaired may be seen."""

    __slots__ = ("_graph",)

    def __init__(self, graph: VisibleGraph) -> None:
        self._graph = graph

    def __bool__(self) -> bool:
        return bool(self._graph.whole.reviewed)

    def get(self, code: int, default: Sequence[int] = ()) -> Sequence[int]:
        """Those about an element."""
        shown = self._graph.identity_seqs
        return [seq for seq in self._graph.whole.reviewed.get(code, ()) if seq in shown] or default
