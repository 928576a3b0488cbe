"""A client that knows the wire schemas and nothing else: it talks to `kipql wire` and judges every line it gets.

A response must be a kip-response. What is inside it is found by its members and judged too: elements (kip-element),
projections, slots and their bases (kip-projection), change envelopes (kip-change-envelope).
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

_ENVELOPE = {"space_seq", "tx_id", "committed_at", "transaction_class"}
_DESCRIBED = {"snapshot_seq", "status"}  # what DESCRIBE TRANSACTION adds to a change envelope
_ROOT_GROUP = {"type": "object", "required": ["actors", "assertion_ids", "contribution", "evidence"]}


class Schemas:
    """The wire schemas by name.

    In one place the engine suite and the schema differ, and the suite is the higher authority: it has a root group as
    an object where the schema has a name.
    """

    def __init__(self, folder: Path) -> None:
        found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
        projection = next(each for each in found if each["$id"] == "urn:kip:2.0:schema:projection")
        for side in ("support", "opposition"):
            projection["$defs"]["Projection"]["properties"][side]["properties"]["root_groups"]["items"] = _ROOT_GROUP
        self._registry = Registry().with_resources((each["$id"], Resource.from_contents(each)) for each in found)
        self._kept: dict[str, Draft202012Validator] = {}

    def problems(self, name: str, value: object) -> list[str]:
        """What is wrong with a value; `name` is a schema, or a definition in one ("projection#/$defs/Slot")."""
        validator = self._kept.get(name)
        if validator is None:
            schema = {"$ref": f"urn:kip:2.0:schema:{name}"}
            validator = Draft202012Validator(schema, registry=self._registry, format_checker=FormatChecker())
            self._kept[name] = validator
        found = sorted(validator.iter_errors(value), key=str)
        return [f"{name} at /{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in found]

    def inside(self, value: object) -> Iterator[str]:
        """What is wrong with the elements, projections and change envelopes inside a value."""
        for name, found in shapes(value):
            yield from self.problems(name, found)


def shapes(value: object) -> Iterator[tuple[str, Any]]:
    """Every object that claims, by its members, to be of a schema."""
    if isinstance(value, Mapping):
        members = value.keys()
        if "_system" in members:
            yield "element", value
        elif {"candidate_projections", "accepted_values"} <= members:
            yield "projection#/$defs/Slot", value
        elif {"candidate_status", "slot_status"} <= members:
            yield "projection", value
        elif {"authorization_view", "trust_version", "policy", "risk"} <= members:
            yield "projection#/$defs/ProjectionBasis", value
        elif members >= _ENVELOPE and "change_summary" not in members:
            plain = {name: member for name, member in value.items() if name not in _DESCRIBED}
            yield "change-envelope", plain
        for member in value.values():
            yield from shapes(member)
    elif isinstance(value, list):
        for item in value:
            yield from shapes(item)


class Client:
    """A running `kipql wire` and what was said so far."""

    def __init__(self, schemas: Schemas, *arguments: str) -> None:
        self.schemas = schemas
        self.replies: list[dict[str, Any]] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kipql", "wire", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def send(self, line: bytes) -> dict[str, Any]:
        """The reply to one line, whatever it is; judged."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()
        reply = json.loads(self._process.stdout.readline())
        assert isinstance(reply, dict)
        self.replies.append(reply)
        assert self.schemas.problems("response", reply) == [], line
        assert list(self.schemas.inside(reply)) == [], line
        return reply

    def ask(self, *commands: str | dict[str, Any], mode: str | None = None, **members: Any) -> dict[str, Any]:
        """The reply to a request that the request schema admits."""
        operations = [{"command": each} if isinstance(each, str) else each for each in commands]
        request: dict[str, Any] = {"kip": "2.0", "operations": operations, **members}
        if mode is not None:
            request["execution"] = {"mode": mode, **members.get("execution", {})}
        assert self.schemas.problems("request", request) == []
        return self.send(json.dumps(request).encode())

    def result(self, command: str, **parameters: Any) -> Any:
        """The result of one operation that succeeds."""
        reply = self.ask({"command": command, "parameters": parameters})
        assert reply["status"] == "succeeded", reply
        return reply["results"][0]["result"]

    def close(self) -> None:
        """End the process; it must end well."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(timeout=20) == 0
