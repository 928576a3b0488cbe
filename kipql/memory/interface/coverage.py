"""Coverage: of each channel whether it was read, and why not (§6). What is not served is never called absent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kipql.memory.interface.reading import Reading
from kipql.memory.interface.scopes import Scope
from kipql.memory.interface.wire import MOST

CHANNELS = ("constraints", "commitments", "dependencies", "failures", "experiences", "skills", "evidence")
COMPLETE = ""
NOT_APPLICABLE = "not_applicable"


@dataclass(slots=True)
class Coverage:
    """The channels of a recall: COMPLETE, NOT_APPLICABLE, or the reason of a RecallPlan why one is incomplete."""

    channels: dict[str, str] = field(default_factory=lambda: dict.fromkeys(CHANNELS, NOT_APPLICABLE))
    pending: list[str] = field(default_factory=list)
    unverified: list[str] = field(default_factory=list)
    unsettled: bool = False

    @property
    def complete(self) -> bool:
        """Whether every channel was read, and nothing is on its way."""
        return not self.unsettled and not self.pending and set(self.channels.values()) <= {COMPLETE, NOT_APPLICABLE}

    @property
    def action_eligible(self) -> bool:
        """Whether memory is sufficient; never whether something may be done."""
        return self.complete and not self.unverified

    def cut(self) -> "Coverage":
        """This coverage where the budget left no room for all that was found."""
        return replace(self, channels={**self.channels, "evidence": "budget"})

    def shown(self, scope: Scope) -> dict[str, Any]:
        """The Coverage of a Briefing."""
        words = {COMPLETE: "complete", NOT_APPLICABLE: "not_applicable"}
        return {
            "complete": self.complete,
            "scope": scope.shown(),
            "channels": {name: words.get(found, "incomplete") for name, found in self.channels.items()},
            "pending_receipts": list(dict.fromkeys(self.pending))[:MOST],
            "unverified_preconditions": list(dict.fromkeys(self.unverified))[:MOST],
            "action_eligible": self.action_eligible,
        }

    def record(self, reading: Reading) -> dict[str, Any]:
        """The RecallCoverage behind it, with the plan of each channel that was read (Profile §20.2)."""
        read = {name: found for name, found in self.channels.items() if found != NOT_APPLICABLE}
        return {
            "basis": dict(reading.basis),
            "channels": {name: _state(found) for name, found in self.channels.items()},
            "unverified_preconditions": list(dict.fromkeys(self.unverified)),
            "action_eligible": self.action_eligible,
            "plans": {
                name: reading.plan(name, exact=name != "evidence", reason=found or None) for name, found in read.items()
            },
        }


def _state(found: str) -> Mapping[str, bool]:
    done = found in (COMPLETE, NOT_APPLICABLE)
    return {"completed": done, "truncated": found in ("page_limit", "budget")}


def summary(items: Sequence[Mapping[str, Any]], coverage: Coverage, asked: bool) -> str:
    """A few words on top: what is accepted, what is missing."""
    first = [each["text"] for each in items if each["role"] == "fact" and each["epistemic_status"] == "accepted"]
    rules = sum(each["role"] == "constraint" for each in items)
    parts = [f"{len(coverage.pending)} sources are not processed yet."] if coverage.pending else []
    parts += [f"{each[:500]}." for each in first[:3]]
    if asked and not first:
        parts.append("Nothing accepted answers this; that is not a no.")
    if rules:
        parts.append(f"{rules} {'rule applies' if rules == 1 else 'rules apply'}.")
    return " ".join(parts) or "Nothing to report."
