"""The one adapter between the suite and kipql: a Space, and a request flattened to its answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import kipql
from tests.conformance.suite import Fixture, Step


@dataclass(frozen=True, slots=True)
class Answer:
    """A flattened response: an error, or a result."""

    result: Any = None
    error: Mapping[str, Any] | None = None

    @property
    def code(self) -> str | None:
        return None if self.error is None else str(self.error["code"])


def flattened(response: Mapping[str, Any]) -> Answer:
    """A top-level error, else the first operation error in order, else the first result."""
    errors = [response.get("error"), *(entry.get("error") for entry in response["results"])]
    if error := next((error for error in errors if error), None):
        return Answer(error=error)
    return Answer(result=response["results"][0].get("result"))


def pointed(value: Any, pointer: str) -> Any:
    """What a JSON Pointer (RFC 6901) names in a value."""
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        value = value[int(token)] if isinstance(value, list) else value[token]
    return value


class Space:
    """A fresh in-memory Space with a fixture's packages, and the parameters captured so far."""

    def __init__(self, fixture: Fixture) -> None:
        self.nexus = kipql.open()
        self.captured: dict[str, Any] = {}
        if fixture.packages:
            self.nexus.install_packages(list(fixture.packages))

    def send(self, step: Step) -> Answer:
        """Send one step and flatten the response; captures of a success are kept."""
        operations = [dict(operation) for operation in step.operations] or [{"command": step.command}]
        request = {"kip": "2.0", "operations": operations, **step.envelope}
        if parameters := {**self.captured, **request.get("parameters", {}), **step.params}:
            request["parameters"] = parameters
        answer = flattened(self.nexus.request(request))
        if answer.error is None:
            for name, pointer in step.capture.items():
                self.captured[name] = pointed(answer.result, pointer)
        return answer
