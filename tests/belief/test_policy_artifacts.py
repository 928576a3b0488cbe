"""What a policy artifact may say: nothing of it is passed over (§21.10, §21.13)."""

import json
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql.errors import KipError

WEIGHTS = {"accept_at": 0.6, "reject_at": 0.6}
WEIGHTED = {"method": {"score_model": "weighted"}, "weights": WEIGHTS}
ARTIFACTS = ("conformance/fixtures/epistemic-test-deterministic.json", "kip/profiles/policy-memory-default.json")


def refused(policy: dict[str, Any]) -> KipError:
    nexus = kipql.open()
    with pytest.raises(KipError) as caught:
        nexus.install_policy({"policy_id": "acme:p", **policy})
    assert nexus.query("LIST EPISTEMIC POLICIES").rows == kipql.open().query("LIST EPISTEMIC POLICIES").rows
    return caught.value


@pytest.mark.parametrize("name", ARTIFACTS)
def test_a_published_artifact_installs_under_an_id_of_its_own(shared: Path, name: str) -> None:
    artifact = json.loads((shared / name).read_text("utf-8"))
    del artifact["integrity"]
    nexus = kipql.open()
    nexus.install_policy({**artifact, "policy_id": "acme:copy"})
    described = nexus.query('DESCRIBE EPISTEMIC POLICY "acme:copy"').one()
    assert described["precedence"] == artifact.get("precedence", {}).get("order", [])
    assert described["modes"] == sorted(artifact["eligibility"]["modes"]["include"])


def test_the_digest_of_an_artifact_is_looked_at(shared: Path) -> None:
    artifact = json.loads((shared / ARTIFACTS[0]).read_text("utf-8"))
    kipql.open().install_policy(artifact)
    with pytest.raises(KipError) as caught:
        kipql.open().install_policy({**artifact, "name": "Another name"})
    assert caught.value.code == "DigestMismatch"


MISSPELT = [
    # what was written, the path that is refused, what was meant
    ({"precidence": {"order": ["recency"]}}, "precidence", "precedence"),
    ({"weigths": WEIGHTS}, "weigths", "weights"),
    ({"descripton": "x"}, "descripton", "description"),
    ({"policyid": "x"}, "policyid", "policy_id"),
    ({"precedence": {"ordre": ["recency"]}}, "precedence.ordre", "precedence.order"),
    ({"precedence": {"rules": {"recencey": "x"}}}, "precedence.rules.recencey", "precedence.rules.recency"),
    ({"method": {"score_modle": "weighted"}}, "method.score_modle", "method.score_model"),
    ({"eligibility": {"mode": {}}}, "eligibility.mode", "eligibility.modes"),
    ({"eligibility": {"modes": {"includes": []}}}, "eligibility.modes.includes", "eligibility.modes.include"),
    (
        {"eligibility": {"modes": {"imported": {"defualt": "include"}}}},
        "eligibility.modes.imported.defualt",
        "eligibility.modes.imported.default",
    ),
    ({"trust": {"resolvr": "none"}}, "trust.resolvr", "trust.resolver"),
    ({"projection": {"leading": {"ties": "none"}}}, "projection.leading.ties", "projection.leading.tie"),
    ({**WEIGHTED, "weights": {**WEIGHTS, "acept_at": 0.5}}, "weights.acept_at", "weights.accept_at"),
    # the right name in the wrong place
    ({"score_model": "weighted"}, "score_model", "method.score_model"),
    ({"order": ["recency"]}, "order", "precedence.order"),
    ({"accept_at": 0.5}, "accept_at", "weights.accept_at"),
]


@pytest.mark.parametrize(("policy", "path", "meant"), MISSPELT)
def test_a_member_that_no_policy_has_is_refused_with_its_path(policy: dict[str, Any], path: str, meant: str) -> None:
    error = refused(policy)
    assert (error.code, error.details.get("member")) == ("ConstraintViolation", path)
    assert path in error.message
    assert error.hint == f"did you mean {meant}?"


def test_what_resembles_no_member_is_told_the_members_there_are() -> None:
    error = refused({"precedence": {"zzzzzz": 1}})
    assert error.details["member"] == "precedence.zzzzzz"
    assert "order" in (error.hint or "")


WRONG = [
    ({"precedence": {"order": []}}, "precedence.order"),
    ({"precedence": {"order": "recency"}}, "precedence.order"),
    ({"precedence": {"order": ["recency", "recency"]}}, "precedence.order"),
    ({"precedence": {"order": [1]}}, "precedence.order"),
    ({"precedence": {"outranked_status": "rejected"}}, "precedence.outranked_status"),
    ({"precedence": []}, "precedence"),
    ({"eligibility": {"modes": []}}, "eligibility.modes"),
    ({"eligibility": {"modes": {"include": []}}}, "eligibility.modes.include"),
    ({"eligibility": {"modes": {"include": "stated"}}}, "eligibility.modes.include"),
    ({"eligibility": {"modes": {"include": ["stated"], "exclude_by_default": ["stated"]}}}, "eligibility.modes"),
    ({"eligibility": {"modes": {"imported": {"default": "yes"}}}}, "eligibility.modes.imported.default"),
    ({"eligibility": {"modes": {"imported": "include"}}}, "eligibility.modes.imported"),
    ({"eligibility": {"confidence": {"minimum": 0.5}}}, "eligibility.confidence.minimum"),
    ({"eligibility": {"confidence": {"affects_status": True}}}, "eligibility.confidence.affects_status"),
    (
        {"eligibility": {"assertion_lifecycle": {"include": ["active", "retracted"]}}},
        "eligibility.assertion_lifecycle.include",
    ),
    ({"stance_mapping": {"reject": "support"}}, "stance_mapping.reject"),
    ({"trust": {"authority_effect": "grant"}}, "trust.authority_effect"),
    ({"time": {"interval_bounds": "(from,until]"}}, "time.interval_bounds"),
    ({"projection": {"leading": {"tie": "support"}}}, "projection.leading.tie"),
    ({"projection": {"open_world": {"no_support_means": "rejected"}}}, "projection.open_world.no_support_means"),
    ({"deterministic": False}, "deterministic"),
    ({"format": "KIP-Schema-Package"}, "format"),
    ({"format_version": "1.0"}, "format_version"),
    ({"weights": WEIGHTS}, "weights"),
    ({"policy_id": ""}, "policy_id"),
    ({"policy_id": 7}, "policy_id"),
    ({"policy_id": "acme:p@2"}, "policy_id"),
    ({"policy_id": "x" * 513}, "policy_id"),
    ({"version": True}, "version"),
    ({"version": ""}, "version"),
    ({"version": -1}, "version"),
    ({"version": 1.5}, "version"),
    ({"description": 7}, "description"),
]


@pytest.mark.parametrize(("policy", "path"), WRONG)
def test_a_value_that_a_member_can_not_have_is_refused_with_its_path(policy: dict[str, Any], path: str) -> None:
    error = refused(policy)
    assert (error.code, error.details.get("member")) == ("ConstraintViolation", path)


NUMBERS = [2, -0.1, True, "0.5", None, [0.5]]


@pytest.mark.parametrize("name", ["accept_at", "reject_at", "default_trust", "unstated"])
@pytest.mark.parametrize("value", NUMBERS)
def test_a_weight_is_a_number_between_0_and_1(name: str, value: Any) -> None:
    error = refused({**WEIGHTED, "weights": {**WEIGHTS, name: value}})
    assert error.code == "ConstraintViolation"
    assert f"weights.{name}" in error.message


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400])
def test_a_weight_that_is_no_portable_number_is_refused(value: float) -> None:
    assert refused({**WEIGHTED, "weights": {**WEIGHTS, "accept_at": value}}).code == "ConstraintViolation"


@pytest.mark.parametrize(
    ("policy", "hint"),
    [
        ({"precedence": {"order": ["recencey"]}}, "did you mean 'recency'?"),
        ({"method": {"score_model": "wieghted"}}, "did you mean 'weighted'?"),
        ({"eligibility": {"modes": {"include": ["staetd"]}}}, "did you mean 'stated'?"),
    ],
)
def test_a_misspelt_value_is_told_the_near_one(policy: dict[str, Any], hint: str) -> None:
    assert (refused(policy).code, refused(policy).hint) == ("ConstraintViolation", hint)


def test_notes_and_extensions_that_are_not_critical_are_carried() -> None:
    nexus = kipql.open()
    policy = {
        "policy_id": "acme:p",
        "precedence": {"order": ["recency"], "note": "as agreed"},
        "extensions": {"acme/owner": {"team": "memory", "critical": False}},
    }
    nexus.install_policy(policy)
    assert nexus.query('DESCRIBE EPISTEMIC POLICY "acme:p"').one()["artifact"] == policy
    assert refused({"extensions": {"acme/owner": {"critical": True}}}).code == "UnsupportedCapability"
