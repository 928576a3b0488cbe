"""Statements as the runtime keeps them: parsed once, classified by their tree, planned when first read (§73.1).

Whether a statement may change state is decided here, by `lang.is_mutation` on the parse tree; no later step
looks at the text or at a label again. A query of a known form (`plan.forms`) has the tree of the known one but for
literals: its own is made only when somebody looks at it.
"""

import re
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Literal

from kipql import lang
from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.prescan import prescan
from kipql.limits import Limits
from kipql.plan.forms import Forms
from kipql.plan.parameters import bind_names
from kipql.plan.shape import COLUMNS, named
from kipql.values import Json, Scalar, json_type

if TYPE_CHECKING:
    from kipql.exec import Prepared
    from kipql.exec.ready import Ready
    from kipql.govern.authority import Authority
    from kipql.plan.caveats import Caveat
    from kipql.runtime.claiming import Claim
    from kipql.schema.environment import Environment

_PARAMETER = re.compile(r":[A-Za-z_]")  # a text without has none, and need not be walked for them
_KEPT = 1_024
_OWN_AFTER = 2  # runs of a text on what its form shares, before it gets a ready path of its own
_KEPT_TEXT = 1024 * 1024  # characters: the trees of long texts are far larger than the texts


class Parsed:
    """One statement: its text, its tree, and for a query the plan for one Schema Environment."""

    __slots__ = (
        "_caveats",
        "_forms",
        "_like",
        "_limits",
        "_literals",
        "_needs",
        "_node",
        "_prepared",
        "_runs",
        "claim",
        "language",
        "mutation",
        "parameters",
        "ready",
        "text",
    )

    def __init__(self, text: str, node: ast.Statement, forms: "Forms[Parsed] | None" = None) -> None:
        """`forms` is where its form is learned when it is planned."""
        self.text = text
        self._node: ast.Statement | None = node
        self.language = lang.classify(node)
        self.mutation = lang.is_mutation(node)
        self.parameters = lang.walk.parameters(node) if _PARAMETER.search(text) else ()
        self._prepared: Prepared | None = None
        self.ready: Ready | None = None  # of a FIND that has run before (`kipql.exec.ready`)
        self.claim: Claim | Literal[False] | None = None  # of a plain claim (`claiming`); False where it is none
        self._needs: tuple[str, ...] | None = None
        self._caveats: tuple[Caveat, ...] | None = None
        self._forms = forms
        self._like: Parsed | None = None
        self._literals: tuple[Scalar, ...] = ()
        self._limits: Limits | None = None
        self._runs = 0

    def with_literals(self, text: str, literals: tuple[Scalar, ...], limits: Limits) -> "Parsed":
        """A text of the same form with its own literals; `limits` are those that it is parsed under if need be."""
        made = object.__new__(Parsed)
        made.text, made._literals, made._limits, made._like = text, literals, limits, self
        made.language, made.mutation, made.parameters = self.language, self.mutation, self.parameters
        made._node = made._prepared = made.ready = made._needs = made._forms = made._caveats = made.claim = None
        made._runs = 0
        return made

    @property
    def node(self) -> ast.Statement:
        """The tree."""
        if self._node is None:
            assert self._limits is not None
            self._node = lang.parse(self.text, self._limits)
        return self._node

    @property
    def caveats(self) -> "tuple[Caveat, ...]":
        """What is legal and hardly meant in it, found once."""
        if self._like is not None and not self._like.caveats:
            return ()
        if self._caveats is None:
            from kipql.plan.caveats import caveats

            self._caveats = caveats(self.node) if self._prepared is None else self._prepared.columns.caveats
        return self._caveats

    def admit(self, authority: "Authority") -> None:
        """Raise NotAuthorized when a permission that it needs for reading is not held at all (§29)."""
        if authority.full:
            return
        from kipql.govern import reads

        reads.admit(authority, self._needed())

    def _needed(self) -> tuple[str, ...]:
        if self._needs is None:
            from kipql.govern import reads

            self._needs = reads.needs(self.node) if self._like is None else self._like._needed()
        return self._needs

    def prepared(self, environment: "Environment") -> "Prepared":
        """The plan of a FIND; it is resolved again by itself where an environment differs."""
        if self._prepared is None:
            self._prepared = self._planned(environment)
        elif self.ready is None:
            self.ready = self._prepared.ready
        return self._prepared

    def _planned(self, environment: "Environment") -> "Prepared":
        if self._like is not None:
            return self._like.prepared(environment).like(self._literals, self._find)
        from kipql import exec as execution

        made = execution.prepare(self._find(), environment)
        if self._forms is not None:
            self._forms.learn(self.text, made.shaped, self)
        return made

    def _find(self) -> ast.Find:
        assert isinstance(self.node, ast.Find)
        return self.node

    def shared(
        self, parameters: Mapping[str, object] | None, environment: "Environment"
    ) -> "tuple[Ready, Mapping[str, object]] | None":
        """The ready path that all texts of its form share, and what it is called with; None where there is none yet.

        A text that comes again gets one of its own, which is a little faster.
        """
        known = (self._like or self)._prepared
        ready = None if known is None else known.shared.ready
        if known is None or ready is None:
            return None
        self._runs += 1
        if self._runs > _OWN_AFTER:
            self.ready = self.prepared(environment).make_ready()
        if self._like is None:
            self._literals = known.literals
        try:
            columns = known.columns if self._like is None else known.columns.like(self._find)
            return ready, {**(parameters or {}), **named(self._literals), COLUMNS: columns}
        except TypeError:
            return None

    def forget(self) -> None:
        """Let go of the head that it ran on last (`Ready.forget`)."""
        known = (self._like or self)._prepared
        for ready in (self.ready, None if known is None else known.shared.ready, getattr(self._like, "ready", None)):
            if ready is not None:
                ready.forget()

    def locate(self, error: KipError, environment: "Environment") -> KipError:
        """An error of a run, with its span in the text."""
        return self.prepared(environment).locate(error)

    def bind(self, given: Mapping[str, object] | None, limits: Limits) -> dict[str, Json]:
        """The values of its parameters (§74). Raises ReferenceError for a missing one."""
        try:
            return bind_names(self.parameters, given, limits)
        except KipError:
            if self._like is None:
                raise
            return bind_names(lang.walk.parameters(self.node), given, limits)  # the same error at its place in the text

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

    __slots__ = ("__weakref__", "_forms", "_known", "_limits", "_lock", "_size")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._forms: Forms[Parsed] = Forms()
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
            parsed = self._formed(text)
            if parsed is None:
                parsed = Parsed(text, lang.parse(text, self._limits), self._forms)
        except KipError as error:
            raise error.in_text(text) from None
        with self._lock:
            self._keep(text, parsed)
        return parsed

    def forget(self) -> None:
        """Let go of the head that any of them ran on last."""
        with self._lock:
            for parsed in self._known.values():
                parsed.forget()

    def _formed(self, text: str) -> Parsed | None:
        """A text of a known form, by its literals; what nests deep is measured by its tree (`lang.prescan`)."""
        if prescan(text, self._limits):
            return None
        known = self._forms.find(text)
        return None if known is None else known.held.with_literals(text, known.literals, self._limits)

    def _keep(self, text: str, parsed: Parsed) -> None:
        if text in self._known or len(text) > _KEPT_TEXT:
            return
        self._size += len(text)
        self._known[text] = parsed
        while len(self._known) > _KEPT or self._size > _KEPT_TEXT:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._size -= len(oldest)
