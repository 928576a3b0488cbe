"""Statements that people wrote: the engine suite where the public data is, the documentation in any case."""

import json
import re
from collections.abc import Iterator
from random import Random

import kipql
from kipql.errors import KipError
from tests.properties.memories import FOUNDING
from tests.shared import ROOT, shared_path

_FENCE = re.compile(r"```(?:kip|kql|prolog|sql)?\n(.*?)```", re.DOTALL)

_VALUES: tuple[object, ...] = (
    "C-1", "C-2", "A-1", "Robot", "at", {"id": "C-1"}, {"type": "Robot", "key": "r0"}, 1, 0, 2.5, None, True, [], {},
    [1, "x"], {"from": "2026-01-01T00:00:00.000Z"}, "2026-05-01T00:00:00.000Z", "", "x" * 5_000, "\ud800", "\x00",
    10**20,
    1e300, float("nan"), float("inf"), b"bytes", object(), {"id": 7}, {"id": "C-99"}, [[[]]], {1: 2}, {"\ud800": 1},
    "FIND(?c) WHERE { ?c CONCEPT {} }", 'CREATE CONCEPT ?z { TYPE "Robot" }',
)  # fmt: skip


def corpus() -> list[str]:
    """Every statement of the engine suite, of the documentation and of its examples, each once, in order of text."""
    return sorted({FOUNDING, *_suite(), *_documents()})


def _suite() -> Iterator[str]:
    folder = shared_path("conformance/engine-suite")
    for path in sorted(folder.glob("*.json")) if folder is not None else ():
        yield from _commands(json.loads(path.read_text(encoding="utf-8")))


def _commands(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            if name == "command" and isinstance(member, str):
                yield member
            elif name == "setup" and isinstance(member, list):
                yield from (each for each in member if isinstance(each, str))
            else:
                yield from _commands(member)
    elif isinstance(value, list):
        for item in value:
            yield from _commands(item)


def _documents() -> Iterator[str]:
    for path in sorted((ROOT / "docs").rglob("*.md")):
        for fence in _FENCE.findall(path.read_text(encoding="utf-8")):
            yield from _parts(fence)
    for path in sorted((ROOT / "docs" / "examples").glob("*.kql")):
        yield from _parts(path.read_text(encoding="utf-8"))


def _parts(text: str) -> Iterator[str]:
    try:
        yield from (part.text for part in kipql.split(text))
    except KipError:
        return  # a block in another language


def parameter(random: Random) -> object:
    """A value for any parameter."""
    return random.choice(_VALUES)
