"""SEARCH over time: the snapshot of the call, the past, changes, recall, transactions and erasure (§66.5, §79)."""

import gc
import random
import weakref
from typing import Any

import pytest

import kipql
from kipql.limits import Limits
from kipql.search import index
from kipql.search.documents import document
from kipql.search.index import index_of
from tests.search.memories import ids, memory, message, person, rows


def test_a_search_sees_what_the_last_commit_wrote() -> None:
    nexus = memory()
    assert ids(nexus, 'SEARCH CONCEPT "quartz"') == []
    nexus.load([person("Quartz")])
    assert ids(nexus, 'SEARCH CONCEPT "quartz"') == ["C-1"]
    nexus.load([person("Quartz mine")])
    assert ids(nexus, 'SEARCH CONCEPT "quartz"') == ["C-1", "C-2"]


def test_a_changed_text_is_found_at_its_own_time_only() -> None:
    nexus = memory([person("Ada"), person("Bo")])
    assert ids(nexus, 'SEARCH CONCEPT "ada"') == ["C-1"]  # the index exists before the change
    nexus.execute('UPDATE "C-1" SET FIELDS {name: "Cleo"}')
    nexus.execute('UPDATE "C-1" SET ATTRIBUTES {note: "likes quartz"}')
    nexus.execute('UPDATE "C-1" SET FIELDS {name: "Ada"}')
    at = {"ada": [2, 5], "cleo": [3, 4], "quartz": [4, 5], "bo": [2, 3, 4, 5]}
    for word, seqs in at.items():
        for seq in range(2, 6):
            found = ids(nexus, "SEARCH CONCEPT :q AS OF SEQ :s", q=word, s=seq)
            assert found == ((["C-2"] if word == "bo" else ["C-1"]) if seq in seqs else []), (word, seq)
    assert ids(nexus, 'SEARCH CONCEPT "ada" AS OF SEQ 0') == []


def test_the_past_scores_as_it_did_then() -> None:
    nexus = memory([message("the violet gate"), message("a gate"), message("violet violet")])
    then = rows(nexus, 'SEARCH EVIDENCE "violet gate"')
    nexus.load([message(f"gate {n} and more gates than before") for n in range(20)])
    past = nexus.query('SEARCH EVIDENCE "violet gate" AS OF SEQ 3')
    assert past.rows == then
    assert (past.context["index_seq"], past.context["current_space_seq"]) == (3, 4)
    assert rows(nexus, 'SEARCH EVIDENCE "violet gate"') != then


@pytest.mark.parametrize("state", ["archived", "tombstoned"])
def test_default_recall_finds_active_elements_only(state: str) -> None:
    nexus = memory([person("Quartz"), person("Quartz"), message("quartz")])
    expected = rows(memory([person("Quartz")]), 'SEARCH CONCEPT "quartz"')
    assert ids(nexus, 'SEARCH CONCEPT "quartz"') == ["C-1", "C-2"]
    nexus.execute(f'TRANSITION "C-2" TO "{state}"')
    assert rows(nexus, 'SEARCH CONCEPT "quartz"') == expected  # it counts in no statistic either
    assert ids(nexus, 'SEARCH CONCEPT "quartz" AS OF SEQ 3') == ["C-1", "C-2"]


def test_a_merged_concept_is_found_no_more() -> None:
    nexus = memory([person("Quartz"), person("Quartz Two")])
    nexus.execute('MERGE CONCEPT "C-2" INTO "C-1"')
    assert ids(nexus, 'SEARCH CONCEPT "quartz"') == ["C-1"]


def test_purged_bytes_leave_the_index_and_the_past() -> None:
    nexus = memory([person("Quartz"), person("Opal"), message("secret quartz"), message("plain")])
    graph = nexus._session.view().graph
    for kind in ("CONCEPT", "EVIDENCE"):
        assert len(ids(nexus, f'SEARCH {kind} "quartz"')) == 1
    nexus.execute('PURGE "C-1" CONFIRM "PURGE"')
    nexus.execute('PURGE PAYLOAD "E-1" CONFIRM "PURGE"')
    assert all("quartz" not in index_of(graph).of_kind(kind).segment.postings for kind in (0, 3))
    for kind in ("CONCEPT", "EVIDENCE"):
        for seq in range(3, nexus.space_seq + 1):
            assert ids(nexus, f'SEARCH {kind} "quartz" AS OF SEQ {seq}') == []
            assert ids(nexus, f'SEARCH {kind} "secret" AS OF SEQ {seq}') == []
    assert ids(nexus, 'SEARCH CONCEPT "opal"') == ["C-2"]
    assert ids(nexus, 'SEARCH EVIDENCE "plain"') == ["E-2"]


def test_a_reopened_memory_answers_the_same(tmp_path: Any) -> None:
    records = [person("Ada", attributes={"note": "quartz"}), message("quartz and opal"), message("opal")]
    with memory(records, path=tmp_path / "m", durability="os") as nexus:
        nexus.execute('UPDATE "C-1" SET FIELDS {name: "Opal"}')
        before = [rows(nexus, f'SEARCH {kind} "opal quartz"') for kind in ("CONCEPT", "EVIDENCE")]
    with kipql.open(tmp_path / "m", readonly=True) as nexus:
        assert [rows(nexus, f'SEARCH {kind} "opal quartz"') for kind in ("CONCEPT", "EVIDENCE")] == before


def test_an_index_does_not_outlive_its_memory() -> None:
    nexus = memory([person("Quartz")])
    rows(nexus, 'SEARCH CONCEPT "quartz"')
    graph = weakref.ref(nexus._session.view().graph)
    nexus.close()
    del nexus
    gc.collect()
    assert graph() is None


def test_a_search_that_ran_out_of_time_goes_on_where_it_stopped() -> None:
    nexus = memory()
    nexus.load([person(f"Quartz {at}") for at in range(40)])
    with pytest.raises(kipql.KipError) as caught:
        nexus.query('SEARCH CONCEPT "quartz"', limits=Limits(ticks=100))
    assert caught.value.code == "ResourceExhausted"
    assert len(ids(nexus, 'SEARCH CONCEPT "quartz" LIMIT 50')) == 40
    assert ids(nexus, 'SEARCH CONCEPT "quartz 39"')[0] == "C-40"
    assert ids(nexus, 'SEARCH CONCEPT "quartz 3" LIMIT 1') == ["C-4"]


def test_a_change_reads_its_own_states_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many changes that leave the text alone came before, a commit costs its states and the one before."""
    nexus = memory([person("Quartz"), person("Opal")])
    read: list[int] = []

    def counting(view: Any, record: Any) -> Any:
        read.append(record.seq)
        return document(view, record)

    monkeypatch.setattr(index, "document", counting)
    rows(nexus, 'SEARCH CONCEPT "quartz"')
    for count in range(30):
        read.clear()
        nexus.execute('UPDATE "C-1" SET ATTRIBUTES {n: :n}', {"n": count})
        assert ids(nexus, 'SEARCH CONCEPT "quartz"') == ["C-1"]
        assert len(read) == 2, count
    for count in range(30):
        nexus.execute('UPDATE "C-2" SET ATTRIBUTES {n: :n}', {"n": count})
    read.clear()
    assert ids(nexus, 'SEARCH CONCEPT "opal"') == ["C-2"]
    assert len(read) == 31  # thirty states and the one before, each once
    segment = index.index_of(nexus._session.view().graph).of_kind(0).segment
    assert len(segment) == 2  # no text changed


WORDS = ("quartz", "opal", "garnet", "topaz", "beryl", "王芳", "onyx")


def _step(nexus: kipql.Nexus, chance: random.Random) -> None:
    text = " ".join(chance.choices(WORDS, k=chance.randint(1, 4)))
    count = nexus.stats()["elements"]["concept"]
    change = chance.randrange(6) if count else 0
    target = f"C-{chance.randint(1, max(1, count))}"
    try:
        match change:
            case 0 | 1:
                nexus.load([person(text, attributes={"note": chance.choice(WORDS)})])
            case 2:
                nexus.execute(f'UPDATE "{target}" SET FIELDS {{name: :name}}', {"name": text})
            case 3:
                nexus.execute(f'UPDATE "{target}" SET ATTRIBUTES {{note: :note}}', {"note": text})
            case 4:
                nexus.execute(f'TRANSITION "{target}" TO "archived"')
            case _:
                nexus.execute(f'PURGE "{target}" CONFIRM "PURGE"')
    except kipql.KipError:
        pass  # a target that is archived or purged already


@pytest.mark.parametrize("seed", range(6))
def test_an_index_that_followed_every_commit_equals_one_made_afterwards(seed: int) -> None:
    chance = random.Random(seed)
    nexus = memory()
    for _ in range(40):
        _step(nexus, chance)
        if chance.random() < 0.6:
            rows(nexus, "SEARCH CONCEPT :q", q=chance.choice(WORDS))
    asked = [(word, seq) for word in (*WORDS, "quartz opal") for seq in range(0, nexus.space_seq + 1, 3)]
    followed = [rows(nexus, "SEARCH CONCEPT :q AS OF SEQ :s", q=word, s=seq) for word, seq in asked]
    index_of(nexus._session.view().graph).drop(0)
    assert [rows(nexus, "SEARCH CONCEPT :q AS OF SEQ :s", q=word, s=seq) for word, seq in asked] == followed
