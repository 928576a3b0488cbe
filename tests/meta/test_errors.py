"""The error registry as a description (§87)."""

import pytest

import kipql
from kipql.errors import CODES, KipError
from kipql.meta.errors import describe, document, registry


def test_every_code_has_its_two_sentences_and_nothing_else_has() -> None:
    assert set(registry()) == set(CODES)
    for code, entry in registry().items():
        assert entry.description.endswith("."), code
        assert entry.hint, code


def test_a_code_is_described_with_category_and_retry() -> None:
    described = describe("VersionConflict")
    assert (described["category"], described["retry"]) == ("transaction", {"class": "requires_refresh"})


def test_an_unknown_code_names_the_nearest() -> None:
    with pytest.raises(KipError) as caught:
        kipql.open().query('DESCRIBE ERROR "VersionConflct"')
    assert caught.value.code == "NotFoundOrNotVisible"
    assert "VersionConflict" in (caught.value.hint or "")


def test_the_document_has_a_section_for_every_code() -> None:
    text = document()
    assert [code for code in CODES if f"### {code}\n" not in text] == []
