"""`kipql exec`: statements of every language."""

import click

from kipql.cli.options import (
    in_file,
    open_memory,
    read_parameters,
    read_statements,
    readonly_option,
    statement_options,
)
from kipql.errors import KipError


@click.command("exec", short_help="Execute statements, mutations too.")
@statement_options
@readonly_option
@click.pass_obj
def command(
    readonly_given: bool,
    db: str | None,
    packages: tuple[str, ...],
    text: str | None,
    path: str | None,
    parameters: tuple[str, ...],
    form: str,
    wide: bool,
    readonly: bool,
) -> int:
    """Execute statements; each is a transaction of its own.

    The statements come from -c, from -f, or from standard input. The first that fails ends the run; what
    was committed before it stays. The memory is made when it is not there.
    """
    from kipql.cli.statements import run_statements

    write = not (readonly or readonly_given)
    bound = read_parameters(parameters)
    statements, source = read_statements(text, path)
    with open_memory(db, packages, write=write) as nexus:
        try:
            run_statements(nexus, statements, bound, form, write=write, wide=wide)
        except KipError as error:
            return in_file(error, source, statements)
    return 0
