"""Quarantine: out of recall and of projection, and nothing is said about the element (§29.10, §31.6)."""

from pathlib import Path

import pytest

import kipql
from tests.govern.conftest import PACKAGE, SETTING, Setting

BELIEF = 'FIND(?b.status) WHERE { ?b BELIEF ("C-1", "prefers", "C-4") }'
SLOT = 'FIND(?s.accepted_values) WHERE { ?s BELIEF SLOT ("C-1", "prefers") }'


@pytest.mark.parametrize(("held", "status"), [("A-1", "insufficient"), ("P-1", "insufficient"), ("E-1", "uncertain")])
def test_what_rests_on_it_is_not_believed_until_it_is_released(setting: Setting, held: str, status: str) -> None:
    """Held Evidence gives no root, as corrected Evidence gives none."""
    nexus = setting.nexus
    assert nexus.query(BELIEF).rows == ["accepted"]
    seq = nexus.space_seq
    nexus.govern.quarantine(held)
    assert nexus.query(BELIEF).rows == [status]
    assert nexus.query(SLOT).rows == [[]]
    assert nexus.query(f"{BELIEF} AS OF SEQ {seq}").rows == ["accepted"], "what was believed then"
    nexus.govern.release(held)
    assert nexus.query(BELIEF).rows == ["accepted"]


@pytest.mark.parametrize(
    ("held", "pattern"),
    [
        ("C-2", '?x {type: "Person", key: "bob"}'),
        ("C-2", '?x {id: "C-2"}'),
        ("A-1", '?x ASSERTION {asserted_by: "C-1"}'),
        ("P-1", '?x PROPOSITION ("C-1", "prefers", "C-4")'),
        ("P-1", '?x PROPOSITION (id: "P-1")'),
        ("E-1", '?x EVIDENCE {id: "E-1"}'),
    ],
)
def test_recall_leaves_it_out(setting: Setting, held: str, pattern: str) -> None:
    text = f"FIND(COUNT(?x)) WHERE {{ {pattern} }}"
    assert setting.nexus.query(text).scalar() == 1
    setting.nexus.govern.quarantine(held)
    for _ in range(2):
        assert setting.nexus.query(text).scalar() == 0
    assert setting.nexus.query(f"{text} AS OF SEQ 1").scalar() == 1
    setting.nexus.govern.release(held)
    assert setting.nexus.query(text).scalar() == 1


def test_its_record_is_as_it_was_and_says_that_it_is_held(setting: Setting) -> None:
    before = setting.nexus.query('FIND(?c) WHERE { ?c {id: "C-2"} }').one()
    setting.nexus.govern.quarantine("C-2")
    after = setting.nexus.query('FIND(?c) WHERE { ?c CONCEPT {id: "C-2", state: ?s} }').one()
    assert after["_system"]["state"] == "active"
    assert after["governance"] == {**before["governance"], "quarantined": True}
    assert {name: after[name] for name in ("name", "key", "attributes", "facets")} == {
        name: before[name] for name in ("name", "key", "attributes", "facets")
    }
    access = setting.nexus.query('DESCRIBE ACCESS WITH {element: "C-2"}').one()
    assert access["quarantined"] is True
    assert setting.nexus.query('SEARCH CONCEPT "Bob"').rows == []
    entry = setting.nexus.query("CHANGES AFTER SEQ 1").rows[0]
    assert entry["changes"][0]["touched"] == ["governance.quarantined"]
    assert entry["control_changes"] == [{"kind": "authorization", "version": "1"}]


def test_holding_it_twice_is_one_commit_and_it_survives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "memory.kip"
    with kipql.open(path, packages=[PACKAGE]) as nexus:
        nexus.execute(SETTING)
        nexus.govern.quarantine(["C-2", "A-1"])
        assert nexus.govern.quarantine("C-2").status == "no_effect"
        digest = nexus.digest()
    with kipql.open(path) as nexus:
        assert nexus.digest() == digest
        assert nexus.query('FIND(COUNT(?c)) WHERE { ?c {type: "Person"} }').scalar() == 2
        assert nexus.query(BELIEF).rows == ["insufficient"]


def test_an_authority_class_is_assigned_and_never_written(setting: Setting) -> None:
    text = 'FIND(?c.governance.authority_class) WHERE { ?c {id: "C-4"} }'
    assert setting.nexus.query(text).rows == ["descriptive"]
    setting.nexus.govern.elevate("C-4", "advisory")
    assert setting.nexus.query(text).rows == ["advisory"]
    setting.nexus.govern.elevate("C-4", "descriptive")
    assert setting.nexus.query(text).rows == ["descriptive"]
