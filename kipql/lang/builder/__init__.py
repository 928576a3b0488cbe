"""From reductions to syntax nodes: one function for each production that means something.

Each function is registered under the production's name in the grammar (its alias, else its left side) and
gets the values of the right side, the source range, and `marks`: a list to which a node adds itself that
is legal only in some places, so that the checks need not walk a tree to find it.
"""

from collections.abc import Mapping

from kipql.lang.builder import kml, kql, meta, patterns, values
from kipql.lang.builder.base import Build, Marks

__all__ = ["BUILDERS", "Build", "Marks"]

BUILDERS: Mapping[str, Build] = {
    **values.BUILDERS,
    **patterns.BUILDERS,
    **kql.BUILDERS,
    **kml.BUILDERS,
    **meta.BUILDERS,
}
