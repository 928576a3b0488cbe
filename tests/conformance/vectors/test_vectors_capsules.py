"""Scenario of exchange: what a Capsule carries to another engine, and what it leaves behind."""

import json

from tests.conformance.vectors.learning import learner
from tests.conformance.vectors.registry import observe
from tests.conformance.vectors.scene import Scene, scene
from tests.conformance.vectors.test_vectors_dependencies import all_of, derive, pin


def test_rel_016_a_capsule_carries_records_and_neither_standing_nor_authority() -> None:
    learning = learner()
    source = learning.given
    trial, verdict = learning.adopt()
    decision = source.element(source.facet(verdict, "EvaluationRecord")["attempt_refs"][0])["inputs"][0]["id"]
    prose = f"see {trial}, {verdict} and C-1"
    derived = derive(
        source, "semantic_consolidation",
        'CREATE CONCEPT ?d { TYPE "mem/Insight" SET ATTRIBUTES {summary: :prose} }',
        [learning.revision], all_of(pin(source, learning.revision)), prose=prose,
    )  # fmt: skip
    source.nexus.govern.elevate(learning.skill, "behavioral")
    capsule = json.loads(json.dumps(source.nexus.export_capsule()))

    target = scene("core-basic", now="2026-10-01T00:00:00.000Z")
    rules = target.nexus.govern.policy()
    mapping = target.nexus.import_capsule(capsule, {"mode": "merge", "records": _ours(source, target)}).result[
        "mapping"
    ]
    assert mapping[verdict] != verdict

    # References are mapped where the package declares them, in records nested in Facets too.
    pairs = {
        (decision, "DecisionRecord", "applied_revisions"): [learning.revision],
        (trial, "TrialRecord", "revision_refs"): [learning.revision],
        (verdict, "EvaluationRecord", "trial_ref"): trial,
    }
    for (id_, name, member), refs in pairs.items():
        expected = mapping[refs] if isinstance(refs, str) else [mapping[each] for each in refs]
        assert target.facet(mapping[id_], name)[member] == expected
    basis, carried = (
        given.facet(id_, "DependencyBasis") for given, id_ in ((source, derived["x"]), (target, mapping[derived["x"]]))
    )
    assert carried["groups"][0]["pins"][0]["id"] == mapping[learning.revision]
    evaluation, kept = (
        given.facet(id_, "EvaluationRecord") for given, id_ in ((source, verdict), (target, mapping[verdict]))
    )
    pinned = ("rule_digest", "parameters_digest", "cutoff", "replay_artifact", "comparison")

    skill = target.element(mapping[learning.skill])
    grading = target.ask('FIND(?s.facets["mem/GradingState"]) WHERE { ?s CONCEPT {id: :id} }', id=skill["id"])
    validity = target.ask(
        "FIND(?c._system.dependency_validity.status) WHERE { ?c CONCEPT {id: :id} }", id=mapping[derived["d"]]
    )
    assert validity == "unverifiable"  # until it has been validated here
    observe(
        "REL-016",
        source_basis_preserved=(carried["basis_seq"], carried["policy_basis"])
        == (basis["basis_seq"], basis["policy_basis"])
        and {name: kept[name] for name in pinned} == {name: evaluation[name] for name in pinned},
        text_not_rewritten=target.element(mapping[derived["d"]])["attributes"]["summary"] == prose,
        automatic_standing_transfer=(skill["attributes"]["status"], grading) != ("proposed", None),
        automatic_authority_transfer=skill["governance"]["authority_class"] != "descriptive"
        or target.nexus.govern.policy() != rules,
    )


def _ours(source: Scene, target: Scene) -> list[dict[str, str]]:
    """Decisions for the elements that both sides have from the fixture: they are the target's own."""
    return [
        {"id": id_, "action": "match", "target": target.ids[name]} for name, id_ in source.ids.items() if id_[0] == "C"
    ]
