"""Statement: a text that is parsed and planned once and run often."""

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kipql.exec.unready import Unready
from kipql.govern.principals import OWNER
from kipql.lang import ast
from kipql.limits import Limits
from kipql.runtime.guard import reraise
from kipql.runtime.parsed import Parsed
from kipql.runtime.reading import answer, read
from kipql.runtime.receipt import Receipt
from kipql.runtime.result import Result
from kipql.runtime.session import Session
from kipql.runtime.writing import write_alone

if TYPE_CHECKING:
    from kipql.exec.examine import Examined


class Statement:
    """A prepared statement of a Nexus.

    text        as given
    language    "KQL", "KML" or "META"
    parameters  the names of its placeholders, in the order they appear

    >>> import kipql
    >>> by_name = kipql.open().prepare('FIND(?c.name) WHERE { ?c {type: "Person", name: :name} }')
    >>> by_name.language, by_name.parameters, by_name.query({"name": "Ada"}).rows
    ('KQL', ('name',), [])
    """

    __slots__ = ("_fast", "_parsed", "_session", "language", "parameters", "text")

    def __init__(self, session: Session, parsed: Parsed) -> None:
        if isinstance(parsed.node, ast.Find):
            parsed.prepared(session.view().environment)
        self._session = session
        self._parsed = parsed
        self._fast: tuple[Any, ...] | None = None
        self.text = parsed.text
        self.language = parsed.language
        self.parameters = tuple(param.name for param in parsed.parameters)

    def query(
        self,
        parameters: Mapping[str, object] | None = None,
        *,
        limits: Limits | None = None,
        cancel: threading.Event | None = None,
    ) -> Result:
        """Run it as a read; see `Nexus.query`. Raises KipError; ReadonlyViolation for a mutation."""
        try:
            fast = self._fast
            if fast is not None and limits is None and cancel is None:
                head, space, store, run, projecting, cursors = fast
                if store.newest is head and not space.closed:
                    try:
                        found: Result = run(parameters, projecting, cursors)
                        return found
                    except Unready:
                        return read(self._session, self._parsed, parameters, self._session.budget())
            session = self._session
            found = answer(session, self._parsed, parameters, limits, cancel)
            self._fast = self._settled(session)
            return found
        except Exception as error:
            reraise(error, self.text)

    def _settled(self, session: Session) -> tuple[Any, ...] | None:
        """What `answer` would come to again for the owner of the memory, as long as the head stands: what a ready path
        is called with, in one object, so that a call looks at few."""
        ready, space = self._parsed.ready, session.space
        settled = None if ready is None else ready.state
        if settled is None or settled.run is None or settled.limits is not session.limits:
            return None
        if session.principal is not OWNER or session.pinned is not None:
            return None
        return settled.head, space, space.store, settled.run, session.projecting, space.cursors

    def execute(
        self,
        parameters: Mapping[str, object] | None = None,
        *,
        limits: Limits | None = None,
        cancel: threading.Event | None = None,
    ) -> Result | Receipt:
        """Run it, whatever it is; see `Nexus.execute`. Raises KipError."""
        try:
            session, parsed = self._session, self._parsed
            if not parsed.mutation:
                return answer(session, parsed, parameters, limits, cancel)
            return write_alone(session, parsed, parameters, limits, cancel)
        except Exception as error:
            reraise(error, self.text)

    def explain(self, parameters: Mapping[str, object] | None = None) -> str:
        """Its plan as text; see `Nexus.explain`. Raises KipError."""
        from kipql.runtime.explaining import explain

        try:
            return explain(self._session, self._parsed, parameters)
        except Exception as error:
            reraise(error, self.text)

    def examine(self, parameters: Mapping[str, object] | None = None, *, limits: Limits | None = None) -> "Examined":
        """Its plan as data, each operator with the candidates that were expected, its starts and its rows; it is run
        only where parameters are given (`{}` for none). Raises KipError.

        >>> import kipql
        >>> query = kipql.open().prepare('FIND(?c.name) WHERE { ?c {type: "Person"} }')
        >>> [(line.text, line.estimated, line.rows) for line in query.examine({}).lines]
        [('concept ?c [type Person]', 0, 0)]
        """
        from kipql.runtime.explaining import examine

        try:
            return examine(self._session, self._parsed, parameters, limits)
        except Exception as error:
            reraise(error, self.text)

    def __repr__(self) -> str:
        return f"<Statement {self.language}: {self.text[:60]}>"
