"""Every input that fuzzing started from or found, once more (docs/security.md)."""

from pathlib import Path

import pytest

import kipql
from kipql.cli.wire_command import answer
from kipql.store import Store
from kipql.store.journal import Base, header
from tests.fuzz import envelope, journal, snapshot, text
from tests.fuzz.disk import FOLDER, Held
from tests.fuzz.running import Target, inputs
from tests.store.small import schema

TARGETS: dict[str, Target] = {
    "text": text.target,
    "journal": journal.target,
    "snapshot": snapshot.target,
    "envelope": envelope.target,
}
CASES = [pytest.param(name, path, id=f"{name}-{path.name}") for name in TARGETS for path in inputs(name)]


@pytest.mark.parametrize(("name", "path"), CASES)
def test_an_input_of_the_corpus_holds(name: str, path: Path) -> None:
    TARGETS[name](path.read_bytes())


def test_each_corpus_reaches_behind_its_reader() -> None:
    """Some inputs are taken, so that what comes after the reader is tried too; some are refused."""
    for name, taken in (("text", _parses), ("journal", _opens), ("snapshot", _thaws), ("envelope", _answers)):
        outcomes = [taken(path.read_bytes()) for path in inputs(name)]
        assert sum(outcomes) >= 3 and not all(outcomes), name


def _parses(data: bytes) -> bool:
    try:
        kipql.parse(data.decode("utf-8", "replace"))
    except kipql.KipError:
        return False
    return True


def _opens(data: bytes) -> bool:
    return _held({"journal": data})


def _thaws(data: bytes) -> bool:
    return _held({"snapshot-000000000008": data, "journal": header(Base(1, 0))})


def _held(files: dict[str, bytes]) -> bool:
    try:
        return Store(FOLDER, readonly=True, files=Held(files), schema=schema).head > 0
    except kipql.KipError:
        return False


def _answers(data: bytes) -> bool:
    reply = answer(envelope.memory(), data)
    return isinstance(reply, dict) and reply.get("status") == "succeeded"
