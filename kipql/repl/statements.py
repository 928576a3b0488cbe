"""Statements in the shell: each of a text is run in order and shown in the mode in force, the coordinates under it."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import kipql
from kipql.audit.lint import warned
from kipql.errors import KipError
from kipql.escape import json_text, terminal, terminal_lines
from kipql.lang import ast
from kipql.lang.canonical import format_node
from kipql.limits import hinted
from kipql.render.labels import MOST_ROWS
from kipql.render.modes import COUNTED, MODES, counted
from kipql.render.people import Label, instant
from kipql.render.receipts import receipt_line
from kipql.render.results import grid
from kipql.repl.running import cancellable
from kipql.repl.shell import Following, Shell
from kipql.repl.usage import Misuse
from kipql.runtime.standing import completed, takes_as_of, takes_for_time
from kipql.runtime.texts import moved
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.lang.script import Part
    from kipql.runtime.receipt import Receipt
    from kipql.runtime.result import Result


def run_text(shell: Shell, text: str) -> None:
    """Run every statement of a text. Raises KipError, placed in the text; the statements before it stay."""
    for part in kipql.split(text):
        if part.language == "KQL":
            shell.last_find = part
        try:
            run_part(shell, part, text)
        except KipError as error:
            raise moved(cured(shell, error), text, part.span.start) from None
        shell.last = part


def cured(shell: Shell, error: KipError) -> KipError:
    """An error with the hint that helps in a shell: what was narrowed here is widened here."""
    limit = error.details.get("limit")
    if error.code == "ReadonlyViolation" and shell.readonly:
        return hinted(error, "this session is read-only: .readonly off allows it")
    if isinstance(limit, str) and shell.limits is not None:
        held, opened = getattr(shell.limits, limit, None), getattr(shell.base.limits, limit, None)
        if held != opened:
            return hinted(error, f"narrow the request, or widen the limit: .limits {limit}={opened}, .limits clear")
    return error


def run_part(shell: Shell, part: "Part", text: str | None = None) -> None:
    """Run one statement and show what it answers.

    text  what it is a part of, where that is shown with a warning; its own text by default
    """

    def say(warning: KipError) -> None:
        shown = moved(warning, part.text if text is None else text, 0 if text is None else part.span.start)
        shell.console.aside(f"warning: {terminal_lines(str(shown))}")

    if part.language == "KML":
        _write(shell, part, say)
    else:
        _read(shell, part, say)


def _read(shell: Shell, part: "Part", say: Callable[[KipError], None]) -> None:
    begun = time.perf_counter()
    shell.following = None
    with warned(part, say):
        statement = shell.nexus.prepare(part.text, as_of=shell.as_of, for_time=shell.for_time)
        result = cancellable(lambda cancel: statement.query(shell.parameters, limits=shell.limits, cancel=cancel))
    columns, rows = grid(result, part.language)
    took = time.perf_counter() - begun
    show_rows(shell, columns, rows)
    _under(shell, [counted(shell.settings.mode, rows)[1:-1], _standing(shell, part), _timing(shell, took)])
    shell.following = _following(shell, part, result)
    if more := _more(shell, part, result):
        shell.console.aside(more)


def show_rows(shell: Shell, columns: "tuple[str, ...]", rows: "list[tuple[Json, ...]]") -> None:
    """Rows in the mode in force."""
    label: Label = shell.label if len(rows) <= MOST_ROWS and shell.settings.mode != "compact" else str
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
        used = takes_as_of(node) or _says(getattr(node, "as_of", None), shell.as_of)
        facts.append(said if used else f".asof {shell.as_of} not used")
    if shell.for_time is not None:
        said = instant(shell.for_time)
        used = takes_for_time(node) or _says(getattr(node, "for_time", None), shell.for_time)
        facts.append(f"for time {said}" if used else f".fortime {said} not used")
    return ", ".join(facts)


def _says(clause: object, value: Json) -> bool:
    """Whether a statement itself says the coordinate that is in force."""
    return isinstance(clause, ast.Literal) and clause.value == value


def _timing(shell: Shell, took: float) -> str:
    if not shell.settings.timing:
        return ""
    return f"{took * 1000:.1f} ms" if took < 1 else f"{took:.2f} s"


def _more(shell: Shell, part: "Part", result: "Result") -> str:
    """That LIMIT left rows out, and how they are had; the cursor itself only where a program may want it."""
    if not (result.truncated or result.next_cursor):
        return ""
    mode = shell.settings.mode
    if result.next_cursor and (mode not in COUNTED or (mode == "compact" and not shell.console.interactive)):
        own = "".join(f"{clause}, " for clause in _clauses(shell, part))
        return f'more rows follow: raise LIMIT, or add {own}CURSOR "{result.next_cursor}"'
    return "more rows follow: .more shows them" if shell.following else "more rows follow: raise LIMIT"


def _clauses(shell: Shell, part: "Part") -> list[str]:
    """The coordinates in force as the clauses that a statement with a cursor has to say itself."""
    node = part.statement
    said = [] if shell.as_of is None or not takes_as_of(node) else [f"AS OF SEQ {shell.as_of}"]
    return said if shell.for_time is None or not takes_for_time(node) else [*said, f'FOR TIME "{shell.for_time}"']


def _following(shell: Shell, part: "Part", result: "Result") -> Following | None:
    """The same statement from where this answer ends."""
    node = part.statement
    if not result.next_cursor or not isinstance(node, ast.Find):
        return None
    whole = completed(node, shell.as_of, shell.for_time)  # the cursor is one of the statement with its coordinates
    assert isinstance(whole, ast.Find)
    text = format_node(replace(whole, cursor=ast.Literal(result.next_cursor)))
    (again,) = kipql.split(text)
    return Following(again, dict(shell.parameters), shell.as_of, shell.for_time)


def _write(shell: Shell, part: "Part", say: Callable[[KipError], None]) -> None:
    if shell.safe and not shell.readonly:
        with warned(part, say):
            foreseen = _foreseen(shell, part)
        if not _agreed(shell, foreseen):
            shell.console.aside("not run")
            return
        say = _nothing  # it is said before the question
    begun = time.perf_counter()
    nexus = shell.nexus
    with warned(part, say):
        done = cancellable(
            lambda cancel: nexus.execute(part.text, shell.parameters, limits=shell.limits, cancel=cancel)
        )
    receipt = cast("Receipt", done)
    mode = shell.settings.mode
    if mode in ("json", "jsonl"):
        shell.console.show(json_text(receipt.to_dict(), indent=2 if mode == "json" else None))
    else:
        shell.console.show(receipt_line(receipt))
    facts = [_standing(shell, part), _timing(shell, time.perf_counter() - begun)]
    _under(shell, facts)


def _nothing(_: KipError) -> None:
    pass


def _foreseen(shell: Shell, part: "Part") -> Json:
    """What a mutation would do. Raises KipError when it would fail."""
    given = {**shell.parameters, "_statement": part.text}
    return cancellable(
        lambda cancel: shell.base.query("PREVIEW KML :_statement", given, limits=shell.limits, cancel=cancel)
    ).one()


def _agreed(shell: Shell, foreseen: Json) -> bool:
    """Show what a mutation would do and ask. Raises Misuse where nobody can be asked."""
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
