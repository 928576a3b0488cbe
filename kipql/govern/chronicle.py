"""Commits as a caller may see them: an element that may not be discovered is in none (specification §36.1, §68.2).

An entry says how what is shown of an element changed; where nothing shown changed there is no entry. A control
change is disclosed when it concerns every reader (schema, policy, trust), when the caller sees what it was about
(identity, recording), or to who audits (authorization, `read_audit`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kipql.store import changes
from kipql.store.history import Commit
from kipql.store.states import sequences, state_at

if TYPE_CHECKING:
    from kipql.govern.view import AuthorizedView

_OPEN = ("schema", "policy", "trust")


class Chronicle:
    """The commits of one AuthorizedView."""

    __slots__ = ("_view",)

    def __init__(self, view: "AuthorizedView") -> None:
        self._view = view

    def commit(self, commit: Commit) -> Commit:
        """A Commit without what is hidden in it."""
        return replace(
            commit, control_changes=tuple(self._controls(commit)), entries=lambda: list(self._entries(commit.seq))
        )

    def discloses(self, commit: Commit) -> bool:
        """Whether anything is left of a Commit, or it is the caller's own."""
        if commit.origin.principal_id == self._view.authority.principal.id:
            return True
        return any(True for _ in self._controls(commit)) or any(True for _ in self._entries(commit.seq))

    def changed_in(self, code: int) -> list[int]:
        """The commits up to the view's in which what is shown of an element changed, its creation first."""
        view = self._view
        whole = view.whole.changed_in(code)
        seen = set(sequences(view.graph, code))  # type: ignore[arg-type]
        kept = view.graph.whole.kept_entries
        return [seq for seq in whole if seq in seen or (seq, code) in kept]

    # inside

    def _entries(self, seq: int) -> Iterator[changes.Entry]:
        view = self._view
        graph: Any = view.graph
        history, exists = graph.history, view.exists
        low, high = history.bounds(seq - 1), history.bounds(seq)
        for kind in range(5):
            for row in range(low[kind], high[kind]):
                if exists(row * 8 + kind):
                    yield changes.created_entry(graph, row * 8 + kind, seq)
        for code in history.changed(seq):
            if exists(code) and (entry := self._changed(code, seq)) is not None:
                yield entry

    def _changed(self, code: int, seq: int) -> changes.Entry | None:
        graph: Any = self._view.graph
        kept = graph.whole.kept_entries.get((seq, code))
        if kept is not None:
            return self._without_hidden(dict(kept))
        new = state_at(graph, code, seq)
        return None if new.seq != seq else changes.difference(code, state_at(graph, code, seq - 1), new)

    def _without_hidden(self, entry: changes.Entry) -> changes.Entry:
        """A kept entry, of a state that was erased, without the ids of hidden elements."""
        hidden = self._view.graph.visibility.hidden_id
        if any(hidden(value) for value in entry.get("refs", {}).values()):
            entry["refs"] = {name: value for name, value in entry["refs"].items() if not hidden(value)}
        return entry

    def _controls(self, commit: Commit) -> Iterator[Mapping[str, str]]:
        for control in commit.control_changes:
            kind = control["kind"]
            if kind in _OPEN or self._concerns(kind, commit.seq):
                yield control

    def _concerns(self, kind: str, seq: int) -> bool:
        view = self._view
        if kind == "authorization":
            return view.authority.holds("read_audit")
        if kind == "identity":
            return seq in view.graph.identity_seqs or self._purges(seq)
        return any("_system.recording_validity" in entry.get("touched", ()) for entry in self._entries(seq))

    def _purges(self, seq: int) -> bool:
        return any(entry["op"] == "purge" and entry["kind"] == "concept" for entry in self._entries(seq))
