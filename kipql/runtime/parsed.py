"""Statements as the runtime keeps them: parsed once, classified by their tree, planned when first read (§73.1).

Whether a statement may change state is decided here, by `lang.is_mutation` on the parse tree; no later step
looks at the text or at a label again.
"""

from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING

from kipql import lang
from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.prescan import prescan
from kipql.limits import Limits
from kipql.plan.parameters import bind_names
from kipql.values import Json, json_type

if TYPE_CHECKING:
    from kipql.exec import Prepared
    from kipql.exec.ready import Ready
    from kipql.govern.authority import Authority
    from kipql.schema.environment import Environment

_KEPT = 1_024
_KEPT_TEXT = 1024 * 1024  # characters: the trees of long texts are far larger than the texts


class Parsed:
    """One statement: its text, its tree, and for a query the plan for one Schema Environment."""

    __slots__ = ("_needs", "_prepared", "language", "mutation", "node", "parameters", "ready", "text")

    def __init__(self, text: str, node: ast.Statement) -> None:
        self.text = text
        self.node = node
        self.language = lang.classify(node)
        self.mutation = lang.is_mutation(node)
        self.parameters = lang.walk.parameters(node)
        self._prepared: Prepared | None = None
        self.ready: Ready | None = None  # of a FIND that has run before (`kipql.exec.ready`)
        self._needs: tuple[str, ...] | None = None

    def admit(self, authority: "Authority") -> None:
        """Raise NotAuthorized when a permission that it needs for reading is not held at all (§29)."""
        if authority.full:
            return
        from kipql.govern import reads

        if self._needs is None:
            self._needs = reads.needs(self.node)
        reads.admit(authority, self._needs)

    def prepared(self, environment: "Environment") -> "Prepared":
        """The plan of a FIND; it is resolved again by itself where an environment differs."""
        if self._prepared is None:
            from kipql import exec as execution

            assert isinstance(self.node, ast.Find)
            self._prepared = execution.prepare(self.node, environment)
        elif self.ready is None:
            self.ready = self._prepared.ready
        return self._prepared

    def bind(self, given: Mapping[str, object] | None, limits: Limits) -> dict[str, Json]:
        """The values of its parameters (§74). Raises ReferenceError for a missing one."""
        return bind_names(self.parameters, given, limits)

    def refuse_mutation(self) -> None:
        """Raise ReadonlyViolation for a statement that is not known to be read-only (§76)."""
        if self.mutation:
            raise self.violation()

    def violation(self) -> KipError:
        """The ReadonlyViolation of this statement."""
        return KipError(
            "ReadonlyViolation",
            f"this is {self.language}, and only reading is allowed here",
            span=self.node.span,
            hint="use execute (kipql exec, run --write) on a writable memory; VALIDATE KML and PREVIEW KML are reads",
            text=self.text,
        )


class Statements:
    """The parsed statements of a memory by their exact text, the oldest dropped first."""

    __slots__ = ("_known", "_limits", "_lock", "_size")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: dict[str, Parsed] = {}
        self._size = 0
        self._lock = Lock()

    def parse(self, text: str, limits: Limits | None = None) -> Parsed:
        """The statement of a text. Raises InvalidSyntax with a span, ResourceExhausted for an oversized text.

        limits  those of a call, where they are narrower than the memory's
        """
        if limits is not None and limits is not self._limits and isinstance(text, str):
            prescan(text, limits)
        known = self._known.get(text) if text.__class__ is str else None
        if known is not None:
            return known
        if not isinstance(text, str):
            raise KipError("TypeMismatch", f"a statement is a string, not {json_type(text)}")
        try:
            parsed = Parsed(text, lang.parse(text, self._limits))
        except KipError as error:
            raise error.in_text(text) from None
        with self._lock:
            self._keep(text, parsed)
        return parsed

    def _keep(self, text: str, parsed: Parsed) -> None:
        if text in self._known or len(text) > _KEPT_TEXT:
            return
        self._size += len(text)
        self._known[text] = parsed
        while len(self._known) > _KEPT or self._size > _KEPT_TEXT:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._size -= len(oldest)
