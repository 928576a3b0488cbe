"""A forged snapshot that is too large to be looked through when it opens: what follows from it is MemoryDamaged too.

Every section of a snapshot is changed in many ways and sealed with right checksums; the memory is opened and asked
everything. An answer may be another one than before, an error has a code that says what is wrong: no exception of
Python's, no InternalError, no query without end.
"""

import random
import shutil
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError, Limits
from kipql.store import ranges, snapshot
from kipql.store.files import Files
from kipql.store.snapshot import Section
from tests.properties.vocabulary import PACKAGE
from tests.store.disks import Unsynced, sealed

BOUND = Limits(seconds=20.0, ticks=2_000_000)
STORY = (
    *(f'CREATE CONCEPT ?c {{ TYPE "Robot" NAME "r{at}" SET FIELDS {{key: "k{at}"}} }}' for at in range(4)),
    'CREATE CONCEPT ?c { TYPE "Place" NAME "dock" '
    'SET ATTRIBUTES {size: 3, note: "é \\u202e"} SET FACET "Mood" {level: 2} }',
    'CREATE EVIDENCE ?e { CLIENT KEY "e" SET FIELDS {evidence_class: "message", payload: {text: "seen"}} }',
    'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "again"} }',
    'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "gone"} }',
    'ASSERT ("C-1", "at", "C-5") {by: "C-2", mode: "stated", confidence: 0.5, evidence: ["E-1"]}',
    'ASSERT ("C-1", "at", "C-2") {by: "C-2", mode: "observed", confidence: 0.9, evidence: ["E-1", "E-2"]}',
    'ASSERT ("C-1", "knows", "C-3") {by: "C-3", mode: "stated", context: ["C-5"], key: "once"}',
    'ASSERT ("C-1", "knows", "C-4") {by: "C-3", mode: "stated", stance: "reject"}',
    'ASSERT ("C-2", "weighs", 7) {by: "C-3", mode: "stated", valid: {from: "2026-01-01T00:00:00.000Z"}}',
    'ASSERT ("C-2", "weighs", "much") {by: "C-4", mode: "stated", '
    'valid: {from: {earliest: "2026-01-01T00:00:00.000Z", latest: "2026-02-01T00:00:00.000Z"}}}',
    'ASSERT ("C-2", "weighs", 8) {by: "C-3", mode: "stated"} SUPERSEDING "A-5"',
    'TRANSITION "A-1" TO "retracted"',
    'TRANSITION "P-2" TO "archived"',
    'UPDATE ?x SET STRUCTURAL { ("seen_with", ?y) } WHERE { ?x {key: "k0"} ?y {key: "k1"} }',
    'UPDATE ?x SET FIELDS {name: "other"} WHERE { ?x {key: "k2"} }',
    'MERGE CONCEPT "C-4" INTO "C-3"',
    'SET RETENTION "C-5" {retention_class: "short"}',
    'ASSERT ("C-3", "weighs", "secret") {by: "C-3", mode: "stated"}',
    'PURGE "E-3" CONFIRM "PURGE"',
)  # fmt: skip
QUESTIONS = (
    "FIND(?c) WHERE { ?c CONCEPT {} }",
    "FIND(?c.id, ?c.name, ?c._system.created_at) WHERE { ?c CONCEPT {} } ORDER BY ?c.name",
    "FIND(?e) WHERE { ?e EVIDENCE {} }",
    "FIND(?a, ?a.confidence) WHERE { ?a ASSERTION {} }",
    'FIND(?p) WHERE { ?p (?x, "knows", ?y) }',
    'FIND(?c.id) WHERE { ?c {type: "Robot", key: "k1"} }',
    'FIND(?c.id) WHERE { ?c {name: "r1"} }',
    'FIND(?x.id, ?y) WHERE { (?x, "at", ?y) }',
    'FIND(?x.id, ?y) WHERE { (?x, "weighs", ?y) } ORDER BY ?x.id',
    'FIND(?x.id) WHERE { (?x, "weighs", "much") }',
    'FIND(?x.id, ?y.id) WHERE { (?x, "knows"{1,3}, ?y) }',
    'FIND(?y.id) WHERE { (?x, "knows", ?y) ?a (?x, "knows", ?y) }',
    'FIND(?b.status, ?b.strength) WHERE { (?x, "weighs", ?y) ?b BELIEF (?x, "weighs", ?y) }',
    'FIND(?s) WHERE { ?x CONCEPT {} ?s BELIEF SLOT (?x, "weighs") }',
    'FIND(?s) WHERE { ?x CONCEPT {} ?s BELIEF SLOT (?x, "at") }',
    'FIND(COUNT(?c), MAX(?a.confidence)) WHERE { ?c CONCEPT {} ?a ASSERTION {} }',
    'FIND(?c) WHERE { ?c CONCEPT {} } AS OF SEQ 9',
    'FIND(?x.id, ?y) WHERE { (?x, "weighs", ?y) } AS OF SEQ 12',
    'SEARCH CONCEPT "dock" LIMIT 5',
    "HISTORY SPACE LIMIT 100",
    'HISTORY ELEMENT "C-3"',
    'DESCRIBE TYPE "Robot"',
    "EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }",
)  # fmt: skip
WRITES = (
    'ASSERT ("C-1", "weighs", 9) {by: "C-2", mode: "stated"}',
    'CREATE CONCEPT ?c { TYPE "Robot" NAME "r1" SET FIELDS {key: "new"} }',
    'UPDATE ?x SET FIELDS {name: "dock"} WHERE { ?x {key: "k1"} }',
)
TYPED = {  # what a wrong table can mean: damage, or another memory
    "MemoryDamaged", "ResourceExhausted", "ExecutionTimeout", "MemoryUnavailable", "NotFoundOrNotVisible",
    "IdentityKeyConflict", "SchemaSymbolNotFound",
}  # fmt: skip
NUMBERS = (-(1 << 31), -9, -2, -1, 0, 1, 2, 7, 100, 4_096, (1 << 31) - 1)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("believed") / "m"
    with kipql.open(folder, packages=[PACKAGE]) as nexus:
        for text in STORY:
            nexus.execute(text)
        nexus.snapshot()
    return folder


class Forge:
    """Puts a memory with changed sections where it can be opened."""

    def __init__(self, written: Path, folder: Path) -> None:
        self.folder = shutil.copytree(written, folder)
        (self._place,) = self.folder.glob("spaces/*/snapshot-*")
        found = snapshot.read(Files(), self._place)
        self._seq, self._notes, self.sections = found.seq, found.notes, found.sections

    def removed(self) -> bool:
        """Whether a newer snapshot took its place."""
        return not self._place.exists() and any(self.folder.glob("spaces/*/snapshot-*"))

    def put(self, name: str, content: Any) -> None:
        """Seal a snapshot with one section changed; None leaves it out."""
        given = {**self.sections, name: content}
        made = [Section(each, _kind(value), value) for each, value in given.items() if value is not None]
        sealed(Unsynced(), self._place.parent, self._seq, self._notes, made)


def _kind(content: Any) -> str:
    return str(content.typecode) if isinstance(content, array) else "b" if isinstance(content, bytearray) else "m"


@pytest.fixture
def forge(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Forge:
    monkeypatch.setattr(ranges, "MOST", -1)  # every snapshot is a large one
    return Forge(written, tmp_path / "m")


def asked(folder: Path) -> set[str]:
    """The codes of everything that was refused."""
    found = set()
    try:
        with kipql.open(folder, readonly=True, limits=BOUND) as nexus:
            for text in QUESTIONS:
                for _ in range(2):  # the second time by what was generated
                    found |= _refusal(lambda text=text: nexus.query(text).rows)  # type: ignore[misc]
            found |= _refusal(nexus.digest) | _refusal(nexus.stats) | _refusal(nexus.to_networkx)
            for text in WRITES:
                found |= _refusal(lambda text=text: nexus.query("PREVIEW KML :k", {"k": text}))  # type: ignore[misc]
    except KipError as error:
        found.add(error.code)
    return found


def _refusal(ask: Any) -> set[str]:
    try:
        ask()
    except KipError as error:
        assert error.code in TYPED, (error, error.__cause__)
        return {error.code}
    return set()


def test_what_was_written_answers_everything(forge: Forge) -> None:
    assert asked(forge.folder) == set()


def _numbers(content: "array[Any]", own: random.Random) -> Iterator["array[Any]"]:
    """A few of the ways in which a table of numbers can be wrong."""
    kind = content.typecode
    for number in own.sample(NUMBERS, 3):
        value = number if kind in "iqd" else abs(number)
        wrong = content[:]
        if wrong:
            wrong[own.randrange(len(wrong))] = value
        else:
            wrong.append(value)
        yield wrong
    yield own.choice((content[:-1] if content else array(kind, (0, 0)), content + array(kind, (0,))))
    yield own.choice((array(kind, reversed(content)), array(kind, [content[0]] * len(content) if content else ())))
    if kind == "d":
        yield array("d", [float("inf")] * len(content))


def test_a_table_of_numbers_that_points_nowhere(forge: Forge) -> None:
    own, damaged = random.Random(5), 0
    for name, content in forge.sections.items():
        if isinstance(content, array):
            for wrong in _numbers(content, own):
                if wrong != content:
                    forge.put(name, wrong)
                    damaged += "MemoryDamaged" in asked(forge.folder)
    assert damaged > 100


def test_bytes_that_say_something_else(forge: Forge) -> None:
    own, damaged = random.Random(6), 0
    for name, content in forge.sections.items():
        if not isinstance(content, bytearray):
            continue
        changed = [bytearray(own.choice((b"\x91", b"\xff")) * len(content)), content[:-1]]
        for _ in range(3 if content else 0):
            wrong = bytearray(content)
            wrong[own.randrange(len(wrong))] ^= 1 << own.randrange(8)
            changed.append(wrong)
        for wrong in changed:
            if wrong != content:
                forge.put(name, wrong)
                damaged += "MemoryDamaged" in asked(forge.folder)
    assert damaged > 20


def test_a_section_of_another_kind_or_none(forge: Forge) -> None:
    for name in forge.sections:
        own = random.Random(name)
        forge.put(name, None)
        assert asked(forge.folder) == {"MemoryDamaged"}, name
        for other in own.sample(
            (bytearray(b"12345678"), array("i", (1, 2)), array("d", (float("nan"),)), [[]], {}, "x"), 3
        ):
            forge.put(name, other)
            asked(forge.folder)


def test_the_size_at_which_a_snapshot_is_believed_is_reached(tmp_path: Path) -> None:
    """The same without the test's hand on the size: 140,000 numbers, one wrong."""
    with kipql.open(tmp_path / "m", packages=[PACKAGE], durability="none") as nexus:
        nexus.load(
            ({"kind": "concept", "type": "Robot", "key": f"k{at}", "name": f"n{at}"} for at in range(20_000)),
            batch=20_000,
        )
        nexus.snapshot()
    forge = Forge(tmp_path / "m", tmp_path / "forged")
    assert not ranges.is_small(forge.sections)
    forge.put("types", array("i", [99] * 20_000))
    with kipql.open(forge.folder, readonly=True) as nexus, pytest.raises(KipError) as caught:
        assert nexus.query('FIND(?c) WHERE { ?c {type: "Robot", key: :k} }', {"k": "k7"}).rows
    assert caught.value.code == "MemoryDamaged" and "snapshot-" in str(caught.value.details["path"])


def test_a_newer_snapshot_that_took_its_place_is_looked_through_too(written: Path, tmp_path: Path) -> None:
    """What was believed is copied to the next snapshot as it lies, and the file it came from is removed."""
    forge = Forge(written, tmp_path / "m")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "MOST", -1)
        types = forge.sections["types"]
        forge.put("types", array("i", [99] * len(types)))
        with kipql.open(forge.folder, packages=[PACKAGE]) as nexus:
            nexus.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "more"} }')
            nexus.snapshot()
            assert forge.removed(), "compaction removed the file"
            with pytest.raises(KipError) as caught:
                nexus.query('FIND(?c) WHERE { ?c {type: "Robot", key: :k} }', {"k": "k1"}).rows  # noqa: B018
    assert caught.value.code == "MemoryDamaged" and str(forge.folder) in str(caught.value.details["path"])


def test_another_memory_of_the_process_is_not_to_blame(written: Path, tmp_path: Path) -> None:
    """Two forged memories are open at once: the error is about the one that was asked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "MOST", -1)
        forges = [Forge(written, tmp_path / name) for name in ("one", "two", "three")]
        for forge in forges:
            forge.put("types", array("i", [99] * len(forge.sections["types"])))
        opened = [kipql.open(forge.folder, readonly=True) for forge in forges]
        for forge, nexus in zip(forges, opened, strict=True):
            with pytest.raises(KipError) as caught:
                nexus.query('FIND(?c) WHERE { ?c {type: "Robot", key: :k} }', {"k": "k1"}).rows  # noqa: B018
            assert caught.value.details["path"].startswith(str(forge.folder))
        for nexus in opened:
            nexus.close()


def test_a_defect_is_not_blamed_on_a_forged_memory_beside(written: Path, tmp_path: Path, forge: Forge) -> None:
    forge.put("types", array("i", [99] * len(forge.sections["types"])))
    with (
        kipql.open(forge.folder, readonly=True),
        kipql.open(packages=[PACKAGE]) as nexus,
        pytest.MonkeyPatch.context() as patch,
        pytest.raises(KipError) as caught,
    ):
        patch.setattr("kipql.nexus.answer", _fails)
        nexus.query("FIND(?c) WHERE { ?c CONCEPT {} }")
    assert caught.value.code == "InternalError"


def _fails(*_: Any, **__: Any) -> None:
    raise IndexError("a defect")
