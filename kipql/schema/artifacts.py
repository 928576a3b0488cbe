"""The Schema Packages that ship with kipql, as packaged JSON by their ref (specification §18.3, §20.3).

It stands below `packages`, which must recognise what ships when a host installs it; `builtin` offers the same as
Packages.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from kipql.errors import KipError
from kipql.values import Json

COGNITIVE_MEMORY = "kip://profiles/cognitive-memory@2.0.0"
GENERAL_DOMAIN = "kip://domains/general@1.0.0"
AGENT = "kip://kipql/agent@1.0.0"

FILES: Mapping[str, str] = {
    COGNITIVE_MEMORY: "cognitive-memory-2.0.0.json",
    GENERAL_DOMAIN: "general-domain-1.0.0.json",
    AGENT: "agent-1.0.0.json",
}
"""The file in `builtin/` of each ref that ships."""

PUBLISHED_DIGESTS: Mapping[str, str] = {
    COGNITIVE_MEMORY: "sha256:734aa0fd93b6258d433a6f71915d9d5118552e2ea0458a3050d368dcfcc1d1b3",
    GENERAL_DOMAIN: "sha256:454f59b9d54dbeded59a24e167e5c5cbf880e015622ba7b713d43ab521e55b87",
}
"""Digests of the published artifacts. What ships says the same in other words, so a host that installs the published
artifact gets the packaged one."""

_FOLDER = Path(__file__).parent / "builtin"


def read(ref: str) -> Mapping[str, Json]:
    """The artifact that ships under a ref of FILES. Raises SchemaPackageUnavailable when its file is not there."""
    try:
        artifact: Mapping[str, Json] = json.loads((_FOLDER / FILES[ref]).read_text(encoding="utf-8"))
    except OSError:
        raise KipError("SchemaPackageUnavailable", f"the package {ref} is missing from this installation") from None
    return artifact
