"""Running the statements of `query` and `exec` one after another, and writing what they answer."""

from typing import TYPE_CHECKING, Unpack, cast

import click

import kipql
from kipql.audit.source import moved
from kipql.cli.options import Given, in_file, open_memory, read_parameters, read_statements, warn
from kipql.errors import KipError
from kipql.escape import json_text
from kipql.render.formats import FORMATS, as_table
from kipql.render.receipts import receipt_line
from kipql.render.results import grid
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
    with open_memory(given["db"], given["packages"], write=write) as nexus:
        try:
            for part in kipql.split(text):
                if not given["quiet"]:
                    _warn(part, source, text)
                try:
                    _run(nexus, part, parameters, given, write=write)
                except KipError as error:
                    raise moved(error, text, part.span.start) from None
        except KipError as error:
            return in_file(error, source, text)
    return 0


def _warn(part: "Part", source: str, text: str) -> None:
    from kipql.audit.lint import lint
    from kipql.audit.source import place

    warn(place(source, text, error) for error in lint(part.statement))


def _run(nexus: "Nexus", part: "Part", parameters: dict[str, Json], given: Given, *, write: bool) -> None:
    if part.language == "KML" and write:
        click.echo(_receipt(cast("Receipt", nexus.execute(part.text, parameters)), given["form"]))
        return
    result = nexus.query(part.text, parameters)
    columns, rows = grid(result, part.language)
    widest = {"widest": None} if given["wide"] else {}
    table = given["form"] == "table"
    click.echo(as_table(columns, rows, **widest) if table else FORMATS[given["form"]](columns, rows))
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
