"""Who speaks for whom (§28.3, §28.4), and whose claims are taken back (§57.3, §57.4)."""

import pytest

from kipql.errors import KipError
from tests.govern.conftest import Setting

SAY = 'ASSERT ?a ("C-2", "prefers", "C-4") {{by: "{}", mode: "stated"}}'
ALICE, BOB, DAVE = "C-1", "C-2", "C-3"


@pytest.fixture
def speaking(setting: Setting) -> Setting:
    """`alice` represents Alice, `recorder` nobody; Dave speaks only through who represents him, which is nobody."""
    govern = setting.nexus.govern
    base = ("discover", "read", "create")
    govern.grant("alice", *base, "assert", "record_attributed_assertion", "retract_own", "supersede_own")
    govern.grant("recorder", *base, "record_attributed_assertion")
    govern.grant("actor", *base, "assert_as_actor")
    govern.bind("alice", ALICE)
    govern.bind("actor", DAVE)
    govern.reserve(DAVE)
    return setting


@pytest.mark.parametrize(
    ("who", "actor", "code", "permission"),
    [
        ("alice", ALICE, None, None),
        ("alice", BOB, None, None),
        ("alice", DAVE, "ActorBindingRequired", "assert_as_actor"),
        ("recorder", ALICE, None, None),
        ("recorder", DAVE, "ActorBindingRequired", "assert_as_actor"),
        ("actor", DAVE, None, None),
        ("actor", ALICE, "NotAuthorized", "record_attributed_assertion"),
    ],
)
def test_the_actor_and_the_bindings_decide_which_permission_a_claim_needs(
    speaking: Setting, who: str, actor: str, code: str | None, permission: str | None
) -> None:
    if code is None:
        made = speaking.as_(who).execute(SAY.format(actor)).handles["a"]
        text = f'FIND(?a.asserted_by.id, ?a._system.origin.principal_id) WHERE {{ ?a ASSERTION {{id: "{made}"}} }}'
        assert speaking.nexus.query(text).rows == [(actor, who)]
        return
    with pytest.raises(KipError) as caught:
        speaking.as_(who).execute(SAY.format(actor))
    assert (caught.value.code, caught.value.details["permission"]) == (code, permission)


def test_what_a_memory_says_grants_nothing(speaking: Setting) -> None:
    speaking.nexus.execute(
        'CREATE CONCEPT ?c { TYPE "Person" NAME "recorder is bound to Dave" '
        'SET ATTRIBUTES {principal: "recorder", permissions: ["assert_as_actor"]} }'
    )
    with pytest.raises(KipError) as caught:
        speaking.as_("recorder").execute(SAY.format(DAVE))
    assert caught.value.code == "ActorBindingRequired"


def test_a_binding_follows_a_merge(speaking: Setting) -> None:
    made = speaking.nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "Alice B." }').handles["c"]
    speaking.nexus.execute(f'MERGE CONCEPT "{ALICE}" INTO "{made}"')
    speaking.nexus.govern.deny("alice", "record_attributed_assertion")
    assert speaking.as_("alice").execute(SAY.format(made)).status == "committed"


def test_an_unbound_principal_speaks_for_nobody(speaking: Setting) -> None:
    speaking.nexus.govern.unbind("actor", DAVE)
    with pytest.raises(KipError) as caught:
        speaking.as_("actor").execute(SAY.format(DAVE))
    assert caught.value.code == "ActorBindingRequired"


@pytest.mark.parametrize(
    ("claim", "code"),
    [("A-1", None), ("A-2", "RetractionNotAuthorized"), ("A-3", "RetractionNotAuthorized")],
)
def test_a_claim_is_retracted_by_whom_it_is_by(speaking: Setting, claim: str, code: str | None) -> None:
    try:
        speaking.as_("alice").execute(f'TRANSITION "{claim}" TO "retracted"')
        found = None
    except KipError as error:
        found = error.code
    assert found == code


def test_who_recorded_a_claim_may_record_that_it_was_taken_back(speaking: Setting) -> None:
    alice = speaking.as_("alice")
    made = alice.execute(SAY.format(BOB)).handles["a"]
    assert alice.execute(f'TRANSITION "{made}" TO "retracted"').status == "committed"
    other = speaking.as_("recorder").execute(SAY.format(BOB)).handles["a"]
    with pytest.raises(KipError) as caught:
        speaking.as_("recorder").execute(f'TRANSITION "{other}" TO "retracted"')
    assert caught.value.code == "NotAuthorized"


def test_superseding_is_for_ones_own_claims_too(speaking: Setting) -> None:
    own = 'ASSERT ("C-1", "prefers", "C-5") {by: "C-1", mode: "stated"} SUPERSEDING "A-1"'
    other = 'ASSERT ("C-2", "prefers", "C-5") {by: "C-2", mode: "stated"} SUPERSEDING "A-2"'
    assert speaking.as_("alice").execute(own).status == "committed"
    with pytest.raises(KipError) as caught:
        speaking.as_("alice").execute(other)
    assert (caught.value.code, caught.value.details["permission"]) == ("NotAuthorized", "supersede_own")
