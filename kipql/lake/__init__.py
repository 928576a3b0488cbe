"""A memory as a lake: its bitemporal tables as Parquet, and the same KQL on engines that run past one machine.

`layout` says which tables there are, `export` writes them, `open` asks them. Needs the extra `lake`.
"""

from kipql.lake.export import Exported, export
from kipql.lake.opened import Lake, open, spaces

__all__ = ["Exported", "Lake", "export", "open", "spaces"]
