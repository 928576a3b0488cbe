"""What a recall is asked: a text, who is meant, what is to be done, for which time, and within which bounds.

The context resolves words, the action context influences relevance; neither gives a right.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import kipql

POLICY = "kip:memory-default"
HEED = "must_heed"
"""The Predicate that rules are claimed with, where they are somebody's own words."""
MODES = (
    "entity",
    "fact",
    "belief",
    "event",
    "experience",
    "procedure",
    "failure",
    "action",
    "wake",
    "commitments",
    "preferences",
    "self",
    "history",
    "existence",
    "domain",
    "audit",
    "document",
)


@dataclass(frozen=True, slots=True)
class Context:
    """Where a question comes from.

    counterparty  the key of the Concept that "you", "they" and "the current user" mean; never a name
    agent         who asks; never the subject
    """

    counterparty: str | None = None
    agent: str | None = None
    source: str | None = None
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class ActionContext:
    """What is about to be done."""

    goal: str | None = None
    current_state: str | None = None
    available_tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Time:
    """`valid_at` is a moment of the world, `as_of_seq` a state of the memory; None is now and the head."""

    valid_at: str | None = None
    as_of_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The task and the contexts asked for. What is scoped to another task is left out."""

    task_ref: str | None = None
    context_refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of an answer.

    items              how many of one channel
    max_output_tokens  how large the answer may be; constraints and warnings are never cut for it
    deadline_ms        for all reads together
    """

    items: int = 20
    max_output_tokens: int | None = None
    deadline_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """One recall. `subject`, `predicate` and `object` are exact references where the caller has them; `heed` are the
    Predicates whose claims are rules."""

    query: str
    context: Context
    action: ActionContext
    time: Time
    scope: Scope
    budget: Budget
    subject: str | None = None
    predicate: str | None = None
    object: Any = None
    forms: tuple[str, ...] = ()
    policy: str = POLICY
    heed: tuple[str, ...] = (HEED,)

    @property
    def goal(self) -> str:
        """What relevance is measured by: the goal where there is one, and the query."""
        parts = dict.fromkeys(part for part in (self.action.goal, self.query, self.context.topic) if part)
        return " ".join(parts)


def question(
    query: str,
    *,
    context: Mapping[str, Any] | None = None,
    action_context: Mapping[str, Any] | None = None,
    time: Mapping[str, Any] | None = None,
    scope: Mapping[str, Any] | None = None,
    budget: Mapping[str, Any] | None = None,
    **named: Any,
) -> Question:
    """A Question from plain values. Raises TypeMismatch for a member that there is not, or of the wrong type."""
    if not isinstance(query, str):
        raise kipql.KipError("TypeMismatch", f"a query is a text, not {type(query).__name__}")
    asked = Question(
        query,
        _record(Context, "context", context),
        _record(ActionContext, "action_context", action_context),
        _record(Time, "time", time),
        _record(Scope, "scope", scope),
        _record(Budget, "budget", budget),
    )
    _bounded(asked.budget)
    given = {name: value for name, value in named.items() if value is not None}
    return replace(asked, **given)


def _record(kind: Any, name: str, given: Mapping[str, Any] | None) -> Any:
    if given is None:
        return kind()
    known = {field.name for field in fields(kind)}
    if not isinstance(given, Mapping) or (unknown := [member for member in given if member not in known]):
        shown = "an object" if not isinstance(given, Mapping) else f"no member {unknown[0]!r}"
        raise kipql.KipError("TypeMismatch", f"{name}: {shown} is expected", hint=f"it has {', '.join(sorted(known))}")
    values = {member: tuple(value) if isinstance(value, list) else value for member, value in given.items()}
    return kind(**values)


def _bounded(budget: Budget) -> None:
    for name in ("items", "max_output_tokens", "deadline_ms"):
        value = getattr(budget, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise kipql.KipError("TypeMismatch", f"budget.{name} is a whole number from 1, not {value!r}")
