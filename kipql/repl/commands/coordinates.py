"""The two axes of time: what was known then, and what was true then."""

from kipql.render.people import instant
from kipql.repl.registry import command
from kipql.repl.shell import Shell
from kipql.repl.usage import moment

_OFF = ("off", "now", "head")


@command(
    "asof",
    "[N | TIME | off]",
    "Read as the memory stood at a sequence or a time, until it is off.",
    offers=lambda _: ("off",),
)
def asof(shell: Shell, rest: str) -> None:
    if rest in _OFF:
        shell.as_of = None
    elif rest.isascii() and rest.isdigit():
        shell.as_of = int(shell.nexus.query(f"DESCRIBE SNAPSHOT AS OF SEQ {int(rest)}").one()["space_seq"])
    elif rest:
        at = moment(rest)
        shell.as_of = int(shell.nexus.query("DESCRIBE SNAPSHOT AT TIME :at", {"at": at}).one()["space_seq"])
    if shell.as_of is None:
        shell.console.aside(f"reading the head, {shell.nexus.space_seq}")
        return
    found = shell.nexus.query(f"DESCRIBE SNAPSHOT AS OF SEQ {shell.as_of}").one()
    at = f", committed {instant(str(found['committed_at']))}" if found["committed_at"] else ""
    shell.console.aside(f"as of {shell.as_of}{at}; a statement's own AS OF SEQ wins")


@command("fortime", "[TIME | off]", "Read beliefs for a time in the world, until it is off.", offers=lambda _: ("off",))
def fortime(shell: Shell, rest: str) -> None:
    if rest in _OFF:
        shell.for_time = None
    elif rest:
        shell.for_time = moment(rest)
    if shell.for_time is None:
        shell.console.aside("reading beliefs for now")
    else:
        shell.console.aside(f"for time {instant(shell.for_time)}; a statement's own FOR TIME wins")
