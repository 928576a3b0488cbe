"""A retained outcome says no more than its caller may see now (§34.3, §68.2), whether the memory was opened again or
not; and what goes wrong in the gate keeps no lock."""

import threading
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError
from kipql.govern.writes import Gate
from tests.govern.conftest import Setting

TWO = 'MUTATE { CREATE CONCEPT ?a { TYPE "Person" NAME "Eve" } CREATE CONCEPT ?b { TYPE "Person" NAME "Fay" } }'
PATIENCE = 20.0


def sent(nexus: kipql.Nexus) -> dict[str, Any]:
    """The same request each time."""
    execution = {"mode": "atomic", "idempotency_key": "once"}
    reply = nexus.as_principal("scribe").request(
        {"kip": "2.0", "operations": [{"command": TWO}], "execution": execution}
    )
    assert reply["status"] == "succeeded", reply
    return reply


def governed(nexus: kipql.Nexus) -> None:
    nexus.govern.labels("public", "secret")
    nexus.govern.grant("scribe", "create", "discover", "read", "read_history", up_to="public")


def test_what_was_hidden_since_is_not_counted_in_a_replayed_receipt(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with kipql.open(path) as nexus:
        governed(nexus)
        first = sent(nexus)["receipt"]
        assert first["change_summary"]["changes"] == 2
        eve = first["change_summary"]["handles"]["a"]
        nexus.govern.classify(eve, "secret")
        head = nexus.space_seq
        again = sent(nexus)["receipt"]
        assert nexus.space_seq == head and again["space_seq"] == first["space_seq"], "it was replayed"
        assert again["change_summary"]["changes"] == 1
    with kipql.open(path) as nexus:
        assert sent(nexus)["receipt"] == again
        nexus.govern.classify(eve, "public")
        assert sent(nexus)["receipt"] == first


@pytest.mark.parametrize("method", ["__init__", "admit", "check", "seen"])
def test_a_defect_in_the_gate_keeps_no_lock(setting: Setting, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    governed(setting.nexus)
    head, scribe = setting.nexus.space_seq, setting.as_("scribe")

    def broken(*_: object) -> None:
        raise ValueError("a defect")

    with monkeypatch.context() as patch:
        patch.setattr(Gate, method, broken)
        for write in (
            lambda: scribe.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Eve" }'),
            lambda: scribe.query('PREVIEW KML "CREATE CONCEPT ?a { TYPE \\"Person\\" }"'),
            lambda: _both(scribe),
        ):
            with pytest.raises(KipError) as raised:
                write()
            assert raised.value.code == "InternalError"
            assert setting.nexus.space_seq == head
    done: list[object] = []
    thread = threading.Thread(
        target=lambda: done.append(setting.nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Eve" }')), daemon=True
    )
    thread.start()
    thread.join(PATIENCE)
    assert done and setting.nexus.space_seq == head + 1


def test_a_statement_that_a_defect_ends_leaves_no_trace_in_its_transaction(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    governed(setting.nexus)

    def broken(*_: object) -> None:
        raise ValueError("a defect")

    with setting.as_("scribe").transaction() as tx:
        tx.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Eve" }')
        with monkeypatch.context() as patch:
            patch.setattr(Gate, "check", broken)
            with pytest.raises(KipError):
                tx.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Fay" }')
    names = setting.nexus.query("FIND(?c.name) WHERE { ?c CONCEPT {} }").rows
    assert "Eve" in names and "Fay" not in names


def _both(scribe: kipql.Nexus) -> None:
    with scribe.transaction() as tx:
        tx.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Eve" }')
        tx.query("FIND(?c.name) WHERE { ?c CONCEPT {} }")
