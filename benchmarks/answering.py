"""`python -m benchmarks.answering`: how often a recall is sure of an answer that a memory has, and that it has not.

Each shared conversation is imported into a memory of its own. A `Brain` is asked the questions of that conversation,
then those of the next one: as they stand, and with the names of the people exchanged, so that they name somebody whom
the memory knows. Counted is how often the uncertainty is below 0.5, and how often it is 1 (nothing answers). Whether an
answer is right is not counted; an exchanged question may have one by chance.
"""

import argparse
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import kipql
from benchmarks.search_data import read
from kipql.importers.chat import import_chat
from kipql.memory.brief import Brain, Recalled
from tests.shared import shared_path

KINDS = ("own", "of another", "of another, names exchanged")


def exchanged(text: str, names: Mapping[str, str]) -> str:
    """A text with each name replaced, as a word of its own."""
    pattern = "|".join(map(re.escape, names))
    return re.sub(rf"\b(?:{pattern})\b", lambda found: names[found[0]], text)


def people(path: Path) -> list[str]:
    """The two who talk."""
    conversation = json.loads(path.read_text("utf-8"))
    return [conversation["speaker_a"], conversation["speaker_b"]]


def uncertainties(brain: Brain, questions: Iterable[str]) -> list[float]:
    """How uncertain each answer is."""
    answers = (brain.recall(text, mode="fact") for text in questions)
    return [answer.uncertainty for answer in answers if isinstance(answer, Recalled)]


def measured(folder: Path, limit: int | None = None, only: str | None = None) -> dict[str, list[float]]:
    """The uncertainty of each answer, by kind of question."""
    paths = sorted(folder.glob("*.json"))
    asked = {path.stem: [one.text for one in read(folder).questions if one.conversation == path.stem] for path in paths}
    told: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for here, other in zip(paths, [*paths[1:], *paths[:1]], strict=True):
        if only is not None and here.stem != only:
            continue
        with kipql.open() as nexus:
            import_chat(nexus, here)
            brain, names = Brain(nexus), dict(zip(people(other), people(here), strict=True))
            foreign = asked[other.stem][:limit]
            sets = (asked[here.stem][:limit], foreign, [exchanged(text, names) for text in foreign])
            for kind, questions in zip(KINDS, sets, strict=True):
                told[kind] += uncertainties(brain, questions)
    return told


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answering", description=__doc__)
    parser.add_argument("--data", type=Path, default=shared_path("data/locomo"), help="a folder of conversations")
    parser.add_argument("--questions", type=int, help="only the first of each conversation")
    chosen = parser.parse_args(arguments)
    if chosen.data is None:
        print("shared: absent, answering is not measured")
        return 0
    print("| questions | how many | uncertainty below 0.5 | nothing answers |\n|---|---:|---:|---:|")
    for kind, values in measured(chosen.data, chosen.questions).items():
        sure, none = (sum(test) / len(values) for test in ([v < 0.5 for v in values], [v == 1 for v in values]))
        print(f"| {kind} | {len(values)} | {sure:.3f} | {none:.3f} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
