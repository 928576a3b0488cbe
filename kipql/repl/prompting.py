"""The prompt of a shell on a terminal: prompt_toolkit with our completion, colours, keys and history.

The only file that imports prompt_toolkit, and only a shell on a terminal imports it.
"""

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import has_completions, is_searching
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.styles import Style

from kipql.errors import KipError
from kipql.repl.lines import is_command, run_entry, whole_entry
from kipql.repl.palette import CLASSES
from kipql.repl.saved import data_folder
from kipql.repl.shell import Leave, Shell

_STYLE = Style.from_dict(CLASSES)


class ShellCompleter(Completer):
    """Completion of commands and of statements."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """The words that may stand at the cursor; none when the memory may not be asked."""
        from kipql.editing.completing import offers

        text, at = document.text, document.cursor_position
        try:
            if is_command(text):
                yield from self._command(document.text_before_cursor.lstrip())
                return
            quiet = complete_event.text_inserted and text[at - 1 : at] in (" ", "\n", "")
            for offer in () if quiet else offers(text, at, self._shell.vocabulary, self._shell.parameters):
                yield Completion(offer.text, offer.begin - at, display_meta=offer.what)
        except KipError:
            return

    def _command(self, before: str) -> Iterable[Completion]:
        from kipql.repl import registry

        name, blank, rest = before[1:].partition(" ")
        for each in registry.commands():
            if not blank and each.name.startswith(name):
                yield Completion(f".{each.name}", -len(before), display_meta=each.help)
            elif blank and each.name == name and " " not in rest:
                for word in each.offers(self._shell):
                    if word.startswith(rest):
                        yield Completion(word, -len(rest))


class ShellLexer(Lexer):
    """Colours from the scanner's lexemes."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """The fragments of each line."""
        if not document.text:
            return lambda number: []
        from kipql.editing.colours import coloured

        lines: list[StyleAndTextTuples] = [[]]
        for kind, piece in coloured(document.text):
            for number, line in enumerate(piece.split("\n")):
                if number:
                    lines.append([])
                lines[-1].append((f"class:{kind}" if kind else "", line))
        return lambda number: lines[number] if number < len(lines) else []


def keys(shell: Shell) -> KeyBindings:
    """Enter runs what is whole and else adds a line; Alt-Enter always adds one."""
    bindings = KeyBindings()

    @bindings.add("enter", filter=~is_searching)
    def enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        state = buffer.complete_state
        if state is not None and state.current_completion is not None:
            buffer.apply_completion(state.current_completion)
        elif whole_entry(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    @bindings.add("escape", "enter")
    def newline(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @bindings.add("tab", filter=~has_completions)
    def complete(event: KeyPressEvent) -> None:
        event.current_buffer.start_completion(insert_common_part=True)

    return bindings


def history() -> History:
    """The entries of earlier sessions; of this one alone when the folder can not be written."""
    try:
        folder = data_folder()
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "history"
        path.touch(mode=0o600)
        return FileHistory(str(path))
    except OSError:
        return InMemoryHistory()


def prompt_session(shell: Shell, **streams: Any) -> "PromptSession[str]":
    """The prompt of a shell; `streams` are prompt_toolkit's input and output, for tests."""
    return PromptSession(
        multiline=True,
        completer=ShellCompleter(shell),
        complete_while_typing=True,
        complete_style=CompleteStyle.COLUMN,
        lexer=ShellLexer(),
        style=_STYLE,
        key_bindings=keys(shell),
        history=history(),
        auto_suggest=AutoSuggestFromHistory(),
        enable_history_search=False,
        editing_mode=EditingMode.EMACS,
        prompt_continuation=lambda width, number, soft: "... ".rjust(width),
        color_depth=ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None,
        **streams,
    )


def run_interactive(shell: Shell, **streams: Any) -> int:
    """Read entries and run them until the person leaves; the exit code."""
    session = prompt_session(shell, **streams)
    asking: PromptSession[str] = PromptSession(**streams)

    def ask(question: str) -> bool:
        try:
            return asking.prompt(f"{question} [y/N] ").strip().lower() in ("y", "yes")
        except (EOFError, KeyboardInterrupt):
            return False

    shell.ask = ask
    session.app.after_render += _Once(lambda: _warm(shell))
    while True:
        try:
            text = session.prompt(shell.prompt)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return 0
        try:
            if text.strip():
                run_entry(shell, text)
        except KeyboardInterrupt:  # before or behind the call that can be cancelled
            shell.console.aside("cancelled; the session goes on")
        except Leave:
            return 0


class _Once:
    """Does something in the background when it is first called."""

    def __init__(self, what: Callable[[], None]) -> None:
        self._what: Callable[[], None] | None = what

    def __call__(self, _: object) -> None:
        what, self._what = self._what, None
        if what is not None:
            threading.Thread(target=what, name="kipql-warm", daemon=True).start()


def _warm(shell: Shell) -> None:
    """Load what the first keys need, and ask what completion will ask: the prompt is there already."""
    from kipql.editing.completing import offers

    with suppress(KipError):
        offers('FIND(?x) WHERE { ?x {type: "', 28, shell.vocabulary)
        shell.vocabulary.stored("key", "", None)
        shell.vocabulary.stored("name", "", None)
    from kipql.repl import lines, statements  # noqa: F401
