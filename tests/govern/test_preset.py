"""The preset of one acting Agent (§30.5), the public test policy, and what DESCRIBE ACCESS says of them."""

import json
from typing import Any

import pytest

import kipql
from kipql.errors import KipError
from kipql.govern.permissions import AGENT, CORE, INSTRUMENT, MAINTENANCE
from tests.govern.conftest import Setting
from tests.shared import shared_path

PEOPLE = {"agent": "waking", "maintenance": "$system", "instrument": "telemetry", "owner": "ada"}
SELF = "C-1"


@pytest.fixture
def preset(setting: Setting) -> Setting:
    seq = setting.nexus.space_seq
    setting.nexus.govern.single_agent(**PEOPLE, self_identity=SELF)
    assert setting.nexus.space_seq == seq + 1, "one call, one commit"
    return setting


def outcome(nexus: kipql.Nexus, text: str) -> str:
    try:
        nexus.execute(text)
    except KipError as error:
        return error.code
    return "ok"


def test_the_four_hold_what_the_specification_gives_them(preset: Setting) -> None:
    registry = preset.nexus._session.registry
    offered = preset.nexus.govern.describe()["permissions"]
    missing = {"repair_recording"} if not registry["recording_repair"]["supported"] else set()
    for who, names in (("waking", AGENT), ("$system", MAINTENANCE), ("telemetry", INSTRUMENT)):
        assert set(preset.nexus.govern.describe(who)["permissions"]) == set(names) - missing
    assert CORE <= set(preset.nexus.govern.describe("ada")["permissions"]) <= set(offered)
    assert preset.nexus.govern.describe("somebody")["permissions"] == []


@pytest.mark.parametrize(
    ("who", "text", "result"),
    [
        ("waking", f'ASSERT ("{SELF}", "prefers", "C-5") {{by: "{SELF}", mode: "stated"}}', "ok"),
        ("waking", 'ASSERT ("C-2", "prefers", "C-5") {by: "C-2", mode: "stated"}', "ok"),
        ("$system", f'ASSERT ("{SELF}", "prefers", "C-5") {{by: "{SELF}", mode: "stated"}}', "ok"),
        ("$system", 'ASSERT ("C-2", "prefers", "C-5") {by: "C-2", mode: "stated"}', "NotAuthorized"),
        ("telemetry", f'ASSERT ("{SELF}", "prefers", "C-5") {{by: "{SELF}", mode: "stated"}}', "NotAuthorized"),
        ("ada", f'ASSERT ("{SELF}", "prefers", "C-5") {{by: "{SELF}", mode: "stated"}}', "ActorBindingRequired"),
        ("telemetry", 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "outcome", payload: 1} }', "ok"),
        ("waking", 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "outcome", payload: 1} }', "NotAuthorized"),
        ("waking", 'TRANSITION "C-2" TO "archived"', "ok"),
        ("waking", 'TRANSITION "C-2" TO "tombstoned"', "NotAuthorized"),
        ("$system", 'TRANSITION "C-2" TO "tombstoned"', "ok"),
        ("waking", 'MERGE CONCEPT "C-2" INTO "C-3"', "NotAuthorized"),
        ("$system", 'MERGE CONCEPT "C-2" INTO "C-3"', "ok"),
        ("waking", 'PURGE PAYLOAD "E-1" CONFIRM "PURGE"', "NotAuthorized"),
        ("ada", 'PURGE PAYLOAD "E-1" CONFIRM "PURGE"', "ok"),
        ("$system", 'SET RETENTION "C-2" {legal_hold: true}', "NotAuthorized"),
        ("ada", 'SET RETENTION "C-2" {legal_hold: true}', "ok"),
        ("waking", 'FIND(?s.status) WHERE { ?s BELIEF SLOT ("C-1", "prefers") }', "ok"),
        ("telemetry", 'FIND(?s.status) WHERE { ?s BELIEF SLOT ("C-1", "prefers") }', "ProjectionNotAuthorized"),
        ("waking", "HISTORY SPACE", "NotAuthorized"),
        ("$system", "HISTORY SPACE", "ok"),
        ("somebody", "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }", "NotAuthorized"),
        ("somebody", "DESCRIBE PROTOCOL", "ok"),
    ],
)
def test_each_may_do_its_part(preset: Setting, who: str, text: str, result: str) -> None:
    assert outcome(preset.as_(who), text) == result


def test_two_of_the_four_are_one_only_when_that_is_said(setting: Setting) -> None:
    people = {**PEOPLE, "instrument": "waking"}
    with pytest.raises(KipError) as caught:
        setting.nexus.govern.single_agent(**people, self_identity=SELF)
    assert caught.value.code == "ConstraintViolation"
    assert not setting.nexus.govern.configured
    setting.nexus.govern.single_agent(**people, self_identity=SELF, merged=True)
    assert "record_outcome" in setting.nexus.govern.describe("waking")["permissions"]


def test_who_reads_everything_reads_at_full_speed(preset: Setting) -> None:
    session = preset.as_("waking")._session
    assert session.authority.sees_all and not session.view().narrowed
    assert session.authority.view_id == "full"


def test_access_and_the_primer_know_who_asks_and_for_whom(preset: Setting) -> None:
    access = preset.as_("waking").query("DESCRIBE ACCESS").one()
    assert access["principal_id"] == "waking" and access["configured"] is True
    assert access["actor_bindings"] == [{"id": SELF}] and access["authority_classes"] == []
    assert preset.as_("ada").query("DESCRIBE ACCESS").one()["authority_classes"][-1] == "executable"
    primer = preset.as_("waking").query("DESCRIBE PRIMER").one()
    assert primer["cognitive_identity"] == {"self": {"id": SELF}}
    assert primer["execution_context"]["actor_binding"] == [{"id": SELF}]
    assert preset.as_("telemetry").query("DESCRIBE PRIMER").one()["execution_context"]["actor_binding"] is None


def test_a_capability_is_available_to_who_may_use_it(preset: Setting) -> None:
    def available(who: str, name: str) -> tuple[bool, bool]:
        entry = preset.as_(who).query("DESCRIBE CAPABILITIES").one()["capabilities"][name]
        return entry["supported"], entry["available"]

    assert available("ada", "payload_purge") == (True, True)
    assert available("waking", "payload_purge") == (True, False)
    assert available("waking", "derive_permission") == (True, False)
    assert available("$system", "derive_permission") == (True, True)
    assert available("telemetry", "belief_slot") == (True, False)
    envelope = {"kip": "2.0", "requires": {"payload_purge": True}, "operations": [{"command": "DESCRIBE PROTOCOL"}]}
    assert preset.nexus.request(envelope, principal="waking")["status"] == "succeeded"


def test_what_may_be_done_with_one_element_is_told(governed: Setting) -> None:
    access = governed.as_("reader").query('DESCRIBE ACCESS WITH {element: {id: "C-1"}}').one()
    assert access["element"] == {"id": "C-1"} and access["classification"] == "internal"
    assert access["permissions"] == ["discover", "project", "read", "read_history"]
    for operand in ('{element: "C-1", permission: "read"}', '{principal: "reader"}', '{permission: "reed"}'):
        with pytest.raises(KipError) as caught:
            governed.as_("reader").query(f"DESCRIBE ACCESS WITH {operand}")
        assert caught.value.code == "ConstraintViolation"


# --- the public test policy ---------------------------------------------------------------------------


@pytest.fixture
def fixture_policy(setting: Setting) -> Setting:
    """`governance-test-policy`, as rules; `share` is no permission of §29 and left out."""
    path = shared_path("conformance/fixtures/governance-test-policy.json")
    if path is None:
        pytest.skip("shared: absent")
    policy: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    govern = setting.nexus.govern
    govern.labels(*policy["classification_labels"])
    actors = {"alice": "C-1", "self_agent": "C-2"}
    for name, rules in policy["principals"].items():
        names = [each for each in rules["permissions"] if each != "share"]
        if "maintain" in names:
            names.remove("maintain")
            govern.grant(name, "maintain", up_to=rules["classification_ceiling"], facets=rules.get("facet_scope"))
        govern.grant(name, *names, up_to=rules["classification_ceiling"])
        for actor in rules.get("assert_as_actor", ()):
            govern.bind(name, actors[actor])
    for actor, bound in policy["reserved_actors"].items():
        govern.reserve(actors[actor])
        assert bound == ["owner"]
    govern.classify([setting.ids["dave"], setting.ids["told"]], "secret")
    return setting


@pytest.mark.shared
@pytest.mark.parametrize(
    ("who", "text", "result"),
    [
        ("alice_writer", 'ASSERT ("C-1", "prefers", "C-5") {by: "C-1", mode: "stated"}', "ok"),
        ("recorder", 'ASSERT ("C-1", "prefers", "C-5") {by: "C-1", mode: "stated"}', "ok"),
        ("recorder", 'ASSERT ("C-1", "prefers", "C-5") {by: "C-2", mode: "stated"}', "ActorBindingRequired"),
        ("owner", 'ASSERT ("C-1", "prefers", "C-5") {by: "C-2", mode: "stated"}', "ok"),
        ("alice_writer", 'TRANSITION "A-1" TO "retracted"', "ok"),
        ("alice_writer", 'TRANSITION "A-2" TO "retracted"', "RetractionNotAuthorized"),
        ("reader_no_project", 'FIND(?s.status) WHERE { ?s BELIEF SLOT ("C-1", "prefers") }', "ProjectionNotAuthorized"),
        ("reader_no_search", 'SEARCH CONCEPT "Alice"', "NotAuthorized"),
        ("reader_full", 'UPDATE "C-1" SET FIELDS {name: "x"}', "NotAuthorized"),
        ("maintenance", 'UPDATE "C-1" SET FACET "MnemonicState" {salience: 0.5}', "ok"),
        ("maintenance", 'UPDATE "C-1" SET FIELDS {name: "x"}', "NotAuthorized"),
        ("maintenance", 'UPDATE "C-3" SET FACET "MnemonicState" {salience: 0.5}', "NotFoundOrNotVisible"),
        ("maintenance", 'SET RETENTION "C-1" {legal_hold: true}', "NotAuthorized"),
        ("maintenance", 'TRANSITION "C-1" TO "archived"', "ok"),
        ("instrument", 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "outcome", payload: 1} }', "ok"),
        ("alice_writer", 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "outcome", payload: 1} }', "NotAuthorized"),
        ("importer", 'CREATE CONCEPT ?c { TYPE "Person" NAME "x" }', "NotAuthorized"),
    ],
)
def test_the_public_policy_means_what_it_says(fixture_policy: Setting, who: str, text: str, result: str) -> None:
    assert outcome(fixture_policy.as_(who), text) == result


@pytest.mark.shared
def test_who_is_not_to_see_the_secret_resources_does_not(fixture_policy: Setting) -> None:
    text = 'FIND(COUNT(?c)) WHERE { ?c {type: "Person"} }'
    assert fixture_policy.as_("reader_hidden").query(text).scalar() == 2
    assert fixture_policy.as_("reader_full").query(text).scalar() == 3
