"""What a view promises: bounds, identity, default recall, renames, values, slots of any size."""

import random
from dataclasses import replace

import pytest

from kipql.errors import KipError
from kipql.model import CONCEPT, Concept, Edge, Evidence, Proposition
from kipql.store import Store, Transaction
from kipql.store.fields import getter, read
from tests.store.small import AGE, KNOWS, LIKES, PACKAGE, PERSON, change, claim, commit, concept, pair, schema, store


def number(space: Store, ref: str) -> int:
    view = space.view()
    symbol = view.symbol(ref)
    assert symbol is not None
    return view.lineage_of[symbol]


def test_a_view_holds_what_it_held_when_it_was_made() -> None:
    space = store()
    alice, _, _, said = pair(space)
    old = space.view()
    digest = space.digest(old)
    change(space, alice, name="Al", attributes={"n": 1})
    change(space, said, status="retracted", retracted_at=7)
    commit(space, lambda tx: tx.create(Proposition(subject=alice, predicate=KNOWS, object=alice)))
    assert (old.seq, space.head, space.digest(old)) == (1, 4, digest)
    assert list(old.outgoing(alice)) == [0] and list(space.view().outgoing(alice)) == [0, 1]
    assert list(old.live_assertions(alice, number(space, KNOWS))) == [0]
    assert list(space.view().live_assertions(alice, number(space, KNOWS))) == []
    assert list(space.view(1).named("Al")) == [0], "a posting on a mutable value is verified by its reader"
    assert (read(old, alice, ("name",)), read(space.view(), alice, ("name",))) == ("Alice", "Al")


def test_ids_and_codes() -> None:
    space = store()
    alice, bob, knows, said = pair(space)
    view = space.view()
    assert [view.code(text) for text in ("C-1", "C-2", "P-1", "A-1")] == [alice, bob, knows, said]
    assert [view.code(text) for text in ("C-3", "E-1", "c-1", "C-0", "C-01", "", "nonsense", "C-9999999999999")] == [
        None
    ] * 8
    assert space.view(0).code("C-1") is None
    assert view.exists(alice) and not view.exists(-1) and not view.exists(99 * 8)
    with pytest.raises(KipError) as raised:
        view.record(99 * 8)
    assert raised.value.code == "NotFoundOrNotVisible"


@pytest.mark.parametrize("seq", [-1, 2, 9_999])
def test_a_sequence_not_reached_is_refused(seq: int) -> None:
    space = store()
    pair(space)
    with pytest.raises(KipError) as raised:
        space.view(seq)
    assert raised.value.code == "HistoricalSnapshotUnavailable"


def test_merges_resolve_from_the_commit_that_made_them() -> None:
    space = store()
    a, b, c = commit(space, lambda tx: [tx.create(concept(name)) for name in "abc"])
    change(space, a, state="merged", merged_into=b)
    change(space, b, state="merged", merged_into=c)
    told = {}
    for seq in range(4):
        view = space.view(seq)
        codes = [code for code in (a, b, c) if view.exists(code)]
        told[seq] = ([view.canonical(code) for code in codes], [view.same(code) for code in codes])
    assert told[0] == ([], [])
    assert told[1] == ([a, b, c], [(a,), (b,), (c,)])
    assert told[2] == ([b, b, c], [(a, b), (a, b), (c,)])
    assert told[3] == ([c, c, c], [(a, b, c)] * 3)
    assert [space.view(seq).has_merges for seq in range(4)] == [False, False, True, True]
    assert [space.view(seq).identity_version for seq in range(4)] == [1, 1, 2, 3]
    assert space.view().element(a)["merged_into"] == "C-2"


def test_a_withdrawn_merge_resolves_by_itself_again() -> None:
    space = store()
    a, b = commit(space, lambda tx: [tx.create(concept(name)) for name in "ab"])
    change(space, a, state="merged", merged_into=b)
    change(space, a, state="active", merged_into=None)
    assert [space.view(seq).canonical(a) for seq in (1, 2, 3)] == [a, b, a]
    assert [space.view(seq).same(b) for seq in (1, 2, 3)] == [(b,), (a, b), (b,)]
    assert space.view().identity_version == 3


def test_a_merge_taken_back_in_its_own_transaction_changes_no_identity() -> None:
    space = store()
    a, b = commit(space, lambda tx: [tx.create(concept(name)) for name in "ab"])
    tx = space.begin(1)
    mark = tx.savepoint()
    tx.put(a, replace(tx.view.record(a), state="merged", merged_into=b))
    assert tx.view.same(b) == (a, b) and tx.base.same(b) == (b,)
    tx.restore(mark)
    assert tx.view.same(b) == (b,)
    tx.put(a, replace(tx.view.record(a), state="merged", merged_into=b))
    tx.put(a, replace(tx.view.record(a), state="active", merged_into=None))
    tx.create(concept("c"))
    tx.commit()
    assert (space.view().identity_version, space.view().has_merges) == (1, False)


def test_default_recall_leaves_out_what_is_not_active() -> None:
    space = store()
    a, b, c = commit(space, lambda tx: [tx.create(concept(name)) for name in "abc"])
    for code, state in ((a, "archived"), (b, "tombstoned"), (a, "active"), (c, "archived")):
        change(space, code, state=state)
    rows = [space.view(seq).left_out(CONCEPT) for seq in range(6)]
    assert rows == [None, None, {0}, {0, 1}, {1}, {1, 2}]
    assert [space.view(seq).left_out(CONCEPT) for seq in reversed(range(6))] == list(reversed(rows))
    assert space.view().left_out(1) is None
    tx = space.begin(1)
    tx.put(b, replace(tx.view.record(b), state="active"))
    assert (tx.view.left_out(CONCEPT), tx.base.left_out(CONCEPT)) == ({2}, {1, 2})
    tx.rollback()
    assert space.view().left_out(CONCEPT) == {1, 2}


def test_one_and_true_are_two_values() -> None:
    space = store()

    def write(tx: Transaction) -> None:
        alice = tx.create(concept("Alice", attributes={"n": 1}))
        tx.create(concept("Bob", attributes={"n": True}))
        for value in (1, 1.0, True, "1", None, False, 0, -0.0):
            tx.create(Proposition(subject=alice, predicate=AGE, object=tx.literal(value)))

    commit(space, write)
    view = space.view()
    codes = [view.literal_code(value) for value in (1, True, "1", None, False, 0)]
    assert None not in codes and len(set(codes)) == 6
    assert [list(view.incoming(code)) for code in codes if code is not None] == [[0, 1], [2], [3], [4], [5], [6, 7]]
    assert list(view.with_value(CONCEPT, ("attributes", "n"), 1) or ()) == [0]
    assert list(view.with_value(CONCEPT, ("attributes", "n"), True) or ()) == [1]
    assert view.literal_code("never") is None
    change(space, 0, attributes={"n": True})
    assert space.head == 2, "1 to true is a change"
    assert space.view().element(0)["attributes"] == {"n": True}


def test_a_string_literal_is_one_in_any_normal_form() -> None:
    space = store()
    pair(space)
    tx = space.begin(1)
    assert tx.literal("e\u0301") == tx.literal("\u00e9") != tx.literal("e")
    with pytest.raises(KipError):
        tx.literal(2**60)
    with pytest.raises(KipError):
        tx.literal({})  # type: ignore[arg-type]
    tx.rollback()
    assert space.view().literal_code("\u00e9") is None


def test_value_postings_follow_the_writer_and_the_past() -> None:
    space = store()

    def write(tx: Transaction) -> list[int]:
        payloads = [{"mode": "inline", "inline": {"dia_id": f"D1:{n}"}} for n in range(5)]
        return [tx.create(Evidence(evidence_class="message", payload=payload)) for payload in payloads]

    first, *_ = commit(space, write)
    path = ("payload", "inline", "dia_id")
    assert list(space.view().with_value(3, path, "D1:2") or ()) == [2]
    assert list(space.view().with_value(3, path, "D9:9") or ()) == []
    assert list(space.view(0).with_value(3, path, "D1:2") or ()) == []
    commit(space, write)
    assert list(space.view().with_value(3, path, "D1:2") or ()) == [2, 7]
    assert list(space.view(1).with_value(3, path, "D1:2") or ()) == [2]
    change(space, first, status="corrected")
    assert list(space.view().with_value(3, ("lifecycle", "status"), "corrected") or ()) == [0]
    assert space.view().with_value(2, ("stance",), "support") is None, "no such postings for Assertions"
    assert space.view().with_value(3, ("_system", "version"), 1) is None
    tx = space.begin(1)
    tx.create(Evidence(evidence_class="message", payload={"mode": "inline", "inline": {"dia_id": "D1:2"}}))
    assert list(tx.view.with_value(3, path, "D1:2") or ()) == [2, 7, 10]
    tx.rollback()
    assert list(space.view().with_value(3, path, "D1:2") or ()) == [2, 7]


def test_a_rename_joins_lineages_from_its_version_on() -> None:
    space = store()
    alice, bob, *_ = pair(space)
    newer = "kip://lab@2.0.0/is_friend_of"
    tx = space.begin(1)
    tx.control("schema", {"packages": [{"renames": {"kip://lab/knows": "kip://lab/is_friend_of"}}]})
    tx.create(Proposition(subject=alice, predicate=newer, object=alice))
    tx.create(Proposition(subject=alice, predicate=LIKES, object=bob))
    tx.commit()
    new, old = number(space, newer), space.view(1).lineage_number("kip://lab/knows")
    view = space.view()
    assert old is not None and view.lineage_of[view.symbol(KNOWS) or 0] == new
    assert list(view.slot(alice, new)) == [0, 1] and list(view.by_predicate(new)) == [0, 1]
    assert list(view.pairs(bob, new)) == [0] and view.tuple_row(alice, new, bob) == 0
    assert list(view.slot_assertions(alice, new)) == [0] and list(view.live_assertions(alice, new)) == [0]
    assert list(space.view(1).slot(alice, old)) == [0] and list(space.view(1).slot(alice, new)) == []
    assert view.environment.version == 2 and space.view(1).environment.version == 1


def test_structural_fields_match_by_lineage() -> None:
    space = store()

    def write(tx: Transaction) -> tuple[int, int]:
        leg = tx.create(concept("leg"))
        return leg, tx.create(concept("robot", structural={f"{PACKAGE}/has_part": (Edge(leg),)}))

    leg, robot = commit(space, write)
    view = space.view()
    for field in ("kip://lab@1.0.0/has_part", "kip://lab@3.0.0/has_part", "kip://lab/has_part"):
        assert list(view.referrers(leg, field)) == [robot]
        assert view.edges(robot, field) == (Edge(leg),)
    assert list(view.referrers(leg, "has_part")) == [] and list(view.referrers(leg, "evidence")) == []
    change(space, robot, structural={})
    assert (
        list(space.view().referrers(leg, f"{PACKAGE}/has_part")),
        list(view.referrers(leg, f"{PACKAGE}/has_part")),
    ) == (
        [],
        [robot],
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_large_slot_knows_what_has_not_ended(seed: int) -> None:
    pick = random.Random(seed)
    space = store()
    alice, _, knows, _ = pair(space)
    for _ in range(120):
        tx = space.begin(1)
        for _ in range(pick.randint(1, 3)):
            tx.create(claim(knows, alice))
            if pick.random() < 0.7:
                row = pick.randrange(tx.view.bounds[2])
                record = tx.view.record(row * 8 + 2)
                tx.put(row * 8 + 2, replace(record, status="superseded"))  # type: ignore[call-arg]
        tx.rollback() if pick.random() < 0.2 or not tx.seal() else tx.commit()
    lineage = number(space, KNOWS)
    for seq in range(space.head + 1):
        view = space.view(seq)
        live = [row for row in view.rows(2) if view.element(row * 8 + 2)["lifecycle"]["status"] == "active"]
        assert list(view.live_assertions(alice, lineage)) == live
        assert list(view.slot_assertions(alice, lineage)) == list(view.rows(2))


def test_a_slot_of_many_values_finds_each_tuple() -> None:
    space = store()
    alice, *_ = pair(space)
    for value in range(60):
        write = lambda tx, v=value: tx.create(Proposition(subject=alice, predicate=AGE, object=tx.literal(v)))  # noqa: E731
        commit(space, write)
    lineage = number(space, AGE)
    for seq in (1, 20, 61):
        view = space.view(seq)
        found = [view.tuple_row(alice, lineage, view.literal_code(value) or 0) for value in range(60)]
        assert found == [value + 1 if value + 2 <= seq else None for value in range(60)]
    tx = space.begin(1)
    code = tx.create(Proposition(subject=alice, predicate=AGE, object=tx.literal(99)))
    assert tx.view.tuple_row(alice, lineage, tx.literal(99)) == code >> 3
    tx.rollback()
    assert space.view().literal_code(99) is None


def test_a_much_used_object_is_found_by_predicate() -> None:
    space = store()
    alice, bob, *_ = pair(space)
    for index in range(80):
        commit(
            space,
            lambda tx, i=index: tx.create(Proposition(subject=alice, predicate=(KNOWS, AGE, LIKES)[i % 3], object=bob)),
        )
    for seq in (1, 10, 40, 81):
        view = space.view(seq)
        for ref in (KNOWS, AGE, LIKES):
            rows = [row for row in view.rows(1) if view.symbol_ref(view.predicates[row]) == ref]
            assert list(view.pairs(bob, number(space, ref))) == rows
            assert list(view.by_predicate(number(space, ref))) == rows


def test_keys_are_found_within_a_type_lineage() -> None:
    space = store()
    commit(space, lambda tx: [tx.create(concept(key="a")), tx.create(concept(key="a", schema="kip://lab@2.0.0/Tool"))])
    view = space.view()
    assert list(view.keyed("a")) == [0, 1]
    assert list(view.keyed("a", number(space, PERSON))) == [0]
    assert list(view.keyed("a", view.lineage_number("kip://lab/Tool"))) == [1]
    assert list(view.keyed("b")) == []


def test_client_keys_belong_to_what_they_made() -> None:
    space = store()

    def write(tx: Transaction) -> int:
        code = tx.create(concept("Casey", client_key="person:casey"))
        tx.remember(CONCEPT, "person:casey", "f", code)
        assert tx.view.client_key(CONCEPT, "person:casey") == (code, "f")
        assert tx.base.client_key(CONCEPT, "person:casey") is None
        return code

    tx = space.begin(1)
    write(tx)
    tx.rollback()
    assert space.view().client_key(CONCEPT, "person:casey") is None
    code = commit(space, write)
    assert space.view().client_key(CONCEPT, "person:casey") == (code, "f")
    assert space.view().client_key(3, "person:casey") is None
    assert space.view().element(code)["client_key"] == "person:casey"


def test_facets_are_read_by_local_name_lineage_or_exact_ref() -> None:
    space = store()
    facets = {f"{PACKAGE}/State": {"n": 1}}
    code = commit(space, lambda tx: tx.create(concept("a", facets=facets)))
    for name in ("State", "kip://lab/State", "kip://lab@1.0.0/State", "kip://lab@9.0.0/State"):
        assert getter(CONCEPT, ("facets", name, "n"))(space.view(), code >> 3) == 1
        assert getter(CONCEPT, ("_system", "plane_versions", "facets", name))(space.view(), code >> 3) == 1
    assert read(space.view(), code, ("facets", "Other", "n")) is None
    assert read(space.view(), code, ("facets", "State")) == {"n": 1}


def test_virtual_members_of_a_proposition_follow_merges() -> None:
    space = store()
    alice, bob, knows, _ = pair(space)
    change(space, alice, state="merged", merged_into=bob)
    view = space.view()
    assert read(view, knows, ("subject", "id")) == "C-1"
    assert read(view, knows, ("canonical_subject", "id")) == "C-2"
    assert read(view, knows, ("canonical_object",)) == {"id": "C-2"}
    assert read(space.view(1), knows, ("canonical_subject", "id")) == "C-1"


def test_times_name_sequences() -> None:
    space = store()
    for at in (1_000, 2_000, 2_000, 5_000):
        commit(space, lambda tx: tx.create(concept("x")), at=at)
    view = space.view()
    assert [view.snapshot_at(at) for at in (0, 999, 1_000, 1_999, 2_000, 4_999, 5_000, 9_000)] == [
        0,
        0,
        1,
        1,
        3,
        3,
        4,
        4,
    ]
    assert space.view(2).snapshot_at(9_000) == 2
    assert view.transaction("kip:space:default#3") == view.commit(3)
    for name in (
        "kip:space:default#9",
        "kip:space:default#0",
        "kip:space:default#03",
        "other#1",
        "x",
        "#",
        "kip:space:default#",
    ):
        assert view.transaction(name) is None
    assert space.view(2).transaction("kip:space:default#3") is None


def test_what_a_caller_does_to_an_answer_stays_with_the_caller() -> None:
    space = store()
    code = commit(space, lambda tx: tx.create(concept("a", attributes={"deep": {"list": [1]}})))
    before = space.digest()
    space.view().element(code)["attributes"]["deep"]["list"].append(2)
    read(space.view(), code, ("attributes", "deep"))["list"].append(3)
    read(space.view(), code, ("attributes",))["deep"] = 0
    assert space.digest() == before


def test_a_view_can_be_given_another_schema_loader() -> None:
    assert Store(schema=schema).view().environment.version == 1


def test_a_concept_record_says_its_kind() -> None:
    space = store()
    alice, *_ = pair(space)
    record = space.view().record(alice)
    assert isinstance(record, Concept) and record.schema == PERSON
