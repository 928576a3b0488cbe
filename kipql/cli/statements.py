"""Running the statements of `query` and `exec` one after another, and writing what they answer."""

import json
from typing import TYPE_CHECKING, cast

import click

import kipql
from kipql.audit.script import moved
from kipql.errors import KipError
from kipql.escape import terminal
from kipql.render.formats import FORMATS, as_table
from kipql.render.results import grid
from kipql.values import Json

if TYPE_CHECKING:
    from kipql import Nexus
    from kipql.runtime.receipt import Receipt


def run_statements(
    nexus: "Nexus", text: str, parameters: dict[str, Json], form: str, *, write: bool, wide: bool = False
) -> None:
    """Run every statement of `text` in order and write each answer to standard output.

    Each statement is a transaction of its own; the first that fails ends the run, those before it stay.
    Raises its KipError, placed in the whole text.
    """
    for part in kipql.split(text):
        try:
            if part.language == "KML" and write:
                click.echo(_receipt(cast("Receipt", nexus.execute(part.text, parameters)), form))
            else:
                columns, rows = grid(nexus.query(part.text, parameters), part.language)
                widest = {"widest": None} if wide else {}
                click.echo(as_table(columns, rows, **widest) if form == "table" else FORMATS[form](columns, rows))
        except KipError as error:
            raise moved(error, text, part.span.start) from None


def _receipt(receipt: "Receipt", form: str) -> str:
    """A receipt as one line for people, else as JSON; CSV has no receipts, so it gets the line too."""
    if form == "json":
        return json.dumps(receipt.to_dict(), ensure_ascii=False, indent=2)
    if form == "jsonl":
        return json.dumps(receipt.to_dict(), ensure_ascii=False, separators=(",", ":"))
    handles = ", ".join(f"?{handle} = {identity}" for handle, identity in receipt.handles.items())
    place = "" if receipt.space_seq is None else f" at {receipt.space_seq}"
    return terminal(f"{receipt.status}{place}{f': {handles}' if handles else ''}")
