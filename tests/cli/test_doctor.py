"""`kipql doctor`: what it finds, what it recovers, and what it proves about a purge."""

import json
import shutil
import struct

import msgpack
import pytest

import kipql as library

PERSON = 'CREATE CONCEPT ?a {{ TYPE "Person" NAME "{0}" SET FIELDS {{ key: "{0}" }} }}'
SPACE = "spaces/kip%3Aspace%3Adefault"
SECRET = "s3cret-name"


@pytest.fixture
def filled(tmp_path):
    """Five commits, of which a snapshot holds three."""
    folder = tmp_path / "m"
    with library.open(folder, snapshot_after=None) as nexus:
        for name in ("Ada", SECRET, "Cleo"):
            nexus.execute(PERSON.format(name))
        nexus.snapshot()
        nexus.execute('UPDATE "C-1" SET FIELDS { name: "Ada L." }')
        nexus.execute(PERSON.format("Dan"))
    return folder


@pytest.fixture
def journalled(tmp_path):
    """Four commits in the journal alone."""
    folder = tmp_path / "j"
    with library.open(folder, snapshot_after=None) as nexus:
        for name in ("Ada", SECRET, "Cleo", "Dan"):
            nexus.execute(PERSON.format(name))
    return folder


def state(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def digests(folder):
    with library.open(folder, readonly=True) as nexus:
        space = nexus._session.space
        return [space.store.digest(space.at(seq)) for seq in range(nexus.space_seq + 1)]


def flip(path, offset):
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x40
    path.write_bytes(data)


def test_a_sound_memory(kipql, filled, journalled):
    before = state(filled)
    called = kipql("doctor", filled)
    assert (called.code, called.err) == (0, "")
    assert called.out == "kip:space:default: head 5, 2 frames, 1 snapshot\nsound\n"
    assert kipql("doctor", journalled).code == 0 and state(filled) == before
    report = json.loads(kipql("doctor", filled, "--json").out)
    assert report["sound"] is True and report["findings"] == [] and report["spaces"][0]["head"] == 5


def test_a_memory_that_a_writer_has_open_can_be_looked_at(kipql, filled):
    with library.open(filled):
        assert kipql("doctor", filled).code == 0


def test_what_is_no_memory_could_not_be_looked_at(kipql, tmp_path):
    assert kipql("doctor", tmp_path).code == 2
    assert kipql("doctor", tmp_path / "nothing").code == 2


@pytest.mark.parametrize("share", [n / 40 for n in range(40)])
def test_a_flipped_byte_of_a_journal_is_found_and_what_is_before_it_recovered(kipql, journalled, share, tmp_path):
    whole, journal = digests(journalled), journalled / SPACE / "journal"
    offset = int(share * journal.stat().st_size)
    flip(journal, offset)
    before = state(journalled)
    found = json.loads(kipql("doctor", journalled, "--json").out)
    assert found["findings"], offset
    (first, *_) = found["findings"]
    assert first["offset"] <= offset
    called = kipql("doctor", journalled, "--recover", tmp_path / "out")
    assert called.code in (0, 1) and state(journalled) == before
    if offset < 16:  # nothing can be read without the header
        assert "nothing was kept" in called.out
        return
    kept = digests(tmp_path / "out")
    assert kept == whole[: len(kept)] and kipql("doctor", tmp_path / "out").code == 0
    if first["level"] == "damage":
        assert called.code == 1 and f"lost: the journal from offset {first['offset']}" in called.out


@pytest.mark.parametrize("share", [n / 25 for n in range(25)])
def test_a_flipped_byte_of_a_snapshot_is_found(kipql, filled, share, tmp_path):
    (snapshot,) = (filled / SPACE).glob("snapshot-*")
    flip(snapshot, int(share * snapshot.stat().st_size))
    found = kipql("doctor", filled)
    assert found.code in (1, 2) and "snapshot-000000000003" in found.out + found.err
    lost = kipql("doctor", filled, "--recover", tmp_path / "out")
    assert lost.code in (1, 2)


def sections(path):
    """Where each section of a snapshot lies."""
    found, at = {}, 16
    data = path.read_bytes()
    offset, length, _ = struct.unpack_from("<QII", data, len(data) - 52)
    for name, _, size, _ in msgpack.unpackb(data[offset : offset + length])["sections"]:
        found[name] = (at, size)
        at += size
    return found


def test_postings_of_a_damaged_snapshot_are_made_again_and_nothing_else_is_guessed(kipql, filled, tmp_path):
    (path,) = (filled / SPACE).glob("snapshot-*")
    whole, before = path.read_bytes(), digests(filled)
    made, gone = set(), set()
    for number, (name, (start, size)) in enumerate(sections(path).items()):
        if not size:
            continue
        flip(path, start + size // 2)
        called = kipql("doctor", filled, "--recover", tmp_path / f"out{number}")
        assert called.code in (1, 2), name
        if "made again from its records" in called.out:
            made.add(name)
            assert digests(tmp_path / f"out{number}") == before, name
            assert kipql("doctor", tmp_path / f"out{number}").code == 0, name
        else:
            gone.add(name)
        path.write_bytes(whole)
    assert {"named.runs.rows", "keyed.order", "types", "by_predicate.starts", "of_type.rows"} <= made
    assert {"symbols", "history.at", "objects.0.bytes", "notes"} <= gone
    assert not {name for name in made if name.startswith(("objects", "history", "literals", "side", "propositions"))}


def test_frames_behind_the_damage_are_counted(kipql, journalled):
    journal = journalled / SPACE / "journal"
    flip(journal, journal.read_bytes().index(b"Ada"))
    found = kipql("doctor", journalled)
    assert found.code == 1 and "3 whole frames follow it, commits 2 to 4" in found.out


def test_a_snapshot_outlives_a_damaged_journal(kipql, filled, tmp_path):
    flip(filled / SPACE / "journal", 3)
    called = kipql("doctor", filled, "--recover", tmp_path / "out")
    assert called.code == 1 and "kept up to commit 3" in called.out and "every commit after 3" in called.out
    with library.open(tmp_path / "out") as nexus:
        assert nexus.space_seq == 3
        nexus.execute(PERSON.format("Eve"))


def test_a_whole_memory_is_recovered_whole(kipql, filled, tmp_path):
    called = kipql("doctor", filled, "--recover", tmp_path / "out")
    assert (called.code, called.out) == (0, "kip:space:default: kept up to commit 5\n")
    assert digests(tmp_path / "out") == digests(filled)
    assert kipql("doctor", filled, "--recover", tmp_path / "out").code == 2


def test_a_space_that_is_gone_is_found(kipql, filled):
    shutil.rmtree(filled / SPACE)
    assert kipql("doctor", filled).code == 1


def purge(folder):
    with library.open(folder, snapshot_after=None) as nexus:
        nexus.execute('PURGE "C-2" CONFIRM "PURGE"')


def test_a_purge_is_proven(kipql, filled, journalled):
    for folder in (filled, journalled):
        early = kipql("doctor", folder, "--prove-erased", "C-2", "--text", SECRET)
        assert early.code == 1 and "C-2 was not purged" in early.out and "the given text stands here" in early.out
        purge(folder)
        proven = kipql("doctor", folder, "--prove-erased", "C-2", "--text", SECRET)
        assert proven.code == 0 and proven.out.startswith("C-2 is erased: "), proven.out
        assert kipql("doctor", folder).code == 0
    answer = json.loads(kipql("doctor", filled, "--prove-erased", "C-2", "--json").out)
    assert answer["erased"] is True and "backups" in answer["proven"]


def test_files_from_before_a_purge_are_found(kipql, filled):
    (old,) = (filled / SPACE).glob("snapshot-*")
    kept = old.read_bytes()
    purge(filled)
    old.write_bytes(kept)
    found = kipql("doctor", filled, "--prove-erased", "C-2")
    assert found.code == 1 and "a snapshot of commit 3, from before the purge" in found.out
    old.unlink()
    (filled / SPACE / "journal.tmp").write_bytes(kept)
    found = kipql("doctor", filled, "--prove-erased", "C-2", "--text", SECRET)
    assert found.code == 1 and "neither journal nor snapshot" in found.out and "the given text stands here" in found.out


def test_a_frame_that_still_says_it_is_found(kipql, journalled):
    """A journal in which the purge was appended and the older frames were left as they were."""
    journal = journalled / SPACE / "journal"
    kept = journal.read_bytes()
    purge(journalled)
    purged = journal.read_bytes()
    from kipql.store.examining import frames_of
    from kipql.store.journal import frame

    last = frames_of(journalled / SPACE)[0][-1]
    assert purged.endswith(bytes(last.payload))
    journal.write_bytes(kept + frame(last.seq, bytes(last.payload)))
    found = kipql("doctor", journalled, "--prove-erased", "C-2")
    assert found.code == 1 and "commit 2 still says key, name of C-2" in found.out


def test_a_purged_payload_is_proven(kipql, tmp_path):
    with library.open(tmp_path / "p") as nexus:
        nexus.execute(f'CREATE EVIDENCE ?e {{ SET FIELDS {{evidence_class: "note", payload: "{SECRET}"}} }}')
        assert kipql("doctor", tmp_path / "p", "--prove-erased", "E-1").code == 1
        nexus.execute('PURGE PAYLOAD "E-1" CONFIRM "PURGE"')
        assert kipql("doctor", tmp_path / "p", "--prove-erased", "E-1", "--text", SECRET).code == 0


def test_what_does_not_exist_can_not_be_proven(kipql, filled):
    for wrong in ("C-99", "nothing"):
        assert kipql("doctor", filled, "--prove-erased", wrong).code == 2
    assert kipql("doctor", filled, "--prove-erased", "C-2", "--space", "other").code == 2
    assert kipql("doctor", filled, "--text", "x").code == 2
