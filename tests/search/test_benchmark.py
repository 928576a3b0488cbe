"""The search benchmark counts as it says, and on real messages SEARCH finds what SQLite's ranking finds, or more."""

import json
from pathlib import Path

import pytest

from benchmarks.search import SIDES, recall
from benchmarks.search_data import generated, read
from benchmarks.search_sides import kipql_side
from tests.shared import shared_path

CONVERSATION = {
    "session_1": [
        {"dia_id": "D1:1", "speaker": "Ada", "text": "the quartz is in the drawer"},
        {"dia_id": "D1:2", "speaker": "Bo", "text": "thanks"},
    ],
    "session_1_date_time": "8 May 2023",
    "qa": [
        {"question": "Where is the quartz?", "evidence": ["D1:1"]},
        {"question": "Polite?", "evidence": ["D1:2", "D1:1"]},
        {"question": "What colour?", "evidence": []},
        {"question": "When?"},
        {"question": "Which?", "evidence": ["D1:1", "D9:9"]},
    ],
}


def test_questions_without_usable_evidence_are_dropped_and_counted(tmp_path: Path) -> None:
    (tmp_path / "7.json").write_text(json.dumps(CONVERSATION), "utf-8")
    found = read(tmp_path)
    assert list(found.messages) == [("7", "D1:1"), ("7", "D1:2")]
    assert [question.text for question in found.questions] == ["Where is the quartz?", "Polite?"]
    assert found.dropped == {"no evidence": 2, "an id that matches no message": 1}
    assert recall(found, kipql_side) == (0.5, 0.5, 0.5, 0.5)


def test_generated_messages_follow_from_the_seed() -> None:
    assert generated(20, 5) == generated(20, 5)
    assert len(generated(20, 5)[0]) == 20


@pytest.mark.shared
def test_recall_on_a_real_conversation_is_at_least_that_of_fts5() -> None:
    folder = shared_path("data/locomo")
    if folder is None:
        pytest.skip("shared: absent")
    whole = read(folder)
    stem = "30"
    whole.messages = whole.of(stem)
    whole.questions = [question for question in whole.questions if question.conversation == stem]
    ours = recall(whole, kipql_side)
    for name in ("FTS5", "FTS5, porter"):
        assert ours[0] >= recall(whole, SIDES[name])[0]
