"""What elements are called in a text for people, looked up as it is written and kept.

A Concept is called by its name, else its key; anything else by its id. A name that can not be read (no right to it, a
limit that is used up) is no error of what is shown: the id stands for itself.
"""

from collections.abc import Callable, Sequence

from kipql.errors import KipError
from kipql.render.people import concept_name
from kipql.values import Json

Ask = Callable[[str, dict[str, Json]], Sequence[Json]]
MOST_ROWS = 500  # rows up to which the references in them are looked up
_KEPT = 10_000


class Labels:
    """The names of one memory at one state.

    ask  the rows of a query with parameters
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._kept: dict[str, str] = {}

    def named(self, identity: str) -> str:
        """`Ada`, or the id of what has no name."""
        if not identity.startswith("C-"):
            return identity
        known = self._kept.get(identity)
        if known is None:
            if len(self._kept) > _KEPT:
                self._kept.clear()
            known = self._kept[identity] = self._looked_up(identity)
        return known

    def label(self, identity: str) -> str:
        """`Ada (C-1)`, or the id of what has no name."""
        name = self.named(identity)
        return identity if name == identity else f"{name} ({identity})"

    def _looked_up(self, identity: str) -> str:
        try:
            return concept_name(identity, self._ask) or identity
        except KipError:
            return identity
