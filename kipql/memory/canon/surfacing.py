"""Surfacing: the article that governs what an agent touches is shown once, at the end of the turn.

A touch stages, a flush shows what is staged in one message. Capsules are charged to the session's budget; one that is
missing or does not fit any more becomes a pointer, which is free. What the agent reads in full meanwhile is withdrawn.
All of this is state of the session, never of the memory. No header, no greeting: a message is its lines.
"""

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.answers import Answer
from kipql.memory.canon import marks, related
from kipql.memory.canon.address import shown

if TYPE_CHECKING:
    from kipql.memory.canon.canon import Canon

_ONCE = ("session", "present")


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfacePolicy:
    """How a session surfaces.

    budget_chars   characters of capsule text a session may show; None for no bound
    once           "session": an article once a session. "present": again when its line has left the window, which
                   needs the `projection` of touch and flush
    message_chars  characters of one message; what does not fit is carried over. None for no bound
    retrieval      how many articles that no path leads to `intend` may stage for one message; None for none
    make_assets    whether a touch makes the Asset of a path that was never named before (where it may write)
    """

    budget_chars: int | None = 4_000
    once: str = "session"
    message_chars: int | None = None
    retrieval: int | None = None
    make_assets: bool = True

    def __post_init__(self) -> None:
        if self.once not in _ONCE:
            raise kipql.KipError("ConstraintViolation", f"once is one of {', '.join(_ONCE)}, not {self.once!r}")
        for name in ("budget_chars", "message_chars", "retrieval"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
                raise kipql.KipError("ConstraintViolation", f"{name} is a count or None, not {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats(Answer):
    """What a session did: `spent` are characters of capsules shown, `seen` articles it will not show again as it is,
    `queries` what it asked the memory."""

    touched: int = 0
    staged: int = 0
    seen: int = 0
    spent: int = 0
    surfaced: int = 0
    pointers: int = 0
    withdrawn: int = 0
    flushed: int = 0
    queries: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a message: `cost` is what it takes of the budget, 0 for a pointer."""

    key: str
    said: str
    cost: int

    @property
    def text(self) -> str:
        """The line as it is shown."""
        return f"[canon] {self.said}"

    def stands(self, projection: str) -> bool:
        """Whether the line is in the window already."""
        mark = marks.mark(self.said)
        return mark is not None and marks.present(_shown(self.key), mark, projection)


class CanonSession:
    """One agent's session with a Canon; made by `canon.session(name)`. It may be used from several threads."""

    def __init__(self, canon: "Canon", name: str, state: Mapping[str, Any] | None = None) -> None:
        self.name = name
        self._canon = canon
        self._policy = canon.policy
        self._lock = threading.RLock()
        self._staged: dict[str, None] = {}
        self._seen: dict[str, str | None] = {}  # key -> the mark that tells whether it is still in the window
        self._written: set[str] = set()
        self._counts = dict.fromkeys(("touched", "spent", "surfaced", "pointers", "withdrawn", "flushed", "queries"), 0)
        self._last: tuple[Line, ...] = ()
        self._retry: tuple[str, ...] = ()
        self._settled = False
        self._intent: tuple[str, ...] = ()
        if state is not None:
            self._restore(state)

    # what a host calls

    def touch(self, paths: str | Iterable[str], projection: str | None = None) -> list[str]:
        """Stage the articles that govern some paths; the addresses that were newly staged.

        paths       one path or several; what is no path is passed over, since tools are given anything
        projection  the text now in the window; with `once="present"` an article whose line is no longer in it is
                    staged again

        One query for all paths. An article that was shown or read in this session stays silent.
        """
        # Asked before the lock is taken: a touch may have to wait for a writer, and a writer may read an article.
        found = self._canon.governing([paths] if isinstance(paths, str) else list(paths))
        with self._lock:
            self._counts["touched"] += found.paths
            self._counts["queries"] += found.queries
            fresh = []
            for key in found.keys:
                if key in self._staged or not self._open(key, projection):
                    continue
                self._staged[key] = None
                fresh.append(key)
                self._canon.trace("staged", self.name, key)
            return [_shown(key) for key in fresh]

    def intend(self, words: str, calls: Iterable[str] = ()) -> list[str]:
        """Stage articles that no path leads to, by what is intended; the addresses that were newly staged.

        words  what the user said
        calls  the tool calls, as text; never their results

        Nothing without `SurfacePolicy(retrieval=...)`, and nothing while the intent is the same.
        """
        wanted = related.intent(words, tuple(calls))
        if not self._policy.retrieval or not wanted or wanted == self._intent:
            return []
        texts = self._canon.off_spine()
        with self._lock:
            self._intent = wanted
            self._counts["queries"] += 1
            fresh = [
                key
                for key in related.ranked(wanted, texts, self._policy.retrieval)
                if key not in self._staged and key not in self._seen
            ]
            for key in fresh:
                self._staged[key] = None
                self._canon.trace("staged", self.name, key, by="intent")
            return [_shown(key) for key in fresh]

    def flush(self, projection: str | None = None) -> str | None:
        """The message of what is staged, a line an article, or None when there is nothing to show.

        projection  the text now in the window; with `once="present"` what stands in it already is not repeated

        What is returned counts as shown: call `undo` if it could not be delivered.
        """
        with self._lock:
            waiting = [key for key in self._retry if key in self._staged] or list(self._staged)
            if not waiting:
                return None
            rows = self._canon.capsules(waiting)
            self._counts["queries"] += 1
            lines, later = self._lines(waiting, rows, projection)
            self._retry = ()
            self._last = tuple(lines)
            if not lines:
                return None
            self._counts["flushed"] += 1
            text = "\n".join(line.text for line in lines)
            self._canon.trace("flushed", self.name, None, lines=len(lines), spent=self._counts["spent"])
            return f"{text}\n{later} more staged; they surface next turn" if later else text

    def undo(self) -> None:
        """The last message was not delivered: its articles are staged again, and the next flush shows no others."""
        with self._lock:
            for line in self._last:
                self._seen.pop(line.key, None)
                self._staged[line.key] = None
                self._counts["spent"] -= line.cost
                self._counts["surfaced" if line.cost else "pointers"] -= 1
            self._counts["flushed"] -= bool(self._last)
            self._retry = tuple(line.key for line in self._last)
            self._last = ()

    def settle(self, modified: str | Iterable[str]) -> str | None:
        """One reminder a session: which articles govern what was modified and were not written since.

        modified  the paths of the calls that changed something and succeeded
        """
        found = self._canon.governing([modified] if isinstance(modified, str) else list(modified))
        with self._lock:
            self._counts["queries"] += found.queries
            left = [_shown(key) for key in found.keys if key not in self._written]
            if self._settled or not left:
                return None
            self._settled = True
            return f"Changed, and not updated since: {', '.join(left)}. Do these articles still hold?"

    @property
    def stats(self) -> Stats:
        """What the session did so far."""
        with self._lock:
            return Stats(staged=len(self._staged), seen=len(self._seen), **self._counts)

    # what the Canon tells a session

    def read(self, key: str, body: str) -> None:
        """The article was read in full: withdrawn if it is staged, and not shown again."""
        with self._lock:
            if key in self._staged:
                del self._staged[key]
                self._counts["withdrawn"] += 1
                self._canon.trace("withdrawn", self.name, key)
            self._seen[key] = marks.mark(body)

    def wrote(self, key: str) -> None:
        """The article was written by this agent."""
        with self._lock:
            self._written.add(key)

    # state across processes

    def to_dict(self) -> dict[str, Any]:
        """The state as JSON, for `canon.session(name, state)` in another process."""
        with self._lock:
            return {
                "name": self.name,
                "staged": list(self._staged),
                "seen": dict(self._seen),
                "written": sorted(self._written),
                "counts": dict(self._counts),
                "settled": self._settled,
            }

    def _restore(self, state: Mapping[str, Any]) -> None:
        try:
            self._staged = dict.fromkeys(map(str, state["staged"]))
            self._seen = {str(key): None if mark is None else str(mark) for key, mark in state["seen"].items()}
            self._written = set(map(str, state["written"]))
            self._counts |= {name: int(state["counts"][name]) for name in self._counts}
            self._settled = bool(state["settled"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise kipql.KipError(
                "ArtifactParseError", "this is no state of a session", hint="give what `to_dict` returned"
            ) from None

    # inside

    def _open(self, key: str, projection: str | None) -> bool:
        """Whether an article may be staged: it was not shown yet, or what was shown has left the window."""
        if key not in self._seen:
            return True
        if self._policy.once == "session" or projection is None:
            return False
        mark = self._seen[key]
        if mark is None or marks.present(_shown(key), mark, projection):
            return False
        del self._seen[key]
        return True

    def _lines(self, waiting: list[str], rows: Mapping[str, str], projection: str | None) -> tuple[list[Line], int]:
        """The lines of one message; how many articles are carried over."""
        lines: list[Line] = []
        size = 0
        for at, key in enumerate(waiting):
            if key not in rows:  # archived since it was staged
                del self._staged[key]
                continue
            line = self._line(key, rows[key])
            if self._policy.once == "present" and projection is not None and line.stands(projection):
                self._saw(line)
                continue
            most = self._policy.message_chars
            if most is not None and lines and size + len(line.text) > most:
                return lines, sum(one in rows for one in waiting[at:])
            size += len(line.text) + 1
            self._saw(line)
            self._counts["spent"] += line.cost
            self._counts["surfaced" if line.cost else "pointers"] += 1
            self._canon.trace("surfaced", self.name, key, pointer=not line.cost, cost=line.cost)
            lines.append(line)
        return lines, 0

    def _line(self, key: str, capsule: str) -> Line:
        budget = self._policy.budget_chars
        fits = budget is None or self._counts["spent"] + len(capsule) <= budget
        if capsule and fits:
            return Line(key, f"{_shown(key)}: {capsule}", len(capsule))
        return Line(key, f"{_shown(key)}: there is an article, read it", 0)

    def _saw(self, line: Line) -> None:
        del self._staged[line.key]
        self._seen[line.key] = marks.mark(line.said)


def _shown(key: str) -> str:
    mount, _, address = key.partition(":")
    return shown(mount, address)


def trace_line(event: str, session: str, key: str | None, at: str, **more: Any) -> str:
    """One decision as a JSON line."""
    named = {} if key is None else {"article": _shown(key)}
    return json.dumps({"at": at, "event": event, "session": session, **named, **more}, ensure_ascii=False)
