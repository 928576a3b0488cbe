"""Arguments of a command as they are typed: words, quoted words, `name=JSON`, times."""

import json
import re
import shlex

from kipql.errors import KipError
from kipql.times import parse_instant
from kipql.values import Json, members_once

_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,3})?Z?)?", re.ASCII)
ON_OFF = ("on", "off")


class Misuse(Exception):
    """A command that was given something it can not use; the message is for the person who typed it."""


def words(rest: str) -> list[str]:
    """The words of an argument line; quotes hold several together. Raises Misuse for an open quote."""
    try:
        return shlex.split(rest)
    except ValueError as error:
        raise Misuse(f"{str(error).lower()} in the arguments") from None


def whole(text: str, what: str) -> int:
    """A whole number of at least 0. Raises Misuse."""
    if not (text.isascii() and text.isdigit()):
        raise Misuse(f"{what} is a whole number, not {text}")
    return int(text)


def switch(text: str, before: bool) -> bool:
    """`on`, `off`, or the other way round for nothing. Raises Misuse."""
    if text and text not in ON_OFF:
        raise Misuse(f"on or off, not {text}")
    return text == "on" if text else not before


def pair(text: str) -> tuple[str, Json]:
    """`name=JSON`; what is no JSON is taken as a text. Raises Misuse."""
    name, separator, value = text.partition("=")
    name = name.strip().removeprefix(":")
    if not separator or not name.isidentifier() or not name.isascii():
        raise Misuse(f"a parameter is given as name=JSON, not {text}")
    try:
        return name, json.loads(value, object_pairs_hook=members_once)
    except (ValueError, RecursionError):
        return name, value.strip()


def moment(text: str) -> str:
    """A time as KIP writes it, from a day, a minute, a second or the whole form; always UTC. Raises Misuse.

    >>> moment("2026-04-01"), moment("2026-04-01 10:05")
    ('2026-04-01T00:00:00.000Z', '2026-04-01T10:05:00.000Z')
    """
    found = _DAY.fullmatch(text.strip())
    if found is None:
        raise Misuse(f"a time is written 2026-04-01 or 2026-04-01T10:05:00.000Z (UTC), not {text}")
    day, minute, second, fraction = found.groups()
    written = f"{day}T{minute or '00:00'}{second or ':00'}{(fraction or '.').ljust(4, '0')}Z"
    try:
        parse_instant(written)
    except KipError as error:
        raise Misuse(error.message) from None
    return written
