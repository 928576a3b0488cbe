"""One entry of a session: a command or statements, and what went wrong in it.

What runs it is imported then: a prompt is there before that is needed.
"""

from kipql.errors import KipError
from kipql.escape import terminal_lines
from kipql.repl.shell import Shell
from kipql.repl.usage import Misuse


def is_command(text: str) -> bool:
    """Whether an entry is a command: no statement begins with a dot."""
    return text.lstrip().startswith(".")


def whole_entry(text: str) -> bool:
    """Whether Enter runs an entry: a command, nothing, or statements that do not wait for more."""
    from kipql.lang.expected import unfinished

    return is_command(text) or not unfinished(text)


def run_entry(shell: Shell, text: str) -> bool:
    """Run an entry and report what goes wrong; whether nothing did. Raises Leave."""
    try:
        if is_command(text):
            from kipql.repl.registry import run_command

            run_command(shell, text)
        else:
            from kipql.repl.statements import run_text

            run_text(shell, text)
    except KipError as error:
        cancelled = error.details.get("cancelled")
        shell.console.aside("cancelled; the session goes on" if cancelled else terminal_lines(str(error)))
        return False
    except Misuse as misuse:
        shell.console.aside(terminal_lines(str(misuse)))
        return False
    return True
