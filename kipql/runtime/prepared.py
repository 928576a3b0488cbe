"""Statement: a text that is parsed and planned once and run often."""

import threading
from collections.abc import Mapping

from kipql.lang import ast
from kipql.limits import Limits
from kipql.runtime.guard import reraise
from kipql.runtime.parsed import Parsed
from kipql.runtime.reading import read
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
            return read(self._session, self._parsed, parameters, self._session.budget(limits, cancel))
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
            budget = self._session.budget(limits, cancel)
            if not self._parsed.mutation:
                return read(self._session, self._parsed, parameters, budget)
            return write(self._session, self._parsed, parameters, budget)
        except Exception as error:
            reraise(error, self.text)

    def __repr__(self) -> str:
        return f"<Statement {self.language}: {self.text[:60]}>"
