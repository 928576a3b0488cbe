"""`kipql export`: a memory in the form that something else reads."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from kipql.cli.options import open_memory
from kipql.errors import KipError
from kipql.escape import terminal


@click.group("export", short_help="Export a memory: a lake of Parquet files, a page of HTML.")
def command() -> None:
    """Write a memory in the form that something else reads."""


@command.command("lake", short_help="Write or grow a lake of Parquet files.")
@click.argument("folder", metavar="DIR")
@click.option("--db", metavar="DB", required=True, help="The folder of the memory.")
@click.option("--space", metavar="ID", help="A Space of the memory; default its first.")
@click.option("--all-spaces", is_flag=True, help="Every Space of the memory, each under its id.")
@click.option("--name", metavar="NAME", help="What the Space is called in the lake; default its id.")
@click.option("--as", "principal", metavar="PRINCIPAL", help="Export what this Principal may see; default the owner.")
@click.option("--whole", is_flag=True, help="Write the Space anew and replace its files, damaged ones too.")
def lake_command(
    folder: str, db: str, space: str | None, all_spaces: bool, name: str | None, principal: str | None, whole: bool
) -> None:
    """Write the Space of the memory DB into the lake in the folder DIR, or what is new since the last time.

    The lake's tables and what each column holds are in docs/scale.md. Needs the extra: pip install "kipql[lake]".
    """
    from kipql import lake

    if all_spaces and (space or name):
        raise click.UsageError("--all-spaces goes with neither --space nor --name")
    with open_memory(db, write=False) as nexus:
        seen = nexus if principal is None else nexus.as_principal(principal)
        wanted = seen.spaces() if all_spaces else [space or seen.space_id]
        for space_id in wanted:
            with _shown() as progress:
                done = lake.export(seen.space(space_id), folder, name=name, whole=whole, progress=progress)
            since = f", new since {done.since}" if done.since else ""
            elements = "element" if done.erased == 1 else "elements"
            erased = f", {done.erased} erased {elements} taken out" if done.erased else ""
            replaced = ", in place of another view of it" if done.replaced else ""
            click.echo(
                f"{terminal(done.space)}: up to sequence {done.head}{since}, "
                f"{done.rows} rows, {done.bytes} bytes in all{erased}{replaced}"
            )


@command.command("html", short_help="Write a memory as one page of HTML.")
@click.argument("file", metavar="FILE")
@click.option("--db", metavar="DB", required=True, help="The folder of the memory.")
@click.option("--space", metavar="ID", help="A Space of the memory; default its first.")
@click.option("--as", "principal", metavar="PRINCIPAL", help="Show what this Principal may see; default the owner.")
@click.option("--title", metavar="TEXT", help="The heading; default the name of the folder.")
@click.option("--concepts", type=click.IntRange(1, 5_000), default=400, show_default=True, help="Concepts at most.")
@click.option("--states", type=click.IntRange(1, 10_000), help="States that AS OF reaches; default what is quick.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def html_command(
    file: str,
    db: str,
    space: str | None,
    principal: str | None,
    title: str | None,
    concepts: int,
    states: int | None,
    force: bool,
) -> None:
    """Write the memory DB as one page of HTML that needs nothing else: its graph, its slots over time, and two sliders,
    for what it held (AS OF) and for what was true (FOR TIME).

    What is left out of a large memory is said on the page. docs/tools.md has more.
    """
    from kipql.fronts.html.bounds import Bounds
    from kipql.fronts.html.export import export_html

    path = Path(file)
    if path.exists() and not force:
        raise click.UsageError(f"{file!r} is there already; --force writes over it")
    bounds = Bounds(concepts=concepts, propositions=3 * concepts, states=states)
    with open_memory(db, write=False) as nexus:
        seen = nexus if principal is None else nexus.as_principal(principal)
        seen = seen if space is None else seen.space(space)
        text = export_html(seen, title=title or Path(db).resolve().name, bounds=bounds)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise KipError("ArtifactUnavailable", f"{file} can not be written: {error.strerror or error}") from None
    click.echo(f"{terminal(file)}: {len(text.encode())} bytes")


@contextmanager
def _shown() -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=1, label="states", file=sys.stderr) as bar:

        def progress(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)

        yield progress
