"""Fields that may not be read are absent, for every reader there is (§29.2)."""

from typing import Any

import pytest

from tests.govern.conftest import Setting

ALICE = '?c {id: "C-1"}'


@pytest.fixture
def redacted(setting: Setting) -> Setting:
    """`carol` reads everything but some fields; `dora` nothing but some."""
    setting.nexus.execute(
        'UPDATE "C-1" SET ATTRIBUTES {salary: 7, city: "Bern"} SET FACET "MnemonicState" {salience: 0.5, utility: 0.25}'
    )
    govern = setting.nexus.govern
    govern.grant("carol", "discover", "read", "search")
    govern.deny("carol", "read", fields=["key", "attributes.salary", "facets.MnemonicState.utility", "payload"])
    govern.grant("dora", "discover", "search")
    govern.grant("dora", "read", fields=["name", "attributes.city"])
    return setting


@pytest.mark.parametrize(
    ("who", "path", "value"),
    [
        ("carol", "name", "Alice"),
        ("carol", "key", None),
        ("carol", "attributes.salary", None),
        ("carol", "attributes.city", "Bern"),
        ("carol", "attributes", {"city": "Bern"}),
        ("carol", 'facets["MnemonicState"].salience', 0.5),
        ("carol", 'facets["MnemonicState"].utility', None),
        ("dora", "name", "Alice"),
        ("dora", "key", None),
        ("dora", "attributes.salary", None),
        ("dora", "attributes.city", "Bern"),
        ("dora", 'facets["MnemonicState"].salience', None),
    ],
)
def test_a_field_reads_as_the_rules_leave_it(redacted: Setting, who: str, path: str, value: Any) -> None:
    for _ in range(2):
        assert redacted.as_(who).query(f"FIND(?c.{path}) WHERE {{ {ALICE} }}").rows == [value]


@pytest.mark.parametrize(
    "where",
    [
        '?c {type: "Person", key: "alice"}',
        "?c {type: \"Person\", attributes: {salary: 7}}",
        '?c {type: "Person"} FILTER(?c.attributes.salary > 5)',
        '?c {type: "Person"} FILTER(?c.key == "alice")',
        '?c {type: "Person"} FILTER(IS_NOT_NULL(?c.facets["MnemonicState"].utility))',
        '?c EVIDENCE {} FILTER(CONTAINS(?c.payload.inline, "dark"))',
    ],
)  # fmt: skip
def test_no_test_finds_a_field_that_may_not_be_read(redacted: Setting, where: str) -> None:
    for _ in range(2):
        assert redacted.as_("carol").query(f"FIND(COUNT(?c)) WHERE {{ {where} }}").scalar() == 0
        assert redacted.nexus.query(f"FIND(COUNT(?c)) WHERE {{ {where} }}").scalar() == 1


def test_order_and_groups_do_not_tell_it_either(redacted: Setting) -> None:
    text = 'FIND(?c.attributes.salary, COUNT(?c)) WHERE { ?c {type: "Person"} }'
    assert redacted.as_("carol").query(text).rows == [(None, 3)]
    text = 'FIND(?c.name) WHERE { ?c {type: "Person"} } ORDER BY ?c.attributes.salary DESC'
    assert redacted.as_("carol").query(text).rows == redacted.as_("dora").query(text).rows


def test_a_search_does_not_read_it(redacted: Setting) -> None:
    assert redacted.as_("carol").query('SEARCH EVIDENCE "dark"').rows == []
    assert len(redacted.nexus.query('SEARCH EVIDENCE "dark"').rows) == 1
    assert [hit["id"] for hit in redacted.as_("dora").query('SEARCH CONCEPT "Alice"').rows] == ["C-1"]


def test_who_writes_a_redacted_element_keeps_what_it_can_not_see(redacted: Setting) -> None:
    redacted.nexus.govern.grant("carol", "update")
    redacted.as_("carol").execute('UPDATE "C-1" SET ATTRIBUTES {city: "Basel"}')
    text = 'FIND(?c.key, ?c.attributes.salary, ?c.attributes.city) WHERE { ?c {id: "C-1"} }'
    assert redacted.nexus.query(text).rows == [("alice", 7, "Basel")]
