"""A conversation file is checked as a whole: what is wrong is named, what is left out is counted."""

import json

import pytest

from kipql.errors import KipError
from kipql.importers.conversation import read_conversation

SMALL = {
    "speaker_a": "Ada",
    "speaker_b": "Bo",
    "session_2": [],
    "events_session_2": {"Ada": ["", " "]},
    "session_10": [{"speaker": "Cy", "dia_id": "D10:1", "text": "x"}],
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Ada", "dia_id": "D1:1", "text": "Hi", "img_url": ["u"], "re-download": True},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "Ho"},
    ],
    "events_session_1": {"Ada": ["They meet.", "Ada sings."], "Bo": ["They meet."], "date": "8 May, 2023"},
    "session_3_date_time": "nobody reads this",
    "session_1_summary": "...",
    "qa": [],
}


def read(tmp_path, value, zone="UTC"):
    path = tmp_path / "talk.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return read_conversation(path, zone)


def test_sessions_are_in_the_order_of_their_numbers(tmp_path):
    assert [session.number for session in read(tmp_path, SMALL).sessions] == [1, 2, 10]


def test_messages_keep_their_object_and_their_order(tmp_path):
    first = read(tmp_path, SMALL).sessions[0]
    assert [message.dia_id for message in first.messages] == ["D1:1", "D1:2"]
    assert first.messages[0].payload == SMALL["session_1"][0]


def test_an_event_listed_for_two_people_is_one_event(tmp_path):
    events = read(tmp_path, SMALL).sessions[0].listing.events
    assert [(event.summary, event.people) for event in events] == [
        ("They meet.", ("Ada", "Bo")),
        ("Ada sings.", ("Ada",)),
    ]


def test_a_blank_sentence_lists_nothing(tmp_path):
    listing = read(tmp_path, SMALL).sessions[1].listing
    assert (listing.events, listing.when, listing.payload) == ((), None, {"Ada": ["", " "]})


def test_everybody_who_speaks_or_is_listed_is_there_once(tmp_path):
    assert read(tmp_path, SMALL).people == ("Ada", "Bo", "Cy")


def test_what_is_left_out_is_named(tmp_path):
    assert read(tmp_path, SMALL).left_out == ("session_3_date_time", "session_1_summary", "qa")


def test_a_session_without_a_date_has_none(tmp_path):
    assert read(tmp_path, SMALL).sessions[1].when is None


def changed(**members):
    return {**SMALL, **members}


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("", "line 1"),
        ("{", "line 1"),
        ("[]", "one JSON object"),
        ('{"session_1": [], "session_1": []}', "given twice"),
        ("[" * 100_000, "nested too deep"),
        ({"speaker_a": "Ada"}, "no session"),
        (changed(session_1={}), "session_1 is not a list"),
        (changed(session_1=["Hi"]), "session_1[0] is not a message"),
        (changed(session_1=[{"speaker": "Ada", "text": "Hi"}]), "session_1[0] has no dia_id"),
        (changed(session_1=[{"dia_id": "D1:1", "speaker": 5}]), "session_1[0] has no speaker"),
        (changed(session_10=[{"speaker": "Ada", "dia_id": "D1:1"}]), "two messages have the dia_id 'D1:1'"),
        (changed(session_1_date_time="yesterday"), "session_1_date_time is not a date"),
        (changed(events_session_1=["x"]), "events_session_1 is not an object"),
        (changed(events_session_1={"Ada": "sings"}), "events_session_1.Ada is not a list"),
        (changed(events_session_1={"Ada": [1]}), "events_session_1.Ada is not a list"),
        (changed(events_session_1={"Ada": [], "date": "May"}), "events_session_1.date is not a date"),
        (changed(events_session_7={"Ada": []}), "events_session_7 has no session_7"),
        (changed(speaker_a=7), "speaker_a is not a name"),
    ],
)
def test_a_garbled_file_is_an_error_that_names_the_place(tmp_path, value, word):
    with pytest.raises(KipError) as caught:
        read(tmp_path, value)
    assert caught.value.code == "ArtifactParseError"
    assert "talk.json" in caught.value.message
    assert word in caught.value.message


def test_an_unsafe_number_is_refused(tmp_path):
    with pytest.raises(KipError) as caught:
        read(tmp_path, changed(session_1=[{"speaker": "Ada", "dia_id": "D1:1", "n": 2**60}]))
    assert caught.value.code == "ConstraintViolation"


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(KipError) as caught:
        read_conversation(tmp_path / "none.json", "UTC")
    assert caught.value.code == "ArtifactUnavailable"


@pytest.mark.shared
def test_the_six_public_conversations_are_read_whole(shared):
    files = sorted((shared / "data" / "locomo").glob("*.json"))
    conversations = [read_conversation(path, "UTC") for path in files]
    assert len(conversations) == 6
    assert sum(conversation.message_count for conversation in conversations) == 3435
    assert all(session.when.bound.exact for conversation in conversations for session in conversation.sessions)
