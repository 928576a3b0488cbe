"""What a recall shows: one small record each, labelled with what it is and how far it may be trusted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Plain = dict[str, Any]
FACT, SOURCE, CONSTRAINT = "fact", "source", "constraint"
STALE = ("needs_review", "unverifiable")
_SEVERITY = ("critical", "warning", "note")


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning: `critical` before `warning` before `note`."""

    severity: str
    kind: str
    text: str
    refs: tuple[str, ...] = ()

    def to_dict(self) -> Plain:
        """As JSON values."""
        return {"severity": self.severity, "kind": self.kind, "text": self.text, "refs": list(self.refs)}


@dataclass(slots=True)
class Channel:
    """The items of one channel of a recall, best first, and whether that is all there is."""

    name: str
    items: list[Plain] = field(default_factory=list)
    completed: bool = True
    truncated: bool = False
    warnings: list[Warned] = field(default_factory=list)


def ordered(warnings: Sequence[Warned]) -> list[Plain]:
    """Warnings without repetition, the critical first."""
    kept = dict.fromkeys(warnings)
    return [one.to_dict() for one in sorted(kept, key=lambda one: _SEVERITY.index(one.severity))]


def local(ref: str) -> str:
    """The local name of an exact reference, as words."""
    return ref.rsplit("/", 1)[-1].replace("_", " ")


def called(value: Mapping[str, Any]) -> str:
    """What an element is called: its name; of one without, what it says of itself and when; else its key."""
    name, key, attributes = value.get("name"), value.get("key"), value.get("attributes")
    told = attributes if isinstance(attributes, Mapping) else {}
    said = next((told[member] for member in _SAID if isinstance(told.get(member), str) and told[member]), None)
    if name or said is None:
        return str(name or key or value.get("id") or value)
    when, said = _when(told), said.rstrip(".")
    return f"{said} ({when})" if when else said


_SAID = ("summary", "description", "goal")
_TIMES = ("started_at", "ended_at", "occurred_at", "due_at")


def _when(attributes: Mapping[str, Any]) -> str | None:
    """The day, or the days within which it was."""
    at = next((attributes[name] for name in _TIMES if isinstance(attributes.get(name), str)), None)
    within = attributes.get("dated_within")
    if at is not None or not isinstance(within, Mapping):
        return at[:10] if at else None
    days = dict.fromkeys(str(within[end])[:10] for end in ("earliest", "latest") if within.get(end))
    return " to ".join(days) or None


def provenance(
    item: Plain, validity: str | None, import_id: str | None, warnings: list[Warned], *, what: str, label: str
) -> Plain:
    """An item with its dependency caveat and its origin; both are told, and neither hides it."""
    item["dependency_validity"] = validity or "current"
    item["remote"] = import_id is not None
    if validity in STALE:
        text = f"{what} rests on something that changed or can not be checked ({validity}): {label}"
        warnings.append(Warned("warning", "stale_dependency", text, (item["ref"],)))
    if import_id is not None:
        text = f"{what} came with an import and is not this memory's own: {label}"
        warnings.append(Warned("note", "remote", text, (item["ref"],)))
    return item


def ranks(salience: float | None, strength: float | None) -> Plain:
    """The mnemonic signals of an item; null is unknown."""
    return {"salience": salience, "effective_strength": strength}


def best_first(items: list[Plain]) -> list[Plain]:
    """By relevance, then salience, then effective strength; what is unknown comes after what is known."""
    return sorted(items, key=lambda item: tuple(_descending(item.get(name)) for name in _ORDER))


_ORDER = ("relevance", "salience", "effective_strength")


def _descending(value: float | None) -> tuple[bool, float]:
    return (value is None, 0.0 if value is None else -value)


def in_scope(task: str | None, asked: str | None) -> bool:
    """Whether what is scoped to a task may be shown for another: it may not."""
    return task is None or task == asked


def shown(payload: Any) -> tuple[str | None, bool]:
    """The text of a payload and whether it was erased or withheld. A JSON payload is its strings."""
    if not isinstance(payload, Mapping) or payload.get("mode") == "purged":
        return None, True
    value = payload.get("inline")
    if value is None:
        return None, payload.get("mode") == "inline"
    return (value if isinstance(value, str) else "\n".join(_strings(value))), False


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    members = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [text for member in members for text in _strings(member)]
