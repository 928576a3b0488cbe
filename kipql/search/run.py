"""Running a search on a view: rows and scores (specification §66, §88.5).

Candidates are what the caller may see and default recall shows, before anything is ranked. The index is brought
to the view's snapshot first, so an answer is never behind what a FIND on the same view would see.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kipql.errors import KipError
from kipql.govern.view import AuthorizedView, within
from kipql.model import ASSERTION, CONCEPT
from kipql.search import vectors
from kipql.search.ask import Ask
from kipql.search.corpus import Corpus, Layer, corpus_of
from kipql.search.documents import document
from kipql.search.index import Index, KindIndex, index_of
from kipql.search.rank import Hits, best, keyword_scores
from kipql.search.snippet import snippet

if TYPE_CHECKING:
    from kipql.limits import Budget
    from kipql.store.graph import Graph
    from kipql.store.view import View

Floats = npt.NDArray[np.float64]


def search(view: "View", ask: Ask, budget: "Budget", most: int | None = None) -> Hits:
    """The hits of a search in order, at most `most` of them.

    Raises NotAuthorized without the permission `search`, SearchModeUnsupported for a mode that needs an embedder
    where there is none, SearchIndexUnavailable when the embedder fails.
    """
    if isinstance(view, AuthorizedView):
        view.authority.require("search")
        view = within(view, "search")
    stored = view.stored()
    index = index_of(stored.graph)
    if ask.mode != "keyword" and index.embedder is None:
        raise KipError(
            "SearchModeUnsupported",
            f"this memory has no embedder; it can not search in the mode {ask.mode}",
            hint='use MODE "keyword", or open the memory with kipql.open(embedder=...)',
        )
    only = _only(view, ask)
    kind_index = index.of_kind(ask.kind)
    with kind_index.lock:
        try:
            corpus = corpus_of(kind_index, view, stored, budget)
            found = _scores(index, kind_index, corpus, view, ask, budget)
            return best(corpus, found, ask.mode, only=only, least=ask.threshold, most=most)
        except KipError:
            raise
        except BaseException:  # stopped anywhere: what was being built is not whole
            index.drop(ask.kind)
            raise


def snippets(view: "View", ask: Ask, rows: Sequence[int]) -> list[str]:
    """A snippet of each hit."""
    analyzer = index_of(view.stored().graph).of_kind(ask.kind).analyzer
    tokens = [token for token, weight in analyzer.query(ask.term).items() if weight == 1]
    return [snippet(document(view, view.record(row * 8 + ask.kind)).texts, tokens, analyzer) for row in rows]


def use_embedder(graph: "Graph", embedder: vectors.Embedder) -> None:
    """Let the searches of a Space use an embedder."""
    index_of(graph).embedder = embedder


def _only(view: "View", ask: Ask) -> "npt.NDArray[np.int32] | None":
    """The rows that WITH TYPE and WITH PREDICATE leave."""
    if ask.type_lineage is not None and ask.kind == CONCEPT:
        rows: Sequence[int] = view.of_type(ask.type_lineage)
    elif ask.predicate_lineage is not None:
        rows = view.by_predicate(ask.predicate_lineage)
        if ask.kind == ASSERTION:
            rows = [row for proposition in rows for row in view.assertions_of(proposition)]
    else:
        return None
    return np.fromiter(rows, np.int32, len(rows))


def _scores(
    index: Index, kind_index: KindIndex, corpus: Corpus, view: "View", ask: Ask, budget: "Budget"
) -> list[Floats]:
    if ask.mode == "keyword":
        return keyword_scores(corpus, kind_index.analyzer.query(ask.term), ask.term, budget)
    assert index.embedder is not None
    if not ask.term.strip():
        return [np.zeros(layer.length) for layer in corpus.layers]
    query = vectors.embedded(index.embedder, [ask.term])[0]
    near = [_near(index, kind_index, layer, view, query, budget) for layer in corpus.layers]
    if ask.mode == "semantic":
        return near
    words = keyword_scores(corpus, kind_index.analyzer.query(ask.term), ask.term, budget)
    return [(one + other) / 2 for one, other in zip(words, near, strict=True)]


def _near(index: Index, kind_index: KindIndex, layer: Layer, view: "View", query: Floats, budget: "Budget") -> Floats:
    """The cosines of the entries that are alive; 0 for the rest."""
    assert index.embedder is not None
    segment, kind = layer.segment, kind_index.kind
    every = range(layer.length) if layer.alive is None else np.flatnonzero(layer.alive).tolist()
    entries = [entry for entry in every if segment.lengths[entry]]

    def text(at: int) -> str:
        entry = entries[at]
        seen = view if layer.own else view.stored()
        code = segment.rows[entry] * 8 + kind
        return "\n".join(document(seen, seen.record(code)).texts)

    kept = vectors.Vectors() if layer.own else index.vectors
    keys = [(segment.rows[entry], segment.starts[entry]) for entry in entries]
    scores = np.zeros(layer.length)
    scores[entries] = vectors.cosines(kept.matrix(kind, keys, text, index.embedder, budget), query)
    return scores
