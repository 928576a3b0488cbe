"""Map and search as text, and what is asked for oddly."""

import pytest

import kipql


def test_an_empty_canon_says_so(canon):
    assert canon.map() == "There are no articles yet."
    assert canon.search("x") == "Nothing matches 'x'."
    assert canon.search("  ") == "There is nothing to search for."


@pytest.mark.parametrize("prefix", ["src/feed", "src/feed/", "/src//feed", "src/feed.py", "x/../src/feed"])
def test_a_prefix_is_an_address(feed, prefix):
    assert len(feed.map(prefix).splitlines()) == 2


def test_an_article_without_capsule_is_its_address(canon):
    canon.write("a", body="b")
    assert canon.map() == "a"


@pytest.mark.parametrize("text", ['") } DELETE', "[[", "\\", "x" * 100_000, "\u202e", "must never"])
def test_a_search_is_for_text_whatever_it_is(feed, text):
    assert feed.search(text, journal=True).startswith("Nothing matches ")
    assert len(feed.search(text)) < 400


@pytest.mark.parametrize(
    ("arguments", "code"),
    [((None,), "TypeMismatch"), (("x", False, 0), "ConstraintViolation"), (("x", False, True), "ConstraintViolation")],
)
def test_a_search_is_checked(canon, arguments, code):
    with pytest.raises(kipql.KipError) as raised:
        canon.search(*arguments)
    assert raised.value.code == code


def test_one_more_than_the_limit_is_one_more(canon):
    for n in range(3):
        canon.write(f"part{n}", capsule="vendor", body="b")
    assert canon.search("vendor", limit=2).splitlines()[-1] == "1 more matched."
    canon.journal("the vendor called")
    lines = canon.search("vendor", True, 1).splitlines()
    assert lines == ["part0: vendor", "3 more matched."]
