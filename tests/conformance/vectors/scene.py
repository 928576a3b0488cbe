"""The state that the scenarios start from, and the shortest way to act on it.

The public state fixtures are read, not copied. Both packages of `cognitive-consistency` define a Person and a Skill, so
texts name symbols exactly: `"test/Person"` and `"mem/Skill"` stand for the exact references of the two packages.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError, Nexus, Receipt
from tests.shared import shared_path

PREFIXES = {"test/": "kip://test/core-domain@1.0.0/", "mem/": "kip://profiles/cognitive-memory@2.0.0/"}
_FIELDS = {
    "evidence": ("evidence_class", "payload", "media_type", "observed_at"),
    "activity": ("activity_class", "status", "started_at", "ended_at"),
}


STATED = 'ASSERT ?a (:s, "{predicate}", :o) {{by: :by, mode: "stated", at: :at{more}}}'
DAY = "2026-{}T00:00:00.000Z".format


def fixture(name: str) -> dict[str, Any]:
    """A public fixture by its path below conformance/fixtures."""
    path = shared_path(f"conformance/fixtures/{name}.json")
    if path is None:
        pytest.skip("shared: absent")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def exact(text: str) -> str:
    """A text with the short prefixes of symbols written out."""
    for short, long in PREFIXES.items():
        text = text.replace(f'"{short}', f'"{long}')
    return text


def refused(call: Callable[..., object], *arguments: Any, **named: Any) -> KipError:
    """The error of a call that must fail."""
    with pytest.raises(KipError) as caught:
        call(*arguments, **named)
    return caught.value


def accepted(call: Callable[..., object], *arguments: Any, **named: Any) -> bool:
    """Whether a call is accepted; it may only fail with a KipError."""
    try:
        call(*arguments, **named)
    except KipError:
        return False
    return True


class Clock:
    """A clock that a scenario moves."""

    def __init__(self, at: str) -> None:
        self.now = instant(at)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **span: float) -> None:
        self.now += timedelta(**span)


def instant(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


@dataclass
class Scene:
    """A memory in a fixture's state; `ids` by the fixture's handles."""

    nexus: Nexus
    clock: Clock
    ids: dict[str, str] = field(default_factory=dict)

    def do(self, text: str, **parameters: Any) -> dict[str, str]:
        """Execute one statement and answer its handles."""
        receipt = self.write(text, **parameters)
        return dict(receipt.handles)

    def write(self, text: str, **parameters: Any) -> Receipt:
        """Execute one statement and answer its Receipt."""
        receipt = self.nexus.execute(exact(text), {**self.ids, **parameters})
        assert isinstance(receipt, Receipt)
        return receipt

    def ask(self, text: str, **parameters: Any) -> Any:
        """The only row of a query."""
        return self.nexus.query(exact(text), {**self.ids, **parameters}).one()

    def rows(self, text: str, **parameters: Any) -> list[Any]:
        return self.nexus.query(exact(text), {**self.ids, **parameters}).rows

    def refused(self, text: str, **parameters: Any) -> str:
        """The code of a statement that must fail, having changed nothing."""
        before = self.nexus.digest()
        code = refused(self.write, text, **parameters).code
        assert self.nexus.digest() == before
        return code

    def as_(self, principal: str) -> "Scene":
        """This scene as another Principal."""
        return Scene(self.nexus.as_principal(principal), self.clock, self.ids)

    def say(self, by: str, predicate: str, value: object, at: str, more: str = "", **parameters: Any) -> str:
        """An actor says something about itself, or about `s`; the id of the Assertion."""
        text = STATED.format(predicate=predicate, more=more)
        return self.do(text, **{"s": by, **parameters}, by=by, o=value, at=at)["a"]

    def statuses(self) -> list[str]:
        """The stored status of every Assertion."""
        return self.rows("FIND(?a.lifecycle.status) WHERE { ?a ASSERTION {} }")

    def content(self, id_: str) -> dict[str, Any]:
        """An element without what the engine keeps about it."""
        return {name: value for name, value in self.element(id_).items() if name != "_system"}

    def element(self, id_: str) -> dict[str, Any]:
        """The whole element of an id."""
        kind = {"C": "CONCEPT", "P": "", "A": "ASSERTION", "E": "EVIDENCE", "X": "ACTIVITY"}[id_[0]]
        named = "(id: :id)" if id_[0] == "P" else "{id: :id}"
        found: dict[str, Any] = self.ask(f"FIND(?x) WHERE {{ ?x {kind} {named} }}", id=id_)
        return found

    def facet(self, id_: str, name: str) -> dict[str, Any]:
        """A Facet of the Profile, as an element holds it."""
        found: dict[str, Any] = self.element(id_)["facets"][PREFIXES["mem/"] + name]
        return found

    def targets(self, id_: str, name: str) -> list[dict[str, str]]:
        """What an element refers to in a Structural Field of the Profile."""
        found: list[dict[str, str]] = self.element(id_)["structural"][PREFIXES["mem/"] + name]
        return found

    def belief(
        self, subject: str, predicate: str, value: Any, at: str | None = None, **epistemic: Any
    ) -> dict[str, Any]:
        """The Belief Projection of a claim."""
        found: dict[str, Any] = self.ask(
            f'FIND(?b) WHERE {{ ?b BELIEF (:s, "{predicate}", :o) }}{_frame(at, epistemic)}', s=subject, o=value, at=at
        )
        return found

    def slot(self, subject: str, predicate: str, at: str | None = None, **epistemic: Any) -> dict[str, Any]:
        """The Belief Projection of a slot."""
        found: dict[str, Any] = self.ask(
            f'FIND(?b) WHERE {{ ?b BELIEF SLOT (:s, "{predicate}") }}{_frame(at, epistemic)}', s=subject, at=at
        )
        return found


def _frame(at: str | None, epistemic: Mapping[str, Any]) -> str:
    members = ", ".join(f"{name}: {json.dumps(value)}" for name, value in epistemic.items())
    return (" FOR TIME :at" if at else "") + (f" WITH EPISTEMIC {{{members}}}" if members else "")


def scene(name: str = "cognitive-consistency", path: Path | None = None, *, now: str | None = None) -> Scene:
    """A memory in the state of a fixture, at the fixture's time or a later one."""
    state = fixture(f"states/{name}")
    clock = Clock("2025-12-31T00:00:00.000Z")
    package = fixture("test-core-domain-1.0.0.schema")
    made = Scene(kipql.open(path, clock=clock, packages=[package]), clock)
    _commit(made, state)
    clock.now = instant(now or state["clock"])
    return made


def _commit(made: Scene, state: Mapping[str, Any]) -> None:
    if state["extends"]:
        _commit(made, fixture(f"states/{state['extends']}"))
    for commit in state["commits"]:
        made.clock.now = instant(commit["at"])
        propositions = {each["handle"]: each for each in commit["creates"] if each["kind"] == "proposition"}
        records = [_record(each, propositions) for each in commit["creates"]]
        made.ids.update(made.nexus.load(records).ids)


def _record(given: Mapping[str, Any], propositions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """An entry of a state fixture as a record of `nexus.load`."""
    kind, prefix = given["kind"], PREFIXES["test/"]
    record: dict[str, Any] = {"kind": kind, "as": given["handle"]}
    if kind == "concept":
        record |= {name: given[name] for name in ("key", "name", "attributes") if name in given}
        record["type"] = prefix + given["type"]
        record["facets"] = {prefix + name: value for name, value in given.get("facets", {}).items()}
        edges = [(each["field"], each["target"]) for each in given.get("structural", ())]
        record["structural"] = [[prefix + name, {"ref": target}] for name, target in edges]
    elif kind == "proposition":
        record |= _tuple(given)
    elif kind == "assertion":
        record |= _tuple(propositions[given["proposition"]])
        record |= {"by": {"ref": given["asserted_by"]}, "at": given["asserted_at"]}
        record |= {name: given[name] for name in ("mode", "stance", "confidence")}
        record["evidence"] = [{"ref": each} for each in given.get("evidence", ())]
    else:
        record["fields"] = {name: given[name] for name in _FIELDS[kind] if name in given}
        edges = [("source", given["source"])] if "source" in given else []
        edges += [(name, target) for name in ("inputs", "outputs") for target in given.get(name, ())]
        record["structural"] = [[name, {"ref": target}] for name, target in edges]
    return record


def _tuple(given: Mapping[str, Any]) -> dict[str, Any]:
    predicate = PREFIXES["test/"] + given["predicate"]
    return {"subject": {"ref": given["subject"]}, "predicate": predicate, "object": given["object"]}
