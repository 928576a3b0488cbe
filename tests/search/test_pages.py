"""THRESHOLD, LIMIT and CURSOR of SEARCH (§66.4, §87.7)."""

import pytest

import kipql
from tests.search.memories import ids, memory, message, person, rows, scores


@pytest.fixture
def nexus() -> kipql.Nexus:
    texts = [f"quartz {'opal ' * (at % 4)}{'x ' * (at % 7)}" for at in range(23)]
    return memory([message(text) for text in texts])


@pytest.mark.parametrize("limit", [1, 2, 5, 22, 23, 24])
def test_pages_are_the_whole(nexus: kipql.Nexus, limit: int) -> None:
    whole = rows(nexus, 'SEARCH EVIDENCE "quartz opal"')
    assert len(whole) == 23
    found, cursor = [], None
    for _ in range(30):
        text = f'SEARCH EVIDENCE "quartz opal" LIMIT {limit}' + (" CURSOR :c" if cursor else "")
        page = nexus.query(text, {"c": cursor} if cursor else {})
        found += page.rows
        assert page.truncated == (page.next_cursor is not None)
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == whole


def test_a_cursor_stays_at_its_snapshot(nexus: kipql.Nexus) -> None:
    whole = rows(nexus, 'SEARCH EVIDENCE "quartz opal"')
    first = nexus.query('SEARCH EVIDENCE "quartz opal" LIMIT 5')
    nexus.load([message("quartz opal") for _ in range(9)])
    second = nexus.query('SEARCH EVIDENCE "quartz opal" LIMIT 5 CURSOR :c', {"c": first.next_cursor})
    assert second.rows == whole[5:10]
    assert (second.context["index_seq"], second.context["current_space_seq"]) == (23, 24)


def test_the_threshold_comes_before_the_limit(nexus: kipql.Nexus) -> None:
    every = scores(nexus, 'SEARCH EVIDENCE "quartz opal"')
    middle = every[9]
    kept = [score for score in every if score >= middle]
    assert scores(nexus, 'SEARCH EVIDENCE "quartz opal" THRESHOLD :t', t=middle) == kept
    page = nexus.query('SEARCH EVIDENCE "quartz opal" THRESHOLD :t LIMIT :n', {"t": middle, "n": len(kept)})
    assert len(page.rows) == len(kept) and page.next_cursor is None
    assert scores(nexus, 'SEARCH EVIDENCE "quartz opal" THRESHOLD 0') == every
    assert scores(nexus, 'SEARCH EVIDENCE "quartz opal" THRESHOLD 1') == []


def test_limit_0_is_an_empty_page(nexus: kipql.Nexus) -> None:
    page = nexus.query('SEARCH EVIDENCE "quartz" LIMIT 0')
    assert (page.rows, page.next_cursor) == ([], None)


def test_without_a_limit_a_page_ends_and_says_so() -> None:
    nexus = memory([message(f"quartz {at}") for at in range(60)])
    page = nexus.query('SEARCH EVIDENCE "quartz"')
    assert (len(page.rows), page.truncated) == (50, True)
    rest = nexus.query('SEARCH EVIDENCE "quartz" CURSOR :c', {"c": page.next_cursor})
    assert (len(rest.rows), rest.next_cursor) == (10, None)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('SEARCH EVIDENCE "opal" LIMIT 5 CURSOR :c', "CursorMismatch"),
        ('SEARCH EVIDENCE "quartz" LIMIT 6 CURSOR :c', "CursorMismatch"),
        ('SEARCH EVIDENCE "quartz" THRESHOLD 0.1 LIMIT 5 CURSOR :c', "CursorMismatch"),
        ('SEARCH CONCEPT "quartz" LIMIT 5 CURSOR :c', "CursorMismatch"),
        ('SEARCH EVIDENCE "quartz" AS OF SEQ 4 LIMIT 5 CURSOR :c', "CursorMismatch"),
        ("LIST TYPES LIMIT 5 CURSOR :c", "CursorTypeMismatch"),
        ("FIND(?e.id) WHERE { ?e EVIDENCE {} } LIMIT 5 CURSOR :c", "CursorTypeMismatch"),
        ('SEARCH EVIDENCE "quartz" LIMIT 5 CURSOR "abc"', "CursorInvalid"),
    ],
)
def test_a_cursor_continues_its_own_search_only(nexus: kipql.Nexus, text: str, code: str) -> None:
    cursor = nexus.query('SEARCH EVIDENCE "quartz" LIMIT 5').next_cursor
    with pytest.raises(kipql.KipError) as caught:
        nexus.query(text, {"c": cursor})
    assert caught.value.code == code


def test_a_traversal_ends_when_what_it_walks_was_erased(nexus: kipql.Nexus) -> None:
    cursor = nexus.query('SEARCH EVIDENCE "quartz" LIMIT 5').next_cursor
    nexus.execute('PURGE "E-3" CONFIRM "PURGE"')
    with pytest.raises(kipql.KipError) as caught:
        nexus.query('SEARCH EVIDENCE "quartz" LIMIT 5 CURSOR :c', {"c": cursor})
    assert (caught.value.code, caught.value.details["family"]) == ("CursorExpired", "search")


def test_a_prefix_may_have_many_names() -> None:
    nexus = memory([person(f"Quartz {chr(97 + at)}") for at in range(26)])
    assert len(ids(nexus, 'SEARCH CONCEPT "qua" LIMIT 30')) == 26
    assert ids(nexus, 'SEARCH CONCEPT "quartz c" LIMIT 1') == ["C-3"]
