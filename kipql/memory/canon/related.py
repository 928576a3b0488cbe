"""What no path leads to: articles about nothing in the tree, and rules, ranked by the words of what is intended.

Off unless the policy asks for it. The ranking is BM25 over words of four letters and more; a ranking that does not
stand out says nothing, so the best has to beat the fourth clearly.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

K1, B = 1.5, 0.75
SHORTEST, WORDS = 4, 1_500
CLEARLY = 1.4
_WORD = re.compile(r"\w{4,}")


def intent(words: str, calls: Sequence[str] = ()) -> tuple[str, ...]:
    """What is looked for: the words of the user, cut, and the tool calls; never their results."""
    return tuple(sorted(set(_words(" ".join((words[:WORDS], *calls))))))


def ranked(wanted: Sequence[str], texts: Mapping[str, str], most: int) -> list[str]:
    """The keys of the texts that match best, at most `most`; none where the best does not stand out."""
    counts = {key: Counter(_words(text)) for key, text in texts.items()}
    average = sum(map(Counter.total, counts.values())) / len(counts) if counts else 0.0
    scores = {key: _score(wanted, held, counts, average) for key, held in counts.items()}
    best = sorted((key for key, score in scores.items() if score > 0), key=lambda key: (-scores[key], key))
    if len(best) > 3 and scores[best[0]] < CLEARLY * scores[best[3]]:
        return []
    return best[:most]


def _score(wanted: Sequence[str], held: Counter[str], counts: Mapping[str, Counter[str]], average: float) -> float:
    total = 0.0
    for word in wanted:
        if (often := held[word]) > 0:
            having = sum(word in other for other in counts.values())
            weight = math.log(1 + (len(counts) - having + 0.5) / (having + 0.5))
            total += weight * often * (K1 + 1) / (often + K1 * (1 - B + B * held.total() / average))
    return total


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
