"""What the tests of the agent layer share: the design's fixture S and a memory to put it into."""

import kipql
from kipql.memory import AgentMemory

TURN_3 = [
    {"role": "user", "content": "make a plan"},
    {"role": "assistant", "content": "plan: A then B"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "t1", "name": "calc"}]},
    {"role": "tool", "tool_call_id": "t1", "content": "42"},
    {"role": "assistant", "content": "result is 42"},
]


def small_talk(turn):
    return [{"role": "user", "content": f"question {turn}"}, {"role": "assistant", "content": f"answer {turn}"}]


def fixture_s(nexus=None, *, turns=5, **settings):
    """Session "s" with turns 1 to 5; turn 3 has a call."""
    memory = AgentMemory(nexus or kipql.open(), session="s", **settings)
    for turn in range(1, turns + 1):
        memory.record_turn(turn, TURN_3 if turn == 3 else small_talk(turn))
    return memory


def say(memory, *turns):
    for turn in turns:
        memory.record_turn(turn, small_talk(turn))


SUMMARY = "A summary of what was said before, long enough to be one."


def read_only(memory, **settings):
    """The same session of the same memory, read-only."""
    return AgentMemory(memory._nexus.readonly(), session=memory.session, **settings)
