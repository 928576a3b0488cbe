"""`kipql import`: other formats into a memory."""

import re
from collections import Counter
from collections.abc import Sequence

import click

from kipql.cli.options import db_option, note_unkept, open_memory


@click.group("import", short_help="Import other formats.")
def command() -> None:
    """Import other formats into a memory."""


@command.command("chat", short_help="Conversations of dated sessions, from JSON files.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@db_option
@click.option(
    "--tz", "zone", metavar="ZONE", default="UTC", show_default=True, help="The IANA time zone of the session dates."
)
@click.pass_obj
def chat(readonly_given: bool, files: tuple[str, ...], db: str | None, zone: str) -> None:
    """Import conversations: an Experience each, an Event a session, an Evidence a message.

    A file is one JSON object with session_<n>, session_<n>_date_time and events_session_<n>; its name,
    without the ending, names the conversation. Each file is one transaction, and importing it again
    changes nothing. All files are read and checked before anything is written.
    """
    from kipql.escape import terminal
    from kipql.importers.chat import import_conversation
    from kipql.importers.conversation import read_conversation
    from kipql.render.values import many

    conversations = [read_conversation(path, zone) for path in files]
    with open_memory(db, write=not readonly_given) as nexus:
        for conversation in conversations:
            done = import_conversation(nexus, conversation)
            held = f"{many(done.messages, 'message')} in {many(done.sessions, 'session')}"
            counts = f"{held}, {many(done.events, 'event')}, {many(done.claims, 'claim')}"
            click.echo(terminal(f"{done.stem}: {done.status}: {counts}"))
            if done.left_out:
                click.echo(terminal(f"{done.stem}: left out: {_counted(done.left_out)}"), err=True)
    note_unkept(db)


def _counted(members: Sequence[str]) -> str:
    """Members by their shape: `qa, 19 session_<n>_summary`."""
    shapes = Counter(re.sub(r"\d+", "<n>", member) for member in members)
    return ", ".join(shape if count == 1 else f"{count} {shape}" for shape, count in shapes.items())
