"""Principals: the authenticated identity behind a call (§28.1).

A Principal comes from the host, never from a request body (§88.1), and is not a semantic actor (§28.2): it
is what `_system.origin.principal_id` records.
"""

from dataclasses import dataclass

from kipql.errors import KipError
from kipql.model import ENGINE, Origin

CHANNEL = "local"


@dataclass(frozen=True, slots=True)
class Principal:
    """One authenticated identity.

    id  how the host names it: a non-empty string of at most 512 characters

    >>> Principal("agent:planner").origin.principal_id
    'agent:planner'
    """

    id: str

    @property
    def origin(self) -> Origin:
        """What the engine records on everything that this Principal writes (§6.2)."""
        return Origin(self.id, CHANNEL)


OWNER = Principal(ENGINE.principal_id)
"""Whom a memory without configured Governance runs as: every permission (§30.5)."""


def principal_of(value: object) -> Principal:
    """The Principal that a host named: a Principal, an id, or None for the owner.

    Raises Unauthenticated for anything else, an empty id included.
    """
    if value is None:
        return OWNER
    if isinstance(value, Principal):
        return value
    if isinstance(value, str) and 0 < len(value) <= 512:
        return Principal(value)
    raise KipError("Unauthenticated", f"{value!r} names no Principal", hint="pass a Principal or a non-empty id")
