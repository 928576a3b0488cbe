"""Several agents of one run on one memory. State never crosses from one to another.

The pool has a default list of primitives; a member that gives none takes it, `[]` opts out, a list overrides.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kipql.memory.primitives import tool_specs
from kipql.memory.session import AgentMemory

if TYPE_CHECKING:
    from kipql import Nexus


class AgentPool:
    """The agents of a run: each has the session `<run>/<name>`, all write one trace.

    >>> import kipql
    >>> pool = AgentPool(kipql.open(), run="run-1", cognitive_primitives=["recall"])
    >>> planner, coder = pool.add("planner"), pool.add("coder", cognitive_primitives=[])
    >>> [spec["name"] for spec in planner.tools()], coder.tools()
    (['recall'], [])
    """

    __slots__ = ("_default", "_members", "_nexus", "_run", "_settings")

    def __init__(
        self,
        nexus: "Nexus",
        *,
        run: str,
        cognitive_primitives: Sequence[str] = (),
        trace: str | Path | None = None,
        **settings: Any,
    ) -> None:
        """run       the name of the run
        cognitive_primitives  the default of its members
        trace     the file all members write their events to
        settings  further arguments of every `AgentMemory`
        """
        tool_specs(cognitive_primitives)
        self._nexus, self._run, self._default = nexus, run, tuple(cognitive_primitives)
        self._settings = {"trace": trace, **settings}
        self._members: dict[str, AgentMemory] = {}

    def add(
        self,
        name: str,
        *,
        cognitive_primitives: Sequence[str] | None = None,
        user_tools: Iterable[Any] = (),
        **own: Any,
    ) -> AgentMemory:
        """A new member. Raises ValueError for a name that is taken, and for a tool with the name of a primitive that
        is active for this member."""
        if not name or "/" in name or name in self._members:
            raise ValueError(f"{name!r} can not name a member of the pool: it is taken, empty or has a slash")
        enabled = self._default if cognitive_primitives is None else tuple(cognitive_primitives)
        tool_specs(enabled, user_tools)
        settings = {**self._settings, **own}
        member = AgentMemory(self._nexus, session=f"{self._run}/{name}", cognitive_primitives=enabled, **settings)
        self._members[name] = member
        return member

    def __getitem__(self, name: str) -> AgentMemory:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)
