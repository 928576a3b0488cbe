"""Running the statements of `query` and `exec` one after another, and writing what they answer."""

from typing import TYPE_CHECKING, Unpack, cast

import click

import kipql
from kipql.cli.options import Given, in_file, note_unkept, open_memory, read_parameters, read_statements, warn
from kipql.errors import KipError
from kipql.escape import json_text
from kipql.render.formats import FORMATS, as_table
from kipql.render.labels import MOST_ROWS, Labels
from kipql.render.receipts import receipt_line
from kipql.render.results import grid
from kipql.render.tables import WIDEST
from kipql.runtime.texts import moved, place
from kipql.values import Json

if TYPE_CHECKING:
    from kipql import Nexus, Result
    from kipql.lang.script import Part
    from kipql.runtime.receipt import Receipt


def run(*, write: bool, **given: Unpack[Given]) -> int:
    """Run every statement of a command in order and write each answer to standard output. The exit code.

    Each statement is a transaction of its own; the first that fails ends the run, those before it stay.
    """
    parameters = read_parameters(given["parameters"])
    text, source = read_statements(given["text"], given["path"])
    wrote = False
    with open_memory(given["db"], given["packages"], write=write) as nexus:
        try:
            for part in kipql.split(text):
                try:
                    _run(nexus, part, parameters, given, source, text, write=write)
                    wrote = wrote or (write and part.language == "KML")
                except KipError as error:
                    raise moved(error, text, part.span.start) from None
        except KipError as error:
            return in_file(error, source, text)
    if wrote and not given["quiet"]:
        note_unkept(given["db"])
    return 0


def _run(
    nexus: "Nexus", part: "Part", parameters: dict[str, Json], given: Given, source: str, text: str, *, write: bool
) -> None:
    from kipql.audit.lint import warned

    def say(warning: KipError) -> None:
        if not given["quiet"]:
            warn([place(source, text, moved(warning, text, part.span.start))])

    if part.language == "KML" and write:
        with warned(part, say):
            receipt = cast("Receipt", nexus.execute(part.text, parameters))
        click.echo(_receipt(receipt, given["form"]))
        return
    with warned(part, say):
        result = nexus.query(part.text, parameters)
    columns, rows = grid(result, part.language)
    if given["form"] == "table":
        label = Labels(lambda text, asked: nexus.query(text, asked).rows).label if len(rows) <= MOST_ROWS else str
        click.echo(as_table(columns, rows, None if given["wide"] else WIDEST, label))
    else:
        click.echo(FORMATS[given["form"]](columns, rows))
    if (more := _more(result, kept=given["db"] is not None)) and not given["quiet"]:
        click.echo(more, err=True)


def _more(result: "Result", *, kept: bool) -> str:
    """That LIMIT left rows out, and how to get them; a memory that ends with the command continues no cursor."""
    if result.next_cursor and kept:
        return f'more rows follow: add CURSOR "{result.next_cursor}" to the same statement'
    return "more rows follow: raise LIMIT" if result.truncated or result.next_cursor else ""


def _receipt(receipt: "Receipt", form: str) -> str:
    """A receipt as one line for people, else as JSON; CSV has no receipts, so it gets the line too."""
    if form == "json":
        return json_text(receipt.to_dict(), indent=2)
    if form == "jsonl":
        return json_text(receipt.to_dict())
    return receipt_line(receipt)
