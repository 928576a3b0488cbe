"""`kipql query`: statements that only read."""

import click

from kipql.cli.options import in_file, open_memory, read_parameters, read_statements, statement_options
from kipql.errors import KipError


@click.command("query", short_help="Ask a memory: KQL and META statements.")
@statement_options
def command(
    db: str | None,
    packages: tuple[str, ...],
    text: str | None,
    path: str | None,
    parameters: tuple[str, ...],
    form: str,
    wide: bool,
) -> int:
    """Ask a memory with KQL and META statements; a mutation is refused.

    The statements come from -c, from -f, or from standard input.
    """
    from kipql.cli.statements import run_statements

    bound = read_parameters(parameters)
    statements, source = read_statements(text, path)
    with open_memory(db, packages, write=False) as nexus:
        try:
            run_statements(nexus, statements, bound, form, write=False, wide=wide)
        except KipError as error:
            return in_file(error, source, statements)
    return 0
