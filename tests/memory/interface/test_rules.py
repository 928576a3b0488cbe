"""The shipped rules: a few whole sentences are read, everything else is left alone."""

import json
from pathlib import Path

import pytest

import kipql
from kipql.memory.interface import Heard, RuleFormation
from tests.shared import shared_path


def heard(text, role="user", **more):
    given = {
        "operation": "observe", "change_kind": None, "source_ref": "s", "evidence_id": "E-1", "role": role,
        "content": text, "speaker": "C-1", "observed_at": "2026-01-10T00:00:00.000Z", "task_ref": None,
        "context_refs": (), "memory": kipql.open(),
    }  # fmt: skip
    return RuleFormation()(Heard(**{**given, **more}))


def said(text, **more):
    formed = heard(text, **more)
    claims = [(each.predicate, getattr(each.object, "name", each.object), each.since) for each in formed.claims]
    return claims + [(each.summary, each.due_at) for each in formed.promises]


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("I live in Rome.", [("lives_in", "Rome", None)]),
        ("I live in New York City now", [("lives_in", "New York City", None)]),
        ("I moved to Shanghai on 2026-09-01.", [("lives_in", "Shanghai", "2026-09-01T00:00:00.000Z")]),
        ("I work for Acme.", [("works_for", "Acme", None)]),
        ("My timezone is +08:00.", [("timezone", "+08:00", None)]),
        ("my time zone is Europe/Rome", [("timezone", "Europe/Rome", None)]),
        ("I prefer dark mode", [("prefers", "dark mode", None)]),
        ("I use vim. I prefer light mode now.", [("prefers", "vim", None), ("prefers", "light mode", None)]),
        ("Never deploy on Fridays!", [("must_heed", "Never deploy on Fridays", None)]),
        (
            "please don't share my address with anyone",
            [("must_heed", "please don't share my address with anyone", None)],
        ),
        ("Remind me to call Bob by 2026-10-01.", [("call Bob", "2026-10-01T00:00:00.000Z")]),
        ("I will send the report by 2026-10-01", [("send the report", "2026-10-01T00:00:00.000Z")]),
        ("Hello there.\nI live in Rome.", [("lives_in", "Rome", None)]),
    ],
)
def test_plain_statements_are_read(text, wanted) -> None:
    assert said(text) == wanted
    assert said({"role": "user", "content": text}) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "...", "Do I live in Rome?", "If I live in Rome, call me.", "I would live in Rome.",
        "I used to live in Rome.",
        'Bob said "I live in Rome."', "I live in fear.", "I live in a small town near the sea.",
        "I don't live in Rome.",
        "I lived in Rome.", "She lives in Rome.", "I never live in Rome.", "I prefer tea.", "I prefer not to say.",
        "I use my hands.", "I prefer dark mode to light mode.", "Never mind.", "Always a pleasure.",
        "I will be happy to.",
        "I will see.", "My timezone is fine.", "I moved to Rome on 2026-02-30.", "Remind me to pay by 2026-13-01.",
        "I work for a bank.", "I work at night.", "Never say never.", "我住在北京。", "I live in Rome, maybe.",
        "\x00" * 50,
        "I live in " + "A" * 5000, "I prefer " + "dark " * 4000, "a" * 200_000,
    ],
)  # fmt: skip
def test_everything_else_is_left_alone(text) -> None:
    assert said(text) == []


@pytest.mark.parametrize("role", ["agent", "tool", "document", "message", "instrument"])
def test_only_a_person_speaks_for_themselves(role) -> None:
    assert said("I live in Rome. Never deploy on Fridays.", role=role) == []


@pytest.mark.parametrize("content", [None, 7, [], {"rows": []}, {"content": 5}])
def test_what_is_no_text_is_left_alone(content) -> None:
    assert said(content) == []


def test_a_value_alone_corrects_a_claim_about_a_string_and_nothing_else() -> None:
    target = {"assertion_id": "A-1", "predicate": "kip://domains/general@1.0.0/timezone", "object": "+08:00"}
    assert said("Sorry, I meant +07:00.", target=target) == [(target["predicate"], "+07:00", None)]
    assert said("I meant +07:00.") == []
    assert said("I meant Oslo.", target={**target, "object": {"id": "C-2"}}) == []


def test_nothing_is_made_up_from_real_conversations() -> None:
    folder = shared_path("data/locomo")
    if folder is None:
        pytest.skip("shared: absent")
    found, messages = [], 0
    for path in sorted(Path(folder).glob("*.json")):
        for text in _messages(json.loads(path.read_text())):
            messages += 1
            found += said(text)
    assert messages > 3000
    assert found == []


def _messages(value):
    if isinstance(value, dict):
        if "dia_id" in value and isinstance(value.get("text"), str):
            yield value["text"]
        for each in value.values():
            yield from _messages(each)
    elif isinstance(value, list):
        for each in value:
            yield from _messages(each)
