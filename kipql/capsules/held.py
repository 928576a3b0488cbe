"""What an agent works from as its own is not taken over from somebody else (specification §38.1, §39.5, §88.8).

Sessions, turns, pins, journal entries and articles are an agent's own voice: what reads them puts them into a prompt as
what this agent saw, kept or ruled. From another owner they come in quarantine, for the host to read and to release. An
Asset is the name of a place and says nothing; messages are Evidence, and are found as what somebody else said.
"""

from collections.abc import Mapping
from typing import Any

from kipql.schema.refs import written_lineage
from kipql.store.computed import PROFILE

_AGENT = "kip://kipql/agent/"
_PLACES = frozenset({f"{_AGENT}Asset"})
_STATES = frozenset({f"{PROFILE}/WorkingState"})
_LIVED = frozenset({f"{PROFILE}/Event", f"{PROFILE}/Experience"})
_SESSION = "session"


def held(record: Mapping[str, Any]) -> bool:
    """Whether a record is of an agent's own working state."""
    if record["kind"] != "concept":
        return False
    lineage = _lineage(record["schema_ref"])
    if lineage in _STATES or (lineage.startswith(_AGENT) and lineage not in _PLACES):
        return True
    if lineage in _LIVED and _SESSION in record.get("attributes", {}):
        return True
    return any(edges and _lineage(ref).startswith(_AGENT) for ref, edges in record.get("structural", {}).items())


def _lineage(ref: str) -> str:
    return written_lineage(ref) or ref
