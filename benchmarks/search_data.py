"""What the search benchmark searches: the messages and questions of the shared conversations, and generated messages.

A question counts when it names evidence and every id it names is a message of its conversation; the others are
dropped and counted. What is indexed of a message is the same on every side: its JSON object, of which kipql
takes the strings by itself and the other sides get them joined by newlines.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Id = tuple[str, str]  # conversation, dia_id


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    conversation: str
    evidence: frozenset[Id]


@dataclass(slots=True)
class Collection:
    """Messages by id, in order, and the questions about them."""

    messages: dict[Id, dict[str, Any]] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)

    def of(self, conversation: str) -> dict[Id, dict[str, Any]]:
        """The messages of one conversation."""
        return {key: message for key, message in self.messages.items() if key[0] == conversation}


def read(folder: Path) -> Collection:
    """The conversations of a folder of JSON files."""
    found = Collection()
    for path in sorted(folder.glob("*.json")):
        conversation = json.loads(path.read_text("utf-8"))
        for name, session in conversation.items():
            if name.startswith("session_") and isinstance(session, list):
                found.messages.update({(path.stem, message["dia_id"]): message for message in session})
        for asked in conversation["qa"]:
            _ask(found, path.stem, asked)
    return found


def _ask(found: Collection, stem: str, asked: dict[str, Any]) -> None:
    evidence = frozenset((stem, str(one)) for one in asked.get("evidence") or ())
    if not evidence:
        found.dropped["no evidence"] += 1
    elif not evidence <= found.messages.keys():
        found.dropped["an id that matches no message"] += 1
    else:
        found.questions.append(Question(asked["question"], stem, evidence))


def strings(value: Any) -> Iterator[str]:
    """The strings of a JSON value, never its member names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from strings(member)


def generated(count: int, queries: int, seed: int = 7) -> tuple[list[str], list[str]]:
    """Messages of 8 to 24 words and queries of 3 to 8, of a vocabulary with a Zipf distribution."""
    chance = random.Random(seed)
    syllables = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]
    vocabulary = ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(8_000)]
    weights = [1 / (rank + 2.7) for rank in range(len(vocabulary))]

    def text(low: int, high: int) -> str:
        return " ".join(chance.choices(vocabulary, weights, k=chance.randint(low, high)))

    return [text(8, 24) for _ in range(count)], [text(3, 8) for _ in range(queries)]
