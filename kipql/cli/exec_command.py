"""`kipql exec`: statements of every language."""

from typing import Unpack

import click

from kipql.cli.options import Given, readonly_option, statement_options


@click.command("exec", short_help="Execute statements, mutations too.")
@statement_options
@readonly_option
@click.pass_obj
def command(readonly_given: bool, readonly: bool, **given: Unpack[Given]) -> int:
    """Execute statements; each is a transaction of its own.

    The statements come from -c, from -f, or from standard input. The first that fails ends the run; what
    was committed before it stays. The memory is made when it is not there.
    """
    from kipql.cli.statements import run

    return run(write=not (readonly or readonly_given), **given)
