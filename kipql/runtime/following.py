"""A memory that another process writes, read by one that follows (decision 0011).

A statement of a reader looks once, when it begins, for what was committed since. Who writes, or does not follow, has
the plain `Statement` and pays nothing.
"""

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kipql.limits import Limits
from kipql.runtime.parsed import Parsed
from kipql.runtime.prepared import Statement
from kipql.runtime.receipt import Receipt
from kipql.runtime.result import Result
from kipql.runtime.session import Session

if TYPE_CHECKING:
    from kipql.exec.examine import Examined


class FollowingStatement(Statement):
    """A prepared statement of a Nexus that follows."""

    __slots__ = ("__weakref__",)

    def __init__(self, session: Session, parsed: Parsed) -> None:
        super().__init__(session, parsed)
        session.space.replaced.add(self.forget)

    def forget(self) -> None:
        """The Space was read anew: let go of the old state, which may hold what was purged since."""
        self._fast = None
        self._parsed.forget()

    def query(
        self,
        parameters: Mapping[str, object] | None = None,
        *,
        limits: Limits | None = None,
        cancel: threading.Event | None = None,
    ) -> Result:
        """Run it as a read on what is committed now; see `Nexus.query`."""
        self._session.space.look()
        return super().query(parameters, limits=limits, cancel=cancel)

    def execute(
        self,
        parameters: Mapping[str, object] | None = None,
        *,
        limits: Limits | None = None,
        cancel: threading.Event | None = None,
    ) -> Result | Receipt:
        """Run it, whatever it is, on what is committed now; see `Nexus.execute`."""
        self._session.space.look()
        return super().execute(parameters, limits=limits, cancel=cancel)

    def explain(self, parameters: Mapping[str, object] | None = None) -> str:
        """Its plan as text; see `Nexus.explain`."""
        self._session.space.look()
        return super().explain(parameters)

    def examine(self, parameters: Mapping[str, object] | None = None, *, limits: Limits | None = None) -> "Examined":
        """Its plan as data; see `Statement.examine`."""
        self._session.space.look()
        return super().examine(parameters, limits=limits)
