"""docs/scale.md has the tables of a lake as they are."""

from tests.docs.generate import DOCS, lake_tables, scale_page


def test_the_tables_on_the_page_are_the_layout() -> None:
    text = (DOCS / "scale.md").read_text(encoding="utf-8")
    assert scale_page(text) == text
    assert lake_tables() in text
