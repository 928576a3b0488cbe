"""A memory as a lake: its bitemporal tables as Parquet, and the same KQL on engines that run past one machine.

`layout` says which tables there are, `export` writes them, `open` asks them. Needs the extra `lake`: without it the
import is UnsupportedCapability.
"""

from kipql.extras import need

need("lake", "sqlglot")  # what the modules below can not be read without; pyarrow and duckdb where they are used

from kipql.lake.export import Exported, export  # noqa: E402
from kipql.lake.opened import Lake, open, spaces  # noqa: E402

__all__ = ["Exported", "Lake", "export", "open", "spaces"]
