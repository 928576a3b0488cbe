"""The public projection and strength cases once more, written as commands and asked through a Nexus.

A dependency validity that a case gives is brought about: what the claim was derived from changes (MEM-006a). The last
test says how many ran.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql.times import parse_instant
from tests.shared import shared_path

VECTORS = shared_path("conformance/vectors/cognitive-contracts.json")
GIVEN = json.loads(Path(VECTORS).read_text()) if VECTORS else {"projection": [], "strength": []}
WRITTEN = GIVEN["projection"]
READS = [
    (f"{case['id']} {index} {read['at']}", state, read["at"], read["expected"])
    for case in GIVEN["strength"]
    for index, state in enumerate([case["state"], *case.get("variants", [])])
    for read in case["reads"]
]
RAN: set[str] = set()
_PREDICATES: dict[str, dict[str, Any]] = {
    "plain": {},
    "functional": {"functional": True},
    "functional_by": {"functional_by": "object_type", "object": {"kinds": ["Concept"]}},
}
_PACKAGE = {
    "manifest": {"package_id": "kip://test/vectors", "version": "1.0.0"},
    "definitions": {
        "concept_types": {name: {"description": name} for name in ("Thing", "ColorScheme", "Editor")},
        "predicates": {name: {"description": name, **declared} for name, declared in _PREDICATES.items()},
    },
}


class Written:
    """One case as a memory: a Concept per actor and context, Evidence per root, an ASSERT per assertion."""

    def __init__(self, case: dict[str, Any]) -> None:
        asked = case["request"]
        self.nexus = kipql.open(packages=[_PACKAGE])
        self.predicate = next((name for name in ("functional_by", "functional") if asked.get(name)), "plain")
        self.ids: dict[tuple[str, str], str] = {}
        self.subject = self.concept("Person", asked.get("subject") or "the subject")
        self.values = {one["id"]: self.value(one) for one in case["candidates"]}
        for one in case["candidates"]:
            for given in one["assertions"]:
                self.claim(self.values[one["id"]], given, one.get("dependency_validity", "current"))

    def concept(self, type_name: str, name: str) -> str:
        return self.made(("concept", name), "CREATE CONCEPT ?x { TYPE :t NAME :n }", t=type_name, n=name)

    def evidence(self, root: str) -> str:
        text = 'CREATE EVIDENCE ?x { SET FIELDS {evidence_class: "message", payload: :n} }'
        return self.made(("evidence", root), text, n=root)

    def made(self, key: tuple[str, str], text: str, **parameters: Any) -> str:
        if key not in self.ids:
            receipt = self.nexus.execute(text, parameters)
            self.ids[key] = receipt.handles["x"]  # type: ignore[union-attr]
        return self.ids[key]

    def value(self, candidate: dict[str, Any]) -> Any:
        if self.predicate == "functional_by":
            return {"id": self.concept(candidate["partition"], str(candidate["value"]))}
        return candidate["value"]

    def claim(self, value: Any, given: dict[str, Any], validity: str) -> None:
        valid = {name: given[name] for name in ("from", "until") if name in given}
        made = given.get("asserted_at") or (
            valid["from"] if isinstance(valid["from"], str) else valid["from"]["latest"]
        )
        members = {
            "by": self.concept("Person", given.get("actor", f"actor of {given['root']}")),
            "mode": given["mode"],
            "stance": given["stance"],
            "at": made,
            "evidence": self.evidence(given["root"]),
            "context": [self.concept("Thing", name) for name in given.get("context_refs", ())],
            **({"valid": valid} if valid else {}),
        }
        body = ", ".join(f"{name}: :{name}" for name in members)
        text = f'ASSERT ?x (:s, "{self.predicate}", :o) {{{body}}}'
        if given["mode"] == "inferred" or validity != "current":
            members["pinned"] = self.concept("Thing", "a prerequisite")
            text = self.derived(text, members)
        receipt = self.nexus.execute(text, {"s": self.subject, "o": value, **members})
        handle = receipt.handles["x"]  # type: ignore[union-attr]
        if validity != "current":
            assert validity == "needs_review"
            self.nexus.execute('UPDATE :pinned SET FIELDS {name: "it changed"}', members)
        if given["status"] != "active":
            self.nexus.execute('TRANSITION :a TO "retracted"', {"a": handle})

    def derived(self, text: str, members: dict[str, Any]) -> str:
        """The claim with the Activity that derived it from its Evidence (§57.6)."""
        seq = self.nexus.space_seq
        members["basis"] = self.nexus.query(f'FIND(?b) WHERE {{ ?b BELIEF SLOT ("{self.subject}", "plain") }}').basis
        head, body = text.split(" {", 1)
        body = body.replace(", basis: :basis", "").replace(", pinned: :pinned", "")
        return f"""MUTATE {{
          {head} {{{body}
          CREATE ACTIVITY ?act {{
            SET FIELDS {{activity_class: "extraction", status: "completed"}}
            SET FACET "DependencyBasis" {{
              basis_seq: {seq}, policy_basis: :basis,
              groups: [{{role: "all_of", pins: [{{id: :evidence, version: 1}}, {{id: :pinned, version: 1}}]}}]}}
            SET STRUCTURAL {{("inputs", :evidence) ("outputs", ?x)}} }}
        }}"""

    def ask(self, pattern: str, columns: str, asked: dict[str, Any], **parameters: Any) -> Any:
        policy = "kip:memory-default" if asked.get("policy") == "memory-default" else "kip:policy:structural"
        context = [self.concept("Thing", name) for name in asked.get("context_refs", ())]
        text = f"""FIND({columns}) WHERE {{ ?b BELIEF {pattern} }} FOR TIME :at
        WITH EPISTEMIC {{policy: :policy, context_refs: :context}}"""
        given = {"at": asked["valid_at"], "policy": policy, "context": context, "s": self.subject, **parameters}
        return self.nexus.query(text, given).one()


@pytest.mark.skipif(not WRITTEN, reason="shared: absent")
@pytest.mark.parametrize("case", WRITTEN, ids=[case["id"] for case in WRITTEN])
def test_a_projection_case_as_commands(case: dict[str, Any]) -> None:
    written = Written(case)
    asked, expected = case["request"], case["expected"]
    slot = written.ask(f'SLOT (:s, "{written.predicate}")', "?b.status, ?b.accepted_values", asked)
    named = [written.values[one["id"]] for one in case["candidates"] if one["value"] in expected["accepted_values"]]
    assert slot == (expected["slot_status"], named)
    statuses = [
        written.ask(f'(:s, "{written.predicate}", :o)', "?b.status", asked, o=written.values[one["id"]])
        for one in case["candidates"]
    ]
    assert statuses == expected["candidate_statuses"]
    RAN.add(case["id"])


@pytest.mark.skipif(not READS, reason="shared: absent")
@pytest.mark.parametrize(("name", "state", "at", "expected"), READS, ids=[read[0] for read in READS])
def test_a_strength_case_as_commands(name: str, state: dict[str, Any], at: str, expected: float | None) -> None:
    moment = datetime.fromtimestamp(parse_instant(at) / 1000, UTC)
    nexus = kipql.open(clock=lambda: moment)
    facet = {key: value for key, value in state.items() if value is not None}
    body = ", ".join(f"{key}: :{key}" for key in facet)
    nexus.execute(f'CREATE CONCEPT ?x {{ TYPE "Person" NAME "x" SET FACET "MnemonicState" {{{body}}} }}', facet)
    found = nexus.query('FIND(?x.facets["MnemonicState"].effective_strength) WHERE { ?x CONCEPT {} }').scalar()
    assert found == (None if expected is None else pytest.approx(expected))
    RAN.add(name)


@pytest.mark.skipif(not WRITTEN, reason="shared: absent")
def test_the_cases_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\ncognitive contracts through a Nexus: {len(RAN)} of {len(WRITTEN) + len(READS)} run")
    assert len(WRITTEN) == 30
