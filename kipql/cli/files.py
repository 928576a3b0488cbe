"""The JSON files that commands read and write, and JSON lines on standard input and output."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import click

from kipql.errors import KipError
from kipql.values import Json, members_once


def read_json(path: str, *, mark: bool = False) -> Json:
    """The JSON in a file, `-` is standard input; `mark` keeps a byte order mark, which then is no JSON.

    Raises ArtifactUnavailable, ArtifactParseError.
    """
    from kipql.runtime.texts import read_text

    try:
        return json.loads(read_text(path, mark=mark), object_pairs_hook=members_once)
    except (ValueError, RecursionError) as error:
        raise KipError("ArtifactParseError", f"{path} is not JSON: {error}") from None


def write_new(text: str, path: str | None) -> None:
    """Write a text to a file that does not exist yet, or to standard output. Raises ArtifactUnavailable."""
    if path is None:
        click.echo(text, nl=False)
        return
    try:
        with Path(path).open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise KipError("ArtifactUnavailable", f"{path} can not be written: {error.strerror or error}") from None


def answer_lines(answer: Callable[[bytes], Json]) -> None:
    """Answer each line of standard input by a line of JSON on standard output; empty lines are passed over."""
    for line in sys.stdin.buffer:
        if line.strip():
            click.echo(json.dumps(answer(line), ensure_ascii=True, separators=(",", ":")))


def decoded(line: bytes) -> Json:
    """The JSON in a line of UTF-8. Raises ValueError or RecursionError for anything else."""
    # Not json.loads(line): of bytes it guesses UTF-16 and UTF-32 too (§70.2).
    return json.loads(line.decode("utf-8"), parse_constant=_no_number, object_pairs_hook=members_once)


def _no_number(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")
