"""One mutation plan: handles, the elements they stand for, and what will become of each (§53).

A statement is planned in two steps over one start view: what it *makes* (a new Draft, or the existing element that a
client key, a key or a tuple already names), then what it *assigns*. Making happens on demand, so a handle may be used
before the clause that declares it. Nothing is written until the whole plan stands (`kipql.mutate.apply`).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.words import near
from kipql.model import CONCEPT, KIND_NAMES, AnyRecord, element_code, element_id, kind_of
from kipql.mutate.context import WriteContext
from kipql.mutate.draft import Draft, Redirected, Target
from kipql.spans import Span
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.transaction import Transaction

Check: TypeAlias = Callable[["Plan"], None]
Maker: TypeAlias = Callable[["Plan", Any], Target]


class Plan:
    """The state of one statement, or of one MUTATE block, while it is planned."""

    def __init__(
        self, tx: "Transaction", parameters: Mapping[str, Json], write: WriteContext, makers: Mapping[type, Maker]
    ) -> None:
        self.tx = tx
        self.whole = tx.view  # the true state, which a write is built on; names and WHERE see `view`
        self.view = self.whole if write.seen is None else write.seen(self.whole)
        self.environment = tx.view.environment
        self.parameters = parameters
        self.write = write
        self.new: list[Draft] = []
        self.existing: dict[int, Draft] = {}
        self.keys: dict[tuple[str, str], Draft] = {}  # Concept key -> new Draft, by type lineage
        self.tuples: dict[tuple[Any, ...], Draft] = {}  # Proposition tuple -> new Draft
        self.echoes: list[tuple[Draft, Target]] = []  # creations under a client key that names something already
        self.checks: list[Check] = []  # what can be judged only when everything is in place
        self.contents: dict[int, Draft] = {}  # where the content of a creating clause goes, by the clause
        self.redirected: list[tuple[Target, str, int, int]] = []  # (element, path, given, resolved)
        self._redirected: list[tuple[str, int, int]] = []
        self._makers = makers
        self._client_keys: dict[tuple[int, str], Draft] = {}
        self._declared: dict[str, ast.Mutation] = {}
        self._made: dict[int, Target] = {}
        self._making: set[int] = set()

    # --- handles ---------------------------------------------------------------------------------------

    def declare(self, statement: ast.Mutation, handle: ast.Var | None) -> None:
        """Announce a handle. Raises DuplicateLocalHandle for the second of one name."""
        if handle is None:
            return
        if handle.name in self._declared:
            hint = "every output of a MUTATE needs its own name (§53.2)"
            message = f"?{handle.name} is declared twice"
            raise KipError("DuplicateLocalHandle", message, span=handle.span, hint=hint)
        self._declared[handle.name] = statement

    def handle(self, node: ast.Var) -> Target:
        """The element a handle stands for, made now if its clause comes later. Raises ReferenceError."""
        statement = self._declared.get(node.name)
        if statement is None:
            close = near(node.name, self._declared)
            hint = f"did you mean ?{close}?" if close else "declare it in this statement or bind it in its WHERE"
            raise KipError("ReferenceError", f"?{node.name} names nothing here", span=node.span, hint=hint)
        return self.make(statement)

    def make(self, statement: ast.Mutation) -> Target:
        """The element that a creating clause stands for, once per clause."""
        known = self._made.get(id(statement))
        if known is not None:
            return known
        if id(statement) in self._making:
            raise KipError("ReferenceError", "this tuple refers to itself", span=statement.span)
        self._making.add(id(statement))
        outer, self._redirected = self._redirected, []
        target = self._makers[type(statement)](self, statement)
        self.attribute(target)
        self._redirected = outer
        self._made[id(statement)] = target
        return target

    def outputs(self) -> Iterator[tuple[str, Target]]:
        """The handles of a plan with what they stand for."""
        for name, statement in self._declared.items():
            yield name, self._made[id(statement)]

    # --- elements --------------------------------------------------------------------------------------

    def add(self, kind: int, span: Span) -> Draft:
        """A new element."""
        draft = Draft(kind, None, None, span)
        self.new.append(draft)
        return draft

    def created(self, kind: int, client_key: str | None, span: Span) -> tuple[Draft, Target]:
        """Where a CREATE puts its content, and the element it stands for.

        Without a client key both are one new Draft. Under a key that names an element already, the content goes
        to an echo, which must say the same (§52.1, §7.5).
        """
        if client_key is None:
            draft = self.add(kind, span)
            return draft, draft
        stored = self.whole.client_key(kind, client_key)
        if stored is not None and not self.view.exists(stored[0]):
            taken = KipError("ClientKeyConflict", f"the client key {client_key!r} is taken", span=span)
            self.write.hidden.append(taken)
            draft = self.add(kind, span)
            return draft, draft
        known: Target | None = self._client_keys.get((kind, client_key)) if stored is None else stored[0]
        if known is None:
            draft = self.add(kind, span)
            draft.client_key = client_key
            self._client_keys[kind, client_key] = draft
            return draft, draft
        echo = Draft(kind, None, None, span)
        echo.client_key = client_key
        self.echoes.append((echo, known))
        return echo, known

    def opened(self, statement: ast.Mutation, kind: int, client_key: str | None) -> Target:
        """What a CREATE or ASSERT stands for; `contents` keeps the Draft that its content goes to."""
        self.contents[id(statement)], target = self.created(kind, client_key, statement.span)
        return target

    def draft(self, target: Target, span: Span) -> Draft:
        """The Draft that collects what happens to an element."""
        if isinstance(target, Draft):
            return target
        draft = self.existing.get(target)
        if draft is None:
            draft = Draft(kind_of(target), self.whole.record(target), target, span)
            self.existing[target] = draft
        return draft

    def survivor(self, target: Target, path: str) -> Target:
        """The identity that new writes land on: a merged Concept's survivor (§11.3).

        path   where in the write the reference stands; a redirected one is kept as it was given
        """
        if not isinstance(target, int) or kind_of(target) != CONCEPT or not self.view.has_merges:
            return target
        found = self.view.canonical(target)
        given = target.supplied if isinstance(target, Redirected) else target
        if given != found:
            self._redirected.append((path, given, found))
        return found

    def shown(self, record: AnyRecord | None) -> AnyRecord | None:
        """A state that a Draft is built on as the writer sees it: what a guard compares."""
        if record is None or self.view is self.whole:
            return record
        code = next((code for code, draft in self.existing.items() if draft.base is record), None)
        return record if code is None else self.view.record(code)

    def attribute(self, target: Target) -> None:
        """The references redirected since the last call belong to the write of this element."""
        self.redirected += [(target, *each) for each in self._redirected]
        self._redirected.clear()

    def lineage(self, ref: str) -> str:
        """The lineage of an exact ref or name in this environment."""
        return self.environment.lineage(ref)

    # --- numbering -------------------------------------------------------------------------------------

    def number(self) -> None:
        """Give the new elements their codes: per kind, in the order of the text that makes them."""
        rows: dict[int, int] = {}
        self.new.sort(key=lambda draft: draft.span.start)
        for draft in self.new:
            row = rows.get(draft.kind)
            if row is None:
                row = self.whole.bounds[draft.kind]
            draft.code = element_code(draft.kind, row)
            rows[draft.kind] = row + 1

    def describe(self, target: Target) -> str:
        """How a message calls an element."""
        if isinstance(target, Draft):
            return target.name
        return f"{KIND_NAMES[kind_of(target)]} {element_id(target)}"


def code_of(target: Target) -> int:
    """The code of a target once the plan is numbered."""
    if isinstance(target, Draft):
        assert target.code is not None
        return target.code
    return int(target)
