"""Durability and snapshots through the public surface (docs/storage.md)."""

from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError

PERSON = 'CREATE CONCEPT ?a {{ TYPE "Person" NAME "{0}" SET FIELDS {{ key: "{0}" }} }}'


def _filled(path: Path, **options: Any) -> kipql.Nexus:
    nexus = kipql.open(path, **options)
    for name in ("Ada", "Bo", "Cleo"):
        nexus.execute(PERSON.format(name))
    nexus.execute('UPDATE :a SET FIELDS { name: "Ada L." }', {"a": "C-1"})
    return nexus


def _seen(nexus: kipql.Nexus) -> list[object]:
    names = 'FIND(?c.key, ?c.name) WHERE { ?c {type: "Person"} } AS OF SEQ :seq ORDER BY ?c.key'
    found: list[object] = [nexus.query(names, {"seq": seq}).rows for seq in range(nexus.space_seq + 1)]
    return [
        *found,
        nexus.query("HISTORY ELEMENT :a", {"a": "C-1"}).rows,
        nexus.query("CHANGES AFTER SEQ 0").rows,
        nexus.digest(),
    ]


@pytest.mark.parametrize("durability", ["fsync", "os", "none"])
def test_a_memory_opened_from_a_snapshot_answers_as_before(durability: str, tmp_path: Path) -> None:
    with _filled(tmp_path / "m", durability=durability) as nexus:
        seen, size = _seen(nexus), nexus.snapshot()
        assert _seen(nexus) == seen and size > 1_000
    with kipql.open(tmp_path / "m") as again:
        assert _seen(again) == seen
        again.execute(PERSON.format("Dan"))
        assert again.query('FIND(?c.name) WHERE { ?c {type: "Person", key: "Dan"} }').scalar() == "Dan"
    with kipql.open(tmp_path / "m", readonly=True) as reader:
        assert reader.space_seq == 5 and reader.query("FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }").scalar() == 4


def test_a_retained_outcome_is_replayed_after_a_snapshot(tmp_path: Path) -> None:
    envelope = {
        "kip": "2.0",
        "execution": {"mode": "atomic", "idempotency_key": "once"},
        "operations": [{"command": PERSON.format("Ada")}],
    }
    with kipql.open(tmp_path / "m") as nexus:
        nexus.request(envelope)
        first = nexus.request(envelope)
        nexus.snapshot()
    with kipql.open(tmp_path / "m") as again:
        assert again.request(envelope) == first
        assert again.query("FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }").scalar() == 1


def test_a_backup_holds_the_snapshot_and_what_follows(tmp_path: Path) -> None:
    with _filled(tmp_path / "m") as nexus:
        nexus.snapshot()
        nexus.execute(PERSON.format("Dan"))
        nexus.backup(tmp_path / "copy")
        with kipql.open(tmp_path / "copy") as copy:
            assert _seen(copy) == _seen(nexus)


def test_a_snapshot_is_refused_where_none_can_be() -> None:
    nexus = kipql.open()
    codes = []
    for where in (nexus, nexus.readonly()):
        with pytest.raises(KipError) as raised:
            where.snapshot()
        codes.append(raised.value.code)
    assert codes == ["UnsupportedCapability", "ReadonlyViolation"]


def test_a_snapshot_waits_for_no_transaction_of_its_own_thread(tmp_path: Path) -> None:
    with _filled(tmp_path / "m") as nexus, nexus.transaction(), pytest.raises(KipError) as raised:
        nexus.snapshot()
    assert raised.value.code == "SerializationConflict"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"durability": "buffered"}, "ConstraintViolation"),
        ({"snapshot_after": 0}, "TypeMismatch"),
        ({"snapshot_after": True}, "TypeMismatch"),
        ({"snapshot_after": "8 MiB"}, "TypeMismatch"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(KipError) as raised:
        kipql.open(tmp_path / "m", **options)
    assert raised.value.code == code and not (tmp_path / "m").exists()


def test_subscribers_hear_every_commit_in_order_whoever_made_it(tmp_path: Path) -> None:
    import threading

    with kipql.open(tmp_path / "m") as nexus:
        heard: list[int] = []
        nexus.subscribe(lambda envelope: heard.append(envelope["space_seq"]))

        def write(number: int) -> None:
            for step in range(8):
                nexus.execute(PERSON.format(f"p{number}-{step}"))

        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        nexus.execute(PERSON.format("last"))
        assert heard == list(range(1, 34))


@pytest.mark.parametrize("durability", ["fsync", "os", "none"])
@pytest.mark.parametrize("readonly", [False, True])
def test_a_backup_is_every_commit_whatever_the_durability(durability: str, readonly: bool, tmp_path: Path) -> None:
    with _filled(tmp_path / "m", durability=durability) as nexus:
        nexus.space("other").execute(PERSON.format("Zoe"))
        seen = _seen(nexus)
        if not readonly:
            nexus.backup(tmp_path / "copy")
    if readonly:
        with kipql.open(tmp_path / "m", readonly=True) as reader:
            reader.backup(tmp_path / "copy")
    with kipql.open(tmp_path / "copy") as copy:
        assert _seen(copy) == seen and copy.spaces() == ["kip:space:default", "other"]
        assert copy.space("other").space_seq == 1
        copy.execute(PERSON.format("Dan"))


def test_a_backup_touches_nothing_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "copy.tmp").mkdir()
    (tmp_path / "copy.tmp" / "mine").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with _filled(tmp_path / "m") as nexus:
        nexus.backup(tmp_path / "copy")
        for taken in ("copy", "empty", "link", "copy.tmp"):
            with pytest.raises(KipError) as raised:
                nexus.backup(tmp_path / taken)
            assert raised.value.code == "MemoryUnavailable"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "copy.tmp", "empty", "link", "m"]
    assert (tmp_path / "copy.tmp" / "mine").exists()


@pytest.mark.parametrize("failing", [False, True])
def test_purged_bytes_are_in_no_later_backup(
    failing: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Also when the purge's own snapshot failed and the older one still holds them."""
    from kipql.store import snapshot

    with _filled(tmp_path / "m") as nexus:
        nexus.execute(PERSON.format("s3cret-name"))
        nexus.snapshot()
        with monkeypatch.context() as patch:
            if failing:
                patch.setattr(snapshot, "write_draft", _no_room)
            nexus.execute('PURGE "C-4" CONFIRM "PURGE"')
            if failing:
                with pytest.raises(KipError) as raised:
                    nexus.backup(tmp_path / "copy")
                assert raised.value.code == "MemoryUnavailable" and not (tmp_path / "copy").exists()
        nexus.backup(tmp_path / "copy")
    files = [path for path in (tmp_path / "copy").rglob("*") if path.is_file()]
    assert files and not [path for path in files if b"s3cret-name" in path.read_bytes()]
    with kipql.open(tmp_path / "copy") as copy:
        assert copy.space_seq == 6


def _no_room(*arguments: object) -> int:
    raise OSError(28, "No space left on device")


def test_a_backup_while_others_read_and_write_is_one_commit(tmp_path: Path) -> None:
    import threading

    stop = threading.Event()
    with _filled(tmp_path / "m", durability="os") as nexus:

        def write() -> None:
            count = 0
            while not stop.is_set():
                count += 1
                nexus.execute(PERSON.format(f"n{count}"))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(5):
                nexus.backup(tmp_path / f"copy{number}")
                nexus.snapshot()
        finally:
            stop.set()
            writer.join()
        for number in range(5):
            with kipql.open(tmp_path / f"copy{number}", readonly=True) as copy:
                store, seq = nexus._session.space.store, copy.space_seq
                assert seq >= 4 and copy.digest() == store.digest(store.view(seq))


def test_commits_go_on_while_a_backup_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy is the memory at the moment its files were opened, also when a purge and a snapshot replace them all."""
    from kipql.runtime import copying

    copy = copying._copy

    def slow(sources: Any, cancel: Any) -> None:
        nexus.execute(PERSON.format("Late"))
        nexus.execute('PURGE ?c WHERE { ?c {type: "Person", key: "Ada"} } CONFIRM "PURGE"')
        nexus.snapshot()
        copy(sources, cancel)

    monkeypatch.setattr(copying, "_copy", slow)
    with _filled(tmp_path / "m") as nexus:
        nexus.snapshot()
        nexus.execute(PERSON.format("Dan"))
        digest, head = nexus.digest(), nexus.space_seq
        nexus.backup(tmp_path / "copy")
        assert nexus.space_seq == head + 2
    with kipql.open(tmp_path / "copy") as copied:
        assert (copied.digest(), copied.space_seq) == (digest, head)
        assert copied.query('FIND(?c.name) WHERE { ?c {type: "Person", key: "Ada"} }').scalar() == "Ada L."


def test_two_principals_keep_their_outcomes_apart_whatever_their_names(tmp_path: Path) -> None:
    """A key is scoped by its Principal (§34): no name of one reads as the name and the key of another."""
    people = {"a\n0\nb": "c", "a": "b\n0\nc"}
    with kipql.open(tmp_path / "m", durability="os") as nexus:
        for principal, key in people.items():
            envelope = {"kip": "2.0", "operations": [{"command": PERSON.format("Ada" if key == "c" else "Bob")}]}
            envelope["execution"] = {"mode": "atomic", "idempotency_key": key}
            assert nexus.as_principal(principal).request(envelope)["status"] == "succeeded"
        head = nexus.space_seq
    with kipql.open(tmp_path / "m", durability="os") as nexus:
        for principal, key in people.items():
            envelope = {"kip": "2.0", "operations": [{"command": PERSON.format("Ada" if key == "c" else "Bob")}]}
            envelope["execution"] = {"mode": "atomic", "idempotency_key": key}
            assert nexus.as_principal(principal).request(envelope)["status"] == "succeeded"
        assert nexus.space_seq == head
