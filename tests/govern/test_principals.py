"""Who acts, and what is recorded (§28.1, §30.5)."""

import pytest

import kipql
from kipql.errors import KipError
from kipql.govern.authority import Authority
from kipql.govern.permissions import PERMISSIONS
from kipql.govern.policy import Policy
from kipql.govern.principals import OWNER, Principal, principal_of
from kipql.govern.view import authorized


def test_without_a_principal_a_memory_runs_as_its_owner() -> None:
    nexus = kipql.open()
    assert nexus.principal == OWNER == nexus.govern.owner
    assert nexus.govern.authority().permissions == PERMISSIONS


@pytest.mark.parametrize("value", ["", 7, {"id": "x"}, "x" * 513])
def test_what_names_no_principal_is_unauthenticated(value: object) -> None:
    with pytest.raises(KipError) as caught:
        principal_of(value)
    assert caught.value.code == "Unauthenticated"


def test_full_rights_read_the_view_itself() -> None:
    nexus = kipql.open()
    view = nexus._session.space.view()
    assert authorized(view, nexus.govern.authority("agent:a")) is view


def test_a_missing_permission_is_named() -> None:
    with pytest.raises(KipError) as caught:
        Authority(Principal("agent:a"), Policy(configured=True)).require("purge")
    assert (caught.value.code, caught.value.details["permission"]) == ("NotAuthorized", "purge")


def test_the_transport_says_who_asks_and_the_body_does_not() -> None:
    nexus = kipql.open()
    nexus.govern.grant("alice", "create", "discover", "read")
    write = {"kip": "2.0", "operations": [{"command": 'CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }'}]}
    assert nexus.request(write, principal="bob")["results"][0]["error"]["code"] == "NotAuthorized"
    assert nexus.request(write, principal="alice")["status"] == "succeeded"
    claimed = {**write, "context": {"principal_id": "kip:owner"}}
    answer = nexus.request(claimed, principal="bob")
    assert answer["status"] == "failed"
    [origin] = nexus.query('FIND(?c._system.origin.principal_id) WHERE { ?c {type: "Person"} }').rows
    assert origin == "alice"
