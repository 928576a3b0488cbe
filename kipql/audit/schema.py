"""What a schema says of a script: symbols that the packages of a memory do not have.

A query is resolved as running it would. A mutation is validated as far as its parameters let it (§69), and only what is
about symbols and fields is told: the state that it will meet is not there yet. A DEFINE makes its symbol known to the
statements after it, where the memory is one of the check's own.
"""

from collections.abc import Iterator

import kipql
from kipql.audit.script import ScriptFile, Step
from kipql.audit.step import problem_of
from kipql.errors import KipError
from kipql.runtime.texts import Problem
from kipql.spans import Span
from kipql.values import Json

_FIRST_WORD = "DEFINE"


def check_schema(nexus: "kipql.Nexus", script: ScriptFile, *, own: bool) -> Iterator[Problem]:
    """Every symbol of a script that is not there; `own` is whether the memory may be written."""
    for step in script.steps:
        try:
            _check(nexus, step, own)
        except KipError as error:
            yield problem_of(error, script.text, step)


def _check(nexus: "kipql.Nexus", step: Step, own: bool) -> None:
    if step.language == "KQL":
        nexus.prepare(step.text)
    elif step.language == "KML":
        if own and step.text.upper().startswith(_FIRST_WORD) and not step.parameters:
            nexus.execute(step.text)
            return
        for error in nexus.query("VALIDATE KML :text", {"text": step.text}).one()["errors"]:
            if error["code"].startswith("Schema"):
                raise _again(error, step.text)


def _again(error: Json, text: str) -> KipError:
    """An error of a wire answer, with its place in the text."""
    at = error["details"].get("position")
    span = None
    if at is not None:
        lines = text.split("\n")
        start = sum(len(line) + 1 for line in lines[: at["line"] - 1]) + at["column"] - 1
        span = Span(start, start + 1)
    return KipError(error["code"], error["message"], span=span, hint=error.get("hint"))
