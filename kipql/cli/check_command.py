"""`kipql check`: what can be known of a script without running it."""

from contextlib import nullcontext

import click

from kipql.cli.options import open_memory, package_option


@click.command("check", short_help="Check .kql files without running them.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--db", metavar="DB", help="A memory whose schema the symbols must be in; nothing of it is read.")
@package_option
def command(files: tuple[str, ...], db: str | None, packages: tuple[str, ...]) -> int:
    """Check the syntax, the variables, the Core fields and the directives of .kql files; - is standard input.

    With --db or --package also the symbols: types, Predicates, Facets and fields. The exit code is 0 when nothing is
    wrong, 1 when something is, and 2 when a file could not be read.
    """
    from kipql.audit.checking import check_all
    from kipql.audit.script import read_script
    from kipql.runtime.texts import problem_text

    own = db is None
    opened = open_memory(db, packages, write=own) if db is not None or packages else nullcontext()
    code = 0
    with opened as nexus:
        for path in files:
            for problem in check_all(read_script(path), nexus, own=own):
                click.echo(problem_text(problem), err=True)
                code = max(code, 1 if problem.line else 2)
    return code
