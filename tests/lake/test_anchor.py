"""A name in a lake is of one memory: another one is told apart by its commits and by what it holds."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

import kipql
from kipql import lake
from kipql.errors import KipError
from tests.properties.vocabulary import PACKAGE

ADA = 'CREATE CONCEPT ?p { TYPE "Person" NAME "Ada" }'
BOB = 'CREATE CONCEPT ?p { TYPE "Person" NAME "Bob" }'
THREE = """MUTATE { CREATE CONCEPT ?a { TYPE "Robot" SET FIELDS {key: "a"} }
  CREATE CONCEPT ?b { TYPE "Robot" SET FIELDS {key: "b"} } ASSERT (?a, "weighs", "c") {by: ?b, mode: "stated"} }"""
NAMED = 'UPDATE ?x SET FIELDS {name: "New"} WHERE { ?x CONCEPT {id: :id} }'


def memory(*statements: str, by: str = "kip:owner") -> kipql.Nexus:
    """A memory all of whose commits have one instant."""
    nexus = kipql.open(packages=[PACKAGE], clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    nexus.govern.grant("other", "create", "discover", "read")
    for statement in statements:
        (nexus if by == "kip:owner" else nexus.as_principal(by)).execute(statement)
    return nexus


def named(public: str) -> str:
    return NAMED.replace(":id", f'"{public}"')


PAIRS: list[Callable[[], tuple[kipql.Nexus, kipql.Nexus]]] = [
    lambda: (memory(ADA), memory(BOB)),
    lambda: (memory(ADA), memory(BOB, BOB)),
    lambda: (memory(*[ADA] * 40, ADA), memory(*[ADA] * 40, BOB)),  # a clone that went on otherwise
    lambda: (memory(ADA, ADA, named("C-1")), memory(ADA, ADA, named("C-2"))),
    lambda: (memory(ADA), memory(ADA, by="other")),
    lambda: (memory(THREE), memory(THREE.replace('"c"', '"d"'))),
]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("pair", PAIRS)
def test_another_memory_under_a_name_is_refused(
    tmp_path: Path, pair: Callable[[], tuple[kipql.Nexus, kipql.Nexus]], whole: bool
) -> None:
    one, other = pair()
    lake.export(one, tmp_path)
    with pytest.raises(KipError) as raised:
        lake.export(other, tmp_path, whole=whole)
    assert raised.value.code == "IdentityConflict"


def test_a_memory_stays_itself_whatever_is_purged_written_or_governed(tmp_path: Path) -> None:
    nexus = memory(ADA, BOB, 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: "x"} }')
    lake.export(nexus, tmp_path)
    nexus.govern.labels("public", "secret")
    for change in (
        lambda: nexus.govern.classify("C-1", "secret"),
        lambda: nexus.execute(named("C-1")),
        lambda: nexus.execute('PURGE PAYLOAD "E-1" CONFIRM "PURGE"'),
        lambda: nexus.execute('PURGE "C-2" CONFIRM "PURGE"'),
        lambda: nexus.execute('PURGE "E-1" CONFIRM "PURGE"'),
        lambda: nexus.govern.quarantine("C-1"),
    ):
        change()
        assert lake.export(nexus, tmp_path).head == nexus.space_seq
        assert lake.export(nexus, tmp_path, whole=True).since == 0


def test_a_memory_is_itself_when_it_is_opened_again(tmp_path: Path) -> None:
    """After a purge the journal is written anew, from a snapshot: what tells memories apart is in both."""
    folder, target = tmp_path / "m.kip", tmp_path / "lake"
    with kipql.open(folder, packages=[PACKAGE]) as nexus:
        for statement in (THREE, ADA, BOB, named("C-3"), named("C-4")):
            nexus.execute(statement)
        nexus.govern.grant("other", "create", "discover", "read")
        nexus.as_principal("other").execute(ADA)
        lake.export(nexus, target)
    with kipql.open(folder, readonly=True) as nexus:
        assert lake.export(nexus, target).rows == 0
    with kipql.open(folder) as nexus:
        nexus.execute('PURGE "C-4" CONFIRM "PURGE"')
        nexus.snapshot()
    with kipql.open(folder) as nexus:
        done = lake.export(nexus, target)
        assert (done.head, done.erased) == (nexus.space_seq, 1)
        nexus.dump(tmp_path / "dumped")
    kipql.load_dump(tmp_path / "dumped", tmp_path / "copy.kip")
    with kipql.open(tmp_path / "copy.kip") as nexus:
        assert lake.export(nexus, target).rows == 0
