"""`python -m benchmarks.recall`: how many of the messages that a question names as evidence are among the first ten.

Each of the shared conversations is imported into a memory of its own and asked its own questions: by SEARCH alone, and
by `kipql.memory.brief`, whose sources stand in its knowledge. A source that is no message (a listing of events) takes
no place on either side. Questions count as in `benchmarks.search`; recall@10 is the share of a question's evidence
that was found, averaged over the questions, hits@10 the share of questions with any.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from time import perf_counter

import kipql
from benchmarks.search_data import Question, read
from kipql import Nexus
from kipql.importers.chat import import_chat
from kipql.memory.brief import Brain
from tests.shared import shared_path

K = 10
SEARCH = """FIND(?message.payload.inline.dia_id)
WHERE { ?message SEARCH EVIDENCE :text LIMIT 200 FILTER(?message.evidence_class == "message") }
ORDER BY ?message.retrieval.score DESC, ?message.id ASC
LIMIT 10"""
PLACES = 'FIND(?message.id, ?message.payload.inline.dia_id) WHERE { ?message EVIDENCE {evidence_class: "message"} }'
Ask = Callable[[str], list[str]]


@dataclass(slots=True)
class Side:
    """The outcome of one side."""

    recall: list[float] = field(default_factory=list)
    hits: list[bool] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def ask(self, ask: Ask, question: Question) -> None:
        """One question."""
        began = perf_counter()
        found = set(ask(question.text))
        self.milliseconds.append((perf_counter() - began) * 1000)
        wanted = {message for _, message in question.evidence}
        self.recall.append(len(found & wanted) / len(wanted))
        self.hits.append(bool(found & wanted))

    def row(self, name: str) -> str:
        """As a row of the table."""
        return f"| {name} | {mean(self.recall):.3f} | {mean(self.hits):.3f} | {median(self.milliseconds):.1f} |"


def search_side(nexus: Nexus) -> Ask:
    """SEARCH alone."""
    return lambda text: list(nexus.query(SEARCH, {"text": text}).rows)


def brief_side(nexus: Nexus) -> Ask:
    """The sources in the knowledge of a briefing."""
    brain, names = Brain(nexus), dict(nexus.query(PLACES).rows)

    def ask(text: str) -> list[str]:
        known = brain.brief(text, budget={"items": 2 * K}).knowledge
        return [names[item["ref"]] for item in known if item["role"] == "source" and item["ref"] in names][:K]

    return ask


def measured(folder: Path, limit: int | None = None, only: str | None = None) -> Iterator[tuple[str, dict[str, Side]]]:
    """Name and outcome of each conversation; of its first questions only, where there is a limit."""
    collection = read(folder)
    for path in sorted(folder.glob("*.json")):
        if only is not None and path.stem != only:
            continue
        asked = [question for question in collection.questions if question.conversation == path.stem][:limit]
        with kipql.open() as nexus:
            import_chat(nexus, path)
            before = nexus.digest()
            sides = {"SEARCH": (Side(), search_side(nexus)), "brief": (Side(), brief_side(nexus))}
            for question in asked:
                for side, ask in sides.values():
                    side.ask(ask, question)
            if nexus.digest() != before:
                raise AssertionError("recall changed the memory")
        yield path.stem, {name: side for name, (side, _) in sides.items()}


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=__doc__)
    parser.add_argument("--data", type=Path, default=shared_path("data/locomo"), help="a folder of conversations")
    parser.add_argument("--questions", type=int, help="only the first of each conversation")
    parser.add_argument("--out", type=Path, help="a file for the figures as JSON")
    chosen = parser.parse_args(arguments)
    if chosen.data is None:
        print("shared: absent, recall is not measured")
        return 0
    total, figures = {"SEARCH": Side(), "brief": Side()}, {}
    print("| conversation, questions | recall@10 | hits@10 | p50 ms |\n|---|---:|---:|---:|")
    for name, sides in measured(chosen.data, chosen.questions):
        for which, side in sides.items():
            print(side.row(f"{name}, {len(side.hits)}: {which}"), flush=True)
            figures[f"{name} {which}"] = {"recall": mean(side.recall), "hits": mean(side.hits)}
            total[which].recall += side.recall
            total[which].hits += side.hits
            total[which].milliseconds += side.milliseconds
    for which, side in total.items():
        print(side.row(f"all, {len(side.hits)}: {which}"))
        figures[f"all {which}"] = {"recall": mean(side.recall), "hits": mean(side.hits)}
    if chosen.out is not None:
        chosen.out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
