"""`kipql dump`: a memory as lines of JSON."""

import sys

import click

from kipql.cli.options import open_memory


@click.command("dump", short_help="Write a memory as lines of JSON.")
@click.argument("db", metavar="DB")
@click.option("-o", "--output", metavar="FILE", help="The file to write, whole or not at all; default standard output.")
def command(db: str, output: str | None) -> None:
    """Write the whole memory in the folder DB as lines of JSON: every Space, with all its history.

    The lines are sorted by their members and stay the same as long as the history does, so that two dumps
    can be compared line by line. What was purged is not in them. `kipql load` makes the same memory again.
    """
    with open_memory(db, write=False) as nexus:
        nexus.dump(output if output is not None else sys.stdout)
