"""`kipql mcp`: a memory as an MCP server."""

import click

from kipql.cli.options import open_memory, package_option


@click.command("mcp", short_help="Offer a memory to a model: an MCP server on standard input and output.")
@click.argument("db", metavar="[DB]", required=False)
@package_option
@click.option("--write", is_flag=True, help="Offer execute_kip too; without it nothing can be written.")
@click.option("--as", "principal", metavar="PRINCIPAL", help="Whom every call comes from; default the owner.")
@click.option("--rows", type=click.IntRange(1, 10_000), default=100, show_default=True, help="The most rows of a page.")
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), default=30.0, show_default=True, metavar="SECONDS",
    help="The most that a statement may take.",
)  # fmt: skip
@click.pass_obj
def command(
    readonly_given: bool,
    db: str | None,
    packages: tuple[str, ...],
    write: bool,
    principal: str | None,
    rows: int,
    timeout: float,
) -> None:
    """Serve the memory DB to a model over the Model Context Protocol (stdio), until standard input ends.

    Tools: execute_kip_readonly, and with --write execute_kip. Resources: a primer, a syntax card and two pages in
    detail. Needs the extra: pip install "kipql[mcp]".
    """
    from kipql.extras import need

    if write and readonly_given:
        raise click.UsageError("--write goes with no --readonly")
    need("mcp", "mcp")
    from kipql.fronts.mcp.answering import Page
    from kipql.fronts.mcp.server import run

    with open_memory(db, packages, write=write, seconds=timeout) as nexus:
        run(nexus if principal is None else nexus.as_principal(principal), write=write, page=Page(rows))
