"""Vectors of documents, from the host's embedder (specification §66.3).

An embedder is a function from texts to as many vectors of one length. What it is given are whole documents, in
batches, once each; vectors are kept for as long as their element is not erased. The cosine of a document and the
query, negative ones counted as 0, is the score.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from kipql.errors import KipError

if TYPE_CHECKING:
    from kipql.limits import Budget

Embedder: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[float]]]
Floats: TypeAlias = npt.NDArray[np.float64]
Key: TypeAlias = tuple[int, int]  # row, and the commit from which its text holds

BATCH = 64


class Vectors:
    """The unit vectors of documents, by kind and key."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[int, dict[Key, Floats]] = {}

    def matrix(
        self, kind: int, keys: Sequence[Key], text: Callable[[int], str], embedder: Embedder, budget: "Budget"
    ) -> Floats:
        """One row per key; `text(i)` is the document of `keys[i]`. Raises SearchIndexUnavailable."""
        kept = self._kept.setdefault(kind, {})
        missing = [at for at, key in enumerate(keys) if key not in kept]
        for low in range(0, len(missing), BATCH):
            budget.check()
            batch = missing[low : low + BATCH]
            for at, vector in zip(batch, embedded(embedder, [text(at) for at in batch]), strict=True):
                kept[keys[at]] = vector
        return stacked(kept[key] for key in keys)

    def forget(self, kind: int, row: int | None = None) -> None:
        """Drop the vectors of a row, or of a kind."""
        kept = self._kept.get(kind)
        if kept is None:
            return
        self._kept[kind] = {} if row is None else {key: vector for key, vector in kept.items() if key[0] != row}


def embedded(embedder: Embedder, texts: Sequence[str]) -> list[Floats]:
    """Unit vectors of texts; a vector of zeros stays one. Raises SearchIndexUnavailable for what is no answer."""
    try:
        found = [np.asarray(vector, dtype=np.float64) for vector in embedder(list(texts))]
    except Exception as error:
        raise _unavailable(f"the embedder failed: {type(error).__name__}: {error}") from error
    if len(found) != len(texts):
        raise _unavailable(f"the embedder gave {len(found)} vectors for {len(texts)} texts")
    for vector in found:
        if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
            raise _unavailable("the embedder gave what is not a vector of finite numbers")
    lengths = [float(np.linalg.norm(vector)) for vector in found]
    return [vector / length if length else vector for vector, length in zip(found, lengths, strict=True)]


def stacked(vectors: Iterable[Floats]) -> Floats:
    """The vectors as rows of one matrix. Raises SearchIndexUnavailable when their lengths differ."""
    rows = list(vectors)
    if len({len(vector) for vector in rows}) > 1:
        raise _unavailable("the embedder gave vectors of different lengths")
    return np.vstack(rows) if rows else np.zeros((0, 0))


def cosines(matrix: Floats, query: Floats) -> Floats:
    """The scores of documents, in [0, 1]."""
    if not len(matrix):
        return np.zeros(0)
    if matrix.shape[1] != len(query):
        raise _unavailable("the embedder gave vectors of different lengths")
    return np.clip(matrix @ query, 0.0, 1.0)


def _unavailable(message: str) -> KipError:
    return KipError("SearchIndexUnavailable", message, hint='search with MODE "keyword", or mend the embedder')
