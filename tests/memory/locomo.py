"""The replay of the six conversations, and its figures: `python -m tests.memory.locomo`."""

import json
import time
from dataclasses import dataclass, field

import kipql
from kipql.importers.conversation import read_conversation
from kipql.memory import AgentMemory
from kipql.memory.assembly import cost
from kipql.memory.pairs import sanitize_pairs
from kipql.memory.tokens import estimate_text
from tests.shared import shared_path

LOCOMO = shared_path("data/locomo")
CONVERSATIONS = ("26", "30", "41", "42", "43", "44")
WINDOW = 8000


@dataclass
class Replayed:
    """What a replay came to."""

    name: str
    messages: int = 0
    turns: int = 0
    compactions: int = 0
    refused: int = 0
    split: int = 0
    pairs: int = 0
    prompts: int = 0
    over_budget: int = 0
    lost: int = 0
    seconds: float = 0.0
    recall_at_10: list[float] = field(default_factory=list)


def replay(name, *, ask=False):
    """Record, compact and assemble turn by turn; then recall every message, and with `ask` search for the evidence."""
    done, started = Replayed(name), time.perf_counter()
    with kipql.open() as nexus:
        memory, said = AgentMemory(nexus, session=f"locomo/{name}", window_tokens=WINDOW), {}
        for number, turn in enumerate(turns(name), 1):
            memory.record_turn(number, turn)
            said[number] = turn
            _after(memory, number, done)
        for number, turn in said.items():
            recalled = memory.recall(number).messages
            done.messages += sum("dia_id" in message for message in turn)
            done.lost += json.dumps(recalled, ensure_ascii=False) != json.dumps(turn, ensure_ascii=False)
        done.turns = len(said)
        if ask:
            done.recall_at_10 = [recall_at_10(memory, question, evidence) for question, evidence in questions(name)]
    done.seconds = time.perf_counter() - started
    return done


def _after(memory, number, done):
    """What an agent does between two turns: condense when due, and put a prompt together."""
    outcomes = memory.compact(summary)
    done.compactions += sum(outcome["committed"] for outcome in outcomes)
    done.refused += sum(not outcome["committed"] for outcome in outcomes)
    window = memory.window()
    done.split += sanitize_pairs(window) != window
    if number % 5 and not outcomes:
        return
    context = memory.assemble(f"answer turn {number}", profile="reflex")
    tokens = sum(cost(message, estimate_text) for message in context.messages)
    done.prompts += context.ok
    done.over_budget += tokens > WINDOW - 1024 or not context.ok
    said = [message for message in context.messages if message["role"] != "system"]
    done.split += sanitize_pairs(said) != said
    done.pairs += sum(message["role"] == "tool" for message in said)


def summary(plan):
    """The trivial summariser: which turns were said, and nothing about them."""
    return f"Turns {plan.turns[0]} to {plan.turns[-1]} were said and can be recalled."


def turns(name):
    """The messages of a conversation as turns: one ends where the first speaker takes the word again, or a session."""
    conversation = read_conversation(LOCOMO / f"{name}.json", "UTC")
    for session in conversation.sessions:
        turn = []
        for message in session.messages:
            user = message.speaker == conversation.people[0]
            if turn and user:
                yield turn
                turn = []
            turn += as_messages(message, "user" if user else "assistant")
        if turn:
            yield turn


def as_messages(message, role):
    """A message of the file with all its members; a shared photo is a call of the assistant, and what it shows."""
    held = {"role": role, "content": message.payload.get("text"), **message.payload}
    caption = message.payload.get("blip_caption")
    if caption is None or role == "user":
        return [held]
    call = {"id": message.dia_id, "name": "share_photo", "arguments": json.dumps(message.payload.get("query"))}
    return [{**held, "tool_calls": [call]}, {"role": "tool", "tool_call_id": message.dia_id, "content": caption}]


def questions(name):
    """Each question with the ids of the messages that its answer rests on."""
    for asked in json.loads((LOCOMO / f"{name}.json").read_text(encoding="utf-8"))["qa"]:
        evidence = {part for item in asked.get("evidence", ()) for part in str(item).replace(";", " ").split()}
        if evidence:
            yield asked["question"], evidence


def recall_at_10(memory, question, evidence):
    """The share of the evidence among the first ten messages found by SEARCH alone."""
    hits = memory.search(question, threshold=0.0, limit=10)["results"]
    return len(evidence & {hit["message"].get("dia_id") for hit in hits}) / len(evidence)


if __name__ == "__main__":
    all_done = [replay(name, ask=True) for name in CONVERSATIONS]
    for done in all_done:
        mean = sum(done.recall_at_10) / len(done.recall_at_10)
        print(
            f"{done.name}: {done.messages} messages in {done.turns} turns, {done.compactions} compactions, "
            f"{done.prompts} prompts, {done.lost} lost, {done.split} split, {done.over_budget} over budget, "
            f"recall@10 {mean:.3f} over {len(done.recall_at_10)} questions, {done.seconds:.1f} s"
        )
    found = [value for done in all_done for value in done.recall_at_10]
    print(f"all: {sum(done.messages for done in all_done)} messages, recall@10 {sum(found) / len(found):.3f}")
