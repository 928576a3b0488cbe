"""`kipql check`: what can be known of a script without a memory."""

import click


@click.command("check", short_help="Check .kql files without a memory.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def command(files: tuple[str, ...]) -> int:
    """Check the syntax, the variables, the Core fields and the directives of .kql files; - is standard input.

    The exit code is 0 when nothing is wrong, 1 when something is, and 2 when a file could not be read.
    """
    from kipql.audit.source import problem_text
    from kipql.audit.static import check_script

    code = 0
    for path in files:
        for problem in check_script(path):
            click.echo(problem_text(problem), err=True)
            code = max(code, 1 if problem.line else 2)
    return code
