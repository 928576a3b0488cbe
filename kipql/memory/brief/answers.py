"""What a recall answers: a briefing of twelve fields before an action, or one answer with what stands for it."""

from dataclasses import dataclass, field
from typing import Any

from kipql.memory.answers import Answer as Record
from kipql.memory.brief.items import Plain

SUCCESS, PARTIAL, NOT_FOUND = "success", "partial", "not_found"
DIRECT, THIN, ABSENT = 0.0, 0.5, 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled(Record):
    """One answer.

    status       success, partial or not_found: how far the question was answered
    text         the answer as lines
    gaps         what is missing, and why
    answer       the answer as data
    belief       accepted, rejected, contested, uncertain or insufficient, where the question was what to believe
    support      the claims for it, with who made them and what they cite
    opposition   the claims against it
    warnings     `{severity, kind, text, refs}`, critical ones first
    uncertainty  0 direct and current, 0.5 thin or in conflict, 1 absent; between 0 and 0.5 the share of what is asked
                 that the answer does not speak of
    subject      who or what it is about, and how that was found out
    coverage     a RecallCoverage: what was read to the end
    basis        the coordinates: state, time, policy
    """

    mode: str
    status: str
    text: str
    gaps: list[str] = field(default_factory=list)
    answer: Any = None
    belief: str | None = None
    support: list[Plain] = field(default_factory=list)
    opposition: list[Plain] = field(default_factory=list)
    warnings: list[Plain] = field(default_factory=list)
    found: bool = False
    uncertainty: float = ABSENT
    subject: Plain = field(default_factory=dict)
    coverage: Plain = field(default_factory=dict)
    basis: Plain = field(default_factory=dict)

    @property
    def structured(self) -> Plain:
        """`{answer, status, support, opposition, warnings}`; the status is the belief's where there is one."""
        return {
            "answer": self.answer,
            "status": self.belief or self.status,
            "support": self.support,
            "opposition": self.opposition,
            "warnings": self.warnings,
        }

    @property
    def meta(self) -> Plain:
        """`{found, uncertainty}`."""
        return {"found": self.found, "uncertainty": self.uncertainty}

    def __str__(self) -> str:
        """The answer form: status, answer, gaps."""
        parts = [f"Status: {self.status}", f"Answer:\n{self.text}"]
        parts += ["Gaps:\n" + "\n".join(f"- {gap}" for gap in self.gaps)] if self.gaps else []
        return "\n\n".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing(Record):
    """What to know before acting. Constraints and warnings are whole; the rest is cut by the budget, and says so.

    Nothing in it permits anything: `coverage["action_eligible"]` speaks of the memory, never of a right.
    """

    goal: str
    knowledge: list[Plain]
    contested_assumptions: list[Plain]
    skills: list[Plain]
    successful_experiences: list[Plain]
    failed_experiences: list[Plain]
    open_commitments: list[Plain]
    constraints: list[Plain]
    unverified_preconditions: list[Plain]
    coverage: Plain
    basis: Plain
    warnings: list[Plain]

    @property
    def complete(self) -> bool:
        """Whether every channel was read to the end and shown whole."""
        return all(one["completed"] and not one["truncated"] for one in self.coverage["channels"].values())

    def refs(self) -> list[str]:
        """The ids of all that is shown."""
        lists = (self.constraints, self.knowledge, self.contested_assumptions, self.skills)
        more = (self.successful_experiences, self.failed_experiences, self.open_commitments)
        return list(dict.fromkeys(item["ref"] for items in (*lists, *more) for item in items))

    def __str__(self) -> str:
        """The briefing as lines, constraints and warnings first."""
        return "\n".join(line for name, items in self._parts() for line in _lines(name, items))

    def _parts(self) -> list[tuple[str, list[Plain]]]:
        eligible = self.coverage["action_eligible"]
        return [
            (f"Goal: {self.goal}", []),
            ("Constraints", self.constraints),
            ("Warnings", self.warnings),
            ("Open commitments", self.open_commitments),
            ("Contested", self.contested_assumptions),
            ("Known", self.knowledge),
            ("Failed before", self.failed_experiences),
            ("Worked before", self.successful_experiences),
            ("Skills", self.skills),
            (f"Coverage: {'complete' if self.complete else 'incomplete'}, action eligible: {eligible}", []),
        ]


def _lines(title: str, items: list[Plain]) -> list[str]:
    if not items:
        return [title] if ":" in title else []
    return [f"{title}:", *(f"- {item['text']}" for item in items)]
