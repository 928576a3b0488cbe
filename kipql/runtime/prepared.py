"""Statement: a text that is parsed and planned once and run often."""

import threading
from collections.abc import Mapping

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
from kipql.runtime.writing import write


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

    __slots__ = ("_parsed", "_session", "language", "parameters", "text")

    def __init__(self, session: Session, parsed: Parsed) -> None:
        if isinstance(parsed.node, ast.Find):
            parsed.prepared(session.view().environment)
        self._session = session
        self._parsed = parsed
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
            session, ready = self._session, self._parsed.ready
            # As `answer` does for the owner of the memory, without a call for each step.
            if ready is not None and limits is None and cancel is None and session.principal is OWNER:
                settled, space = ready.state, session.space
                if (
                    settled is not None
                    and settled.head is space.view()
                    and settled.limits is session.limits
                    and settled.run is not None
                    and session.pinned is None
                ):
                    try:
                        found: Result = settled.run(parameters, session.projecting, space.cursors)
                        return found
                    except Unready:
                        return read(session, self._parsed, parameters, session.budget())
            return answer(session, self._parsed, parameters, limits, cancel)
        except Exception as error:
            reraise(error, self.text)

    def execute(
        self,
        parameters: Mapping[str, object] | None = None,
        *,
        limits: Limits | None = None,
        cancel: threading.Event | None = None,
    ) -> Result | Receipt:
        """Run it, whatever it is; see `Nexus.execute`. Raises KipError."""
        try:
            if not self._parsed.mutation:
                return answer(self._session, self._parsed, parameters, limits, cancel)
            return write(self._session, self._parsed, parameters, self._session.budget(limits, cancel))
        except Exception as error:
            reraise(error, self.text)

    def explain(self, parameters: Mapping[str, object] | None = None) -> str:
        """Its plan as text; see `Nexus.explain`. Raises KipError."""
        from kipql.runtime.explaining import explain

        try:
            return explain(self._session, self._parsed, parameters)
        except Exception as error:
            reraise(error, self.text)

    def __repr__(self) -> str:
        return f"<Statement {self.language}: {self.text[:60]}>"
