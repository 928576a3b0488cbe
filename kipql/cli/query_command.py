"""`kipql query`: statements that only read."""

from typing import Unpack

import click

from kipql.cli.options import Given, statement_options


@click.command("query", short_help="Ask a memory: KQL and META statements.")
@statement_options
def command(**given: Unpack[Given]) -> int:
    """Ask a memory with KQL and META statements; a mutation is refused.

    The statements come from -c, from -f, or from standard input.
    """
    from kipql.cli.statements import run

    return run(write=False, **given)
