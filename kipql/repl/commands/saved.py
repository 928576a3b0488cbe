"""Queries to keep, to run again, to watch."""

import time

from kipql.errors import KipError
from kipql.escape import terminal
from kipql.render.tables import cut
from kipql.repl import saved
from kipql.repl.registry import command
from kipql.repl.shell import Shell
from kipql.repl.statements import run_part, run_text
from kipql.repl.usage import Misuse, pair, words

_SHOWN = 60  # cells of what was saved


@command(
    "save",
    "NAME [STATEMENTS]",
    "Keep statements under a name; without any, the last one that ran.",
    offers=lambda _: saved.names(),
)
def save(shell: Shell, rest: str) -> None:
    name, _, text = rest.partition(" ")
    if not name:
        raise Misuse("save as what?")
    kept = text.strip() or saved.last_statement(shell).text
    saved.save(name, kept)
    shell.console.aside(f"saved {name}: {cut(terminal(' '.join(kept.split())), _SHOWN)}")


@command(
    "run",
    "[NAME [k=v...]]",
    "Run what is saved under a name, with parameters; without one, list the names.",
    offers=lambda _: saved.names(),
)
def run(shell: Shell, rest: str) -> None:
    if not rest:
        shell.console.show("\n".join(map(terminal, saved.names())) or "nothing is saved")
        return
    name, *given = words(rest)
    text, before = saved.load(name), dict(shell.parameters)
    shell.parameters.update(pair(word) for word in given)
    try:
        run_text(shell, text)
    finally:
        shell.parameters = before


@command("more", "", "The next rows of the last query, behind its LIMIT.")
def more(shell: Shell, rest: str) -> None:
    asked = shell.following
    if asked is None:
        raise Misuse("there is no more: the last answer is whole")
    before = shell.parameters, shell.as_of, shell.for_time
    shell.parameters, shell.as_of, shell.for_time = dict(asked.parameters), asked.as_of, asked.for_time
    try:
        run_part(shell, asked.part)
    except KipError as error:  # without a place: nobody wrote this text
        raise KipError(error.code, error.message, hint=error.hint, details=error.details) from None
    finally:
        shell.parameters, shell.as_of, shell.for_time = before


@command(
    "watch",
    "[SECONDS [TIMES]]",
    "Run the last query again and again, whenever the memory moved; Ctrl-C ends it.",
)
def watch(shell: Shell, rest: str) -> None:
    given = words(rest)
    try:
        pause = float(given[0]) if given else 2.0
        times = int(given[1]) if len(given) > 1 else None
    except ValueError:
        raise Misuse("seconds and times are numbers") from None
    if pause <= 0 or len(given) > 2:
        raise Misuse("seconds are more than 0")
    part = saved.last_statement(shell)
    if part.language == "KML":
        raise Misuse("only what reads is watched")
    seen = None
    try:
        while times is None or times > 0:
            if (seq := shell.nexus.space_seq) != seen:
                shell.console.aside(f"-- at {seq}")
                run_part(shell, part)
                seen = seq
            times = None if times is None else times - 1
            if times != 0:
                time.sleep(pause)
    except KeyboardInterrupt:
        shell.console.aside("")
