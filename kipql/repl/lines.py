"""One entry of a session: commands, each on a line of its own, and statements, and what went wrong in it.

What runs it is imported then: a prompt is there before that is needed.
"""

import re
from collections.abc import Iterator

from kipql.errors import KipError
from kipql.escape import terminal_lines
from kipql.repl.shell import Shell
from kipql.repl.usage import Misuse

_BARE = {"help": ".help", "?": ".help", "exit": ".quit", "quit": ".quit"}
"""What people type into a prompt that they do not know yet; none of it is a statement."""


def is_command(text: str) -> bool:
    """Whether an entry is a command: no statement begins with a dot, or is one of the words for help and leaving."""
    return text.lstrip().startswith(".") or _bare(text) is not None


def _bare(text: str) -> str | None:
    return _BARE.get(text.strip().removesuffix(";").lower())


def entries(text: str) -> Iterator[str]:
    """The statements between command lines, and the commands. A line is a command where no statement waits for more."""
    from kipql.lang.expected import unfinished

    held: list[str] = []
    for line in _LINE.findall(text):
        if is_command(line) and not unfinished("".join(held)):
            if "".join(held).strip():
                yield "".join(held)
            held.clear()
            yield line
        else:
            held.append(line)
    if "".join(held).strip():
        yield "".join(held)


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # a lone U+2028 ends none


def whole_entry(text: str) -> bool:
    """Whether Enter runs an entry: its last part is a command, or statements that do not wait for more."""
    from kipql.lang.expected import unfinished

    *_, last = ("", *entries(text))
    return is_command(last) or not unfinished(last)


def run_entry(shell: Shell, text: str) -> bool:
    """Run an entry, the parts of one that was pasted in order up to the first that fails, and report what goes wrong;
    whether nothing did. Raises Leave."""
    return all(_run(shell, part) for part in entries(text))


def _run(shell: Shell, text: str) -> bool:
    try:
        if is_command(text):
            from kipql.repl.registry import run_command

            run_command(shell, _bare(text) or text)
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
