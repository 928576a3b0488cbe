"""A shell without a person: statements and commands from a pipe, answers in the compact form; the first error ends it.

A command stands on a line of its own.
"""

from kipql.repl.lines import run_entry
from kipql.repl.shell import Leave, Shell


def run_piped(shell: Shell, text: str) -> int:
    """Run a text; the exit code is 0, or 2 when something could not run."""
    try:
        return 0 if run_entry(shell, text) else 2
    except Leave:
        return 0
