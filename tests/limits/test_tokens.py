"""Cursors and snapshot tokens: what this memory did not issue as it stands continues nothing (§44.8, §87.7)."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError
from kipql.cursors import Cursors, new_key

INVALID = "CursorInvalid"
FAMILIES: dict[str, tuple[str, str]] = {
    "kql": ("FIND(?c.id) WHERE { ?c CONCEPT {} } LIMIT 2", "FIND(?c.id) WHERE { ?c CONCEPT {} } LIMIT 2 CURSOR :t"),
    "kql ordered": (
        "FIND(?c.name) WHERE { ?c CONCEPT {} } ORDER BY ?c.name LIMIT 2",
        "FIND(?c.name) WHERE { ?c CONCEPT {} } ORDER BY ?c.name LIMIT 2 CURSOR :t",
    ),
    "list": ("LIST TYPES LIMIT 2", "LIST TYPES LIMIT 2 CURSOR :t"),
    "search": ('SEARCH CONCEPT "person" LIMIT 2', 'SEARCH CONCEPT "person" LIMIT 2 CURSOR :t'),
    "history": ('HISTORY SPACE LIMIT 2', 'HISTORY SPACE LIMIT 2 CURSOR :t'),
    "history of one": ('HISTORY ELEMENT "C-1" LIMIT 2', 'HISTORY ELEMENT "C-1" LIMIT 2 CURSOR :t'),
    "changes": ('CHANGES AFTER SEQ 1 LIMIT 2', 'CHANGES SINCE :t LIMIT 2'),
    "predicates": ("LIST PREDICATES LIMIT 2", "LIST PREDICATES LIMIT 2 CURSOR :t"),
    "policies": ("LIST EPISTEMIC POLICIES LIMIT 1", "LIST EPISTEMIC POLICIES LIMIT 1 CURSOR :t"),
    "spaces": ("LIST SPACES LIMIT 1", "LIST SPACES LIMIT 1 CURSOR :t"),
    "dependents": ('LIST DEPENDENTS "C-1" LIMIT 1', 'LIST DEPENDENTS "C-1" LIMIT 1 CURSOR :t'),
}  # fmt: skip


def memory(path: Path | None = None) -> kipql.Nexus:
    nexus = kipql.open(path)
    for at in range(5):
        nexus.execute(f'CREATE CONCEPT ?a {{ TYPE "Person" NAME "person {at}" }}')
    for made in ("C-2", "C-3"):
        nexus.execute(f'UPDATE ?c SET FIELDS {{name: "renamed for {made}"}} WHERE {{ ?c {{id: "C-1"}} }}')
        nexus.execute(
            'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "inference", status: "completed"} '
            f'SET STRUCTURAL {{ ("inputs", "C-1") ("outputs", "{made}") }} }}'
        )
    nexus.space("kip:space:second").execute('CREATE CONCEPT ?a { TYPE "Person" }')
    return nexus


@pytest.fixture(scope="module")
def nexus() -> kipql.Nexus:
    return memory()


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(KipError) as caught:
        call()
    return caught.value.code


def issued(nexus: kipql.Nexus, family: str) -> str:
    token = nexus.query(FAMILIES[family][0]).next_cursor
    assert token is not None
    return token


def damaged(token: str) -> list[str]:
    """Every truncation, and every byte of the token with each of its bits turned."""
    cut = [token[:length] for length in range(1, len(token))] + [token[at:] for at in range(1, len(token))]
    raw = urlsafe_b64decode(token + "=" * (-len(token) % 4))
    turned = [
        urlsafe_b64encode(raw[:at] + bytes((raw[at] ^ 1 << bit,)) + raw[at + 1 :]).decode().rstrip("=")
        for at in range(len(raw))
        for bit in range(8)
    ]
    return [
        *cut,
        *turned,
        token + "A",
        token + "=",
        "A" + token,
        token * 2,
        token.swapcase(),
        token[::-1],
        token + "\n",
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_change_of_a_cursor_is_invalid(nexus: kipql.Nexus, family: str) -> None:
    token, text = issued(nexus, family), FAMILIES[family][1]
    assert nexus.query(text, {"t": token}).rows, "unchanged it goes on"
    for other in damaged(token):
        assert code_of(lambda other=other: nexus.query(text, {"t": other})) == INVALID, other  # type: ignore[misc]


def test_every_change_of_a_snapshot_token_names_no_state(nexus: kipql.Nexus) -> None:
    command = {"kip": "2.0", "operations": [{"command": "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }"}]}
    token = nexus.request(command)["snapshot"]["snapshot_token"]

    def answer(other: str) -> Any:
        reply = nexus.request({**command, "read": {"snapshot_token": other}})
        return reply.get("error") or reply["results"][0].get("error")

    assert answer(token) is None
    for other in damaged(token):
        error = answer(other)
        assert error["code"] in ("HistoricalSnapshotUnavailable", "InvalidRequestEnvelope"), other


def test_a_cursor_goes_nowhere_else(nexus: kipql.Nexus) -> None:
    for family in FAMILIES:
        for other, (_, text) in FAMILIES.items():
            if other != family:
                code = code_of(lambda text=text, family=family: nexus.query(text, {"t": issued(nexus, family)}))  # type: ignore[misc]
                assert code in ("CursorMismatch", "CursorTypeMismatch"), (family, other)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_cursor_of_another_memory_or_space_is_none(nexus: kipql.Nexus, family: str) -> None:
    text = FAMILIES[family][1]
    assert code_of(lambda: memory().query(text, {"t": issued(nexus, family)})) == INVALID
    other = nexus.space("kip:space:second")
    assert code_of(lambda: other.query(text, {"t": issued(nexus, family)})) == INVALID


def test_other_parameters_are_another_query(nexus: kipql.Nexus) -> None:
    text = "FIND(?c.id) WHERE { ?c {type: :type} } LIMIT 2"
    token = nexus.query(text, {"type": "Person"}).next_cursor
    again = text + " CURSOR :t"
    assert nexus.query(again, {"type": "Person", "t": token}).rows
    assert code_of(lambda: nexus.query(again, {"type": "Insight", "t": token})) == "CursorMismatch"


def test_a_forger_without_the_key_gets_nowhere(nexus: kipql.Nexus) -> None:
    token = issued(nexus, "kql")
    body = urlsafe_b64decode(token + "=" * (-len(token) % 4))[16:]
    for key in (b"\0" * 32, b"", new_key(), body[:32]):
        forged = urlsafe_b64encode(Cursors(key)._mac(body) + body).decode().rstrip("=")
        assert code_of(lambda forged=forged: nexus.query(FAMILIES["kql"][1], {"t": forged})) == INVALID  # type: ignore[misc]


def test_the_key_outlives_the_session_and_is_in_no_output(tmp_path: Path) -> None:
    with memory(tmp_path / "m") as nexus:
        token = issued(nexus, "kql")
        key: bytes = nexus._session.space.cursors._key
        shown = "".join(
            (
                str(nexus.export_capsule()),
                str(nexus.stats()),
                *(
                    str(nexus.query(text).result)
                    for text in ("DESCRIBE PROTOCOL", "LIST TYPES", "HISTORY SPACE", "LIST SPACES")
                ),
                repr(nexus),
                nexus.explain("FIND(?c) WHERE { ?c CONCEPT {} }"),
                token,
            )
        )
    assert key.hex() not in shown
    with kipql.open(tmp_path / "m") as nexus:
        assert len(nexus.query(FAMILIES["kql"][1], {"t": token}).rows) == 2
