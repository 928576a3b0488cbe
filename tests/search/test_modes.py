"""MODE semantic and hybrid, with the host's embedder (§66.3)."""

from collections.abc import Sequence
from typing import Any

import pytest

import kipql
from tests.search.memories import ids, memory, message, person, rows

AXES = {"dog": 0, "puppy": 0, "cat": 1, "kitten": 1, "bridge": 2, "river": 2}


def embedder(texts: Sequence[str]) -> list[list[float]]:
    """Three meanings: dogs, cats, and what is by the water."""
    vectors = []
    for text in texts:
        vector = [0.0, 0.0, 0.0]
        for word in text.lower().split():
            if word in AXES:
                vector[AXES[word]] += 1.0
        vectors.append(vector)
    return vectors


RECORDS = [
    message("a dog"),
    message("the puppy and the cat"),
    message("a kitten"),
    message("the bridge"),
    message("nothing"),
]


def test_semantic_finds_what_means_the_same() -> None:
    nexus = memory(RECORDS, embedder=embedder)
    found = rows(nexus, 'SEARCH EVIDENCE "puppy" MODE "semantic"')
    assert [(row["id"], row["retrieval"]) for row in found] == [
        ("E-1", {"score": 1.0, "mode": "semantic"}),
        ("E-2", {"score": 0.707107, "mode": "semantic"}),
    ]
    assert ids(nexus, 'SEARCH EVIDENCE "puppy"') == ["E-2"]  # the default stays keyword
    assert nexus.query('SEARCH EVIDENCE "puppy"').context["mode"] == "keyword"


def test_hybrid_is_the_mean_of_both() -> None:
    nexus = memory(RECORDS, embedder=embedder)

    def of(mode: str) -> dict[str, float]:
        found = rows(nexus, f'SEARCH EVIDENCE "puppy river" MODE "{mode}"')
        return {row["id"]: row["retrieval"]["score"] for row in found}

    keyword, semantic, hybrid = of("keyword"), of("semantic"), of("hybrid")
    assert hybrid.keys() == keyword.keys() | semantic.keys()
    for one, score in hybrid.items():
        assert score == pytest.approx((keyword.get(one, 0) + semantic.get(one, 0)) / 2, abs=1e-6)


def test_threshold_limit_and_filters_hold_in_every_mode() -> None:
    nexus = memory([person("dog"), person("puppy cat")], embedder=embedder)
    assert ids(nexus, 'SEARCH CONCEPT "puppy" WITH TYPE "Person" MODE "semantic" THRESHOLD 0.9') == ["C-1"]
    assert ids(nexus, 'SEARCH CONCEPT "puppy" MODE "semantic" LIMIT 1') == ["C-1"]
    assert ids(nexus, 'SEARCH CONCEPT "puppy" WITH TYPE "Event" MODE "hybrid"') == []


def test_a_text_is_embedded_once_and_again_when_it_changed() -> None:
    seen: list[str] = []

    def counting(texts: Sequence[str]) -> list[list[float]]:
        seen.extend(texts)
        return embedder(texts)

    nexus = memory([person("dog"), person("cat")], embedder=counting)
    for _ in range(3):
        ids(nexus, 'SEARCH CONCEPT "puppy" MODE "semantic"')
    assert seen.count("dog") == seen.count("cat") == 1
    nexus.execute('UPDATE "C-2" SET FIELDS {name: "puppy cat"}')
    assert ids(nexus, 'SEARCH CONCEPT "puppy" MODE "semantic"') == ["C-1", "C-2"]
    assert ids(nexus, 'SEARCH CONCEPT "kitten" MODE "semantic" AS OF SEQ 2') == ["C-2"]
    assert (seen.count("dog"), seen.count("cat"), seen.count("puppy cat")) == (1, 1, 1)
    nexus.execute('PURGE "C-1" CONFIRM "PURGE"')
    assert ids(nexus, 'SEARCH CONCEPT "puppy" MODE "semantic"') == ["C-2"]
    assert (seen.count("dog"), seen.count("cat"), seen.count("puppy cat")) == (1, 1, 1)


def _fails(texts: Sequence[str]) -> Any:
    raise OSError("no network")


@pytest.mark.parametrize(
    "broken",
    [
        _fails,
        lambda texts: [],
        lambda texts: [[float("nan")] for _ in texts],
        lambda texts: [["x"] for _ in texts],
        lambda texts: [[] for _ in texts],
        lambda texts: [[1.0] * (1 + len(text)) for text in texts],
        lambda texts: None,
    ],
)
def test_an_embedder_that_fails_is_an_unavailable_index(broken: Any) -> None:
    nexus = memory(RECORDS, embedder=broken)
    for mode in ("semantic", "hybrid"):
        with pytest.raises(kipql.KipError) as caught:
            nexus.query(f'SEARCH EVIDENCE "puppy" MODE "{mode}"')
        assert caught.value.code == "SearchIndexUnavailable"
    assert ids(nexus, 'SEARCH EVIDENCE "puppy" MODE "keyword"') == ["E-2"]


def test_capabilities_tell_whether_there_is_an_embedder() -> None:
    for nexus, expected in ((memory(), False), (memory(embedder=embedder), True)):
        known = nexus.query("DESCRIBE CAPABILITIES").one()["capabilities"]
        assert known["semantic_search"]["supported"] is known["hybrid_search"]["supported"] is expected
        assert known["historical_search"]["supported"] is True
        assert known["search_index_freshness"]["value"] == {"mode": "synchronous"}
        request = {
            "kip": "2.0",
            "requires": {"semantic_search": True},
            "operations": [{"command": "DESCRIBE PROTOCOL"}],
        }
        assert (nexus.request(request)["status"] == "succeeded") is expected
