"""`kipql export lake`: what it says of what it did."""

import pytest

import kipql as kip
from kipql import lake
from kipql.lake import manifest

NOTE = 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: "x"} }'


@pytest.fixture
def db(tmp_path):
    with kip.open(tmp_path / "m.kip") as nexus:
        nexus.execute(NOTE)
        nexus.execute(NOTE)
    return tmp_path / "m.kip"


@pytest.mark.parametrize(
    ("purged", "said"), [(1, ", 1 erased element taken out"), (2, ", 2 erased elements taken out")]
)
def test_erased_elements_are_counted(kipql, db, tmp_path, purged, said):
    kipql("export", "lake", tmp_path / "lake", "--db", db)
    with kip.open(db) as nexus:
        for number in range(purged):
            nexus.execute(f'PURGE "E-{number + 1}" CONFIRM "PURGE"')
    called = kipql("export", "lake", tmp_path / "lake", "--db", db)
    assert (called.code, called.out.endswith(said + "\n")) == (0, True)


def test_another_view_in_place_of_one_is_told(kipql, db, tmp_path):
    with kip.open(db) as nexus:
        nexus.govern.grant("reader", "discover", "read", "export", kinds=("concept",))
    assert "another view" not in kipql("export", "lake", tmp_path / "lake", "--db", db).out
    called = kipql("export", "lake", tmp_path / "lake", "--db", db, "--as", "reader")
    assert called.out.endswith(", in place of another view of it\n")


def test_whole_mends_a_damaged_space(kipql, db, tmp_path):
    folder = tmp_path / "lake"
    kipql("export", "lake", folder, "--db", db, "--name", "b")
    manifest.path_of(folder, "b").write_text("{")
    called = kipql("export", "lake", folder, "--db", db, "--name", "b")
    assert called.code == 2 and "spaces/b.json" in called.err and "--whole" in called.err
    called = kipql("export", "lake", folder, "--db", db, "--name", "b", "--whole")
    assert called.code == 0 and called.out.startswith("b: up to sequence 2, ")
    lake.open(folder, space="b").close()


def test_a_memory_is_no_lake(kipql, db):
    called = kipql("export", "lake", db, "--db", db)
    assert (called.code, "NotAMemory" in called.err) == (2, True)
