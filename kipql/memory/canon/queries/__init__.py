"""The queries of Canon, one documented `.kql` file each, read when first asked for.

Those with `//!` directives are audits: `kipql run` takes them as they are. Those with parameters are run with
`kipql query -f FILE -p NAME=JSON`.
"""

import functools
from importlib import resources


@functools.cache
def query(name: str) -> str:
    """The text of one shipped query, comments included."""
    return resources.files(__name__).joinpath(f"{name}.kql").read_text(encoding="utf-8")
