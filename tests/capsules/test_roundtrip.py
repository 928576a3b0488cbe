"""Out of one memory and into an empty one: what is equal, and what the rule says differs (§26.3, §38.1, §41.6).

Equal, where both are one owner's: content, attribution, time, provenance, structure, lifecycle, state. Different by
rule: ids, `_system` (a new element of another Space), client keys, and the mode of what was observed, stated or
inferred, which is `imported`. So the oracle of a belief is the memory in which the same claims had been told as
imported to begin with.
"""

import re
from typing import Any

from hypothesis import given, settings

import kipql
from tests.properties.engine import EXAMPLES, SLOW, Clock, Told, elements, tell
from tests.properties.memories import memories
from tests.properties.vocabulary import PACKAGE, PREDICATES

often = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW)
POLICY = {
    "policy_id": "test:imported",
    "version": "1",
    "eligibility": {"modes": {"include": ["observed", "stated", "inferred", "imported"]}},
}
_SPOKEN = re.compile(r'mode: "(stated|observed)"')


def moved(told: Told) -> tuple[kipql.Nexus, dict[str, str]]:
    """An empty memory that everything was imported into, at the same moment, and where each element went."""
    clock = Clock()
    clock.now = told.clock.now
    target = kipql.open(packages=[PACKAGE], clock=clock)
    receipt = target.import_capsule(told.nexus.export_capsule(), {"same_owner": True})
    return target, receipt.result["mapping"]


def plain(value: Any, names: dict[str, str]) -> Any:
    """A value with ids mapped."""
    if isinstance(value, dict):
        return {key: plain(member, names) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def content(element: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """What an import carries of an element."""
    kept = {name: value for name, value in element.items() if name not in ("_system", "client_key")}
    if kept.get("mode") in ("observed", "stated", "inferred"):
        kept["mode"] = "imported"
    return {**plain(kept, names), "state": element["_system"]["state"]}


@often
@given(story=memories)
def test_what_arrives_is_what_left(story: list[str]) -> None:
    told = tell(story)
    target, names = moved(told)
    left = [content(each, names) for each in elements(told.nexus, told.nexus.space_seq)]
    arrived = [content(each, {}) for each in elements(target, target.space_seq)]
    assert sorted(left, key=lambda each: each["id"]) == sorted(arrived, key=lambda each: each["id"])
    again = target.import_capsule(told.nexus.export_capsule())
    assert again.status == "no_effect"


@often
@given(story=memories)
def test_questions_have_the_same_answers(story: list[str]) -> None:
    told = tell(story)
    target, names = moved(told)
    for text in (
        "FIND(?x.key, ?x.name, ?x.attributes.size, ?x.facets[\"Mood\"].level) WHERE { ?x CONCEPT {} }",
        "FIND(?s.key, ?o.key, COUNT(?p)) WHERE { ?p (?s, \"knows\", ?o) }",
        "FIND(?p.object) WHERE { ?p (?s, \"weighs\", ?o) }",
        "FIND(?x.key, ?e.index, ?y.key) WHERE { ?e STRUCTURAL (?x, \"part\", ?y) }",
        "FIND(?a.stance, ?a.confidence, ?a.asserted_at, ?w.key) WHERE { ?a ASSERTION {asserted_by: ?w} }",
        "FIND(?x.key) WHERE { ?x {type: \"Robot\"} NOT { ?p (?x, \"at\", ?y) } }",
    ):  # fmt: skip
        assert _bag(told.nexus, text, names) == _bag(target, text, {}), text
    for term in ("north", "Zoë", "knows"):
        hits, found = (nexus.query("SEARCH CONCEPT :t", {"t": term}).rows for nexus in (told.nexus, target))
        assert [(names[hit["id"]], hit["retrieval"]["score"]) for hit in hits] == [
            (hit["id"], hit["retrieval"]["score"]) for hit in found
        ]


@often
@given(story=memories)
def test_beliefs_are_those_of_claims_told_as_imported(story: list[str]) -> None:
    told = tell(_SPOKEN.sub('mode: "imported"', statement) for statement in story)
    target, names = moved(told)
    for nexus in (told.nexus, target):
        nexus.install_policy(POLICY)
    for predicate in PREDICATES:
        for policy in ("test:imported", "kip:memory-default"):
            text = (
                f'FIND(?p.id, ?b.status, ?b.candidate_status, ?b.support.assertion_ids) WHERE {{ '
                f'?p (?s, "{predicate}", ?o) ?b BELIEF (?p) }} WITH EPISTEMIC {{policy: "{policy}"}}'
            )  # fmt: skip
            assert _bag(told.nexus, text, names) == _bag(target, text, {}), text


@often
@given(story=memories)
def test_no_shipped_policy_counts_what_was_imported(story: list[str]) -> None:
    target, _ = moved(tell(story))
    for predicate in PREDICATES:
        text = f'FIND(?b.status) WHERE {{ ?p (?s, "{predicate}", ?o) ?b BELIEF (?p) }}'
        assert set(target.query(text).rows) <= {"insufficient"}


def _bag(nexus: kipql.Nexus, text: str, names: dict[str, str]) -> list[str]:
    return sorted(repr(plain(row, names)) for row in nexus.query(text).rows)
