"""What no path leads to is surfaced by intent, where the policy asks for it: few, once, and only what stands out."""

import pytest

from kipql.memory import Canon, SurfacePolicy

RULES = {
    "naming": "Identifiers are nouns of the specification",
    "dates": "Timestamps carry three fraction digits",
    "money": "Amounts are integers of cents, currency beside them",
    "retries": "Requests are retried twice with backoff",
    "logging": "Log lines never hold secrets",
}


@pytest.fixture
def ruled(nexus):
    canon = Canon(nexus, policy=SurfacePolicy(retrieval=3))
    for address, text in RULES.items():
        canon.write(address, capsule=text, body=text, scope="rule")
    canon.write("src/money.py", capsule="cents and currency amounts", body="It is about cents.")
    return canon


def test_it_is_off_by_default(ruled, nexus):
    assert Canon(nexus).session("other").intend("currency amounts in cents") == []


def test_the_rules_that_an_intent_means_are_shown_once(ruled):
    session = ruled.session("run")
    assert session.intend("Please add the currency to all amounts") == ["money"]
    assert session.flush() == "[canon] money: Amounts are integers of cents, currency beside them"
    assert session.intend("Please add the currency to the amounts again") == []
    assert session.flush() is None


def test_an_article_that_a_path_leads_to_is_not_ranked(ruled):
    assert "src/money" not in ruled.session("run").intend("cents, currency and amounts")


def test_tool_calls_count_and_the_same_intent_asks_nothing(ruled):
    session = ruled.session("run")
    assert session.intend("do it", ["edit retried requests backoff"]) == ["retries"]
    asked = session.stats.queries
    assert session.intend("do it", ["edit retried requests backoff"]) == []
    assert session.stats.queries == asked


def test_the_words_of_the_user_are_cut(ruled):
    session = ruled.session("run")
    assert session.intend("x" * 1_500 + " currency amounts") == []


def test_what_does_not_stand_out_is_not_shown(nexus):
    canon = Canon(nexus, policy=SurfacePolicy(retrieval=3))
    for name in "abcdef":
        canon.write(f"rule-{name}", capsule="every report has its totals", body="Totals.", scope="rule")
    assert canon.session("run").intend("write the report totals") == []


def test_short_words_are_no_words(ruled):
    assert ruled.session("run").intend("do it by the of log") == []


def test_at_most_as_many_as_the_policy_says(nexus):
    canon = Canon(nexus, policy=SurfacePolicy(retrieval=2))
    for count, name in enumerate(("a", "b", "c"), 1):
        canon.write(f"rule-{name}", capsule="report " * count, body="Said.", scope="rule")
    assert len(canon.session("run").intend("the report")) == 2
