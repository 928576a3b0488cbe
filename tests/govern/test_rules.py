"""Grants and denials: default deny, deny-overrides, scopes, persistence (§28.5, §28.6, §29, §30.2)."""

from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql.errors import KipError
from tests.govern.conftest import Setting

NAMES = 'FIND(?c.name) WHERE { ?c {type: "Person"} } ORDER BY ?c.name'


def code_of(call: Any) -> str | None:
    """The code a call fails with, None when it does not."""
    try:
        call()
    except KipError as error:
        return error.code
    return None


def names(nexus: kipql.Nexus) -> list[str]:
    return list(nexus.query(NAMES).rows)


def test_until_the_first_rule_everybody_is_the_owner(setting: Setting) -> None:
    assert names(setting.as_("anybody")) == ["Alice", "Bob", "Dave"]
    setting.nexus.govern.grant("reader", "discover", "read")
    assert code_of(lambda: names(setting.as_("anybody"))) == "NotAuthorized"
    assert names(setting.as_("reader")) == names(setting.nexus) == ["Alice", "Bob", "Dave"]


def test_a_denial_alone_configures_too(setting: Setting) -> None:
    setting.nexus.govern.deny("everyone", "purge")
    assert code_of(lambda: names(setting.as_("anybody"))) == "NotAuthorized"


def test_a_denial_overrides_every_allowance_in_any_order(setting: Setting) -> None:
    govern = setting.nexus.govern
    govern.deny("group:staff", "discover", ids=[setting.ids["bob"]])
    govern.grant("carol", "discover", "read")
    govern.grant("carol", "discover", ids=[setting.ids["bob"]])
    assert names(setting.as_("carol")) == ["Alice", "Bob", "Dave"]
    govern.group("staff", ["carol"])
    assert names(setting.as_("carol")) == ["Alice", "Dave"]


def test_rules_reach_a_principal_by_itself_by_its_groups_and_with_everyone(setting: Setting) -> None:
    govern = setting.nexus.govern
    govern.grant("everyone", "discover")
    govern.grant("group:staff", "read")
    assert code_of(lambda: names(setting.as_("carol"))) == "NotAuthorized"
    govern.group("staff", ["carol"])
    assert names(setting.as_("carol")) == ["Alice", "Bob", "Dave"]
    govern.group("staff", [])
    assert code_of(lambda: names(setting.as_("carol"))) == "NotAuthorized"


def test_a_role_is_what_it_names_now(setting: Setting) -> None:
    govern = setting.nexus.govern
    govern.role("looker", ["discover"])
    govern.grant("carol", "role:looker")
    assert code_of(lambda: names(setting.as_("carol"))) == "NotAuthorized"
    govern.role("looker", ["discover", "read"])
    assert names(setting.as_("carol")) == ["Alice", "Bob", "Dave"]


def test_a_revoked_grant_is_gone_at_once_also_for_who_is_in_the_middle(setting: Setting) -> None:
    govern = setting.nexus.govern
    rule = govern.grant("carol", "discover", "read")
    carol = setting.as_("carol")
    prepared = carol.prepare(NAMES)
    assert prepared.query().rows
    govern.revoke(rule)
    assert code_of(lambda: prepared.query()) == "NotAuthorized"
    assert govern.configured


@pytest.mark.parametrize(
    ("conditions", "seen"),
    [
        ({}, {"alice", "bob", "dave", "dark", "light", "said", "told"}),
        ({"kinds": "evidence"}, {"said", "told"}),
        ({"kinds": ["Concept"]}, {"alice", "bob", "dave", "dark", "light"}),
        ({"types": "Option"}, {"dark", "light"}),
        ({"types": "kip://test/govern@1.0.0/Option"}, {"dark", "light"}),
        ({"classification": "secret"}, {"dave", "told"}),
        ({"classification": ["", "internal"]}, {"alice", "bob", "dark", "light", "said"}),
        ({"up_to": "internal"}, {"alice", "bob", "dark", "light", "said"}),
        ({"up_to": "public"}, {"bob", "dark", "light", "said"}),
        ({"types": "Person", "up_to": "public"}, {"bob"}),
        ({"ids": ["C-1", "E-2"]}, {"alice", "told"}),
        ({"predicates": "prefers"}, set()),
    ],
)
def test_every_condition_that_is_given_must_hold(setting: Setting, conditions: Any, seen: set[str]) -> None:
    govern = setting.nexus.govern
    govern.labels("public", "internal", "secret")
    govern.classify([setting.ids["dave"], setting.ids["told"]], "secret")
    govern.classify(setting.ids["alice"], "internal")
    govern.grant("carol", "discover", "read", **conditions)
    view = setting.as_("carol")._session.view()
    ids = {view.element(row * 8 + kind)["id"] for kind in (0, 3) for row in view.rows(kind)}
    assert {name for name, each in setting.ids.items() if each in ids} == seen


def test_claims_are_scoped_by_their_predicate(setting: Setting) -> None:
    govern = setting.nexus.govern
    govern.grant("carol", "discover", "read", kinds="concept")
    count = "FIND(COUNT(?a)) WHERE { ?a ASSERTION {} }"
    assert setting.as_("carol").query(count).scalar() == 0
    govern.grant("carol", "discover", "read", predicates="prefers")
    assert setting.as_("carol").query(count).scalar() == 3


def test_what_counts_as_unclassified_is_decided_by_the_host(setting: Setting) -> None:
    govern = setting.nexus.govern
    govern.labels("public", "internal", unclassified="internal")
    govern.grant("carol", "discover", "read", up_to="public")
    assert names(setting.as_("carol")) == []
    govern.classify(setting.ids["bob"], "public")
    assert names(setting.as_("carol")) == ["Bob"]


def test_the_same_rule_twice_is_one(setting: Setting) -> None:
    govern = setting.nexus.govern
    first = govern.grant("carol", "read", "discover", kinds="concept")
    seq = setting.nexus.space_seq
    assert govern.grant("carol", "discover", "read", kinds=["Concept"]) == first
    assert govern.labels().status == govern.group("none", []).status == "no_effect"
    assert setting.nexus.space_seq == seq


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda govern: govern.grant("carol", "reed"), "ConstraintViolation"),
        (lambda govern: govern.grant("carol"), "ConstraintViolation"),
        (lambda govern: govern.grant("carol", "role:nobody"), "ConstraintViolation"),
        (lambda govern: govern.grant("carol", "read", types="Persn"), "SchemaSymbolNotFound"),
        (lambda govern: govern.grant("carol", "read", kinds="people"), "ConstraintViolation"),
        (lambda govern: govern.grant("carol", "read", kinds=[]), "ConstraintViolation"),
        (lambda govern: govern.grant("carol", "read", ids="C-99"), "NotFoundOrNotVisible"),
        (lambda govern: govern.grant("carol", "read", up_to="internal"), "ConstraintViolation"),
        (lambda govern: govern.grant("carol", "read", "search", fields="name"), "ConstraintViolation"),
        (lambda govern: govern.deny("carol", "read", fields="confidence"), "ConstraintViolation"),
        (lambda govern: govern.grant("", "read"), "Unauthenticated"),
        (lambda govern: govern.revoke("g-9"), "NotFoundOrNotVisible"),
        (lambda govern: govern.classify("C-1", "secret"), "ConstraintViolation"),
        (lambda govern: govern.elevate("C-1", "divine"), "ConstraintViolation"),
        (lambda govern: govern.bind("carol", "E-1"), "ConstraintViolation"),
    ],
)
def test_what_nothing_would_enforce_is_refused_and_leaves_no_trace(setting: Setting, call: Any, code: str) -> None:
    seq = setting.nexus.space_seq
    assert code_of(lambda: call(setting.nexus.govern)) == code
    assert setting.nexus.space_seq == seq


def test_rules_are_for_who_may_make_them(governed: Setting) -> None:
    reader = governed.as_("reader").govern
    for call in (
        lambda: reader.grant("reader", "purge"),
        lambda: reader.revoke("g-1"),
        lambda: reader.classify("C-2", "public"),
        lambda: reader.bind("reader", "C-2"),
        lambda: reader.quarantine("C-2"),
        lambda: reader.elevate("C-2", "executable"),
        lambda: reader.approve("apr-1"),
        lambda: reader.policy(),
        lambda: governed.as_("reader").install_packages(["kip://domains/general@1.0.0"]),
        lambda: governed.as_("reader").backup("nowhere"),
    ):
        assert code_of(call) == "NotAuthorized"
    governed.nexus.govern.grant("admin", "manage_grants", "discover", "read")
    assert governed.as_("admin").govern.grant("carol", "read").startswith("g-")
    assert code_of(lambda: governed.nexus.readonly().govern.grant("x", "read")) == "ReadonlyViolation"


def test_rules_have_sequences_and_are_replayed(tmp_path: Path) -> None:
    path = tmp_path / "memory.kip"
    with kipql.open(path) as nexus:
        ada = nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }').handles["a"]
        nexus.govern.labels("public", "secret")
        nexus.govern.grant("reader", "discover", "read", up_to="public")
        nexus.govern.classify(ada, "secret")
        nexus.govern.bind("reader", ada)
        assert nexus.space_seq == 5
        policy = nexus.govern.policy()
        row = nexus.query("CHANGES AFTER SEQ 3").rows[0]
        assert row["control_changes"] == [{"kind": "authorization", "version": "3"}]
        assert row["changes"][0]["touched"] == ["governance.classification"]
    with kipql.open(path) as nexus:
        assert nexus.govern.policy() == policy
        assert nexus.as_principal("reader").query("FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }").scalar() == 0
        found = nexus.query('FIND(?c.governance.classification, ?c._system.version) WHERE { ?c {type: "Person"} }')
        assert found.rows == [("secret", 2)]


def test_in_a_governed_memory_other_spaces_are_the_owners(governed: Setting) -> None:
    other = governed.nexus.space("kip:space:other")
    other.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Eve" }')
    stranger = governed.as_("reader").space("kip:space:other")
    assert code_of(lambda: names(stranger)) == "NotAuthorized"
    assert governed.as_("reader").spaces() == ["kip:space:default"]
    assert [row["space_id"] for row in governed.as_("reader").query("LIST SPACES").rows] == ["kip:space:default"]
    assert code_of(lambda: governed.as_("reader").space("kip:space:new")) == "NotAuthorized"
    other.govern.grant("reader", "discover", "read")
    assert names(stranger) == ["Eve"]


def test_the_other_spaces_of_a_governed_folder_stay_closed_when_it_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.kip"
    with kipql.open(path) as nexus:
        nexus.space("kip:space:other").execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Eve" }')
        assert names(nexus.space("kip:space:other").as_principal("reader")) == ["Eve"]
        nexus.govern.grant("reader", "discover", "read")
    with kipql.open(path, principal="reader") as nexus:
        assert names(nexus) == []
        assert code_of(lambda: names(nexus.space("kip:space:other"))) == "NotAuthorized"


def test_a_rule_follows_the_symbols_it_names_through_a_rename(setting: Setting) -> None:
    govern = setting.nexus.govern
    govern.grant("carol", "discover", "read")
    govern.deny("carol", "discover", types="Option")
    count = "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }"
    assert setting.as_("carol").query(count).scalar() == 3
    renamed = {
        "format": "KIP-Schema-Package",
        "manifest": {"package_id": "kip://test/govern", "version": "2.0.0"},
        "migrations": [{"kind": "rename", "symbol_kind": "ConceptType", "from": "Option", "to": "Choice"}],
        "definitions": {
            "concept_types": {
                "Choice": {"kind": "ConceptType", "description": "Anything.", "attributes": {"open": True}},
            },
        },
    }  # fmt: skip
    setting.nexus.install_package(renamed)
    assert setting.nexus.query('FIND(COUNT(?c)) WHERE { ?c {type: "Choice"} }').scalar() == 2
    assert setting.as_("carol").query(count).scalar() == 3
