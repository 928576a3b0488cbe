"""Where a shell writes: rows to the screen, a pager or a file; notes beside them; problems to the other stream.

Everything that comes from a memory is escaped before it gets here.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import TextIO

from kipql.repl.usage import Misuse


class Console:
    """The two streams of a shell.

    interactive  whether a person sits there: notes with times, a pager for what is longer than the screen
    pager        whether to page
    """

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None, *, interactive: bool = False) -> None:
        self._out = out
        self._err = err
        self.interactive = interactive
        self.pager = interactive
        self.path: str | None = None
        self._file: TextIO | None = None

    @property
    def out(self) -> TextIO:
        """The stream for answers; looked up late, so that a stream replaced in between counts."""
        return self._out or sys.stdout

    @property
    def err(self) -> TextIO:
        """The stream for problems."""
        return self._err or sys.stderr

    @property
    def width(self) -> int:
        """Columns of the screen; a file and a pipe have no edge."""
        if self._file is not None or not self.interactive:
            return 10_000
        return max(20, shutil.get_terminal_size((100, 30)).columns)

    def show(self, text: str) -> None:
        """Write an answer."""
        if not text:
            return
        if self._file is not None:
            print(text, file=self._file, flush=True)
        elif self._paged(text):
            import click

            os.environ.setdefault("LESS", "FRX")  # long lines go on below: chopped ones run off
            click.echo_via_pager(f"{text}\n")
        else:
            print(text, file=self.out, flush=True)

    def note(self, text: str) -> None:
        """Write what belongs to an answer and is none: to the screen, never into a file of rows."""
        if text:
            print(text, file=self.out, flush=True)

    def aside(self, text: str) -> None:
        """Write a remark or a problem."""
        print(text, file=self.out if self.interactive else self.err, flush=True)

    def redirect(self, path: str | None) -> None:
        """Send answers to a file from now on, None back to the screen. Raises Misuse."""
        if self._file is not None:
            self._file.close()
        self._file = self.path = None
        if path is not None:
            try:
                self._file = Path(path).open("a", encoding="utf-8")  # noqa: SIM115  # closed by the next redirect
            except OSError as error:
                raise Misuse(f"{path}: {error.strerror}") from None
            self.path = path

    def close(self) -> None:
        """Close the file of answers."""
        self.redirect(None)

    def _paged(self, text: str) -> bool:
        if not (self.pager and self.interactive and self.out.isatty()):
            return False
        return text.count("\n") + 3 > shutil.get_terminal_size((100, 30)).lines
