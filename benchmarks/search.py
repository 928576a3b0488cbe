"""`python -m benchmarks.search`: recall and latency of SEARCH beside bm25s and SQLite FTS5 (see README.md here).

Recall@10 is, of the messages that a question names as evidence, the share among the first ten hits, averaged over
the questions; hits@10 is the share of questions with at least one. Both over the messages of the question's own
conversation and over all messages.
"""

import argparse
import gc
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median, quantiles
from time import perf_counter_ns
from typing import Any

from benchmarks.search_data import Collection, Id, generated, read, strings
from benchmarks.search_sides import Ask, bm25s_side, fts5_side, kipql_side
from tests.shared import shared_path

K = 10
Side = Callable[[Sequence[Any]], Ask]


def _texts(messages: Sequence[Any]) -> list[str]:
    return ["\n".join(strings(message)) for message in messages]


SIDES: Mapping[str, Side] = {
    "kipql": kipql_side,
    "bm25s": lambda messages: bm25s_side(_texts(messages), english=False),
    "bm25s, stop words and stemmer": lambda messages: bm25s_side(_texts(messages), english=True),
    "FTS5": lambda messages: fts5_side(_texts(messages), english=False),
    "FTS5, porter": lambda messages: fts5_side(_texts(messages), english=True),
}


def recall(collection: Collection, side: Side) -> tuple[float, float, float, float]:
    """(recall, hits) over the own conversation, then over all."""
    own = {name: _asker(collection.of(name), side) for name in {key[0] for key in collection.messages}}
    every = _asker(collection.messages, side)
    found = []
    for question in collection.questions:
        row: list[float] = []
        for ask in (own[question.conversation], every):
            right = len(question.evidence & set(ask(question.text)))
            row += [right / len(question.evidence), float(right > 0)]
        found.append(row)
    one, two, three, four = (mean(column) for column in zip(*found, strict=True))
    return one, two, three, four


def _asker(messages: Mapping[Id, Any], side: Side) -> Callable[[str], list[Id]]:
    ids = list(messages)
    ask = side(list(messages.values()))
    return lambda query: [ids[at] for at in ask(query, K)]


def latency(count: int, queries: int) -> dict[str, tuple[float, float]]:
    """Median and 95th percentile in microseconds of a call with LIMIT 10, over generated messages."""
    messages, asked = generated(count, queries)
    found = {}
    for name, side in SIDES.items():
        ask = side(messages)
        ask(asked[0], K)  # the first search makes the index
        gc.collect()
        spent = []
        for query in asked:
            began = perf_counter_ns()
            ask(query, K)
            spent.append((perf_counter_ns() - began) / 1000)
        found[name] = (median(spent), quantiles(spent, n=20)[-1])
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__)
    parser.add_argument("--data", type=Path, default=shared_path("data/locomo"), help="a folder of conversations")
    parser.add_argument("--messages", type=int, default=5_000, help="generated messages for the latency (default 5000)")
    parser.add_argument("--queries", type=int, default=1_000, help="generated queries (default 1000)")
    chosen = parser.parse_args(arguments)
    if chosen.data is None:
        print("shared: absent, recall is not measured")
    else:
        collection = read(chosen.data)
        print(f"{len(collection.messages)} messages, {len(collection.questions)} questions asked; dropped:")
        print(*(f"  {number} with {why}" for why, number in sorted(collection.dropped.items())), sep="\n")
        print("\n| recall@10 | own conversation | all | hits@10, own | hits@10, all |\n|---|---:|---:|---:|---:|")
        for name, side in SIDES.items():
            own, own_hits, every, every_hits = recall(collection, side)
            print(f"| {name} | {own:.3f} | {every:.3f} | {own_hits:.3f} | {every_hits:.3f} |")
    print(f"\n| {chosen.messages} generated messages | p50 us | p95 us |\n|---|---:|---:|")
    for name, (middle, high) in latency(chosen.messages, chosen.queries).items():
        print(f"| {name} | {middle:.0f} | {high:.0f} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
