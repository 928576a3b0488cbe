"""`kipql load`: a new memory from a dump."""

import sys

import click

from kipql.errors import KipError


@click.command("load", short_help="Make a memory of a dump.")
@click.argument("path", metavar="FILE")
@click.argument("db", metavar="DB")
@click.pass_obj
def command(readonly_given: bool, path: str, db: str) -> None:
    """Make a new memory in the folder DB of what `kipql dump` wrote to FILE; - is standard input.

    DB must not exist. Every line is checked, and the memory appears when all of them are right: same
    digests, same history, same outcomes of idempotency keys. An error names its line.
    """
    import kipql
    from kipql.escape import terminal
    from kipql.render.values import many

    if readonly_given:
        raise KipError("ReadonlyViolation", "--readonly was given, and loading makes a memory")
    made = kipql.load_dump(sys.stdin.buffer if path == "-" else path, db)
    for space_id, head in made.items():
        click.echo(terminal(f"{space_id}: {many(head, 'commit')}"))
