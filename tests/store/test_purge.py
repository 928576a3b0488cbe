"""Purge: the stub stays, the bytes are gone, from memory, from AS OF and from the journal (§60.3, §60.6)."""

import gc
from dataclasses import replace
from pathlib import Path

import pytest

from kipql.errors import KipError
from kipql.model import Activity, AnyRecord, Assertion, Concept, Edge, Evidence, Proposition
from kipql.store import Store, Transaction
from kipql.times import Bound, Interval
from tests.store.small import KNOWS, PERSON, Writer, change, commit, concept, store
from tests.store.test_journal import Breaking
from tests.store.test_replay import facts

SECRET = "s3cret-word"


def stub(record: AnyRecord) -> AnyRecord:
    match record:
        case Concept():
            return Concept(schema=record.schema, state="purged")
        case Proposition():
            return Proposition(subject=record.subject, predicate=record.predicate, object=record.object, state="purged")
        case Assertion():
            return Assertion(
                proposition=record.proposition,
                asserted_by=record.asserted_by,
                stance=record.stance,
                mode=record.mode,
                asserted_at=record.asserted_at,
                status="retracted",
                state="purged",
            )
        case Evidence():
            return Evidence(evidence_class=record.evidence_class, payload={"mode": "purged"}, state="purged")
        case Activity():
            return Activity(activity_class=record.activity_class, status=record.status, state="purged")


def purge(space: Store, code: int) -> None:
    commit(space, lambda tx: tx.put(code, stub(tx.view.record(code))))


def filled(space: Store) -> dict[str, int]:
    """One element of each kind that says the secret, changed once so that it has a past."""

    def write(tx: Transaction) -> dict[str, int]:
        alice = tx.create(concept("Alice"))
        held = tx.create(concept(SECRET, key=SECRET, attributes={"a": [SECRET]}))
        said = tx.create(Proposition(subject=alice, predicate=KNOWS, object=tx.literal(SECRET)))
        heard = tx.create(Evidence(evidence_class="message", payload={"mode": "inline", "inline": {"t": SECRET}}))
        instant = Bound(1, 5)
        claim = Assertion(
            proposition=tx.create(Proposition(subject=alice, predicate=KNOWS, object=alice)),
            asserted_by=alice,
            stance="support",
            mode="stated",
            asserted_at=7,
            confidence=0.123,
            valid=Interval(instant, None),
            context=(alice,),
            evidence=(Edge(heard, "support"),),
            facets={f"{PERSON}Facet": {"t": SECRET}},
        )
        run = tx.create(Activity(activity_class="inference", parameters_digest=SECRET))
        return {"concept": held, "proposition": said, "assertion": tx.create(claim), "evidence": heard, "activity": run}

    made = commit(space, write)
    for code in made.values():
        change(space, code, classification=SECRET)
    return made


@pytest.mark.parametrize("kind", ["concept", "proposition", "assertion", "evidence", "activity"])
def test_what_was_purged_is_gone_everywhere(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "space"
    with store(folder) as space:
        made = filled(space)
        assert space.view().with_value(0, ("attributes", "n"), 1) is not None
        entries = [space.view().commit(seq).changes for seq in range(1, space.head + 1)]
        for each in [kind, *(other for other in made if other != kind)]:
            purge(space, made[each])
        view = space.view()
        assert [view.commit(seq).changes for seq in range(1, len(entries) + 1)] == entries, "history keeps names"
        last = view.commit(len(entries) + 1).changes
        assert [(entry["op"], entry["old_version"], entry["new_version"]) for entry in last] == [("purge", 2, 3)]
        code = made[kind]
        for seq in (1, len(entries), space.head):
            element = space.view(seq).element(code)
            assert element["governance"]["purged"] is True and element["_system"]["state"] == "purged"
            assert SECRET not in repr(element)
            assert code >> 3 in (space.view(seq).left_out(code & 7) or ())
        assert not view.named(SECRET) and not view.keyed(SECRET)
        assert view.literal_code(SECRET) is None
        assert list(view.live_assertions(0, view.lineage_of[view.symbol(KNOWS) or 0])) == []
        digests = [space.digest(space.view(seq)) for seq in range(space.head + 1)]
    assert SECRET.encode() not in (folder / "journal").read_bytes()
    with store(folder) as again:
        assert [again.digest(again.view(seq)) for seq in range(again.head + 1)] == digests
        assert [again.view().commit(seq).changes for seq in range(1, len(entries) + 1)] == entries
        assert again.view().commit(len(entries) + 1).changes == last
        commit(again, lambda tx: tx.create(concept("after")))


def test_no_state_of_a_purged_concept_is_kept_alive() -> None:
    space = store()
    made = filled(space)
    purge(space, made["concept"])
    gc.collect()
    assert not [found for found in gc.get_objects() if isinstance(found, Concept) and found.name == SECRET]


def test_a_payload_purge_keeps_the_record_at_every_sequence(tmp_path: Path) -> None:
    folder = tmp_path / "space"

    def write(tx: Transaction) -> int:
        payload = {"mode": "inline", "inline": SECRET}
        return tx.create(Evidence(evidence_class="message", payload=payload, content_digest="sha256:d", observed_at=5))

    with store(folder) as space:
        code = commit(space, write)
        change(space, code, classification="private")
        change(space, code, payload={"mode": "purged"})
        change(space, code, classification=None)
        for seq in range(1, 5):
            element = space.view(seq).element(code)
            assert element["payload"] == {"mode": "purged"}
            assert (element["content_digest"], element["_system"]["state"]) == ("sha256:d", "active")
            assert element["governance"]["classification"] == ("private" if seq in (2, 3) else None)
        entry = space.view().commit(3).changes[0]
        assert (entry["op"], entry["touched"], entry["planes"]) == (
            "payload_purge",
            ["fields.payload"],
            {"attributes": 2},
        )
        said = [(space.digest(space.view(seq)), space.view(seq).bounds) for seq in range(5)]
        changes = [space.view().commit(seq).changes for seq in range(1, 5)]
    assert SECRET.encode() not in (folder / "journal").read_bytes()
    with store(folder) as again:
        assert [(again.digest(again.view(seq)), again.view(seq).bounds) for seq in range(5)] == said
        assert [again.view().commit(seq).changes for seq in range(1, 5)] == changes


def test_a_literal_that_others_hold_stays_theirs() -> None:
    space = store()
    made = filled(space)

    def write(tx: Transaction) -> int:
        return tx.create(Proposition(subject=made["concept"], predicate=KNOWS, object=tx.literal(SECRET)))

    other = commit(space, write)
    purge(space, made["proposition"])
    view = space.view()
    assert view.element(other)["object"] == SECRET
    code = view.literal_code(SECRET)
    assert code is not None and list(view.incoming(code)) == [other >> 3]


def test_a_purged_tuple_can_be_stated_again() -> None:
    space = store()
    made = filled(space)
    lineage = space.view().lineage_of[space.view().symbol(KNOWS) or 0]
    purge(space, made["proposition"])
    tx = space.begin(9)
    term = tx.literal(SECRET)
    assert tx.view.tuple_row(0, lineage, term) is None
    code = tx.create(Proposition(subject=0, predicate=KNOWS, object=term))
    assert tx.view.tuple_row(0, lineage, term) == code >> 3
    tx.rollback()


@pytest.mark.parametrize("operation", ["write", "fsync", "rename"])
def test_a_purge_that_fails_leaves_everything(operation: str, tmp_path: Path) -> None:
    files = Breaking("", 0)
    with store(tmp_path / "space", files=files) as space:
        made = filled(space)
        before = [space.digest(space.view(seq)) for seq in range(space.head + 1)]
        files.operation, files.skip = operation, 0
        with pytest.raises(KipError):
            purge(space, made["concept"])
        assert [space.digest(space.view(seq)) for seq in range(space.head + 1)] == before
        purge(space, made["concept"])
        after = space.digest()
    with store(tmp_path / "space") as again:
        assert again.digest() == after


def test_a_purge_that_is_rolled_back_erased_nothing() -> None:
    space = store()
    made = filled(space)
    before = [space.digest(space.view(seq)) for seq in range(space.head + 1)]
    for code in made.values():
        tx = space.begin(9)
        tx.put(code, stub(tx.view.record(code)))
        assert tx.seal()
        tx.rollback()
    assert [space.digest(space.view(seq)) for seq in range(space.head + 1)] == before


class Purging(Writer):
    """A writer that also erases."""

    def write(self, tx: Transaction) -> None:
        code = self.any(tx.base, self.random.randrange(5)) if self.random.random() < 0.08 else None
        if code is None or tx.view.state(code) == "purged":
            super().write(tx)
            return
        record = tx.view.record(code)
        payload_only = isinstance(record, Evidence) and self.random.random() < 0.5
        tx.put(code, replace(record, payload={"mode": "purged"}) if payload_only else stub(record))  # type: ignore[call-arg]

    def changed(self, tx: Transaction, code: int) -> AnyRecord:
        record = tx.view.record(code)
        return record if record.state == "purged" else super().changed(tx, code)


@pytest.mark.parametrize("seed", [4, 7, 11])
def test_a_space_with_purges_reopens_as_it_was(seed: int, tmp_path: Path) -> None:
    with store(tmp_path / "space", durability="os") as space:
        writer = Purging(seed)
        while space.head < 40:
            commit(space, writer.transaction)
        said = facts(space)
        changes = [space.view().commit(seq).changes for seq in range(1, 41)]
        assert "purge" in {entry["op"] for entries in changes for entry in entries}
    with store(tmp_path / "space") as again:
        assert facts(again) == said
        assert [again.view().commit(seq).changes for seq in range(1, 41)] == changes


def test_a_purged_row_keeps_its_place_and_its_version() -> None:
    space = store()
    made = filled(space)
    purge(space, made["concept"])
    record = space.view().record(made["concept"])
    assert record == replace(record, version=1) and record.version == 3
