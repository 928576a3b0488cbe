"""`kipql lsp`: a language server for editors."""

import click

from kipql.cli.options import package_option, read_package


@click.command("lsp", short_help="A language server for .kql files, on standard input and output.")
@click.option(
    "--db", metavar="DB", help="A memory whose symbols, keys and names are the ones to know; it is only read."
)
@package_option
@click.option("--stdio", is_flag=True, hidden=True, help="What editors say; it is always so.")
def command(db: str | None, packages: tuple[str, ...], stdio: bool) -> None:
    """Serve editors over the Language Server Protocol: diagnostics, completion, hover, formatting, symbols.

    With --db or --package also the symbols are checked: types, Predicates, Facets and fields. Needs the extra: pip
    install "kipql[lsp]".
    """
    from kipql.extras import need

    need("lsp", "pygls", "lsprotocol")
    from kipql.fronts.lsp.memory import Memory
    from kipql.fronts.lsp.server import run

    run(Memory(db, [read_package(package) for package in packages]))
