"""A call that another thread cancels ends in the middle, whatever it is doing (architecture §4.5).

Only that it was cancelled is demanded; how long it took after the flag was set is printed
(`python -m pytest tests/limits/test_cancel.py -s`), since that says something about the machine too.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import kipql
from kipql import KipError, Limits

LONG = Limits(seconds=600.0)
PEOPLE = 2_000
_PAIRS = "?a CONCEPT {} ?b CONCEPT {}"
_EDIT = f'UPDATE ?a SET FIELDS {{name: "x"}} WHERE {{ {_PAIRS} FILTER(?a.name == ?b.id) }}'
Call = Callable[[kipql.Nexus, threading.Event], object]


def query(text: str, **parameters: Any) -> Call:
    return lambda nexus, cancel: nexus.query(text, parameters, cancel=cancel)


def again(text: str, **parameters: Any) -> Call:
    """Over and over, each answer whole, until one is cancelled: the call may be short."""

    def call(nexus: kipql.Nexus, cancel: threading.Event) -> None:
        statement = nexus.prepare(text)
        while True:
            statement.execute(parameters, cancel=cancel)

    return call


def load(nexus: kipql.Nexus, cancel: threading.Event) -> object:
    return nexus.load(({"kind": "concept", "type": "Person"} for _ in range(10**7)), batch=10**7, cancel=cancel)


def batches(nexus: kipql.Nexus, cancel: threading.Event) -> object:
    return nexus.load(({"kind": "concept", "type": "Person"} for _ in range(10**7)), batch=50, cancel=cancel)


def transaction(nexus: kipql.Nexus, cancel: threading.Event) -> None:
    with nexus.transaction(cancel=cancel) as tx:
        while True:
            tx.execute('CREATE CONCEPT ?a { TYPE "Person" }')


CASES: dict[str, Call] = {
    "FIND": query(f"FIND(?a.id) WHERE {{ {_PAIRS} FILTER(?a.name == ?b.id) }}"),
    "FIND compiled": again(f"FIND(?a.id) WHERE {{ {_PAIRS} FILTER(?a.name == ?b.id) }}"),
    "count": query(f"FIND(COUNT(?a)) WHERE {{ {_PAIRS} ?c CONCEPT {{}} }}"),
    "group": query(f"FIND(?a.name, COUNT(?b), MIN(?b.name), COUNT(DISTINCT ?b.name)) WHERE {{ {_PAIRS} }}"),
    "sort": again('FIND(?a.name, ?b.id) WHERE { ?a CONCEPT {} ?b {name: "rare"} } ORDER BY ?b.id, ?a.name'),
    "sort descending": again(
        'FIND(?a.name, ?b.id) WHERE { ?a CONCEPT {} ?b {name: "rare"} } ORDER BY ?b.id DESC, ?a.name'
    ),
    "path": query('FIND(?a.id, ?b.id) WHERE { (?a, "prefers"{1,}, ?b) (?c, "prefers"{1,}, ?d) }'),
    "SEARCH": again('SEARCH CONCEPT "person" LIMIT 1000'),
    "belief scan": again('FIND(?b.status) WHERE { (?a, "prefers", ?x) ?b BELIEF (?a, "prefers", ?x) }'),
    "NOT": query(f"FIND(?a.id) WHERE {{ {_PAIRS} NOT {{ ?c CONCEPT {{}} FILTER(?c.name == ?a.id) }} }}"),
    "META": query("PREVIEW KML :k", k=_EDIT),
    "KML WHERE": lambda nexus, cancel: nexus.execute(_EDIT, cancel=cancel),
    "load": load,
    "load in batches": batches,
    "transaction": transaction,
    "many REGEX": query(f"FIND(?a.id) WHERE {{ {_PAIRS} FILTER(REGEX(?a.name, ?b.id)) }}"),
}  # fmt: skip


@pytest.fixture(scope="module")
def nexus() -> Iterator[kipql.Nexus]:
    nexus = kipql.open(limits=Limits(seconds=600.0, ticks=10**12, buffered=10**8, rows=10**8, regex_total=600.0))
    nexus.load(
        {"kind": "concept", "type": "Person", "name": f"person {at * 7919 % 10_007}" if at % 5 else "rare"}
        for at in range(PEOPLE)
    )
    ids = nexus.query("FIND(?c.id) WHERE { ?c CONCEPT {} }").rows
    for start in range(0, 1_500, 50):  # chains of fifty: within the hops of a path
        nexus.load(
            {"kind": "assertion", "subject": ids[at], "predicate": "prefers", "object": ids[at + 1], "by": ids[0],
             "mode": "stated"}
            for at in range(start, start + 49)
        )  # fmt: skip
    yield nexus
    nexus.close()


@pytest.mark.parametrize("name", CASES)
def test_a_cancelled_call_ends_in_the_middle(nexus: kipql.Nexus, name: str) -> None:
    cancel, begun, found = threading.Event(), threading.Event(), []
    head = nexus.space_seq

    def run() -> None:
        begun.set()
        try:
            found.append(CASES[name](nexus, cancel))
        except KipError as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert begun.wait(60)
    time.sleep(0.3)
    assert thread.is_alive(), f"{name} is too short to be cancelled: {found}"
    asked = time.monotonic()
    cancel.set()
    thread.join(60)
    late = time.monotonic() - asked
    print(f"\n{name}: ended {late * 1000:.0f} ms after it was cancelled")
    assert not thread.is_alive()
    (error,) = found
    assert isinstance(error, KipError) and error.code == "ExecutionTimeout", error
    assert error.details["cancelled"] is True
    assert nexus.space_seq == head or name == "load in batches"


def test_a_cancelled_load_keeps_whole_batches_only() -> None:
    nexus, cancel = kipql.open(), threading.Event()

    def records() -> Iterator[dict[str, Any]]:
        for at in range(1_000):
            if at == 250:
                cancel.set()
            yield {"kind": "concept", "type": "Person"}

    with pytest.raises(KipError) as caught:
        nexus.load(records(), batch=100, cancel=cancel)
    assert caught.value.details["cancelled"] is True
    assert nexus.query("FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }").scalar() == 200


def test_a_sort_in_runs_is_the_sort() -> None:
    from random import Random

    from kipql.exec import sorting
    from kipql.limits import Budget

    random = Random(1)
    keys = [random.randrange(1_000) for _ in range(200_003)]
    for descending in (False, True):
        found = sorting._in_order(list(range(len(keys))), keys.__getitem__, descending, Budget(LONG))
        assert found == sorted(range(len(keys)), key=keys.__getitem__, reverse=descending), "stable, too"
