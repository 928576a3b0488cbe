"""What a derivation rests on, checked again at every read: pins, planes, groups, selections (§57.6, §57.7)."""

from datetime import UTC, datetime
from typing import Any

import pytest

import kipql
from kipql.errors import KipError
from kipql.exec.selection import digest_of
from kipql.limits import Limits
from tests.belief.world import PEOPLE

MEMORY = """MUTATE {
  CREATE CONCEPT ?ann { TYPE "Person" NAME "Ann" SET FIELDS {key: "ann"} }
  CREATE CONCEPT ?bot { TYPE "Person" NAME "Bot" SET FIELDS {key: "bot"} }
  CREATE CONCEPT ?rome { TYPE "Place" NAME "Rome" }
  CREATE CONCEPT ?oslo { TYPE "Place" NAME "Oslo" }
  CREATE EVIDENCE ?one { SET FIELDS {evidence_class: "message", payload: "one"} }
  CREATE EVIDENCE ?two { SET FIELDS {evidence_class: "message", payload: "two"} }
  ASSERT ?a1 (?ann, "lives_in", ?rome) {by: ?ann, mode: "stated", at: "2026-01-10T00:00:00.000Z", evidence: ?one}
  ASSERT ?a2 (?ann, "likes", ?rome) {by: ?ann, mode: "stated", at: "2026-01-10T00:00:00.000Z", evidence: ?two,
    valid: {until: "2026-09-01T00:00:00.000Z"}}
}"""
NOW = datetime(2026, 7, 1, tzinfo=UTC)
JULY, OCTOBER = "2026-07-15T00:00:00.000Z", "2026-10-15T00:00:00.000Z"
DERIVED = """MUTATE {
  ASSERT ?d (:who, "likes", :what) {by: "C-2", mode: "inferred", at: "2026-03-01T00:00:00.000Z"}
  CREATE ACTIVITY ?x {
    SET FIELDS {activity_class: "inference", status: "completed"}
    SET FACET "DependencyBasis" :basis
    SET STRUCTURAL { ("inputs", "E-1") ("outputs", ?d) } }
}"""
HOME = 'FIND(?home.accepted_values) WHERE { ?home BELIEF SLOT ("C-1", "lives_in") }'
MOVED = """ASSERT ("C-1", "lives_in", "C-4") {by: "C-1", mode: "stated", at: "2026-05-02T00:00:00.000Z",
  valid: {from: "2026-05-01T00:00:00.000Z"}}"""


class Derivations:
    """A memory and what its agent concludes in it."""

    def __init__(self) -> None:
        self.nexus = kipql.open(packages=[PEOPLE], clock=lambda: NOW)
        self.nexus.execute(MEMORY)

    def conclude(self, *, groups: Any = (), queries: Any = (), what: str = "C-4", who: str = "C-1") -> str:
        """An inferred claim under a basis; its id."""
        basis: dict[str, Any] = {
            "basis_seq": self.nexus.space_seq,
            "policy_basis": self.nexus.query(HOME).basis,
            "groups": [{"role": role, "pins": [*pins]} for role, pins in groups],
        }
        if queries:
            basis["queries"] = [*queries]
        text = DERIVED.replace(":basis", "{" + ", ".join(f"{name}: :{name}" for name in basis) + "}")
        receipt = self.nexus.execute(text, {"who": who, "what": what, **basis})
        return receipt.handles["d"]  # type: ignore[union-attr]

    def validity(self, claim: str, more: str = "", nexus: kipql.Nexus | None = None) -> tuple[str, list[str]]:
        text = f"""FIND(?a._system.dependency_validity.status, ?a._system.dependency_validity.reasons)
        WHERE {{ ?a ASSERTION {{id: :id}} }} {more}"""
        return (nexus or self.nexus).query(text, {"id": claim}).one()

    def status(self, what: str = "C-4", more: str = "") -> str:
        return self.nexus.query(f'FIND(?b.status) WHERE {{ ?b BELIEF ("C-1", "likes", "{what}") }} {more}').scalar()


@pytest.fixture
def derivations() -> Derivations:
    return Derivations()


def pin(id_: str, version: int = 1, **planes: int) -> dict[str, Any]:
    return {"id": id_, "version": version, **({"planes": planes} if planes else {})}


CURRENT: tuple[str, list[str]] = ("current", [])
RETRACT, CORRECT = (
    'TRANSITION "A-1" TO "retracted"',
    """MUTATE {
      CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "one, read right"} }
      TRANSITION "E-1" TO "corrected" BY ?e
    }""",
)
STRENGTHENED, RENAMED = (
    'UPDATE "C-1" SET FACET "MnemonicState" {salience: 0.9}',
    'UPDATE "C-1" SET FIELDS {name: "Anna"}',
)
PINS = [
    # the groups of a basis, what happens then, the validity that follows
    ([("all_of", [pin("A-1")])], None, CURRENT),
    ([("all_of", [pin("A-1")])], RETRACT, ("needs_review", ["root_retracted", "changed_pin"])),
    ([("all_of", [pin("A-1"), pin("A-2")])], RETRACT, ("needs_review", ["root_retracted", "changed_pin"])),
    ([("any_of", [pin("A-1"), pin("A-2")])], RETRACT, CURRENT),
    ([("any_of", [pin("A-1")])], RETRACT, ("needs_review", ["root_retracted", "changed_pin", "alternatives_lost"])),
    ([("all_of", [pin("A-2")]), ("context", [pin("A-1")])], RETRACT, CURRENT),
    ([("all_of", [pin("E-1")])], CORRECT, ("needs_review", ["root_corrected", "changed_pin"])),
    ([("all_of", [pin("E-2")])], 'PURGE PAYLOAD "E-2" CONFIRM "PURGE"', ("needs_review", ["changed_pin"])),
    ([("all_of", [pin("C-1", attributes=1)])], STRENGTHENED, CURRENT),
    ([("all_of", [pin("C-1")])], STRENGTHENED, ("needs_review", ["changed_pin"])),
    ([("all_of", [pin("C-1", attributes=1)])], RENAMED, ("needs_review", ["changed_pin"])),
    ([("all_of", [pin("A-1")])], 'TRANSITION "A-1" TO "archived"', ("needs_review", ["root_archived", "changed_pin"])),
]


@pytest.mark.parametrize(("groups", "happens", "expected"), PINS)
def test_pins_and_groups(derivations: Derivations, groups: Any, happens: str | None, expected: Any) -> None:
    claim = derivations.conclude(groups=groups)
    assert derivations.validity(claim) == CURRENT
    before = derivations.nexus.space_seq
    assert derivations.status() == "accepted"
    if happens is not None:
        derivations.nexus.execute(happens)
    assert derivations.validity(claim) == expected
    assert derivations.status() == ("accepted" if expected == CURRENT else "uncertain")
    assert derivations.validity(claim, f"AS OF SEQ {before}") == CURRENT


def test_a_prerequisite_that_is_over_expires_the_derivation_in_its_time_only(derivations: Derivations) -> None:
    claim = derivations.conclude(groups=[("all_of", [pin("A-2")])])
    text = "FIND(?a._system.dependency_validity) WHERE { ?a ASSERTION {id: :id} } FOR TIME :at"
    july = derivations.nexus.query(text, {"id": claim, "at": JULY}).scalar()
    october = derivations.nexus.query(text, {"id": claim, "at": OCTOBER}).scalar()
    assert (july["status"], july["action_eligible"], july["reasons"]) == ("current", True, [])
    assert july["basis"]["valid_at"] == JULY
    assert july["basis"]["next_invalid_at"] == "2026-09-01T00:00:00.000Z"
    assert (october["status"], october["action_eligible"]) == ("needs_review", False)
    assert october["reasons"] == ["expired_prerequisite"]


def test_validity_is_recursive_and_a_circle_proves_nothing(derivations: Derivations) -> None:
    first = derivations.conclude(groups=[("all_of", [pin("A-1")])])
    second = derivations.conclude(groups=[("all_of", [pin(first)])], what="C-3")
    assert derivations.validity(second) == CURRENT
    derivations.nexus.execute(RETRACT)
    assert derivations.validity(second) == ("needs_review", ["root_retracted", "changed_pin"])
    bare = derivations.nexus.execute('ASSERT ?d ("C-1", "likes", "C-1") {by: "C-2", mode: "inferred"}').handles["d"]
    third = derivations.conclude(groups=[("all_of", [pin(bare)])], what="C-2")
    assert derivations.validity(bare) == ("unverifiable", ["missing_dependency_basis"])
    assert derivations.validity(third) == ("unverifiable", ["missing_dependency_basis"])


def test_what_is_derived_from_nothing_has_no_validity(derivations: Derivations) -> None:
    nexus = derivations.nexus
    read = "FIND(?x._system.dependency_validity) WHERE { ?x %s }"
    for pattern, many in (("ASSERTION {}", 2), ("CONCEPT {}", 4), ("EVIDENCE {}", 2), ("PROPOSITION (?s, ?p, ?o)", 2)):
        assert nexus.query(read % pattern).rows == [None] * many
    assert nexus.query("FIND(?a._system) WHERE { ?a ASSERTION {} } LIMIT 1").scalar().get("dependency_validity") is None
    assert nexus.query('FIND(?b._system.dependency_validity) WHERE { ?b BELIEF ("C-1", "likes", "C-3") }').one() is None


def test_a_derived_concept_has_one_too(derivations: Derivations) -> None:
    """An artifact that an Activity made from something, without a basis, is never current (§57.6)."""
    nexus = derivations.nexus
    made = nexus.execute(
        """MUTATE {
          CREATE CONCEPT ?i { TYPE "Insight" SET ATTRIBUTES {insight_class: "pattern", summary: "she stays"} }
          CREATE ACTIVITY ?x {
            SET FIELDS {activity_class: "semantic_consolidation", status: "completed"}
            SET STRUCTURAL { ("inputs", "A-1") ("outputs", ?i) } }
        }"""
    ).handles["i"]
    text = "FIND(?i._system.dependency_validity.status) WHERE { ?i CONCEPT {id: :id} }"
    assert nexus.query(text, {"id": made}).scalar() == "unverifiable"


def test_the_field_filters_sorts_and_matches(derivations: Derivations) -> None:
    nexus = derivations.nexus
    good = derivations.conclude(groups=[("all_of", [pin("A-2")])])
    bad = derivations.conclude(groups=[("all_of", [pin("A-1")])], what="C-3")
    nexus.execute(RETRACT)
    filtered = """FIND(?a.id) WHERE { ?a ASSERTION {mode: "inferred"}
    FILTER(?a._system.dependency_validity.status == "needs_review") }"""
    matched = 'FIND(?a.id) WHERE { ?a ASSERTION {_system: {dependency_validity: {status: "needs_review"}}} }'
    eligible = "FIND(?a.id) WHERE { ?a ASSERTION {} FILTER(?a._system.dependency_validity.action_eligible) }"
    for _ in range(2):  # closures, then generated source
        assert nexus.query(filtered).rows == nexus.query(matched).rows == [bad]
        assert nexus.query(eligible).rows == [good]
    ordered = """FIND(?a.id, ?a._system.dependency_validity.status) WHERE { ?a ASSERTION {mode: "inferred"} }
    ORDER BY ?a._system.dependency_validity.status DESC"""
    assert nexus.query(ordered).rows == [(bad, "needs_review"), (good, "current")]
    assert "_system.dependency_validity.status" in nexus.explain(filtered)
    with pytest.raises(KipError) as caught:
        nexus.execute(f'UPDATE "{good}" SET FIELDS {{_system: {{dependency_validity: "current"}}}}')
    assert caught.value.category in ("syntax", "governance", "schema", "epistemic")


# --- selections ---------------------------------------------------------------------------------------


def test_a_selection_is_made_again_at_every_read(derivations: Derivations) -> None:
    home = derivations.nexus.capture(HOME, expectation="accepted")
    assert (home["kind"], home["expectation"], home["authorization_view"]) == ("slot", "accepted", "full")
    claim = derivations.conclude(queries=[home])
    assert derivations.validity(claim) == CURRENT
    before = derivations.nexus.space_seq
    derivations.nexus.execute(MOVED)
    assert derivations.validity(claim) == ("needs_review", ["selection_changed"])
    assert derivations.status() == "uncertain"
    assert derivations.validity(claim, f"AS OF SEQ {before}") == CURRENT
    # The world before the move is selected as it was (§57.7: re-evaluation at the read basis at hand).
    assert derivations.validity(claim, 'FOR TIME "2026-04-01T00:00:00.000Z"') == CURRENT


def test_what_leaves_a_selection_as_it_was_leaves_the_derivation(derivations: Derivations) -> None:
    claim = derivations.conclude(queries=[derivations.nexus.capture(HOME)])
    nexus = derivations.nexus
    nexus.execute('ASSERT ("C-1", "lives_in", "C-3") {by: "C-2", mode: "stated", at: "2026-05-01T00:00:00.000Z"}')
    nexus.execute('CREATE CONCEPT ?p { TYPE "Person" NAME "Cid" }')
    assert derivations.validity(claim) == CURRENT


def test_a_new_opponent_and_a_new_blocker_are_seen_before_any_maintenance(derivations: Derivations) -> None:
    nexus = derivations.nexus
    blockers = nexus.capture('FIND(?p) WHERE { ?p (?s, "member_of", ?o) }', expectation="empty")
    home = nexus.capture('FIND(?b.status) WHERE { ?b BELIEF ("C-1", "lives_in", "C-3") }', expectation="accepted")
    assert (blockers["kind"], home["kind"]) == ("query", "belief")
    free = derivations.conclude(queries=[blockers])
    at_home = derivations.conclude(queries=[home], what="C-3")
    nexus.execute('ASSERT ("C-1", "lives_in", "C-3") {by: "C-2", mode: "observed", stance: "reject"}')
    assert derivations.validity(at_home) == ("needs_review", ["selection_changed", "expectation_failed"])
    assert derivations.validity(free) == CURRENT
    nexus.execute('ASSERT ("C-1", "member_of", "C-3") {by: "C-2", mode: "stated"}')
    assert derivations.validity(free) == ("needs_review", ["selection_changed", "expectation_failed"])


def test_time_alone_can_change_a_selection_and_the_basis_says_when(derivations: Derivations) -> None:
    likes = 'FIND(?b.status) WHERE { ?b BELIEF ("C-1", "likes", "C-3") }'
    claim = derivations.conclude(queries=[derivations.nexus.capture(likes, expectation="accepted")])
    text = "FIND(?a._system.dependency_validity) WHERE { ?a ASSERTION {id: :id} } FOR TIME :at"
    now = derivations.nexus.query(text, {"id": claim, "at": JULY}).scalar()
    assert (now["status"], now["basis"]["next_invalid_at"]) == ("current", "2026-09-01T00:00:00.000Z")
    assert derivations.nexus.query(text, {"id": claim, "at": OCTOBER}).scalar()["status"] == "needs_review"
    derived = 'FIND(?b.basis.next_invalid_at) WHERE { ?b BELIEF ("C-1", "likes", "C-4") } FOR TIME :at'
    assert derivations.nexus.query(derived, {"at": JULY}).scalar() == "2026-09-01T00:00:00.000Z"


def test_a_selection_that_leads_to_itself_ends_and_proves_nothing(derivations: Derivations) -> None:
    """The conclusion is about what it was concluded from; it does not count towards its own premise."""
    nexus = derivations.nexus
    what = 'FIND(?o, ?b.status) WHERE { ?b BELIEF ("C-1", "likes", ?o) }'
    captured = nexus.capture(what)
    claim = derivations.conclude(queries=[captured], what="C-3")
    # Another voice for what was accepted already: the judgement is the same.
    assert derivations.validity(claim) == CURRENT
    other = derivations.conclude(queries=[nexus.capture(what)], what="C-4")
    # A value that nobody had claimed: the selection is another one by now.
    assert derivations.validity(claim) == ("needs_review", ["selection_changed"])
    assert derivations.validity(other) == ("needs_review", ["selection_changed"])


BROKEN = [
    {"selector": {"artifact_ref": "E-99", "content_digest": "sha256:" + "0" * 64}},
    {"selector": {"artifact_ref": "E-1", "content_digest": "sha256:" + "0" * 64}},
    {"kind": "query"},
    {"authorization_view": "restricted:elsewhere"},
]


@pytest.mark.parametrize("change", BROKEN[:3])
def test_a_proof_that_can_not_be_made_is_unverifiable(derivations: Derivations, change: dict[str, Any]) -> None:
    claim = derivations.conclude(queries=[{**derivations.nexus.capture(HOME), **change}])
    assert derivations.validity(claim) == ("unverifiable", ["selection_unverifiable"])
    assert derivations.status() == "uncertain"


NO_SELECTORS: list[Any] = [
    "FIND",
    {"query": 7},
    {"query": "FIND(?c) WHERE {"},
    {"query": 'CREATE CONCEPT ?a { TYPE "Person" }'},
    {"query": "LIST TYPES"},
    {"query": "FIND(?c) WHERE { ?c CONCEPT {} } LIMIT 1"},
    {"query": "FIND(?c) WHERE { ?c {key: :who} }"},
    {"query": "FIND(?c) WHERE { ?c {key: :who} }", "parameters": ["ann"]},
    {"query": "FIND(?c) WHERE { ?c CONCEPT {} }", "basis": "yesterday"},
    {"query": "FIND(?c) WHERE { ?c CONCEPT {} }", "basis": {"policy": {"id": {}}, "context_refs": [1]}},
    {"query": 'FIND(?c) WHERE { ?c {type: "Nonsense"} }'},
    {"query": "FIND(?c) WHERE { " + "?c CONCEPT {} " * 20_000 + "}"},
]


@pytest.mark.parametrize("payload", NO_SELECTORS, ids=lambda payload: str(payload)[:40])
def test_evidence_that_is_no_selector_proves_nothing_and_breaks_nothing(derivations: Derivations, payload: Any) -> None:
    nexus = derivations.nexus
    made = nexus.execute(
        'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "kipql:selector", payload: :payload} }',
        {"payload": {"mode": "inline", "inline": payload}},
    ).handles["e"]
    digest = nexus.query("FIND(?e.content_digest) WHERE { ?e EVIDENCE {id: :id} }", {"id": made}).scalar()
    query = {
        "kind": "query",
        "selector": {"artifact_ref": made, "content_digest": digest},
        "result_digest": digest_of([], ordered=False),
        "change_token": "token",
        "expectation": "snapshot",
        "authorization_view": "full",
    }
    claim = derivations.conclude(queries=[query])
    assert derivations.validity(claim) == ("unverifiable", ["selection_unverifiable"])


def test_another_result_digest_is_another_selection(derivations: Derivations) -> None:
    forged = {**derivations.nexus.capture(HOME), "result_digest": digest_of([["rejected", []]], ordered=False)}
    assert derivations.validity(derivations.conclude(queries=[forged])) == ("needs_review", ["selection_changed"])


def test_a_corrected_selector_proves_nothing(derivations: Derivations) -> None:
    home = derivations.nexus.capture(HOME)
    claim = derivations.conclude(queries=[home])
    derivations.nexus.execute(
        f"""MUTATE {{
          CREATE EVIDENCE ?e {{ SET FIELDS {{evidence_class: "document", payload: "no"}} }}
          TRANSITION "{home["selector"]["artifact_ref"]}" TO "corrected" BY ?e
        }}"""
    )
    assert derivations.validity(claim) == ("unverifiable", ["selection_unverifiable"])


@pytest.mark.parametrize(
    ("text", "expectation", "code"),
    [
        (HOME + " AS OF SEQ 1", "snapshot", "ConstraintViolation"),
        (HOME + " LIMIT 1", "snapshot", "ConstraintViolation"),
        (HOME, "empty", "PreconditionFailed"),
        (HOME.replace("C-1", "C-2"), "accepted", "PreconditionFailed"),
        ("FIND(?c) WHERE { ?c CONCEPT {} }", "accepted", "PreconditionFailed"),
        (HOME, "likely", "ConstraintViolation"),
        ("LIST TYPES", "snapshot", "ConstraintViolation"),
        ('CREATE CONCEPT ?a { TYPE "Person" }', "snapshot", "ReadonlyViolation"),
    ],
)
def test_what_can_not_be_relied_on_is_not_captured(
    derivations: Derivations, text: str, expectation: str, code: str
) -> None:
    before = derivations.nexus.space_seq
    with pytest.raises(KipError) as caught:
        derivations.nexus.capture(text, expectation=expectation)
    assert caught.value.code == code
    assert derivations.nexus.space_seq == before


def test_a_read_only_nexus_captures_nothing_and_checks_all_the_same(derivations: Derivations) -> None:
    claim = derivations.conclude(queries=[derivations.nexus.capture(HOME)])
    reading = derivations.nexus.readonly()
    with pytest.raises(KipError) as caught:
        reading.capture(HOME)
    assert caught.value.code == "ReadonlyViolation"
    before = derivations.nexus.digest()
    assert derivations.validity(claim, nexus=reading) == CURRENT
    assert derivations.nexus.digest() == before


def test_a_selection_is_charged_to_the_read_that_asks(derivations: Derivations) -> None:
    claim = derivations.conclude(
        queries=[derivations.nexus.capture("FIND(?x.id, ?y.id) WHERE { ?x CONCEPT {} ?y CONCEPT {} }")]
    )
    text = "FIND(?a._system.dependency_validity.status) WHERE { ?a ASSERTION {id: :id} }"
    assert derivations.nexus.query(text, {"id": claim}).scalar() == "current"
    with pytest.raises(KipError) as caught:
        derivations.nexus.query(text, {"id": claim}, limits=Limits(rows=15))
    assert caught.value.code == "ResourceExhausted"


# --- under the caller's view --------------------------------------------------------------------------


def test_a_caller_proves_only_what_it_may_read(derivations: Derivations) -> None:
    """A hidden source is unverifiable without a word about it (§57.6); so is a selection of another view (§57.7)."""
    nexus = derivations.nexus
    nexus.govern.labels("public", "secret")
    nexus.govern.classify("E-2", "secret")
    by_query = derivations.conclude(queries=[nexus.capture(HOME)])
    by_pin = derivations.conclude(groups=[("all_of", [pin("E-2", 2)])], what="C-3")
    nexus.govern.grant("carol", "discover", "read", "project", up_to="public")
    carol = nexus.as_principal("carol")
    assert derivations.validity(by_query, nexus=carol) == ("unverifiable", ["selection_unverifiable"])
    assert derivations.validity(by_pin, nexus=carol) == ("unverifiable", ["source_unavailable"])
    assert derivations.validity(by_query) == derivations.validity(by_pin) == CURRENT


def test_a_selection_of_beliefs_needs_the_permission_to_project(derivations: Derivations) -> None:
    nexus = derivations.nexus
    nexus.govern.grant("dora", "discover", "read", "search", "project", "create")
    captured = nexus.as_principal("dora").capture(HOME)
    claim = derivations.conclude(queries=[captured])
    dora = nexus.as_principal("dora")
    assert derivations.validity(claim, nexus=dora) == CURRENT
    nexus.govern.deny("dora", "project")
    assert derivations.validity(claim, nexus=dora)[0] == "unverifiable"
