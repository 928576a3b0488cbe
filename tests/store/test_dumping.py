"""A Space rebuilt from its lines is the Space: every sequence, every posting, every envelope, and no purged byte."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kipql.errors import KipError
from kipql.model import Retention
from kipql.store import Store
from kipql.store.codec import Invalid
from kipql.store.dumping import Rebuilt, lines
from kipql.times import FOREVER
from tests.store.disks import Unsynced
from tests.store.small import change, commit, concept, grown, pair, store
from tests.store.test_purge import SECRET, filled, purge
from tests.store.test_replay import facts
from tests.store.test_snapshot import WRITERS, answers


def text_of(space: Store) -> list[str]:
    return [json.dumps(line, sort_keys=True, allow_nan=False) for line in lines(space)]


def rebuild(folder: Path, text: list[str]) -> None:
    made = Rebuilt(folder)
    for number, line in enumerate(text, 1):
        made.put(json.loads(line), number)
    made.close(durable=False)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(WRITERS)), st.booleans())
def test_a_rebuilt_space_is_the_one_that_was_written(
    tmp_path_factory: pytest.TempPathFactory, seed: int, kind: str, from_snapshot: bool
) -> None:
    folder = tmp_path_factory.mktemp("dump")
    writer = WRITERS[kind](seed)
    with store(folder / "space", durability="none", files=Unsynced()) as space:
        while space.head < 24:
            commit(space, writer.transaction)
        if from_snapshot:
            space.snapshot()
    with store(folder / "space", files=Unsynced()) as space:
        text = text_of(space)
        rebuild(folder / "copy", text)
        with store(folder / "copy", files=Unsynced()) as copy:
            assert facts(copy) == facts(space)
            for seq in (5, space.head):
                if kind == "writes":  # a purge leaves gaps in the numbers of Literals, which nothing outside sees
                    assert answers(copy.view(seq)) == answers(space.view(seq))
                envelopes = [copy.envelope(copy.view().commit(n)) for n in range(1, seq + 1)]
                assert envelopes == [space.envelope(space.view().commit(n)) for n in range(1, seq + 1)]
            assert text_of(copy) == text
            for made in (WRITERS[kind](seed + 1) for _ in range(2)):  # and it is written on as the first one is
                commit(space, WRITERS[kind](seed + 1).transaction)
                commit(copy, made.transaction)
            assert facts(copy) == facts(space)


@pytest.mark.parametrize("kind", ["concept", "proposition", "assertion", "evidence", "activity"])
def test_lines_hold_nothing_that_was_purged(kind: str, tmp_path: Path) -> None:
    with store(tmp_path / "space") as space:
        made = filled(space)
        assert SECRET in "".join(text_of(space))
        for code in made.values():
            purge(space, code)
        text, entries = text_of(space), [space.view().commit(seq).changes for seq in range(1, space.head + 1)]
        assert SECRET not in "".join(text)
        rebuild(tmp_path / "copy", text)
        with store(tmp_path / "copy") as copy:
            assert copy.view().element(made[kind]) == space.view().element(made[kind])
            assert [copy.view().commit(seq).changes for seq in range(1, copy.head + 1)] == entries


def test_outcomes_and_what_was_set_up_come_along(tmp_path: Path) -> None:
    with store(tmp_path / "space") as space:
        space.note("kept", {"a": [1, 1.0, None, True, "é"]})
        pair(space)
        space.note("idempotency", {"key": "k", "answer": 1.0})
        rebuild(tmp_path / "copy", text_of(space))
    with store(tmp_path / "copy") as copy:
        assert repr(copy.notes["kept"]) == repr([{"a": [1, 1.0, None, True, "é"]}])
        assert repr(copy.idempotency["k"]["answer"]) == "1.0" and list(copy.idempotency) == ["k"]


def test_a_line_says_names_and_not_numbers() -> None:
    space = store()
    alice, _, _, held = pair(space)
    change(space, alice, name="Alicia")
    first, second = lines(space)
    created = {each["id"]: each for each in first["create"]}
    assert created["C-1"] == {"id": "C-1", "schema": "kip://lab@1.0.0/Person", "key": "a", "name": "Alice"}
    assert created["P-1"]["predicate"] == "kip://lab@1.0.0/knows"
    assert (created["P-1"]["subject"], created["P-1"]["object"]) == ("C-1", "C-2")
    assert created["A-1"]["asserted_at"] == "1970-01-01T00:00:01.000Z" and created["A-1"]["asserted_by"] == "C-1"
    assert second["change"][0]["record"]["name"] == "Alicia" and second["change"][0]["version"] == 2
    assert second["at"] == "1970-01-01T00:00:02.000Z" and held == 2


def test_an_instant_beyond_every_timestamp_stays_a_number(tmp_path: Path) -> None:
    space = store()
    code = commit(space, lambda tx: tx.create(concept("a")))
    change(space, code, retention=Retention("short", expires_at=FOREVER))
    rebuild(tmp_path / "copy", text_of(space))
    with store(tmp_path / "copy") as copy:
        assert copy.view().record(code).retention.expires_at == FOREVER


def _edited(edit: Any) -> list[dict[str, Any]]:
    with grown(3, 6) as space:
        found = [json.loads(line) for line in text_of(space)]
    edit(found)
    return found


EDITS: dict[str, Any] = {
    "a commit is missing": lambda found: found.pop(2),
    "a commit stands twice": lambda found: found.insert(2, found[2]),
    "commits are swapped": lambda found: found.insert(0, found.pop(1)),
    "true for a sequence": lambda found: found[0].update(commit=True),
    "an unknown member": lambda found: found[0].update(more=1),
    "an unknown line": lambda found: found.insert(0, {"what": 1}),
    "a list for a record": lambda found: found[0].update(create=[[]]),
    "no id": lambda found: found[0]["create"][0].pop("id"),
    "an id that was given": lambda found: found[-1].setdefault("create", []).append({"id": "C-1"}),
    "an id ahead": lambda found: found[0]["create"][0].update(id="C-7"),
    "no symbol": lambda found: found[0]["create"][0].pop("schema"),
    "a symbol that is a number": lambda found: found[0]["create"][0].update(schema=0),
    "a reference that is a number": lambda found: found[0]["create"][0].update(merged_into=8),
    "a reference to nothing": lambda found: found[0]["create"][0].update(merged_into="C-999", state="merged"),
    "a reference to another kind": lambda found: found[0]["create"][0].update(merged_into="P-1", state="merged"),
    "a state of no kind": lambda found: found[0]["create"][0].update(state="gone"),
    "no origin": lambda found: found[0].pop("origin"),
    "a time that is none": lambda found: found[0].update(at="yesterday"),
    "no time": lambda found: found[0].pop("at"),
    "a class that is none": lambda found: found[0].update({"class": 1}),
    "a number of 65 bits": lambda found: found[0]["create"][0].update(attributes={"n": 1 << 64}),
    "half of a surrogate pair": lambda found: found[0]["create"][0].update(name="\ud800"),
    "a change of what is not there": lambda found: found[0].update(change=[{"id": "C-99"}]),
    "a change without planes": lambda found: found[1].update(change=[{"id": "C-1", "record": {}, "version": 2}]),
    "a control change of no kind": lambda found: found[0].update(control=[{"kind": "x", "payload": 1, "version": "1"}]),
    "a client key of no kind": lambda found: found[0].update(client_keys=[{"kind": "x"}]),
    "a redirected reference of no element": lambda found: found[0].update(
        redirected=[{"id": "C-99", "path": "a", "supplied": "C-1", "resolved": "C-1", "identity_version": 1}]
    ),
    "kept entries of no element": lambda found: found[0].update(kept={"Z-1": {}}),
    "set up too late": lambda found: found.append({"setup": "schema", "payload": {"packages": []}}),
    "an outcome without a key": lambda found: found.append({"outcome": {}}),
    "an outcome with more": lambda found: found.append({"outcome": {"key": "k"}, "more": 1}),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_lines_that_say_something_else_are_refused(edit: Any, tmp_path: Path) -> None:
    found = _edited(edit)
    made = Rebuilt(tmp_path / "copy")
    refused: BaseException | None = None
    try:
        for number, line in enumerate(found, 1):
            made.put(line, number)
    except (Invalid, LookupError, TypeError, ValueError, AttributeError) as error:
        refused = error
    except KipError as error:
        assert error.code in ("ConstraintViolation", "TypeMismatch")
        refused = error
    finally:
        made.close(durable=False)
    if refused is None:  # then the journal is
        with pytest.raises(KipError) as raised:
            store(tmp_path / "copy")
        assert raised.value.code == "MemoryDamaged"
        assert made.line_at(raised.value.details["offset"]) is not None
