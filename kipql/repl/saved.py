"""Queries kept by name, as files that anything else may read too; and the last statement of the session."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import kipql
from kipql.repl.usage import Misuse

if TYPE_CHECKING:
    from kipql.lang.script import Part
    from kipql.repl.shell import Shell

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}", re.ASCII)


def last_statement(shell: "Shell") -> "Part":
    """The last statement that was run. Raises Misuse."""
    if shell.last is None:
        raise Misuse("there is no last statement yet")
    return shell.last


def last_query(shell: "Shell", text: str = "") -> "Part":
    """The one statement of a text, or the last query that was run, whatever else came after it. Raises Misuse,
    KipError."""
    if text:
        parts = kipql.split(text)
        if len(parts) != 1:
            raise Misuse("one query, please")
        return parts[0]
    if shell.last_find is None:
        raise Misuse("there is no last query yet")
    return shell.last_find


def data_folder() -> Path:
    """Where saved queries and the history are kept."""
    given = os.environ.get("KIPQL_HOME")
    if given:
        return Path(given)
    from platformdirs import user_data_path

    return user_data_path("kipql")


def path_of(name: str) -> Path:
    """The file of a saved query. Raises Misuse for what is no name."""
    if not _NAME.fullmatch(name):
        raise Misuse(f"{name} is no name: letters, digits, _ . and -")
    return data_folder() / "queries" / f"{name}.kql"


def names() -> list[str]:
    """The saved queries, ordered."""
    return sorted(path.stem for path in (data_folder() / "queries").glob("*.kql"))


def save(name: str, text: str) -> None:
    """Keep a text. Raises Misuse."""
    path = path_of(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise Misuse(f"{path}: {error.strerror}") from None


def load(name: str) -> str:
    """A saved text. Raises Misuse."""
    path = path_of(name)
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        from kipql.lang.words import near

        meant = near(name, names())
        raise Misuse(f"nothing is saved as {name}" + (f"; did you mean {meant}?" if meant else "")) from None
    except (OSError, UnicodeDecodeError) as error:
        raise Misuse(f"{path}: {error}") from None
