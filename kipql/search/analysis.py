"""Words to the tokens that postings are keyed by, for documents and for queries (specification §66.3).

A spaced word becomes its English stem. A run of a script without spaces becomes its bigrams; a document also
keeps its single characters, so that a query of one character finds it. English function words count little in
a query and normally in a document.
"""

from collections.abc import Iterator

from kipql.search.fold import ASCII_WORD, WORD, grams, is_unspaced, plain, words
from kipql.search.stem import stem

FUNCTION_WEIGHT = 0.1
FUNCTION_WORDS = frozenset(
    (
        "a", "about", "am", "an", "and", "are", "as", "at", "be", "been", "being", "but", "by", "can", "could",
        "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "him", "his", "how", "i", "if",
        "in", "into", "is", "it", "its", "may", "me", "might", "must", "my", "no", "not", "of", "on", "or",
        "our", "shall", "she", "should", "so", "such", "than", "that", "the", "their", "them", "then", "there",
        "these", "they", "this", "to", "us", "very", "was", "we", "were", "what", "when", "where", "which",
        "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
    )
)  # fmt: skip


class Analyzer:
    """Remembers stems; an index drops it together with what it was made from."""

    __slots__ = ("_stems",)

    def __init__(self) -> None:
        self._stems: dict[str, str] = {}

    def document(self, texts: tuple[str, ...]) -> tuple[dict[str, int], int]:
        """How often each token stands in a document, and how many words and bigrams it has."""
        counts: dict[str, int] = {}
        length = 0
        stems = self._stems
        for text in texts:
            for word in words(text):
                token = stems.get(word)
                if token is None:
                    if is_unspaced(word):
                        length += self._run(word, counts)
                        continue
                    token = stems[word] = stem(word)
                counts[token] = counts.get(token, 0) + 1
                length += 1
        return counts, length

    def query(self, text: str) -> dict[str, float]:
        """The tokens of a query with their weights, in order of appearance."""
        weights: dict[str, float] = {}
        for word in words(text):
            if is_unspaced(word):
                weights.update(dict.fromkeys(grams(word), 1.0))
            else:
                token = self._stem(word)
                weight = FUNCTION_WEIGHT if word in FUNCTION_WORDS else 1.0
                weights[token] = max(weight, weights.get(token, 0.0))
        return weights

    def located(self, text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The words of a text as it is written: where each begins, and its tokens."""
        stems = self._stems
        if text.isascii():
            for match in ASCII_WORD.finditer(text.lower()):
                word = match[0]
                token = stems.get(word)
                yield match.start(), (stem(plain(word)) if token is None else token,)
            return
        for match in WORD.finditer(text):
            yield match.start(), tuple(token for word in words(match[0]) for token in self._tokens(word))

    def _tokens(self, word: str) -> tuple[str, ...]:
        if is_unspaced(word):
            return (*grams(word), *word)
        return (self._stem(word),)

    def _stem(self, word: str) -> str:
        return self._stems.get(word) or stem(word)

    def _run(self, word: str, counts: dict[str, int]) -> int:
        pairs = grams(word)
        for token in (*pairs, *(word if len(word) > 1 else ())):
            counts[token] = counts.get(token, 0) + 1
        return len(pairs)
