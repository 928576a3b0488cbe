"""Whether the flags of every claim of a Space tell that it cites something (`store.records`).

A claim that cites one Evidence has its role in the flags, so that who reads them need not look at the column of
citations, which lies elsewhere in memory. A citation without a role, or several, do not show there. The rows that were
added since the last look are looked at, as bytes and not one by one.
"""

import sys
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from kipql.store.records import ROLE_MASK, ROLE_SHIFT, SIZE

if TYPE_CHECKING:
    from kipql.store.graph import Graph

_FLAGS_AT = 4  # bytes before the flags in a record
_ROLE = bytes(1 if byte >> (ROLE_SHIFT - 8) & ROLE_MASK else 0 for byte in range(256))
_CITES = bytes(1 if byte < 0x80 else 0 for byte in range(256))  # by the byte with the sign: no row is negative
_SIGN = 3 if sys.byteorder == "little" else 0

_seen: "WeakKeyDictionary[Graph, int]" = WeakKeyDictionary()  # rows whose flags tell


def loosely_cited(graph: "Graph", rows: int) -> bool:
    """Whether the column of citations has to be asked for rows below `rows`, all of them committed; once per head."""
    columns = graph.assertions
    done = _seen.get(graph, 0)
    if columns.citations or done < 0:
        return True
    if rows > done:
        with memoryview(columns.cited) as whole:
            cites = bytes(whole[done:rows].cast("B")[_SIGN::4]).translate(_CITES)
        roles = bytes(columns.hot[done * SIZE + _FLAGS_AT + 1 : rows * SIZE : SIZE]).translate(_ROLE)
        if int.from_bytes(cites) & ~int.from_bytes(roles):
            _seen[graph] = -1
            return True
        _seen[graph] = rows
    return False
