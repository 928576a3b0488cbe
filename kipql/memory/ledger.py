"""The trace: what an agent did with its memory, off the graph (reading changes nothing there).

One JSON object a line: `{event, at, agent, turn, seq, metadata}`. With a path the lines are appended to that file;
without one the last 1,000 are kept in the process, and without the texts of prompts. A trace holds what was said:
erasing a message from the memory does not erase it there.
"""

import json
import warnings
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import kipql
from kipql.memory.graph import now

KEPT = 1000
PRIMITIVE = "cognitive_primitive"
TURN = "turn_recorded"
CONTEXT = "context_assembled"
COMPACTION = "compaction"
SEEDED = "history_seeded"
RESET = "window_reset"
UNREADABLE = "unreadable"


class Trace:
    """The trace of one agent, in a file that several agents may share.

    >>> trace = Trace(None, "run-1/planner")
    >>> trace.write("turn_recorded", 1, 1, messages=2)
    >>> [event["metadata"] for event in trace.events()]
    [{'messages': 2}]
    """

    __slots__ = ("_begun", "_kept", "agent", "error", "path")

    def __init__(self, path: str | Path | None, agent: str) -> None:
        self.path = None if path is None else Path(path)
        self.agent = agent
        self.error: OSError | None = None
        self._begun = False
        self._kept: deque[dict[str, Any]] = deque(maxlen=KEPT)

    def write(self, event: str, turn: int, seq: int, **metadata: Any) -> None:
        """Add one event. What can not be written is noted in `error` and warned of once: the memory goes on."""
        entry = {"event": event, "at": now(), "agent": self.agent, "turn": turn, "seq": seq, "metadata": metadata}
        if self.path is None:
            self._kept.append(entry)
            return
        line = json.dumps(entry, ensure_ascii=False, separators=(",", ":"), default=str) + "\n"
        if not self._begun:
            self._begun, line = True, _begins(self.path) + line
        try:
            with self.path.open("a", encoding="utf-8", errors="surrogatepass") as file:
                file.write(line)
        except OSError as error:
            if self.error is None:
                warnings.warn(f"the trace {self.path} can not be written: {error.strerror or error}", stacklevel=2)
            self.error = error

    def events(self, event: str | None = None, *, primitive: str | None = None) -> list[dict[str, Any]]:
        """The events of this agent in order; of one kind, or of one primitive (recall, pin, unpin)."""
        entries = list(self._kept) if self.path is None else [entry for entry in read(self.path) if self._own(entry)]
        if primitive is not None:
            return [entry for entry in entries if entry["metadata"].get("primitive") == primitive]
        return [entry for entry in entries if event is None or entry["event"] == event]

    def _own(self, entry: Mapping[str, Any]) -> bool:
        return bool(entry["agent"] == self.agent)


def read(path: str | Path) -> list[dict[str, Any]]:
    """The events of a trace file; none when it does not exist yet.

    A line that a crash cut short stands as an event "unreadable" with its number. Raises ArtifactUnavailable for a
    file that can not be read, ArtifactParseError for one that is no trace.
    """
    try:
        text = Path(path).read_text(encoding="utf-8", errors="surrogatepass")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise kipql.KipError("ArtifactUnavailable", f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise kipql.KipError("ArtifactParseError", f"{path}: not UTF-8: {error}") from None
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    events = [_event(line) or _unreadable(number) for number, line in lines]
    if lines and all(event["event"] == UNREADABLE for event in events):
        raise kipql.KipError("ArtifactParseError", f"{path} is no trace: no line of it is an event")
    return events


def _unreadable(number: int) -> dict[str, Any]:
    return {"event": UNREADABLE, "at": "", "agent": "", "turn": 0, "seq": 0, "metadata": {"line": number}}


def _event(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(entry, dict) and isinstance(entry.get("metadata"), dict) and isinstance(entry.get("turn"), int)
    return entry if whole and isinstance(entry.get("event"), str) and isinstance(entry.get("agent"), str) else None


def _begins(path: Path) -> str:
    """What a first line needs before it: a line feed after a line that a crash cut short."""
    try:
        with path.open("rb") as file:
            file.seek(-1, 2)
            return "" if file.read(1) == b"\n" else "\n"
    except OSError:  # no file yet, or an empty one
        return ""
