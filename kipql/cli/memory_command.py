"""`kipql memory`: a look at an agent session in a memory; it writes nothing there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from kipql.cli.memory_request import request
from kipql.cli.options import db_option, open_memory

if TYPE_CHECKING:
    from kipql import Nexus
    from kipql.memory.session import AgentMemory

_session_option = click.option("--session", required=True, metavar="NAME", help="The session, as in run-1/planner.")
_window_option = click.option(
    "--window",
    type=click.IntRange(min=1),
    metavar="TOKENS",
    default=128_000,
    show_default=True,
    help="The context window.",
)
_mount_option = click.option("--mount", default="", metavar="NAME", help="The mount of the canon.")


@click.group("memory", short_help="Look at an agent session.")
def command() -> None:
    """Look at an agent session: its turns, pins, window and prompt. Nothing is written, but by `request`."""


command.add_command(request)


@command.command("recall", short_help="The messages of a turn.")
@click.argument("turn", type=int)
@click.argument("include", type=click.Choice(["all", "assistant_only", "tool_calls"]), default="all")
@db_option
@_session_option
def recall(turn: int, include: str, db: str | None, session: str) -> None:
    """Show the messages of a turn word for word: all, assistant_only, or tool_calls."""
    from kipql.memory.commands import recall_text

    with _memory(db, session) as memory:
        _write(recall_text(memory, turn, include))


@command.command("pins", short_help="The pins in effect.")
@click.argument("turn", type=int, required=False)
@click.option("--as-of", "as_of_seq", type=click.IntRange(min=0), metavar="SEQ", help="As the memory stood then.")
@db_option
@_session_option
def pins(turn: int | None, as_of_seq: int | None, db: str | None, session: str) -> None:
    """Show the pins in effect now, or at a turn."""
    from kipql.memory.commands import pins_text

    with _memory(db, session) as memory:
        _write(pins_text(memory, turn, as_of_seq))


@command.command("touch", short_help="The articles about paths.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@db_option
@_mount_option
def touch(paths: tuple[str, ...], db: str | None, mount: str) -> None:
    """Show which articles of the canon a touch of these paths stages."""
    from kipql.memory.canon import Canon
    from kipql.memory.canon.says import touched

    with _nexus(db) as nexus:
        _write(touched(Canon(nexus, mount=mount).session("kipql memory touch"), paths))


@command.command("flush", short_help="The message that paths surface.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@db_option
@_mount_option
def flush(paths: tuple[str, ...], db: str | None, mount: str) -> None:
    """Show the message that a session which touched these paths would surface."""
    from kipql.memory.canon import Canon
    from kipql.memory.canon.says import flushed, touched

    with _nexus(db) as nexus:
        canon_session = Canon(nexus, mount=mount).session("kipql memory flush")
        touched(canon_session, paths)
        _write(flushed(canon_session))


@command.group("compact", short_help="What a compaction would do.")
def compact() -> None:
    """What a compaction of the live window would do."""


@compact.command("plan", short_help="The plan of a compaction.")
@click.option("--force", is_flag=True, help="Plan below the threshold too.")
@db_option
@_session_option
@_window_option
def plan(force: bool, db: str | None, session: str, window: int) -> None:
    """Show the plan of a compaction of the live window; nothing is condensed."""
    from kipql.memory.commands import compact_plan_text

    with _memory(db, session, window) as memory:
        _write(compact_plan_text(memory, force=force))


@command.command("assemble", short_help="The prompt for a goal.")
@click.argument("goal", default="")
@click.option("--profile", type=click.Choice(["reflex", "deliberate"]), default="deliberate", show_default=True)
@click.option("--reserve", type=click.IntRange(min=0), metavar="TOKENS", help="Output tokens kept free.")
@click.option("--topic", "topics", multiple=True, metavar="TEXT", help="What to look up; repeat for more.")
@db_option
@_session_option
@_window_option
def assemble(
    goal: str, profile: str, reserve: int | None, topics: tuple[str, ...], db: str | None, session: str, window: int
) -> None:
    """Show the prompt for a goal under the budget, and what was left out."""
    from kipql.memory.commands import assemble_text

    with _memory(db, session, window) as memory:
        _write(assemble_text(memory, goal, profile=profile, reserve=reserve, topics=topics))


@command.command("trace", short_help="The events of a session.")
@click.argument("run", metavar="FILE")
@click.option("--cognitive", is_flag=True, help="Only recall, pin and unpin.")
@click.option("--context", is_flag=True, help="Only assembled prompts, a line per block.")
@_session_option
def trace(run: str, cognitive: bool, context: bool, session: str) -> None:
    """Show the events of a session from its trace file; the same as `kipql trace show --agent`."""
    from kipql.memory.replay import show_text

    _write(show_text(run, cognitive=cognitive, context=context, agent=session) or "no events")


@contextmanager
def _nexus(db: str | None) -> "Iterator[Nexus]":
    with open_memory(db, write=False) as nexus:
        yield nexus


@contextmanager
def _memory(db: str | None, session: str, window: int = 128_000) -> "Iterator[AgentMemory]":
    from kipql.memory import AgentMemory

    with _nexus(db) as nexus:
        yield AgentMemory(nexus, session=session, window_tokens=window)


def _write(text: str) -> None:
    from kipql.escape import terminal_lines

    click.echo(terminal_lines(text))
