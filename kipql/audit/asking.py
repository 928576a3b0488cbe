"""What an audit asks: a memory, or anything that answers statements as one does, such as a Space of a lake."""

import threading
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import kipql
from kipql.values import Json


class Prepared(Protocol):
    """A statement to be run."""

    def query(
        self,
        parameters: Mapping[str, object] | None = None,
        *,
        limits: "kipql.Limits | None" = None,
        cancel: threading.Event | None = None,
    ) -> "kipql.Result":
        """Its rows; `cancel`, set from another thread, ends it. Raises KipError."""


class Asks(Protocol):
    """What answers statements; what it does not answer it refuses by name."""

    @property
    def space_seq(self) -> int:
        """The last commit that it knows."""

    @property
    def limits(self) -> "kipql.Limits":
        """What a call may spend."""

    def query(self, text: str, parameters: Mapping[str, Json] | None = None) -> "kipql.Result":
        """The rows of a statement."""

    def prepare(self, text: str, *, as_of: int | None = None, for_time: str | None = None) -> Prepared:
        """A statement, completed by coordinates that it does not name."""

    def execute(self, text: str, parameters: Mapping[str, Json] | None = None) -> Any:
        """The receipt of a mutation."""


@runtime_checkable
class Elsewhere(Protocol):
    """What answers no META, and says itself what a run needs of it."""

    def packages(self) -> frozenset[str]:
        """The ids of the Schema Packages that are active."""

    def sequence_at(self, moment: str) -> int:
        """The last commit at or before an instant, 0 before the first."""
