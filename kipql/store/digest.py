"""The digest of a Space at a sequence: two stores that hold the same say the same.

SHA-256 over the canonical JSON (RFC 8785) of every element, kind by kind in id order, one per line, `_system`
included.
"""

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kipql.store.view import View


def digest(view: "View") -> str:
    """`sha256:` and the hex digest."""
    import rfc8785

    found = hashlib.sha256()
    for kind in range(5):
        for row in view.rows(kind):
            found.update(rfc8785.dumps(view.element(row * 8 + kind)))
            found.update(b"\n")
    return f"sha256:{found.hexdigest()}"
