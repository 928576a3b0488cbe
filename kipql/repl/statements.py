"""Statements in the shell: each of a text is run in order and shown in the mode in force, the coordinates under it."""

import time
from typing import TYPE_CHECKING, cast

import kipql
from kipql.audit.lint import lint
from kipql.audit.source import moved
from kipql.errors import KipError
from kipql.escape import json_text, terminal, terminal_lines
from kipql.render.modes import COUNTED, MODES, counted
from kipql.render.people import Label, instant
from kipql.render.receipts import receipt_line
from kipql.render.results import grid
from kipql.repl.running import cancellable
from kipql.repl.shell import Shell
from kipql.repl.usage import Misuse
from kipql.runtime.standing import takes_as_of, takes_for_time
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.lang.script import Part
    from kipql.runtime.receipt import Receipt
    from kipql.runtime.result import Result

_LABELLED = 500  # rows up to which the references in them are looked up


def run_text(shell: Shell, text: str) -> None:
    """Run every statement of a text. Raises KipError, placed in the text; the statements before it stay."""
    for part in kipql.split(text):
        shell.last = part
        try:
            run_part(shell, part)
        except KipError as error:
            raise moved(error, text, part.span.start) from None


def run_part(shell: Shell, part: "Part") -> None:
    """Run one statement and show what it answers."""
    for warning in lint(part.statement):
        shell.console.aside(f"warning: {terminal_lines(str(warning.in_text(part.text)))}")
    if part.language == "KML":
        _write(shell, part)
    else:
        _read(shell, part)


def _read(shell: Shell, part: "Part") -> None:
    begun = time.perf_counter()
    statement = shell.nexus.prepare(part.text, as_of=shell.as_of, for_time=shell.for_time)
    result = cancellable(lambda cancel: statement.query(shell.parameters, limits=shell.limits, cancel=cancel))
    columns, rows = grid(result, part.language)
    took = time.perf_counter() - begun
    show_rows(shell, columns, rows)
    _under(shell, [counted(shell.settings.mode, rows)[1:-1], _standing(shell, part), _timing(shell, took)])
    if more := _more(shell, result):
        shell.console.aside(more)


def show_rows(shell: Shell, columns: "tuple[str, ...]", rows: "list[tuple[Json, ...]]") -> None:
    """Rows in the mode in force."""
    label: Label = shell.label if len(rows) <= _LABELLED and shell.settings.mode != "compact" else str
    text = MODES[shell.settings.mode](columns, rows, label, shell.console.width) if columns else ""
    shell.console.show(text)


def _under(shell: Shell, facts: list[str]) -> None:
    """The line under an answer; in a form for programs it goes beside the rows, not into them."""
    line = ", ".join(fact for fact in facts if fact)
    if not line:
        return
    if shell.settings.mode in COUNTED:
        shell.console.note(f"({line})")
    else:
        shell.console.aside(f"({line})")


def _standing(shell: Shell, part: "Part") -> str:
    """What of the coordinates in force this answer stands at, and what it could not take."""
    node, facts = part.statement, []
    if shell.as_of is not None:
        said = f"as of {shell.as_of}"
        facts.append(said if takes_as_of(node) else f".asof {shell.as_of} not used")
    if shell.for_time is not None:
        said = instant(shell.for_time)
        facts.append(f"for time {said}" if takes_for_time(node) else f".fortime {said} not used")
    return ", ".join(facts)


def _timing(shell: Shell, took: float) -> str:
    if not shell.settings.timing:
        return ""
    return f"{took * 1000:.1f} ms" if took < 1 else f"{took:.2f} s"


def _more(shell: Shell, result: "Result") -> str:
    """That LIMIT left rows out."""
    if result.next_cursor:
        return f'more rows follow: raise LIMIT, or add CURSOR "{result.next_cursor}"'
    return "more rows follow: raise LIMIT" if result.truncated else ""


def _write(shell: Shell, part: "Part") -> None:
    if shell.safe and not shell.readonly and not _agreed(shell, part):
        shell.console.aside("not run")
        return
    begun = time.perf_counter()
    nexus = shell.nexus
    done = cancellable(lambda cancel: nexus.execute(part.text, shell.parameters, limits=shell.limits, cancel=cancel))
    receipt = cast("Receipt", done)
    mode = shell.settings.mode
    if mode in ("json", "jsonl"):
        shell.console.show(json_text(receipt.to_dict(), indent=2 if mode == "json" else None))
    else:
        shell.console.show(receipt_line(receipt))
    facts = [_standing(shell, part), _timing(shell, time.perf_counter() - begun)]
    _under(shell, facts)


def _agreed(shell: Shell, part: "Part") -> bool:
    """Show what a mutation would do and ask. Raises KipError when it would fail, Misuse where nobody can be asked."""
    given = {**shell.parameters, "_statement": part.text}
    foreseen = cancellable(
        lambda cancel: shell.base.query("PREVIEW KML :_statement", given, limits=shell.limits, cancel=cancel)
    ).one()
    changes = foreseen["changes"]
    for change in changes[:20]:
        shell.console.aside(terminal(f"  {change['op']} {change.get('kind', '')} {change['id']}"))
    if len(changes) > 20:
        shell.console.aside(f"  and {len(changes) - 20} more")
    if foreseen["effect"] == "no_effect":
        shell.console.aside("  nothing would change")
    if shell.ask is None:
        raise Misuse("not run: .safe asks first, and in a pipe there is nobody to ask; .safe off runs it")
    return shell.ask("run it?")
