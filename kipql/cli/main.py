"""`kipql`: the shell and the group of commands. A command's file is imported when it is called, so `--version` is fast.

The first word is a command, or else the memory that the shell opens; what is neither a command nor there nor written as
a path is a mistake, so that a misspelt command makes no memory.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

import kipql
from kipql.errors import KipError
from kipql.escape import terminal_lines

TRACEBACK = "KIPQL_TRACEBACK"  # set in the environment: where a defect comes from is shown
COMMANDS = {
    "run": "Run .kql scripts: audits, and with --write also mutations.",
    "audits": "List, show and run the ready audits.",
    "query": "Ask a memory: KQL and META statements.",
    "exec": "Execute statements, mutations too.",
    "check": "Check .kql files without running them.",
    "explain": "Show how the queries of .kql files run and what they cost.",
    "fmt": "Format .kql files.",
    "wire": "Answer request envelopes, one JSON object a line.",
    "import": "Import other formats.",
    "export": "Export a memory: a lake of Parquet files, a page of HTML.",
    "dump": "Write a memory as lines of JSON.",
    "load": "Make a memory of a dump.",
    "doctor": "Check the folder of a memory, recover it, prove an erasure.",
    "canon": "Articles and a journal about a repository's files.",
    "package": "Start and check Schema Packages.",
    "memory": "Look at an agent session.",
    "trace": "Show and replay the trace of an agent.",
    "capsule": "Export, verify and import Capsules.",
    "mcp": "Offer a memory to a model: an MCP server.",
    "serve": "Serve a memory over HTTP.",
    "lsp": "A language server for .kql files in an editor.",
}


class Lazy(click.Group):
    """A group whose commands live in `kipql.cli.<name>_command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"kipql.cli.{cmd_name}_command").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        first = args[0]
        if first in COMMANDS or first.startswith("-"):
            return super().resolve_command(ctx, args)
        from kipql.runtime import places

        if places.is_place(first):
            return "", shell(), args
        from kipql.lang.words import near

        meant = near(first, COMMANDS) or places.meant(first)
        hint = f"did you mean {meant!r}?" if meant else f"kipql ./{first} makes a memory of that name"
        raise click.UsageError(f"There is no command and no memory {first!r}; {hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def shell() -> click.Command:
    """The command behind `kipql [DB]`."""
    command: click.Command = import_module("kipql.cli.shell_command").command
    return command


def _version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"kipql {kipql.__version__}")
        ctx.exit()


@click.group(
    cls=Lazy,
    invoke_without_command=True,
    subcommand_metavar="[DB] | COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--readonly", is_flag=True, help="Refuse every mutation, whatever the command.")
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.pass_context
def cli(ctx: click.Context, readonly: bool) -> int | None:
    """Open a memory, write claims into it, ask it, audit it.

    With a memory, or with nothing, this is the shell; kipql ./DB --help has its options. Without --db a command works
    on an empty memory of its own, in this process only. Exit code: 0 done or clean, 1 findings, 2 could not run.
    """
    ctx.obj = readonly
    if ctx.invoked_subcommand is None:
        return shell().main(args=[], prog_name="kipql", standalone_mode=False, obj=readonly)  # type: ignore[no-any-return]
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; what went wrong is on standard error."""
    try:
        code = cli.main(args=None if arguments is None else list(arguments), prog_name="kipql", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except KipError as error:
        click.echo(terminal_lines(str(error)), err=True)
    except click.ClickException as error:
        error.show()
    except click.Abort:
        click.echo("interrupted", err=True)
    except BrokenPipeError:
        sys.stderr.close()
    except Exception as error:
        click.echo(terminal_lines(_defect(error)), err=True)
    return 2


def _defect(error: Exception) -> str:
    """What is said of an exception that is no KipError: one line, all of it where somebody asked for it."""
    from kipql.runtime.guard import as_kip_error

    if os.environ.get(TRACEBACK):
        import traceback

        return "".join(traceback.format_exception(error)).rstrip()
    known = as_kip_error(error)
    hint = f"; {TRACEBACK}=1 shows where it comes from" if known.code == "InternalError" else ""
    return " ".join(f"{known.code}: {known.message}{hint}".split())


if __name__ == "__main__":
    sys.exit(main())
