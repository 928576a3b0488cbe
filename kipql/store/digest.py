"""The digest of a Space at a sequence: two stores that hold the same say the same.

SHA-256 over the canonical JSON (RFC 8785) of every element, kind by kind in id order, one per line, `_system`
included.
"""

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kipql.store.view import View


def digest(view: "View", look: Callable[[], None] | None = None) -> str:
    """`sha256:` and the hex digest. `look` is called for every element; what it raises ends the work."""
    import rfc8785

    found = hashlib.sha256()
    for kind in range(5):
        for row in view.rows(kind):
            if look is not None:
                look()
            found.update(rfc8785.dumps(view.element(row * 8 + kind)))
            found.update(b"\n")
    return f"sha256:{found.hexdigest()}"
