"""A memory behind the interface, with a clock; every response is held to the public schema where that is there."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import kipql
from kipql import Nexus
from kipql.memory.interface import MemoryInterface
from tests.shared import shared_path

DAY = "2026-{}T00:00:00.000Z".format


@cache
def validator(name: str) -> Draft202012Validator | None:
    """The validator of a definition of kip-memory; None without the shared data."""
    folder = shared_path("kip/schemas")
    if folder is None:
        return None
    schemas = [json.loads(path.read_text()) for path in Path(folder).glob("*.json")]
    registry: Registry = Registry().with_resources((each["$id"], Resource.from_contents(each)) for each in schemas)
    return Draft202012Validator({"$ref": f"urn:kip:2.0:schema:memory#/$defs/{name}"}, registry=registry)


def valid(name: str, value: Any) -> bool:
    """Whether a value is what the schema calls so; anything is, without the shared data."""
    found = validator(name)
    return found is None or found.is_valid(value)


def held(name: str, value: Any) -> Any:
    """A value that the schema accepts."""
    found = validator(name)
    if found is not None:
        errors = [f"{list(each.absolute_path)}: {each.message[:300]}" for each in found.iter_errors(value)]
        assert errors == []
    return json.loads(json.dumps(value))


class Clock:
    def __init__(self, at: str) -> None:
        self.now = datetime.fromisoformat(at.replace("Z", "+00:00"))

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **span: float) -> None:
        self.now = self.now.astimezone(UTC) + timedelta(**span)


class Talk:
    """Somebody who talks to a memory through requests."""

    def __init__(
        self, nexus: Nexus | None = None, *, now: str = DAY("09-25"), path: Path | None = None, **options: Any
    ) -> None:
        self.clock = Clock(now)
        self.nexus = nexus if nexus is not None else kipql.open(path, clock=self.clock)
        self.memory = MemoryInterface(self.nexus, **options)
        self.said = 0

    def request(self, envelope: Any) -> dict[str, Any]:
        return held("Response", self.memory.request(envelope))

    def ask(self, operation: str, given: Mapping[str, Any], **members: Any) -> dict[str, Any]:
        envelope = {"kip_memory": "2.0", "operation": operation, "input": dict(given), **members}
        if operation != "recall":
            envelope.setdefault("idempotency_key", f"{operation}:{json.dumps(given)}:{members.get('scope')}")
        held("Request", envelope)
        return self.request(envelope)

    def stage(self, text: Any, at: str | None = DAY("01-10"), ref: str = "", **attested: Any) -> str:
        self.said += 1
        attested.setdefault("speaker", "ada")
        return self.memory.stage(ref or f"source-{self.said}", text, observed_at=at, **attested)

    def observe(self, text: Any, at: str | None = DAY("01-10"), scope: Any = None, **attested: Any) -> dict[str, Any]:
        ref = self.stage(text, at, **attested)
        return self.ask("observe", {"source_ref": ref}, **({} if scope is None else {"scope": scope}))

    def revise(self, text: Any, kind: str, at: str = DAY("06-01"), target: str = "", **attested: Any) -> dict[str, Any]:
        ref = self.stage(text, at, **attested)
        return self.ask(
            "revise", {"source_ref": ref, "change_kind": kind, **({"target_ref": target} if target else {})}
        )

    def recall(self, query: str | None = None, scope: Any = None, budget: Any = None, **given: Any) -> dict[str, Any]:
        outer = {name: value for name, value in (("scope", scope), ("budget", budget)) if value is not None}
        return self.ask("recall", {**({} if query is None else {"query": query}), **given}, **outer)

    def facts(self, query: str, **given: Any) -> dict[str, str]:
        """The facts that a recall answers, each with its status."""
        items = self.recall(query, **given)["result"]["items"]
        return {each["text"]: each["epistemic_status"] for each in items if each["role"] == "fact"}

    def task(self, key: str) -> str:
        """A task to work in; its id."""
        return self.nexus.execute('CREATE CONCEPT ?t { TYPE "Event" NAME :k SET FIELDS {key: :k} SET ATTRIBUTES '
                                  "{summary: :k} }", {"k": key}).handles["t"]  # fmt: skip

    def count(self, kind: str) -> int:
        return int(self.nexus.stats()["elements"][kind])

    def statuses(self) -> list[str]:
        return list(self.nexus.query("FIND(?a.lifecycle.status) WHERE { ?a ASSERTION {} }").rows)


def code(response: Mapping[str, Any]) -> str:
    """The code of a failed response."""
    assert response["status"] == "failed"
    return str(response["error"]["code"])
