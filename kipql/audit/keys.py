"""Key columns: what of a row makes a finding the same one in another run.

They are those that `key:` names; else those whose last step is `id` or `key`, and whole elements by their id; else all.
"""

from collections.abc import Mapping, Sequence

from kipql.audit.message import column_names
from kipql.errors import KipError
from kipql.spans import Span
from kipql.values import Json

_NATURAL = ("id", "key")


def key_columns(names: str, columns: Sequence[str], start: int = 0) -> tuple[int, ...]:
    """The columns that `key:` names, separated by commas. Raises InvalidSyntax with a span from `start` on."""
    known, found, at = column_names(columns), [], start
    for part in names.split(","):
        name = part.strip().removeprefix("{").removesuffix("}").strip()
        if name not in known:
            shown = ", ".join(column.removeprefix("?") for column in columns) or "none"
            raise KipError(
                "InvalidSyntax",
                f"key: names a column {name!r} that is not there",
                span=Span(at, at + len(part)),
                hint=f"the columns are {shown}",
            )
        found.append(known[name])
        at += len(part) + 1
    return tuple(dict.fromkeys(found))


def natural_key(columns: Sequence[str], row: Sequence[Json]) -> tuple[int, ...]:
    """The key columns where none are named."""
    natural = [
        at
        for at, column in enumerate(columns)
        if column.removeprefix("?").rpartition(".")[2] in _NATURAL or _element_id(row[at]) is not None
    ]
    return tuple(natural or range(len(columns)))


def key_value(value: Json) -> Json:
    """What a column adds to a key: an element by its id, anything else as it is."""
    return _element_id(value) or value


def _element_id(value: Json) -> str | None:
    if isinstance(value, Mapping) and "_system" in value and isinstance(value.get("id"), str):
        return str(value["id"])
    return None
