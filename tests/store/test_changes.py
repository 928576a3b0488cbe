"""Versions, planes and change-envelope entries (specification §6.3, §35.5, §36.1)."""

from dataclasses import replace
from typing import Any

import pytest

from kipql.errors import KipError
from kipql.model import ASSERTION, Activity, Edge, Evidence, Origin, Proposition, Retention
from kipql.store import Store, Transaction
from tests.store.small import AGE, PACKAGE, PART, PERSON, STATE, USE, change, claim, commit, concept, pair, store

PERSON_ENTRY = {"kind": "concept", "schema_ref": PERSON}


def entry(space: Store, code: int, **members: Any) -> dict[str, Any]:
    """The entry of one commit that changes one element."""
    change(space, code, **members)
    (found,) = space.view().commit(space.head).changes
    return found


def versions(space: Store, code: int) -> tuple[int, dict[str, Any]]:
    system = space.view().element(code)["_system"]
    return system["version"], system["plane_versions"]


def planes(attributes: int = 0, structural: int = 0, retention: int = 0, **facets: int) -> dict[str, Any]:
    named = {f"{PACKAGE}/{name}": count for name, count in facets.items()}
    return {"attributes": attributes, "structural": structural, "retention": retention, "facets": named}


def test_a_creation_names_what_it_is_about() -> None:
    space = store()
    pair(space)
    commit(space, lambda tx: [tx.create(Evidence(evidence_class="m")), tx.create(Activity(activity_class="i"))])
    assert space.view().commit(1).changes == [
        {"op": "create", "kind": "concept", "id": "C-1", "schema_ref": PERSON, "new_version": 1},
        {"op": "create", "kind": "concept", "id": "C-2", "schema_ref": PERSON, "new_version": 1},
        {
            "op": "create",
            "kind": "proposition",
            "id": "P-1",
            "new_version": 1,
            "refs": {"subject": "C-1", "predicate_ref": f"{PACKAGE}/knows"},
        },
        {"op": "create", "kind": "assertion", "id": "A-1", "new_version": 1, "refs": {"proposition": "P-1"}},
    ]
    assert [each["kind"] for each in space.view().commit(2).changes] == ["evidence", "activity"]


def test_a_retraction_touches_fields_and_no_plane() -> None:
    space = store()
    *_, said = pair(space)
    assert entry(space, said, status="retracted", retracted_at=5) == {
        "op": "lifecycle",
        "kind": "assertion",
        "id": "A-1",
        "old_version": 1,
        "new_version": 2,
        "state": {"from": "active", "to": "retracted"},
        "refs": {"proposition": "P-1"},
        "touched": ["fields.retracted_at", "fields.status"],
    }
    assert versions(space, said) == (2, planes(attributes=1))


def test_each_plane_counts_its_own_changes() -> None:
    space = store()
    a, b = commit(space, lambda tx: [tx.create(concept("a")), tx.create(concept())])
    assert (versions(space, a), versions(space, b)) == ((1, planes(1)), (1, planes()))
    head = {**PERSON_ENTRY, "op": "update", "id": "C-2"}
    assert entry(space, b, attributes={"status": "open", "n": 1}) == {
        **head,
        "old_version": 1,
        "new_version": 2,
        "touched": ["attributes.n", "attributes.status"],
        "planes": {"attributes": 1},
    }
    assert entry(space, b, facets={STATE: {"n": 1}, USE: {}}) == {
        **head,
        "old_version": 2,
        "new_version": 3,
        "touched": ["facets.State", "facets.Use"],
        "planes": {"facets": {"State": 1, "Use": 1}},
    }
    both = entry(space, b, facets={STATE: {"n": 2}, USE: {}}, attributes={"status": "shut", "n": True}, name="B")
    assert both["touched"] == ["attributes.n", "attributes.status", "facets.State", "fields.name"]
    assert both["planes"] == {"attributes": 2, "facets": {"State": 2}}
    assert entry(space, b, structural={PART: (Edge(a),)})["touched"] == ["structural.has_part"]
    assert entry(space, b, structural={}, facets={STATE: {"n": 2}})["planes"] == {"structural": 2, "facets": {"Use": 2}}
    assert versions(space, b) == (6, planes(attributes=2, structural=2, State=2, Use=2))


def test_retention_has_its_own_op_when_it_is_alone() -> None:
    space = store()
    alice, *_ = pair(space)
    found = entry(space, alice, retention=Retention("short", 5, True))
    assert (found["op"], found["planes"]) == ("retention", {"retention": 1})
    assert found["touched"] == ["retention.expires_at", "retention.legal_hold", "retention.retention_class"]
    found = entry(space, alice, retention=Retention("long", 5, True), name="B")
    assert (found["op"], found["touched"]) == ("update", ["fields.name", "retention.retention_class"])


def test_states_and_merges() -> None:
    space = store()
    alice, bob, knows, _ = pair(space)
    archived = entry(space, knows, state="archived")
    assert (archived["op"], archived["state"], archived["touched"]) == (
        "lifecycle",
        {"from": "active", "to": "archived"},
        ["_system.state"],
    )
    merged = entry(space, alice, state="merged", merged_into=bob)
    assert (merged["op"], merged["refs"]) == ("merge", {"merged_into": "C-2"})
    assert "planes" not in merged and "state" not in merged


def test_an_activity_that_completes_advances_the_planes_it_touches() -> None:
    space = store()
    alice, run = commit(space, lambda tx: [tx.create(concept("a")), tx.create(Activity(activity_class="i"))])
    found = entry(space, run, status="completed", ended_at=9, outputs=(Edge(alice),))
    assert (found["op"], found["state"]) == ("lifecycle", {"from": "pending", "to": "completed"})
    assert found["touched"] == ["fields.ended_at", "fields.status", "structural.outputs"]
    assert found["planes"] == {"structural": 1}


def test_supersession_is_one_envelope() -> None:
    space = store()
    alice, _, knows, old = pair(space)

    def write(tx: Transaction) -> None:
        new = tx.create(claim(knows, alice, supersedes=(old,)))
        tx.put(old, replace(tx.view.record(old), status="superseded", superseded_by=(new,)))

    commit(space, write)
    created, moved = space.view().commit(2).changes
    assert (created["op"], created["id"], moved["op"], moved["id"]) == ("create", "A-2", "lifecycle", "A-1")
    assert moved["touched"] == ["fields.status", "fields.superseded_by"]
    assert space.view().element(old)["lifecycle"]["superseded_by"] == [{"id": "A-2"}]


def test_several_writes_to_one_element_are_one_version_step() -> None:
    space = store()
    alice, *_ = pair(space)
    tx = space.begin(2)
    for name in ("b", "c", "d"):
        tx.put(alice, replace(tx.view.record(alice), name=name))
    new = tx.create(concept("n"))
    tx.put(new, replace(tx.view.record(new), attributes={"a": 1}))
    assert tx.seal()
    assert [(each["op"], each["new_version"]) for each in tx.changes] == [("create", 1), ("update", 2)]
    tx.commit()
    assert versions(space, alice) == (2, planes(2)) and versions(space, new) == (1, planes(1))


def test_what_ends_as_it_began_is_no_effect() -> None:
    space = store()
    alice, _, _, said = pair(space)
    before = space.digest()
    tx = space.begin(2)
    tx.put(alice, replace(tx.view.record(alice), name="b"))
    tx.put(alice, replace(tx.view.record(alice), name="Alice"))
    tx.put(said, tx.view.record(said))
    assert not tx.seal() and tx.changes == []
    with pytest.raises(KipError):
        tx.commit()
    tx.rollback()
    assert (space.head, space.digest()) == (1, before)
    tx = space.begin(3)
    tx.put(alice, replace(tx.view.record(alice), name="Alice"))
    tx.create(concept("new"))
    tx.commit()
    assert [each["id"] for each in space.view().commit(2).changes] == ["C-3"]
    assert versions(space, alice) == (1, planes(1))


def test_an_envelope_is_what_the_suite_shows() -> None:
    space = store()
    pair(space)
    whole = space.envelope(space.view().commit(1), only=("A-1",))
    assert whole == {
        "kip": "2.0",
        "space_id": "kip:space:default",
        "space_seq": 1,
        "tx_id": "kip:space:default#1",
        "committed_at": "1970-01-01T00:00:01.000Z",
        "transaction_class": "cognitive",
        "schema_environment_version": 1,
        "changes": [
            {"op": "create", "kind": "assertion", "id": "A-1", "new_version": 1, "refs": {"proposition": "P-1"}}
        ],
        "extensions": {"anda/transition": {"snapshot_seq": 0, "status": "committed"}},
    }
    tx = space.begin(2)
    tx.control("schema", {"packages": [{}]})
    tx.commit()
    control = space.envelope(space.view().commit(2))
    assert control["control_changes"] == [{"kind": "schema", "version": "2"}]
    assert control["changes"] == [] and control["schema_environment_version"] == 2


def test_facets_with_one_local_name_are_told_apart() -> None:
    space = store()
    alice, *_ = pair(space)
    other = "kip://other@1.0.0/State"
    found = entry(space, alice, facets={STATE: {"n": 1}, other: {"n": 1}})
    assert found["touched"] == [f"facets.{STATE}", f"facets.{other}"]
    assert found["planes"] == {"facets": {STATE: 1, other: 1}}


def test_the_system_says_who_and_when() -> None:
    space = store()
    tx = space.begin(1_000, Origin("kip:agent", "chat", "import-1"))
    alice = tx.create(concept("a"))
    rain = tx.create(Proposition(subject=alice, predicate=AGE, object=tx.literal(1)))
    assert tx.view.element(rain)["_system"]["created_at"] == "1970-01-01T00:00:01.000Z"
    tx.commit()
    commit(space, lambda tx: tx.put(rain, replace(tx.view.record(rain), state="archived")), at=2_000)
    assert space.view().element(rain)["_system"] == {
        "version": 2,
        "plane_versions": planes(),
        "created_at": "1970-01-01T00:00:01.000Z",
        "updated_at": "1970-01-01T00:00:02.000Z",
        "created_tx": "kip:space:default#1",
        "updated_tx": "kip:space:default#2",
        "state": "archived",
        "origin": {"principal_id": "kip:agent", "channel": "chat", "import_id": "import-1"},
    }


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"stance": "maybe"}, "ConstraintViolation"),
        ({"mode": "guessed"}, "ConstraintViolation"),
        ({"stance": []}, "ConstraintViolation"),
        ({"confidence": "high"}, "TypeMismatch"),
        ({"confidence": True}, "TypeMismatch"),
    ],
)
def test_what_a_column_can_not_hold_is_refused_and_leaves_nothing(members: dict[str, Any], code: str) -> None:
    space = store()
    alice, _, knows, _ = pair(space)
    before = space.digest()
    tx = space.begin(2)
    with pytest.raises(KipError) as raised:
        tx.create(claim(knows, alice, **members))
    assert raised.value.code == code
    assert space.digest(tx.view) == before
    tx.rollback()
    assert space.digest() == before


def test_a_transaction_ends_once() -> None:
    space = store()
    alice, *_ = pair(space)
    tx = space.begin(2)
    with pytest.raises(KipError) as raised:
        tx.put(99 * 8 + ASSERTION, tx.view.record(alice))
    assert raised.value.code == "NotFoundOrNotVisible"
    tx.rollback()
    tx.rollback()
    with pytest.raises(KipError):
        tx.create(concept("late"))
    pair(space)
