"""`import chat`: what a conversation becomes, that a second run changes nothing, and that a bad file writes nothing."""

import json

import pytest

import kipql
from kipql.importers.chat import import_chat

TALK = {
    "speaker_a": "Ada",
    "speaker_b": "Bo",
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Ada", "dia_id": "D1:1", "text": "Hi", "img_url": ["https://example.org/a.jpg"]},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "Ho", "mode": "inline", "n": 1.5},
    ],
    "events_session_1": {"Ada": ["They meet."], "Bo": ["They meet.", "Bo sings."], "date": "8 May, 2023"},
    "session_2_date_time": "9 May, 2023",
    "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "Again"}],
    "session_3_date_time": "10 May, 2023",
    "session_10": [{"speaker": "Cy", "dia_id": "D10:1", "text": "Me too"}],
}


@pytest.fixture
def talk(tmp_path):
    def write(value=TALK, stem="talk"):
        path = tmp_path / f"{stem}.json"
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return write


@pytest.fixture
def nexus():
    with kipql.open() as opened:
        yield opened


def test_each_message_is_evidence_with_the_object_as_its_payload(nexus, talk):
    import_chat(nexus, talk())
    for message in (*TALK["session_1"], *TALK["session_2"], *TALK["session_10"]):
        rows = nexus.query(
            "FIND(?e.payload.inline, ?e.evidence_class, ?who.name, ?e.client_key) "
            'WHERE { ?e EVIDENCE {payload: {inline: {dia_id: :id}}} STRUCTURAL (?e, "source", ?who) ?who CONCEPT {} }',
            {"id": message["dia_id"]},
        ).rows
        assert rows == [(message, "message", message["speaker"], f"chat:talk:{message['dia_id']}")]


def test_sessions_and_messages_are_in_order(nexus, talk):
    import_chat(nexus, talk())
    rows = nexus.query(
        """FIND(?turn.index, ?session.key, ?edge.index, ?m.payload.inline.dia_id)
        WHERE {
          ?turn STRUCTURAL ({type: "Experience", key: "chat:talk"}, "has_turn", ?session)
          ?edge STRUCTURAL (?session, "has_message", ?m)
          ?session {type: "Event", attributes: {event_class: "conversation_session"}}
          ?m EVIDENCE {}
        } ORDER BY ?turn.index, ?edge.index"""
    ).rows
    assert rows == [
        (0, "chat:talk:session:1", 0, "D1:1"),
        (0, "chat:talk:session:1", 1, "D1:2"),
        (1, "chat:talk:session:2", 0, "D2:1"),
        (2, "chat:talk:session:10", 0, "D10:1"),
    ]


def test_a_session_keeps_its_date_as_text_with_the_zone_that_was_decided(nexus, talk):
    import_chat(nexus, talk(), zone="Europe/Vienna")
    one, two, three = (
        nexus.query(
            'FIND(?s.attributes) WHERE { ?s {type: "Event", key: :key} }', {"key": f"chat:talk:session:{n}"}
        ).one()
        for n in (1, 2, 10)
    )
    assert (one["started_at"], one["started_text"], one["timezone"]) == (
        "2023-05-08T11:56:00.000Z",
        "1:56 pm on 8 May, 2023",
        "Europe/Vienna",
    )
    assert "started_at" not in two
    assert two["started_within"] == {"earliest": "2023-05-08T22:00:00.000Z", "latest": "2023-05-09T21:59:59.999Z"}
    assert not {"started_at", "started_within", "started_text"} & set(three)
    assert {one["outcome_status"], two["outcome_status"]} == {"unknown"}


def test_listed_events_are_claims_of_the_annotator_with_the_listing_as_evidence(nexus, talk):
    import_chat(nexus, talk())
    rows = nexus.query(
        """FIND(?who.name, ?event.attributes.summary,
             ?claim.mode, ?by.key, ?claim.valid_time.from, ?listing.payload.inline)
        WHERE {
          ?p (?who, "took_part_in", ?event)
          ?claim ASSERTION {proposition: ?p, asserted_by: ?by}
          STRUCTURAL (?claim, "evidence", ?listing)
          ?who {type: "Person"} ?by {type: "Person"} ?event {type: "Event"} ?listing EVIDENCE {}
        } ORDER BY ?event.key, ?who.name"""
    ).rows
    day = {"earliest": "2023-05-08T00:00:00.000Z", "latest": "2023-05-08T23:59:59.999Z"}
    said = ("stated", "chat:talk:annotator", day, TALK["events_session_1"])
    assert rows == [
        ("Ada", "They meet.", *said),
        ("Bo", "They meet.", *said),
        ("Bo", "Bo sings.", *said),
    ]


def test_two_conversations_have_different_people(nexus, talk):
    import_chat(nexus, talk())
    import_chat(nexus, talk(stem="other"))
    assert len(nexus.query('FIND(?p) WHERE { ?p {type: "Person", name: "Ada"} }')) == 2


def test_a_second_run_has_no_effect(nexus, talk):
    first = import_chat(nexus, talk())
    before = nexus.digest(), nexus.space_seq
    second = import_chat(nexus, talk())
    assert (first.status, second.status) == ("committed", "no_effect")
    assert (nexus.digest(), nexus.space_seq) == before


def test_a_conversation_is_one_commit(nexus, talk):
    import_chat(nexus, talk())
    assert nexus.space_seq == 1


def test_a_file_that_grew_adds_what_is_new(nexus, talk):
    import_chat(nexus, talk())
    more = {**TALK, "session_2": [*TALK["session_2"], {"speaker": "Ada", "dia_id": "D2:2", "text": "New"}]}
    assert import_chat(nexus, talk(more)).status == "committed"
    assert nexus.query('FIND(COUNT(?e)) WHERE { ?e EVIDENCE {evidence_class: "message"} }').scalar() == 5


def test_a_message_that_reads_differently_is_refused_and_nothing_is_written(nexus, talk):
    import_chat(nexus, talk())
    before = nexus.digest(), nexus.space_seq
    changed = {**TALK, "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "Forged"}], "session_11": []}
    with pytest.raises(kipql.KipError) as caught:
        import_chat(nexus, talk(changed))
    assert caught.value.code == "ClientKeyConflict"
    assert "talk" in caught.value.hint
    assert (nexus.digest(), nexus.space_seq) == before


def test_a_garbled_file_writes_nothing(nexus, talk):
    with pytest.raises(kipql.KipError):
        import_chat(nexus, talk({**TALK, "session_10": [{"text": "no speaker"}]}))
    assert nexus.space_seq == 0
    assert nexus.stats()["elements"]["concept"] == 0


def test_a_readonly_memory_is_refused(nexus, talk):
    with pytest.raises(kipql.KipError) as caught:
        import_chat(nexus.readonly(), talk())
    assert caught.value.code == "ReadonlyViolation"


def test_a_long_session_is_whole_and_in_order(nexus, talk):
    messages = [{"speaker": "Ada", "dia_id": f"D1:{n}", "text": "x"} for n in range(1, 251)]
    import_chat(nexus, talk({"session_1": messages}))
    rows = nexus.query(
        "FIND(?edge.index, ?m.payload.inline.dia_id) "
        'WHERE { ?edge STRUCTURAL ({type: "Event", key: "chat:talk:session:1"}, "has_message", ?m) ?m EVIDENCE {} } '
        "ORDER BY ?edge.index"
    ).rows
    assert rows == [(n - 1, f"D1:{n}") for n in range(1, 251)]


def test_the_importer_installs_its_packages_once(nexus, talk):
    import_chat(nexus, talk())
    packages = {row["package_ref"] for row in nexus.query("LIST SCHEMA PACKAGES")}
    assert packages >= {"kip://kipql/agent@1.0.0", "kip://kipql/chat@1.0.0"}


@pytest.mark.shared
@pytest.mark.slow
def test_six_public_conversations_become_3435_messages(shared, tmp_path):
    files = sorted((shared / "data" / "locomo").glob("*.json"))
    with kipql.open(tmp_path / "chat.kip") as nexus:
        done = [import_chat(nexus, path) for path in files]
        assert [one.status for one in done] == ["committed"] * 6
        head, digest = nexus.space_seq, nexus.digest()
        assert head == 6
    with kipql.open(tmp_path / "chat.kip") as nexus:
        assert nexus.digest() == digest
        assert {import_chat(nexus, path).status for path in files} == {"no_effect"}
        assert (nexus.space_seq, nexus.digest()) == (head, digest)
        assert nexus.query('FIND(COUNT(?e)) WHERE { ?e EVIDENCE {evidence_class: "message"} }').scalar() == 3435
        for path in files:
            check_conversation(nexus, path)


def check_conversation(nexus, path):
    """Every message of a file is there, in session order, and equal."""
    value = json.loads(path.read_text(encoding="utf-8"))
    rows = nexus.query(
        """FIND(?turn.index, ?edge.index, ?m.payload.inline)
        WHERE {
          ?turn STRUCTURAL ({type: "Experience", key: :key}, "has_turn", ?session)
          ?edge STRUCTURAL (?session, "has_message", ?m)
          ?m EVIDENCE {evidence_class: "message"}
        } ORDER BY ?turn.index, ?edge.index""",
        {"key": f"chat:{path.stem}"},
    ).rows
    numbers = sorted(int(name[8:]) for name in value if name.startswith("session_") and name[8:].isdigit())
    expected = [message for number in numbers for message in value[f"session_{number}"]]
    assert [row[2] for row in rows] == expected
    for message in (expected[0], expected[-1]):
        found = nexus.query(
            "FIND(?e.payload.inline) WHERE { ?e EVIDENCE {payload: {inline: {dia_id: :id, text: :text}}} }",
            {"id": message["dia_id"], "text": message["text"]},
        )
        assert found.rows == [message]


def test_the_audits_of_conversations_find_what_is_wrong(nexus, talk):
    from pathlib import Path

    from kipql.audit.run import run_scripts
    from kipql.audit.script import read_script

    wrong = {
        **TALK,
        "session_1": [*reversed(TALK["session_1"]), {"speaker": "Bo", "dia_id": "D1:10"}],
        "session_2_date_time": "1:00 pm on 7 May, 2023",
        "session_11": [],
    }
    import_chat(nexus, talk(wrong))
    nexus.execute('UPDATE ?p SET FIELDS { name: "Cyril" } WHERE { ?p {type: "Person", name: "Cy"} }')
    nexus.execute(
        'ASSERT (:cy, "took_part_in", :event) {by: :cy, mode: "stated"}',
        {
            "cy": {"type": "Person", "key": "chat:talk:person:Cy"},
            "event": {"type": "Event", "key": "chat:talk:session:2"},
        },
    )
    nexus.execute('CREATE EVIDENCE ?e { SET FIELDS { evidence_class: "message", payload: {dia_id: "D9:9"} } }')
    examples = Path(__file__).resolve().parents[2] / "docs" / "examples"
    report = run_scripts(nexus, [read_script(str(examples / "chat.kql"))])
    assert report.problems == ()
    assert {check.step.name: [finding.message for finding in check.findings] for check in report.checks} == {
        "messages-out-of-order": ["in chat:talk:session:1, D1:2 stands before D1:1"],
        "sessions-out-of-order": [
            "chat:talk:session:1 began at 2023-05-08T13:56:00.000Z, after chat:talk:session:2 "
            "(2023-05-07T13:00:00.000Z), and stands before it"
        ],
        "messages-without-session": ["D9:9 belongs to no session"],
        "claims-without-evidence": ["A-4 cites nothing"],
        "people-with-two-names": ["Cyril (chat:talk:person:Cy) also signs as Cy"],
        "sessions-without-messages": ["chat:talk:session:11 holds no message"],
    }
