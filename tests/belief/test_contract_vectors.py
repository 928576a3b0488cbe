"""The public projection and strength cases, straight through `kipql.belief.core` (conformance/vectors)."""

import json
from pathlib import Path

import pytest

from kipql.belief.core import MEMORY_DEFAULT, STRUCTURAL, Candidate, Claim, Request, SlotRules, project
from kipql.times import parse_instant, parse_interval
from tests.shared import shared_path

VECTORS = shared_path("conformance/vectors/cognitive-contracts.json")
CASES = json.loads(Path(VECTORS).read_text())["projection"] if VECTORS else []


def claim(key: str, given: dict, dependency: str) -> Claim:
    valid = {name: given[name] for name in ("from", "until") if name in given}
    made = given.get("asserted_at") or (given["from"] if isinstance(given["from"], str) else given["from"]["latest"])
    return Claim(
        key,
        given.get("actor", f"actor of {given['root']}"),
        given["stance"],
        given["mode"],
        parse_instant(made),
        valid=parse_interval(valid),
        context=frozenset(given.get("context_refs", ())),
        status=given["status"],
        roots=frozenset((given["root"],)),
        dependency=dependency,
    )


@pytest.mark.skipif(not CASES, reason="shared data absent")
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
@pytest.mark.parametrize("reverse", (False, True), ids=("as written", "reversed"))
def test_projection_case(case: dict, reverse: bool) -> None:
    candidates = [
        Candidate(
            given["id"],
            given["value"],
            tuple(
                claim(f"{given['id']}/{index}", one, given.get("dependency_validity", "current"))
                for index, one in enumerate(given["assertions"])
            ),
            given.get("partition"),
        )
        for given in case["candidates"]
    ]
    asked = case["request"]
    request = Request(
        parse_instant(asked["valid_at"]), frozenset(asked.get("context_refs", ())), subject=asked.get("subject")
    )
    rules = SlotRules(functional=asked.get("functional", False), functional_by=asked.get("functional_by", False))
    policy = MEMORY_DEFAULT if asked.get("policy") == "memory-default" else STRUCTURAL
    slot = project(candidates[::-1] if reverse else candidates, rules, request, policy)
    beliefs = slot.beliefs[::-1] if reverse else slot.beliefs
    accepted = [belief.candidate.value for belief in beliefs if belief.status == "accepted"]
    assert [belief.status for belief in beliefs] == case["expected"]["candidate_statuses"]
    assert (slot.status, accepted) == (case["expected"]["slot_status"], case["expected"]["accepted_values"])
