"""The memory whose words a language server knows: that of `--db`, else an empty one with the packages of the call."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import kipql
from kipql.editing.vocabulary import Vocabulary
from kipql.values import Json


class Memory:
    """nexus       the memory that is read
    vocabulary  its words
    """

    def __init__(self, db: str | None = None, packages: Sequence[Json] = ()) -> None:
        self._db, self._packages = db, list(packages)
        self.nexus = kipql.open(db, readonly=db is not None, packages=self._packages)
        self.vocabulary = Vocabulary(self.nexus)

    @contextmanager
    def schema(self) -> Iterator[tuple[kipql.Nexus, bool]]:
        """What a script is checked against. Without a memory it is a new one for each check, so that a DEFINE of the
        script counts for that script alone."""
        if self._db is not None:
            yield self.nexus, False
        else:
            with kipql.open(packages=self._packages) as nexus:
                yield nexus, True

    @property
    def knows_words(self) -> bool:
        """Whether symbols are checked: without a memory and without packages nobody said which are meant."""
        return self._db is not None or bool(self._packages)
