"""The state of a shell session: the memory, what stays in force, what was asked last."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kipql.editing.vocabulary import Symbols, Vocabulary, asking
from kipql.errors import KipError
from kipql.limits import Limits
from kipql.render.labels import Labels
from kipql.render.people import Label, instant
from kipql.repl.console import Console
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.lang.script import Part
    from kipql.nexus import Nexus


@dataclass(slots=True)
class Settings:
    """What `.settings` shows and changes.

    mode     the output mode
    timing   whether the time of a statement is shown
    session  the agent session of `.recall` and its like, None for none
    window   its context window in tokens
    mount    the mount of the canon
    """

    mode: str = "table"
    timing: bool = True
    session: str | None = None
    window: int = 128_000
    mount: str = ""


@dataclass(frozen=True, slots=True)
class Following:
    """A query that goes on behind a LIMIT, with the parameters and coordinates that it was asked with."""

    part: "Part"
    parameters: dict[str, Json]
    as_of: int | None
    for_time: str | None


class Leave(Exception):
    """`.quit`."""


@dataclass(slots=True)
class Shell:
    """One session.

    base        the memory as it was opened
    path        its folder, None in memory
    readonly    whether every mutation is refused
    safe        whether a mutation is shown and asked about first
    parameters  values of `:name`
    as_of       the sequence that reads stand at, None for the head
    for_time    the time that beliefs are read for, None for now
    limits      bounds narrower than the memory's
    last        the last statement that ran
    last_find   the last query that parsed
    following   what `.more` runs: the last query from the row that its LIMIT left off at
    ask         puts a yes-or-no question to the person, None where there is none
    canon       what `.touch` staged, for `.flush`
    """

    base: "Nexus"
    console: Console
    path: str | None = None
    readonly: bool = False
    safe: bool = False
    parameters: dict[str, Json] = field(default_factory=dict)
    as_of: int | None = None
    for_time: str | None = None
    limits: Limits | None = None
    settings: Settings = field(default_factory=Settings)
    last: "Part | None" = None
    last_find: "Part | None" = None
    following: "Following | None" = None
    ask: Callable[[str], bool] | None = None
    canon: object = None
    _words: Vocabulary | None = None
    _labels: tuple[int, Labels] | None = None

    @property
    def nexus(self) -> "Nexus":
        """The memory as the session may use it."""
        return self.base.readonly() if self.readonly else self.base

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of the memory that is open."""
        if self._words is None or self._words.nexus is not self.base:
            self._words = Vocabulary(self.base)
        return self._words

    @property
    def symbols(self) -> Symbols:
        """The symbols at the sequence in force. Raises KipError."""
        return self.vocabulary.symbols_at(self.as_of)

    def describe(self, what: str, name: str) -> dict[str, Json]:
        """DESCRIBE of a symbol or a package, at the sequence in force. Raises KipError."""
        found: dict[str, Json] = asking(self.base, self.as_of)(f"DESCRIBE {what} :name", {"name": name})[0]
        return found

    @property
    def prompt(self) -> str:
        """`brain @5 for 2026-04-01 (read-only)> `."""
        words = [Path(self.path).name.removesuffix(".kip") if self.path else "kipql"]
        if self.as_of is not None:
            words.append(f"@{self.as_of}")
        if self.for_time is not None:
            words.append(f"for {instant(self.for_time)}")
        if self.readonly:
            words.append("(read-only)")
        if self.safe:
            words.append("(safe)")
        return f"{' '.join(words)}> "

    def read(self, text: str, parameters: dict[str, Json] | None = None, limits: Limits | None = None) -> list[Json]:
        """The rows of a read of the shell's own, at the coordinates in force. Raises KipError, without a place: nobody
        wrote this text."""
        try:
            statement = self.nexus.prepare(text, as_of=self.as_of, for_time=self.for_time)
            return list(statement.query(parameters or {}, limits=limits or self.limits).rows)
        except KipError as error:
            raise KipError(error.code, error.message, hint=error.hint, details=error.details) from error

    @property
    def label(self) -> Label:
        """What to call an element id in a table: `Ada (C-1)`."""
        return self._names().label

    @property
    def named(self) -> Label:
        """What to call an element id in a drawing: a Concept by its name or key, anything else by the id."""
        return self._names().named

    def _names(self) -> Labels:
        """The names at the sequence in force."""
        seq = self.base.space_seq if self.as_of is None else self.as_of
        if self._labels is None or self._labels[0] != seq:
            self._labels = seq, Labels(self.read)
        return self._labels[1]

    def forget_labels(self) -> None:
        """Look every Concept's name up again: another memory is open."""
        self._labels = None

    def narrowed(self, name: str, value: float) -> None:
        """Narrow one limit for this session. Raises KipError."""
        self.limits = replace(self.limits or self.base.limits, **{name: value})  # type: ignore[arg-type]
