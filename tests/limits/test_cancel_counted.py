"""A call looks at its cancel flag again and again, whatever it is doing: counted, not timed (docs/limits.md).

A call is run once to count its looks at the flag, then again with the flag raised at a look in its middle: it ends
there, and what it would have written is not there.
"""

import io
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError, Limits

PEOPLE = 9_000
WIDE = Limits(seconds=600.0, ticks=10**12, buffered=10**8, rows=10**8, regex_total=600.0)


class AtLook(threading.Event):
    """A flag that is raised when it is looked at for the n-th time."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.looks = 0
        self._number = number

    def is_set(self) -> bool:
        self.looks += 1
        return self.looks >= self._number


_CAPSULE: list[dict[str, Any]] = []
Call = Callable[[kipql.Nexus, threading.Event], object]


def query(text: str, **parameters: Any) -> Call:
    return lambda nexus, cancel: nexus.query(text, parameters, cancel=cancel).rows


def prepared(text: str) -> Call:
    """By generated code: the statement has run before."""

    def call(nexus: kipql.Nexus, cancel: threading.Event) -> object:
        statement = nexus.prepare(text)
        for _ in range(2):
            list(statement.query().rows)
        return statement.query(cancel=cancel).rows

    return call


def load(nexus: kipql.Nexus, cancel: threading.Event) -> object:
    records = ({"kind": "concept", "type": "Person"} for _ in range(9_000))
    return nexus.load(records, batch=9_000, cancel=cancel)


def transaction(nexus: kipql.Nexus, cancel: threading.Event) -> None:
    with nexus.transaction(cancel=cancel) as tx:
        for _ in range(3):
            tx.execute('UPDATE ?c SET FIELDS {name: "y"} WHERE { ?c CONCEPT {} FILTER(CONTAINS(?c.name, "nobody")) }')


def bring(nexus: kipql.Nexus, cancel: threading.Event) -> object:
    if not _CAPSULE:
        _CAPSULE.append(nexus.export_capsule())
    return kipql.open(limits=WIDE).import_capsule(_CAPSULE[0], cancel=cancel)


def backup(nexus: kipql.Nexus, cancel: threading.Event) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            nexus.backup(f"{folder}/copy", cancel=cancel)
        except KipError:
            assert not [*Path(folder).iterdir()], "nothing is left of it"
            raise


JOIN = '(?a, "prefers", ?b) (?b, "prefers", ?c) (?d, "prefers", ?a)'
CASES: dict[str, Call] = {
    "scan": query("FIND(?a.id) WHERE { ?a CONCEPT {} }"),
    "scan, generated": prepared("FIND(?a.id) WHERE { ?a CONCEPT {} }"),
    "join": query(f"FIND(?a.id, ?c.id) WHERE {{ {JOIN} }}"),
    "join, generated": prepared(f"FIND(?a.id, ?c.id) WHERE {{ {JOIN} }}"),
    "product": query('FIND(COUNT(?a)) WHERE { ?a {name: "rare"} ?b {name: "rare"} }'),
    "path": query('FIND(?a.id, ?b.id) WHERE { (?a, "prefers"{1,8}, ?b) }'),
    "sort": query("FIND(?a.name) WHERE { ?a CONCEPT {} } ORDER BY ?a.name DESC"),
    "group": query("FIND(?a.name, COUNT(?a)) WHERE { ?a CONCEPT {} }"),
    "aggregates": query("FIND(COUNT(DISTINCT ?a.name), MIN(?a.name)) WHERE { ?a CONCEPT {} }"),
    "OPTIONAL": query('FIND(?a.id, ?b.id) WHERE { ?a CONCEPT {} OPTIONAL { (?a, "prefers", ?b) } }'),
    "NOT": query('FIND(?a.id) WHERE { ?a CONCEPT {} NOT { (?a, "prefers", ?b) } }'),
    "UNION": query("FIND(?a.id) WHERE { ?a CONCEPT {} UNION { ?a EVIDENCE {} } }"),
    "FILTER": query('FIND(?a.id) WHERE { ?a CONCEPT {} FILTER(CONTAINS(?a.name, "9")) }'),
    "REGEX": query('FIND(?a.id) WHERE { ?a CONCEPT {} FILTER(REGEX(?a.name, "^x")) }'),
    "IN": query("FIND(?a.id) WHERE { ?a CONCEPT {} FILTER(IN(?a.name, :v)) }", v=["x"] * 40),
    "belief scan": query('FIND(?b.status) WHERE { (?a, "prefers", ?x) ?b BELIEF (?a, "prefers", ?x) }'),
    "belief slots": query('FIND(?s.status) WHERE { ?a CONCEPT {} ?s BELIEF SLOT (?a, "prefers") }'),
    "SEARCH": lambda nexus, cancel: _copy(nexus).query('SEARCH CONCEPT "person" LIMIT 10', cancel=cancel),
    "export": lambda nexus, cancel: nexus.export_capsule(cancel=cancel),
    "EXPORT": query("EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }"),
    "dump": lambda nexus, cancel: nexus.dump(io.BytesIO(), cancel=cancel),
    "backup": backup,
    "import": bring,
    "load": load,
    "transaction": transaction,
    "KML WHERE": lambda nexus, cancel: nexus.execute(
        'UPDATE ?a SET FIELDS {name: "x"} WHERE { ?a CONCEPT {} FILTER(CONTAINS(?a.name, "nobody")) }', cancel=cancel
    ),
    "UPDATE of all": lambda nexus, cancel: nexus.execute(
        'UPDATE ?a SET FIELDS {name: "x"} WHERE { ?a CONCEPT {} }', cancel=cancel
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cancel") / "m"
    with kipql.open(path, limits=WIDE, durability="none") as nexus:
        nexus.load(
            (
                {"kind": "concept", "type": "Person", "name": f"person {at}" if at % 90 else "rare", "as": f"p{at}"}
                for at in range(PEOPLE)
            ),
            batch=PEOPLE,
        )
        ids = nexus.query("FIND(?c.id) WHERE { ?c CONCEPT {} }").rows
        nexus.load(
            (
                {"kind": "assertion", "subject": ids[at], "predicate": "prefers", "object": ids[(at * 7 + 1) % PEOPLE],
                 "by": ids[0], "mode": "stated"}
                for at in range(5_000)
            ),
            batch=5_000,
        )  # fmt: skip
        nexus.snapshot()
    return path


_PATH: list[Path] = []


def _copy(nexus: kipql.Nexus) -> kipql.Nexus:
    """The same memory, opened anew: nothing is indexed yet."""
    return kipql.open(_PATH[0], readonly=True, limits=WIDE)


@pytest.fixture
def nexus(folder: Path) -> Iterator[kipql.Nexus]:
    _PATH[:] = [folder]
    with kipql.open(folder, limits=WIDE, durability="none") as nexus:
        yield nexus


WHOLE = ("dump", "backup", "export", "EXPORT", "SEARCH")  # by no generated code
WRITES = ("import", "load", "transaction", "KML WHERE", "UPDATE of all")


@pytest.mark.parametrize("name", CASES)
def test_a_call_ends_at_the_look_at_which_its_flag_is_up(nexus: kipql.Nexus, name: str) -> None:
    head, call = nexus.space_seq, CASES[name]
    looks = [2, 3]
    if name not in WRITES:  # what only reads can be run to its end first
        for _ in range(1 if name in WHOLE else 3):  # the last time as the next: by what was generated
            whole = AtLook(1 << 60)
            call(nexus, whole)
        assert whole.looks >= 3, "at the beginning, and in the middle"
        looks = sorted({2, whole.looks // 2, whole.looks} - {1})
    for number in looks:
        cancel = AtLook(number)
        with pytest.raises(KipError) as caught:
            call(nexus, cancel)
        assert (caught.value.code, caught.value.details["cancelled"]) == ("ExecutionTimeout", True)
        assert cancel.looks == number, "it ended there"
        assert nexus.space_seq == head
