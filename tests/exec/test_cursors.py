"""Cursors: pages of one traversal make the whole, at the snapshot of the first page (§44.8, §87.7)."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import pytest

import kipql
from kipql import lang
from kipql.cursors import Cursors, new_key
from kipql.errors import KipError
from kipql.exec import prepare
from kipql.exec.rows import Rows
from kipql.plan.parameters import bind

CURSORS = Cursors(new_key())
QUERY = "FIND(?c.name) WHERE { ?c {} } ORDER BY ?c.name LIMIT :n CURSOR :c"
FIRST = "FIND(?c.name) WHERE { ?c {} } ORDER BY ?c.name LIMIT :n"


@pytest.fixture
def nexus() -> kipql.Nexus:
    made = kipql.open()
    for number in range(7):
        made.execute(f'CREATE CONCEPT ?c {{ TYPE "Person" NAME "p{number}" }}')
    return made


def run(
    nexus: kipql.Nexus, text: str, parameters: dict[str, Any], cursors: Cursors = CURSORS, mode: str | None = None
) -> Rows:
    find = lang.parse(text)
    view = nexus._session.view()
    given = bind(find, parameters)
    return prepare(find, view.environment).run(view, given, cursors=cursors, mode=mode)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [QUERY, QUERY.replace(" ORDER BY ?c.name", "")])
@pytest.mark.parametrize("mode", ["compiled", "closures"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 10])
def test_pages_are_the_whole(nexus: kipql.Nexus, size: int, mode: str, text: str) -> None:
    first = text.replace(" CURSOR :c", "")
    whole = run(nexus, first.replace(" LIMIT :n", ""), {}, mode=mode).rows
    page = run(nexus, text.replace(":c", "null") if False else first, {"n": size}, mode=mode)
    found = list(page.rows)
    cursor = page.next_cursor
    assert page.truncated == (cursor is not None)
    while cursor is not None:
        # The text of the first page and of the others differ in CURSOR only.
        page = run(nexus, text, {"n": size, "c": cursor}, mode=mode)
        found += page.rows
        cursor = page.next_cursor
    assert found == whole


def test_a_continuation_reads_the_snapshot_of_the_first_page(nexus: kipql.Nexus) -> None:
    page = run(nexus, FIRST, {"n": 3})
    nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "a first" }')
    later = run(nexus, QUERY, {"n": 3, "c": page.next_cursor})
    assert later.rows == ["p3", "p4", "p5"]
    assert later.context["snapshot_seq"] == 7


def test_limit_0_has_no_continuation(nexus: kipql.Nexus) -> None:
    page = run(nexus, FIRST, {"n": 0})
    assert (page.rows, page.next_cursor, page.truncated) == ([], None, False)


def code_of(nexus: kipql.Nexus, text: str, parameters: dict[str, Any], cursors: Cursors = CURSORS) -> str:
    with pytest.raises(KipError) as caught:
        run(nexus, text, parameters, cursors)
    assert caught.value.span is not None
    return caught.value.code


def test_another_query_or_other_parameters_mismatch(nexus: kipql.Nexus) -> None:
    cursor = run(nexus, FIRST, {"n": 3}).next_cursor
    assert code_of(nexus, QUERY.replace("{} }", '{type: "Person"} }'), {"n": 3, "c": cursor}) == "CursorMismatch"
    assert code_of(nexus, QUERY, {"n": 2, "c": cursor}) == "CursorMismatch"


def test_layout_and_the_name_of_the_cursor_parameter_do_not_matter(nexus: kipql.Nexus) -> None:
    cursor = run(nexus, FIRST, {"n": 3}).next_cursor
    text = QUERY.replace(" ", "\n").replace(":c", ":next")
    assert run(nexus, text, {"n": 3, "next": cursor}).rows == ["p3", "p4", "p5"]


def test_another_family_is_a_type_mismatch(nexus: kipql.Nexus) -> None:
    foreign = CURSORS.issue("history", "x", 1, 1)
    assert code_of(nexus, QUERY, {"n": 3, "c": foreign}) == "CursorTypeMismatch"


def test_garbage_and_tampering_are_invalid(nexus: kipql.Nexus) -> None:
    cursor = run(nexus, FIRST, {"n": 3}).next_cursor
    assert cursor is not None
    token = bytearray(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    token[-2] ^= 1
    for wrong in ("not-a-cursor", "", "AAAA", cursor[:-2], urlsafe_b64encode(token).decode(), 1, None, {"c": 1}, "é"):
        assert code_of(nexus, QUERY, {"n": 3, "c": wrong}) == "CursorInvalid", wrong


def test_a_cursor_of_another_memory_is_invalid(nexus: kipql.Nexus) -> None:
    cursor = run(nexus, FIRST, {"n": 3}, Cursors(new_key())).next_cursor
    assert code_of(nexus, QUERY, {"n": 3, "c": cursor}) == "CursorInvalid"


def test_a_snapshot_that_is_gone_expires_the_cursor(nexus: kipql.Nexus) -> None:
    cursor = run(nexus, FIRST, {"n": 3}).next_cursor
    body = json.loads(urlsafe_b64decode(cursor + "==")[16:])  # type: ignore[operator]
    later = CURSORS.issue("kql", body[2], 99, 3)
    assert code_of(nexus, QUERY, {"n": 3, "c": later}) == "CursorExpired"


def test_errors_name_the_family_and_the_reason() -> None:
    with pytest.raises(KipError) as caught:
        CURSORS.open("nonsense", "list", "x")
    assert caught.value.details == {"family": "list", "reason": "malformed"}


def test_a_cursor_has_one_spelling() -> None:
    token = CURSORS.issue("kql", "f" * 32, 1, 3)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    twins = [token[:-1] + letter for letter in letters if letter != token[-1]]
    for changed in (*twins, token + "="):
        with pytest.raises(KipError) as caught:
            CURSORS.open(changed, "kql", "f" * 32)
        assert caught.value.code == "CursorInvalid"
    assert CURSORS.open(token, "kql", "f" * 32) == (1, 3)
