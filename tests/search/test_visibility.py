"""What a caller may not see moves no score, no order and no snippet (§66.4, §88.5)."""

import random
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import pytest

import kipql
from kipql.govern.authority import Authority
from kipql.govern.policy import Grant, Policy
from kipql.govern.principals import Principal
from kipql.govern.scopes import Scope
from kipql.govern.view import authorized
from kipql.limits import Budget
from kipql.model import CONCEPT, EVIDENCE, Concept
from kipql.search.ask import Ask
from kipql.search.run import search, snippets
from kipql.store.view import View
from tests.search.memories import Restricted, hits, memory, message, person

WORDS = ("quartz", "opal", "garnet", "topaz", "beryl", "onyx", "the", "of")


def narrowed(view: View, *denials: tuple[str, Scope, frozenset[str] | None]) -> View:
    """The view of a Principal who may do everything but what is denied: (permission, scope, fields)."""
    grants = {"all": Grant("all", True, "everyone", frozenset(("discover", "read", "search", "project")))}
    for at, (permission, scope, fields) in enumerate(denials):
        grants[str(at)] = Grant(str(at), False, "everyone", frozenset((permission,)), scope, fields)
    return authorized(view, Authority(Principal("agent:other"), Policy(configured=True, grants=grants), 1))


def hiding(view: View, ids: Collection[str]) -> View:
    return narrowed(view, ("discover", Scope(ids=frozenset(ids)), None))


def _texts(seed: int, count: int) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, 9))) for _ in range(count)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("hide", [Restricted, hiding])
def test_hidden_rows_never_move_a_score(seed: int, hide: Callable[..., View]) -> None:
    """The answers are those of a memory that never held the rest, row numbers aside."""
    texts = _texts(seed, 60)
    chance = random.Random(seed)
    hidden = {at for at in range(len(texts)) if chance.random() < 0.5}
    shown = [at for at in range(len(texts)) if at not in hidden]
    for make, kind, prefix in ((message, EVIDENCE, "E"), (person, CONCEPT, "C")):
        whole = memory(map(make, texts))._session.view()
        rest = memory(make(texts[at]) for at in shown)._session.view()
        narrow = hide(whole, [f"{prefix}-{at + 1}" for at in hidden])
        for term in (*WORDS, "quartz opal", "the topaz of onyx", "gar", "zebra"):
            ask = Ask(kind=kind, term=term)
            expected = [(shown[row], score) for row, score in hits(rest, ask)]
            assert hits(narrow, ask) == expected, term


def test_what_may_be_read_but_not_searched_is_not_found() -> None:
    whole = memory([message("quartz"), message("quartz opal")])._session.view()
    narrow = narrowed(whole, ("search", Scope(ids=frozenset({"E-2"})), None))
    alone = memory([message("quartz")])._session.view()
    assert narrow.exists(1 * 8 + EVIDENCE)
    ask = Ask(kind=EVIDENCE, term="quartz")
    assert hits(narrow, ask) == hits(alone, ask)


def test_fields_that_may_not_be_read_are_not_searched() -> None:
    whole = memory([person("Quartz", attributes={"note": "opal"}), person("Topaz")])._session.view()
    narrow = narrowed(whole, ("read", Scope(), frozenset({"attributes.note"})))
    without = memory([person("Quartz"), person("Topaz")])._session.view()
    for term in ("opal", "quartz", "topaz"):
        assert hits(narrow, Ask(kind=CONCEPT, term=term)) == hits(without, Ask(kind=CONCEPT, term=term))


def test_a_concept_merged_into_a_hidden_one_reads_as_if_it_were_not() -> None:
    nexus = memory([person("Quartz"), person("Opal")])
    nexus.execute('MERGE CONCEPT "C-1" INTO "C-2"')
    whole = nexus._session.view()
    ask = Ask(kind=CONCEPT, term="quartz")
    assert hits(whole, ask) == []
    assert hits(hiding(whole, ["C-2"]), ask) == hits(memory([person("Quartz")])._session.view(), ask)


def test_a_caller_sees_new_rows_and_the_past_alike() -> None:
    nexus = memory([message("quartz one"), message("quartz two")])
    grants = {"all": Grant("all", True, "everyone", frozenset(("discover", "read", "search", "project")))}
    grants["no"] = Grant("no", False, "everyone", frozenset(("discover",)), Scope(ids=frozenset({"E-1"})))
    caller = Authority(Principal("agent:other"), Policy(configured=True, grants=grants), 1)
    ask = Ask(kind=EVIDENCE, term="quartz")
    before = hits(authorized(nexus._session.view(), caller), ask)
    assert [row for row, _ in before] == [1]
    nexus.load([message("quartz three")])
    assert [row for row, _ in hits(authorized(nexus._session.view(), caller), ask)] == [1, 2]
    assert hits(authorized(nexus._session.at(2), caller), ask) == before


def test_hidden_rows_do_not_show_in_totals() -> None:
    whole = memory(message("quartz") for _ in range(5))._session.view()
    narrow = Restricted(whole, ["E-2", "E-4"])
    assert search(narrow, Ask(kind=EVIDENCE, term="quartz"), Budget(), 1).total == 3


def test_a_redacted_text_is_not_found_and_the_rest_of_it_is() -> None:
    whole = memory([person("Quartz", attributes={"note": "opal"}), person("Topaz")])._session.view()
    seen = whole.record(0)
    assert isinstance(seen, Concept)
    narrow = Restricted(whole, replaced={"C-1": replace(seen, attributes={})})
    assert hits(narrow, Ask(kind=CONCEPT, term="opal")) == []
    without = memory([person("Quartz"), person("Topaz")])._session.view()
    ask = Ask(kind=CONCEPT, term="quartz")
    assert hits(narrow, ask) == hits(without, ask)
    assert snippets(narrow, ask, [0]) == ["Quartz"]


def test_an_assertion_on_a_hidden_proposition_is_found_by_nothing() -> None:
    claim: dict[str, Any] = {
        "kind": "assertion", "subject": {"id": "C-1"}, "predicate": "timezone", "object": "Europe/Lisbon",
        "by": {"id": "C-1"}, "mode": "stated", "at": "2026-01-01T00:00:00.000Z",
    }  # fmt: skip
    whole = memory([person("Ada"), claim])._session.view()
    ask = Ask(kind=2, term="lisbon")
    assert len(hits(whole, ask)) == 1
    assert hits(Restricted(whole, ["P-1"]), ask) == []


def test_a_rolled_back_transaction_leaves_nothing_in_the_index() -> None:
    nexus = memory([person("Quartz")])
    with pytest.raises(kipql.KipError), nexus.transaction() as tx:
        tx.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "Opal" }')
        nexus.query('SEARCH CONCEPT "opal"')
        raise kipql.KipError("PreconditionFailed", "stop")
    assert nexus.query('SEARCH CONCEPT "opal"').rows == []
    nexus.load([person("Topaz")])
    assert nexus.query('SEARCH CONCEPT "opal"').rows == []
    assert [row["id"] for row in nexus.query('SEARCH CONCEPT "topaz"').rows] == ["C-2"]
