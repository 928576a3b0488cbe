"""Where the public data is: `$KIPQL_SHARED`, else `../shared` beside the repository; None where absent."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_FOLDER = Path(os.environ.get("KIPQL_SHARED", ROOT.parent / "shared"))


def shared_path(relative: str) -> Path | None:
    """A file or folder of the public data, or None when it is not there."""
    path = _FOLDER / relative
    return path if path.exists() else None
