"""The queries of recall, one documented `.kql` file each, read when first asked for.

A file says which mode it serves. `:seq` and `:when` are the coordinates of the recall, the same for all its reads: the
state of the memory and the moment of the world.
"""

import functools
from importlib import resources


@functools.cache
def query(name: str) -> str:
    """The text of one shipped query, comments included."""
    return resources.files(__name__).joinpath(f"{name}.kql").read_text(encoding="utf-8")


@functools.cache
def names() -> tuple[str, ...]:
    """The names of the shipped queries, ordered."""
    return tuple(
        sorted(entry.name[:-4] for entry in resources.files(__name__).iterdir() if entry.name.endswith(".kql"))
    )
