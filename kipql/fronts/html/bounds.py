"""How much of a memory a page holds, and what it says about the rest."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a page.

    concepts      Concepts drawn, those first of which most is said
    propositions  Propositions drawn
    slots         slots with a timeline
    states        the last commits that AS OF reaches; None is as many as the next two allow, at least ten
    beliefs       beliefs computed for all slots and states, about
    reading       rows read for all states
    """

    concepts: int = 400
    propositions: int = 1_200
    slots: int = 400
    states: int | None = None
    beliefs: int = 8_000
    reading: int = 2_000_000

    def reached(self, elements: int, slots: int) -> int:
        """How many states a page of a memory of this size has."""
        if self.states is not None:
            return self.states
        return max(10, min(200, self.reading // max(1, elements), self.beliefs // (2 * max(1, slots))))


@dataclass(slots=True)
class Cut:
    """What was left out, in sentences for the reader of the page."""

    said: list[str] = field(default_factory=list)

    def more(self, what: str, shown: int, there: int) -> None:
        """Say that not all of something is shown; `what` begins with which of them are."""
        if there > shown:
            which, _, things = what.rpartition(" ")
            self.said.append(f"{which} {shown:,} of {there:,} {things}".strip())
