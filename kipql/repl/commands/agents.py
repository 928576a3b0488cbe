"""A look at an agent's memory: the texts of `kipql memory`, for the session that `.settings session=NAME` names."""

from typing import TYPE_CHECKING

from kipql.escape import terminal_lines
from kipql.repl.registry import command
from kipql.repl.shell import Shell
from kipql.repl.usage import Misuse, whole, words

if TYPE_CHECKING:
    from kipql.memory.canon.surfacing import CanonSession
    from kipql.memory.session import AgentMemory

_INCLUDES = ("all", "assistant_only", "tool_calls")


def _agent(shell: Shell) -> "AgentMemory":
    from kipql.memory import AgentMemory

    if shell.settings.session is None:
        raise Misuse("which session? .settings session=run-1/planner")
    return AgentMemory(shell.nexus.readonly(), session=shell.settings.session, window_tokens=shell.settings.window)


def _show(shell: Shell, text: str) -> None:
    shell.console.show(terminal_lines(text))


@command("recall", "TURN [all|assistant_only|tool_calls]", "The messages of a turn, word for word.")
def recall(shell: Shell, rest: str) -> None:
    from kipql.memory.commands import recall_text

    turn, include = ([*words(rest), "", ""])[:2]
    if include and include not in _INCLUDES:
        raise Misuse(f"one of {', '.join(_INCLUDES)}, not {include}")
    _show(shell, recall_text(_agent(shell), whole(turn, "a turn"), include or "all"))


@command("pins", "[TURN]", "The pins in effect now, or at a turn.")
def pins(shell: Shell, rest: str) -> None:
    from kipql.memory.commands import pins_text

    _show(shell, pins_text(_agent(shell), whole(rest, "a turn") if rest else None, shell.as_of))


@command("touch", "PATH...", "Which articles of the canon a touch of these paths stages.")
def touch(shell: Shell, rest: str) -> None:
    from kipql.memory.canon.says import touched

    paths = words(rest)
    if not paths:
        raise Misuse("touch what?")
    _show(shell, touched(_canon(shell), paths))


@command("flush", "", "The message that the touched paths surface, once.")
def flush(shell: Shell, rest: str) -> None:
    from kipql.memory.canon.says import flushed

    _show(shell, flushed(_canon(shell)))


def _canon(shell: Shell) -> "CanonSession":
    from kipql.memory.canon import Canon

    if shell.canon is None:
        canon = Canon(shell.nexus.readonly(), mount=shell.settings.mount)
        shell.canon = canon.session(shell.settings.session or "kipql shell")
    session: CanonSession = shell.canon  # type: ignore[assignment]
    return session


@command(
    "compact",
    "[force]",
    "What a compaction of the live window would do; nothing is condensed.",
    offers=lambda _: ("force",),
)
def compact(shell: Shell, rest: str) -> None:
    from kipql.memory.commands import compact_plan_text

    if rest not in ("", "force"):
        raise Misuse(f"force, not {rest}")
    _show(shell, compact_plan_text(_agent(shell), force=rest == "force"))


@command("assemble", "[GOAL]", "The prompt for a goal under the window, and what was left out.")
def assemble(shell: Shell, rest: str) -> None:
    from kipql.memory.commands import assemble_text

    _show(shell, assemble_text(_agent(shell), rest))


@command("trace", "FILE", "The events of a trace file; of the session's agent where one is set.")
def trace(shell: Shell, rest: str) -> None:
    from pathlib import Path

    from kipql.memory.replay import show_text

    if not rest:
        raise Misuse("the trace of which file?")
    path = words(rest)[0]
    if not Path(path).is_file():
        raise Misuse(f"there is no file {path}")
    _show(shell, show_text(path, agent=shell.settings.session) or "no events")
