"""A shell without a person: statements and commands from a pipe, answers in the compact form; the first error ends it.

A command stands on a line of its own.
"""

from collections.abc import Iterator

from kipql.lang.expected import unfinished
from kipql.repl.lines import is_command, run_entry
from kipql.repl.shell import Leave, Shell


def run_piped(shell: Shell, text: str) -> int:
    """Run a text; the exit code is 0, or 2 when something could not run."""
    try:
        for entry in entries(text):
            if not run_entry(shell, entry):
                return 2
    except Leave:
        pass
    return 0


def entries(text: str) -> Iterator[str]:
    """The statements between command lines, and the commands. A line is a command where no statement waits for more."""
    held: list[str] = []
    for line in text.splitlines(keepends=True):
        if is_command(line) and not unfinished("".join(held)):
            if "".join(held).strip():
                yield "".join(held)
            held.clear()
            yield line
        else:
            held.append(line)
    if "".join(held).strip():
        yield "".join(held)
