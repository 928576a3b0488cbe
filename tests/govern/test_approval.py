"""A second decision: what waits for it fails once, is approved by somebody else, and goes through once (§29.11)."""

from typing import Any

import pytest

from kipql.errors import KipError
from tests.govern.conftest import Setting

PURGE = 'PURGE PAYLOAD "E-1" CONFIRM "PURGE"'


@pytest.fixture
def waiting(setting: Setting) -> Setting:
    govern = setting.nexus.govern
    govern.grant("agent", "discover", "read", "purge", "archive", "approve")
    govern.grant("ada", "discover", "read", "approve")
    govern.require_approval("purge")
    return setting


def failed(setting: Setting, who: str, text: str) -> KipError:
    with pytest.raises(KipError) as caught:
        setting.as_(who).execute(text)
    return caught.value


def test_it_goes_through_once_when_somebody_else_approved(waiting: Setting) -> None:
    error = failed(waiting, "agent", PURGE)
    assert error.code == "RequiresApproval"
    request = error.details["request"]
    [pending] = waiting.as_("ada").govern.pending()
    assert pending == {"request": request, "principal_id": "agent", "permission": "purge", "elements": ["E-1"]}
    waiting.as_("ada").govern.approve(request)
    assert waiting.as_("ada").govern.pending() == []
    assert waiting.as_("agent").execute(PURGE).status == "committed"
    assert waiting.nexus.query('FIND(?e.payload.mode) WHERE { ?e EVIDENCE {id: "E-1"} }').rows == ["purged"]
    assert waiting.as_("agent").execute(PURGE).status == "no_effect"


def test_an_approval_is_for_what_was_asked_and_used_up(waiting: Setting) -> None:
    waiting.as_("ada").govern.approve(failed(waiting, "agent", PURGE).details["request"])
    assert failed(waiting, "agent", 'PURGE PAYLOAD "E-2" CONFIRM "PURGE"').code == "RequiresApproval"
    assert waiting.as_("agent").execute(PURGE).status == "committed"
    assert waiting.nexus.govern._policy.approved == {}


@pytest.mark.parametrize(("who", "code"), [("agent", "NotAuthorized"), ("nobody", "NotAuthorized")])
def test_who_asks_does_not_approve(waiting: Setting, who: str, code: str) -> None:
    request = failed(waiting, "agent", PURGE).details["request"]
    with pytest.raises(KipError) as caught:
        waiting.as_(who).govern.approve(request)
    assert caught.value.code == code
    assert failed(waiting, "agent", PURGE).code == "RequiresApproval"


def test_other_permissions_do_not_wait_and_the_owner_never_does(waiting: Setting) -> None:
    assert waiting.as_("agent").execute('TRANSITION "C-2" TO "archived"').status == "committed"
    assert waiting.nexus.execute(PURGE).status == "committed"
    with pytest.raises(KipError) as caught:
        waiting.as_("ada").govern.approve("apr-0")
    assert caught.value.code == "NotFoundOrNotVisible"


def test_access_says_what_waits(waiting: Setting) -> None:
    access: Any = waiting.as_("agent").query("DESCRIBE ACCESS").one()
    assert access["requires_approval"] == ["purge"]
    assert waiting.as_("agent").query('DESCRIBE ACCESS WITH {permission: "purge"}').one() == {
        "permission": "purge", "held": True, "everywhere": True, "requires_approval": True, "readonly": False,
    }  # fmt: skip
