"""The queries of the agent layer, one documented `.kql` file each, read when first asked for.

`query("recall_turn")` is the text of `recall_turn.kql`. The files are part of the package so that they can be read,
run with `kipql query -f`, and copied into audits.
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
