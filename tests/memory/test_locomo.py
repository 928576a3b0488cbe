"""Six real conversations replayed turn by turn through AgentMemory in a window of 8,000 tokens.

Afterwards each message is recalled byte for byte, whatever was condensed; no pair was split on the way and no prompt
passed its budget. A photo that was shared is a call with its result, so that there are pairs to split. The figures of
the whole run: `python -m tests.memory.locomo`.
"""

import pytest

from tests.memory.locomo import CONVERSATIONS, LOCOMO, replay

pytestmark = pytest.mark.skipif(LOCOMO is None, reason="the conversations are not here")


@pytest.fixture(scope="module")
def replayed():
    return [replay(name) for name in CONVERSATIONS]


@pytest.mark.slow
def test_every_message_is_recalled_byte_for_byte(replayed):
    assert sum(done.lost for done in replayed) == 0
    assert sum(done.messages for done in replayed) == 3435


@pytest.mark.slow
def test_compaction_is_never_refused_and_splits_no_pair(replayed):
    assert all(done.compactions > 0 and done.refused == 0 and done.split == 0 for done in replayed)
    assert sum(done.pairs for done in replayed) > 500


@pytest.mark.slow
def test_no_prompt_passes_its_budget(replayed):
    assert all(done.over_budget == 0 and done.prompts > 0 for done in replayed)
