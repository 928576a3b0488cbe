"""Starting a shell: on a terminal with a prompt, on a pipe without one."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kipql.escape import terminal
from kipql.repl.console import Console
from kipql.repl.shell import Settings, Shell
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.nexus import Nexus


def start(
    nexus: "Nexus",
    path: str | None = None,
    *,
    readonly: bool = False,
    mode: str | None = None,
    parameters: Mapping[str, Json] | None = None,
) -> int:
    """Run a shell on an open memory until its end; the exit code. The memory is closed with it."""
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    shell = Shell(
        nexus,
        Console(interactive=interactive),
        path,
        readonly=readonly,
        parameters=dict(parameters or {}),
        settings=Settings(mode=mode or ("table" if interactive else "compact"), timing=interactive),
    )
    try:
        if not interactive:
            from kipql.repl.piped import run_piped

            return run_piped(shell, _input())
        from kipql.repl.prompting import run_interactive

        shell.console.note(greeting(shell))
        return run_interactive(shell)
    finally:
        shell.console.close()
        shell.base.close()


def greeting(shell: Shell) -> str:
    """What a session begins with."""
    import kipql

    seq = shell.nexus.space_seq
    where = (
        f"{terminal(str(shell.path))} at {seq}"
        if shell.path
        else "an empty memory, gone with this session (.open DB for another)"
    )
    return f"kipql {kipql.__version__}, {where}\n.help lists the commands"


def _input() -> str:
    from kipql.runtime.texts import read_text

    return read_text("-")
