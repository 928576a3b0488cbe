"""`kipql [DB]`: the shell. It has no name of its own on the command line."""

import click

from kipql.cli.options import open_memory, package_option, read_parameters, readonly_option
from kipql.render.modes import MODES


class _Context(click.Context):
    """The shell has no name of its own: what is called is `kipql`."""

    @property
    def command_path(self) -> str:
        return "kipql"


class _Shell(click.Command):
    """The command of the shell, which tells who brought the habit of `sqlite3 DB "statement"` what does that here."""

    context_class = _Context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, list(args))
        except click.UsageError as error:
            option = isinstance(error, click.NoSuchOption) and error.option_name in _STATEMENTS
            if option or (len(args) > 1 and not args[1].startswith("-") and not isinstance(error, click.BadParameter)):
                raise click.UsageError(_ASKED.format(db=args[0]), ctx) from None
            raise


_STATEMENTS = ("-c", "--command", "-f", "--file", "--format")
_ASKED = "the shell takes no statement; one is run with: kipql query --db {db} -c '...' (exec instead of query: writes)"


@click.command(
    "kipql",
    cls=_Shell,
    short_help="The shell.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.argument("db", required=False)
@package_option
@readonly_option
@click.option("-p", "--param", "parameters", multiple=True, metavar="NAME=JSON", help="A parameter; repeat for more.")
@click.option(
    "--mode", type=click.Choice(list(MODES)), help="How rows are written: table on a terminal, compact in a pipe."
)
@click.pass_obj
def command(
    readonly_given: bool | None,
    db: str | None,
    packages: tuple[str, ...],
    readonly: bool,
    parameters: tuple[str, ...],
    mode: str | None,
) -> int:
    """Open a memory in the shell; without DB, an empty one that ends with the session.

    On a pipe it reads statements and commands from standard input and writes the compact form; the exit code is 2 when
    something could not run.
    """
    from kipql.repl.start import start

    given = read_parameters(parameters)
    readonly = readonly or bool(readonly_given)
    nexus = open_memory(db, packages, write=not readonly or db is None)
    return start(nexus, db, readonly=readonly, mode=mode, parameters=given)
