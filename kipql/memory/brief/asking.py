"""What a question asks beyond whom it names, and how far a claim or a source speaks of that.

A claim that merely touches a named entity answers nothing: of "Where does Ada live?" the name is who is asked about and
"live" what is asked. A claim answers where the words of its Predicate are all in the question, or where at least half
of what is asked stands in its Predicate and its value. A question that asks nothing beyond a name ("Who is Ada?") is
answered by all that is known. Words are compared without their endings; a question in another language than the
claim's needs its wording in `forms`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kipql.memory.brief.items import local
from kipql.memory.brief.naming import FUNCTION, Candidate, Subject, folded, is_unspaced, without
from kipql.memory.brief.question import Question

ENOUGH = 0.5
"""The share of what is asked from which on something answers."""
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_LINK = re.compile(r"\w+://\S+")
_ABOUT = "about"
_ASKING = frozenset(("tell", "know", "known", "remember", "recall", "describe", "anything", "everything", "something"))
_ENDINGS = ("ing", "ed", "es", "s", "e")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked, as roots of words, once a wording; without any, the question is about the subject as such.

    `text` is the words themselves, for SEARCH; `also` are the other entities that the question names,
    `described` claims whose Predicate says in its description what is asked: they answer, and thinly.
    """

    wordings: tuple[frozenset[str], ...]
    text: str = ""
    also: frozenset[str] = frozenset()
    described: frozenset[str] = frozenset()

    @property
    def open(self) -> bool:
        """Whether nothing in particular is asked."""
        return not self.wordings

    def match(self, predicate: str, value: str, other: str | None = None) -> float:
        """How far a claim speaks of what is asked, from 0 to 1; `other` is the id of its other end."""
        if self.open:
            return 1.0 if not self.also or other in self.also else 0.0
        named = roots(local(predicate))
        if named and any(named <= wording for wording in self.wordings):
            return 1.0
        return self._share(named | roots(value))

    def said(self, text: str) -> float:
        """How far a text speaks of what is asked, from 0 to 1."""
        return 1.0 if self.open else self._share(roots(text))

    def _share(self, words: frozenset[str]) -> float:
        return round(max(len(wording & words) / len(wording) for wording in self.wordings), 6)


def asked(question: Question, subject: Subject) -> Asked:
    """What a question asks beyond the entities that it names."""
    named = [*([subject.chosen] if subject.chosen else []), *subject.also, *subject.others]
    texts = dict.fromkeys(text for text in (question.query, question.action.goal, *question.forms) if text)
    left = [words for text in texts if (words := _beyond(text, named))]
    wordings = tuple(dict.fromkeys(roots(" ".join(words)) for words in left))
    kept = dict.fromkeys(word for words in left for word in words)
    return Asked(wordings, " ".join(kept), frozenset(one.id for one in subject.also))


def roots(text: str) -> frozenset[str]:
    """The words of a text without function words and endings; of scripts without blanks, pairs of characters."""
    return frozenset(root for word in _words(text) for root in _roots(word))


def _beyond(text: str, named: Iterable[Candidate]) -> list[str]:
    words = _words(without(text, [name for one in named for name in one.names]))
    return [] if set(words) <= _ASKING and _ABOUT in folded(text).split() else words


def _words(text: str) -> list[str]:
    """The words that say something; a possessive is the word itself, and an address says nothing."""
    plain = _LINK.sub(" ", folded(text)).replace("_", " ")
    found = (re.sub(r"['’]s$", "", word) for word in _WORD.findall(plain))
    return [word for word in found if word not in FUNCTION]


def _roots(word: str) -> Iterable[str]:
    if is_unspaced(word):
        return [word[at : at + 2] for at in range(len(word) - 1)] or [word]
    if len(word) > 4 and word.endswith("ies"):
        return [word[:-3] + "i"]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    if len(word) > 3 and word[-1] == word[-2]:  # running, run
        word = word[:-1]
    return [word[:-1] + "i" if word.endswith("y") else word]
