"""Scopes: task and context handles become Concepts; what was observed in a task stays in it (§3, Profile §20.3)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kipql

if TYPE_CHECKING:
    from kipql.memory.graph import Reader

FACET = "kip://profiles/cognitive-memory/MemoryScope"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A resolved scope. `names` are the handles that were given, `contexts` the Concepts they stand for, ordered."""

    task_ref: str | None = None
    task_id: str | None = None
    names: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()

    @property
    def facet(self) -> dict[str, Any]:
        """The MemoryScope of what is written in this scope."""
        return {"task_ref": self.task_id, "context_refs": list(self.contexts)}

    def shown(self) -> dict[str, Any]:
        """The scope as a response says it."""
        found: dict[str, Any] = {} if self.task_ref is None else {"task_ref": self.task_ref}
        return found | ({"context_refs": list(self.names)} if self.names else {})

    def admits(self, facet: Any) -> bool:
        """Whether something with this MemoryScope counts here: what has none counts everywhere."""
        if not isinstance(facet, Mapping):
            return True
        return set(facet.get("context_refs") or ()) <= set(self.contexts)


def resolve(reader: "Reader", task_ref: str | None, context_refs: Sequence[str]) -> Scope:
    """The scope of a request. Raises NotFoundOrNotVisible, or IdentitySelectorRequired for an ambiguous handle."""
    task = None if task_ref is None else _concept(reader, task_ref)
    ids = {*([task] if task else []), *(_concept(reader, each) for each in context_refs)}
    return Scope(task_ref=task_ref, task_id=task, names=tuple(context_refs), contexts=tuple(sorted(ids)))


def of_facet(facet: Any) -> Scope:
    """The scope that something was written in."""
    given = facet if isinstance(facet, Mapping) else {}
    return Scope(task_id=given.get("task_ref"), contexts=tuple(given.get("context_refs") or ()))


def _concept(reader: "Reader", handle: str) -> str:
    if handle[:2] == "C-" and handle[2:].isdecimal():
        found: Iterable[Any] = reader.query("FIND(?c.id) WHERE { ?c CONCEPT {id: :id} }", {"id": handle}).rows
    else:
        found = reader.query("FIND(?c.id) WHERE { ?c CONCEPT {key: :key} } LIMIT 2", {"key": handle}).rows
    ids = list(found)
    if not ids:
        raise kipql.KipError("NotFoundOrNotVisible", "a handle of the scope names nothing here")
    if len(ids) > 1:
        raise kipql.KipError(
            "IdentitySelectorRequired", "a handle of the scope names several things", hint="give the id of one"
        )
    return str(ids[0])
