"""The read part of the engine suite, asked of a lake: its rows and its errors are the process's.

Every FIND of a fixture is asked twice, of the memory and of a lake that an export before it has grown. What only the
memory answers is refused by the lake by name.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import lake
from kipql.errors import KipError
from kipql.lang import ast, parse
from tests.conformance.engine import Space
from tests.conformance.suite import Step, fixture, names
from tests.properties.engine import multiset

pytestmark = pytest.mark.shared
REFUSED = ("SEARCH", "CURSOR", "dependency_validity", "GradingState")
"""Words of the queries that only the memory answers."""


def finds(step: Step) -> Iterator[str]:
    """The queries of a step."""
    for operation in step.operations or ({"command": step.command},):
        text = operation.get("command")
        try:
            node = parse(str(text))
        except KipError:
            yield str(text)
            continue
        if isinstance(node, ast.Find):
            yield str(text)


def asked(one: Any, text: str, parameters: dict[str, Any]) -> dict[str, int] | tuple[Any, ...]:
    """The rows, or the error and its place."""
    try:
        return multiset(one.query(text, parameters).rows)
    except KipError as error:
        return error.code, error.span


def compared(nexus: kipql.Nexus, folder: Path, text: str, parameters: dict[str, Any]) -> str | None:
    """What is different, None where nothing is."""
    expected = asked(nexus, text, parameters)
    lake.export(nexus, folder)
    with lake.open(folder, threads=1) as opened:
        found = asked(opened, text, parameters)
    if found != expected and isinstance(found, tuple) and found[0] == "UnsupportedCapability":
        return None if may_refuse(text) else "refused"
    return None if found == expected else f"process {expected}\n   lake {found}"


def may_refuse(text: str) -> bool:
    return any(word in text for word in REFUSED)


def steps(name: str) -> list[Step]:
    return [*fixture(name).setup, *(case.step for case in fixture(name).cases)]


@pytest.mark.parametrize("name", names())
def test_a_lake_answers_the_reads_of_a_fixture(name: str, tmp_path: Path) -> None:
    space = Space(fixture(name))
    differences = []
    for step in steps(name):
        parameters = {**space.captured, **step.envelope.get("parameters", {}), **step.params}
        texts = finds(step) if space.nexus.space_seq else ()
        found = {text: compared(space.nexus, tmp_path, text, parameters) for text in texts}
        differences += [f"{text}\n{what}" for text, what in found.items() if what is not None]
        space.send(step)
    assert not differences, "\n\n".join(differences)


def test_most_queries_of_the_suite_may_not_be_refused() -> None:
    texts = [text for name in names() for step in steps(name) for text in finds(step)]
    assert len(texts) > 20 * sum(map(may_refuse, texts)) > 0
