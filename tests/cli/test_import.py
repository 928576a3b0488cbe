"""`import chat` from the command line."""

import json

import pytest

TALK = {
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [{"speaker": "Ada", "dia_id": "D1:1", "text": "Hi"}],
    "session_1_summary": "...",
    "qa": [],
}


@pytest.fixture
def talk(tmp_path):
    def write(value=TALK, stem="talk"):
        path = tmp_path / f"{stem}.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return path

    return write


def test_the_first_run_commits_and_the_second_changes_nothing(kipql, talk, tmp_path):
    folder = tmp_path / "brain.kip"
    counts = "1 message in 1 session, 0 events, 0 claims\n"
    left_out = "talk: left out: session_<n>_summary, qa\n"
    first = kipql("import", "chat", talk(), "--db", folder)
    assert first == (0, f"talk: committed: {counts}", left_out)
    assert kipql("import", "chat", talk(), "--db", folder) == (0, f"talk: no_effect: {counts}", left_out)
    asked = 'FIND(?e.payload.inline) WHERE { ?e EVIDENCE {payload: {inline: {dia_id: "D1:1"}}} }'
    out = kipql("query", "--db", folder, "-c", asked, "--format", "json").out
    assert json.loads(out) == [{"e.payload.inline": TALK["session_1"][0]}]


def test_the_zone_is_the_callers_decision(kipql, talk, tmp_path):
    folder = tmp_path / "brain.kip"
    assert kipql("import", "chat", talk(), "--db", folder, "--tz", "Europe/Vienna").code == 0
    asked = 'FIND(?s.attributes.started_at) WHERE { ?s {type: "Event"} }'
    out = kipql("query", "--db", folder, "-c", asked, "--format", "csv").out
    assert out.splitlines()[1] == "2023-05-08T11:56:00.000Z"


@pytest.mark.parametrize(
    ("content", "zone", "word"), [("{", "UTC", "bad.json: line 1"), (TALK, "Mars/Olympus", "'Mars/Olympus'")]
)
def test_input_that_is_wrong_writes_nothing_of_any_file(kipql, talk, tmp_path, content, zone, word):
    folder = tmp_path / "brain.kip"
    called = kipql("import", "chat", talk(), talk(content, "bad"), "--db", folder, "--tz", zone)
    assert called.code == 2
    assert word in called.err
    assert not folder.exists()


def test_a_missing_file_and_a_readonly_memory_are_2(kipql, talk, memory, tmp_path):
    assert kipql("import", "chat", tmp_path / "none.json", "--db", memory).code == 2
    called = kipql("--readonly", "import", "chat", talk(), "--db", memory)
    assert (called.code, "ReadonlyViolation" in called.err) == (2, True)


def test_a_forgotten_memory_is_told(kipql, talk):
    code, out, err = kipql("import", "chat", talk())
    assert (code, out.startswith("talk: committed")) == (0, True)
    assert err.endswith("note: nothing was kept; --db DB names the memory to write to\n")


def test_a_zone_by_its_city_is_answered_with_its_name(kipql, talk):
    code, _, err = kipql("import", "chat", talk(), "--tz", "vienna")
    assert (code, "did you mean Europe/Vienna?" in err) == (2, True)
