"""The Schema Environments of a Space over its sequences (specification §20.8, §20.14).

The set-up before the first commit is version 1 at sequence 0; a commit with a `schema` control change has the
next. A rename that an Environment declares joins lineages: what was written under the old name is matched by
the new one from that version on, and by the old one before it.

A schema change is `{packages: [artifact...], define: [[group, name, definition]...], promote: [[group, old, new]...]}`:
packages activated, draft symbols added, draft symbols promoted to installed ones (§20.16); members may be left out.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kipql.store.symbols import Symbols, written_lineage
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.schema.environment import Environment

SchemaLoader = Callable[["Environment | None", Sequence[Json], int], "Environment"]
"""(environment before, package artifacts, version) -> environment."""


def load_schema(before: "Environment | None", artifacts: Sequence[Json], version: int) -> "Environment":
    """The environment with these packages added."""
    from kipql.schema.environment import Environment
    from kipql.schema.packages import Package

    packages = [Package.load(artifact) for artifact in artifacts]
    return Environment.of(packages, version) if before is None else before.with_packages(packages, version)


class Entry(NamedTuple):
    """One environment and what its renames join."""

    seq: int
    environment: "Environment"
    joined: dict[int, tuple[int, ...]]  # lineage number -> numbers of the written lineages it matches
    lineage_of: "dict[int, int]"  # symbol number -> lineage number, where a rename changed it


class Environments:
    """Environments by the sequence they came into force; readers walk an append-only list."""

    def __init__(self, symbols: Symbols, load: SchemaLoader) -> None:
        self._symbols = symbols
        self._load = load
        self._entries: list[Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    def entry(self, seq: int) -> Entry:
        """What is in force at `seq`."""
        for entry in reversed(self._entries):
            if entry.seq <= seq:
                return entry
        raise LookupError("a Space has an environment from its start")

    def add(self, seq: int, change: Mapping[str, Json], version: int | None = None) -> "Environment":
        """Put a schema change into force at `seq`: the next version, or the same one for the set-up before any
        commit."""
        before = self._entries[-1].environment if self._entries else None
        if version is None:
            version = 1 if before is None else before.version + (1 if seq else 0)
        artifacts, defined, promoted = (change.get(name, ()) for name in ("packages", "define", "promote"))
        drafted = defined or promoted
        environment = before if drafted and not artifacts and before else self._load(before, artifacts, version)
        if drafted:
            environment = _drafted(environment, defined, promoted, version)
        entry = self._joined(seq, environment)
        if self._entries and self._entries[-1].seq == seq:
            self._entries[-1] = entry
        else:
            self._entries.append(entry)
        return environment

    def mark(self) -> tuple[int, Entry]:
        """What `truncate` returns to."""
        return len(self._entries), self._entries[-1]

    def truncate(self, length: int, last: Entry) -> None:
        """Back to a mark."""
        del self._entries[length:]
        self._entries[length - 1] = last

    def _joined(self, seq: int, environment: "Environment") -> Entry:
        symbols = self._symbols
        members: dict[int, set[int]] = {}
        moved: dict[int, int] = {}
        renamed = [ref for ref, lineage in _lineages(environment).items() if written_lineage(ref) != lineage]
        for ref in [*symbols.refs, *renamed]:
            number = symbols.number(ref)
            written = symbols.lineage_of[number]
            lineage = environment.lineage(ref)
            if lineage != symbols.lineages[written]:
                new = symbols.lineage(lineage)
                moved[number] = new
                members.setdefault(new, {new}).add(written)
        return Entry(seq, environment, {new: tuple(sorted(found)) for new, found in members.items()}, moved)


def _drafted(environment: "Environment", defined: Json, promoted: Json, version: int) -> "Environment":
    from kipql.schema.draft import Addition, grown
    from kipql.schema.packages import Rename

    if defined:
        environment = grown(environment, [Addition(*each) for each in defined], version)
    return environment.with_promotions([Rename(*each) for each in promoted], version) if promoted else environment


def _lineages(environment: "Environment") -> Mapping[str, str]:
    """Exact refs with their lineages: of symbols that no element uses yet, the renamed ones must be known too."""
    return getattr(environment, "lineages", {})
