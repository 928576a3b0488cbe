"""Scenarios of belief: conflicts, contexts, bases, the memory policy, scoped ASSERT, task scope."""

import pytest

from kipql import KipError
from tests.conformance.vectors.registry import observe
from tests.conformance.vectors.scene import DAY, STATED, Scene, refused, scene


def statuses(given: Scene, subject: str, predicate: str, values: list[object], **epistemic: object) -> list[str]:
    return [given.belief(subject, predicate, value, **epistemic)["status"] for value in values]


def test_mem_001_a_grounded_belief_never_hides_a_conflict_of_its_slot() -> None:
    given = scene()
    alice, bob, carol = (given.ids[name] for name in ("alice", "bob", "carol"))
    dark, light = given.ids["dark_mode"], given.ids["light_mode"]
    given.say(alice, "test/timezone", "+08:00", DAY("01-02"))
    given.say(bob, "test/timezone", "+09:00", DAY("01-03"), s=alice)
    given.say(alice, "test/prefers", light, DAY("01-04"))
    given.do(
        'ASSERT (:carol, "test/is_vegetarian", true) {by: :carol, mode: "stated", stance: "reject", at: :at}',
        at=DAY("01-04"),
    )
    before, head = given.nexus.digest(), given.nexus.space_seq

    zones = ["+08:00", "+09:00"]
    grounded = [given.belief(alice, "test/timezone", zone) for zone in zones]
    by_id = [given.ask("FIND(?b) WHERE { ?b BELIEF (id: :p) }", p=each["proposition_id"]) for each in grounded]
    slot = given.slot(alice, "test/timezone")
    assert [each["candidate_status"] for each in (*grounded, *by_id)] == ["accepted"] * 4
    assert [each["status"] for each in by_id] == ["contested"] * 2
    assert slot["accepted_values"] == []

    assert given.slot(alice, "test/prefers")["accepted_values"] == [{"id": dark}, {"id": light}]
    assert statuses(given, carol, "test/is_vegetarian", [True, False]) == ["rejected", "insufficient"]
    observe(
        "MEM-001",
        candidate_statuses=[each["status"] for each in grounded],
        slot_status=slot["status"],
        unchanged=(given.nexus.digest(), given.nexus.space_seq) == (before, head),
    )

    # One value of a predicate that is not functional is disputed; the others are not.
    given.do(
        'ASSERT (:alice, "test/prefers", :dark_mode) {by: :bob, mode: "stated", stance: "reject", at: :at}',
        at=DAY("01-05"),
    )
    assert statuses(given, alice, "test/prefers", [dark, light]) == ["contested", "accepted"]


def test_mem_007_an_answer_is_of_its_whole_basis_context_and_instant() -> None:
    given = scene(now=DAY("09-06"))
    alice, acme = given.ids["alice"], given.ids["org_acme"]
    contexts = given.do(
        'MUTATE { CREATE CONCEPT ?work { TYPE "test/Project" NAME "Work" } '
        'CREATE CONCEPT ?travel { TYPE "test/Project" NAME "Travel" } '
        'CREATE CONCEPT ?corp { TYPE "test/Organization" NAME "Corp" } }'
    )
    work, travel = [contexts["work"]], [contexts["travel"]]
    scoped = ", context: :context"
    given.say(alice, "test/timezone", "+08:00", DAY("01-02"), scoped, context=work)
    given.say(alice, "test/timezone", "+01:00", DAY("01-02"), scoped, context=travel)
    empty = given.slot(alice, "test/timezone")["accepted_values"]
    assert given.slot(alice, "test/timezone", context_refs=work)["accepted_values"] == ["+08:00"]
    assert given.slot(alice, "test/timezone", context_refs=travel)["accepted_values"] == ["+01:00"]
    # What is said in general counts in every context: she works for Acme anywhere, for Corp at work.
    given.say(alice, "test/works_for", contexts["corp"], DAY("01-02"), scoped, context=work)
    general, at_work = {"id": acme}, {"id": contexts["corp"]}
    assert given.slot(alice, "test/works_for", context_refs=work)["accepted_values"] == [general, at_work]
    assert given.slot(alice, "test/works_for", context_refs=travel)["accepted_values"] == [general]

    # At the instant that ends one interval and begins the next, exactly the next holds.
    turn = DAY("03-01")
    bob = given.ids["bob"]
    for value, valid in (("old", {"from": DAY("01-01"), "until": turn}), ("new", {"from": turn})):
        given.say(bob, "test/timezone", value, DAY("03-02"), ", valid: :valid", valid=valid)
    boundary = given.slot(bob, "test/timezone", turn)["accepted_values"]
    for valid in (
        {"from": turn, "until": turn},
        {"from": turn, "until": DAY("02-01")},
        {"from": "2026-03-01T00:00:00"},
    ):
        text = STATED.format(predicate="test/timezone", more=", valid: :valid")
        assert given.refused(text, s=bob, by=bob, o="x", at=turn, valid=valid) in (
            "ConstraintViolation",
            "InvalidTimestamp",
        )

    reused, writes = _reused_bases(given, alice, work)
    observe(
        "MEM-007",
        boundary_values=boundary,
        empty_context_values=empty,
        basis_mutations_reused=reused,
        read_mutations=writes,
    )


def _reused_bases(given: Scene, who: str, work: list[str]) -> tuple[int, int]:
    """Change each coordinate of a basis alone; how many bases stayed the same, and how many reads wrote."""

    def basis(at: str | None = DAY("05-01"), as_: str | None = None, **epistemic: object) -> dict[str, object]:
        seen = given.as_(as_) if as_ else given
        found: dict[str, object] = seen.slot(who, "test/timezone", at, **epistemic)["basis"]
        return found

    before = given.nexus.digest()
    plain = basis()
    assert basis() == plain
    asked = {
        "policy": basis(policy="kip:policy:structural"),
        "context_refs": basis(context_refs=work),
        "purpose": basis(purpose="plan_travel"),
        "risk": basis(risk="high"),
        "valid_at": basis(DAY("05-02")),
    }
    writes = int(given.nexus.digest() != before)
    given.nexus.execute('DEFINE PREDICATE "resides_in" { description: "Where the subject lives." }')
    asked["schema_environment_version"] = defined = basis()
    given.nexus.govern.trust.set(who, 0.4)
    asked["trust_version"] = trusted = basis()
    assert trusted["trust_version"] != defined["trust_version"]
    other = given.do('CREATE CONCEPT ?c { TYPE "test/Person" NAME "Al" }')["c"]
    asked["snapshot_seq"] = basis()
    given.do("MERGE CONCEPT :other INTO :bob", other=other)
    asked["identity_version"] = basis()
    given.nexus.govern.labels("public", "secret")
    given.nexus.govern.classify(given.ids["carol"], "secret")
    given.nexus.govern.grant("reader", "discover", "read", "project", up_to="public")
    asked["authorization_view"] = basis(as_="reader")
    for coordinate, found in asked.items():
        assert found[coordinate] != plain[coordinate], coordinate
    return sum(found == plain for found in asked.values()), writes


def test_mem_007_the_past_is_believed_by_its_own_policy_and_trust() -> None:
    given = scene(now=DAY("09-06"))
    alice = given.ids["alice"]
    weights = {"accept_at": 0.6, "reject_at": 0.5, "default_trust": 0.9, "unstated": 1.0}
    policy = {"policy_id": "vectors:careful", "version": "1", "method": {"score_model": "weighted"}, "weights": weights}
    before = given.nexus.space_seq
    given.nexus.install_policy(policy)
    given.say(alice, "test/timezone", "+08:00", DAY("01-02"))
    trusted = given.nexus.space_seq
    given.nexus.govern.trust.set(alice, 0.1)
    text = """FIND(?b.status) WHERE {{ ?b BELIEF (:alice, "test/timezone", "+08:00") }} {}
    WITH EPISTEMIC {{policy: "vectors:careful"}}"""
    assert given.ask(text.format("")) == "uncertain"
    assert given.ask(text.format(f"AS OF SEQ {trusted}")) == "accepted"
    error = refused(given.ask, text.format(f"AS OF SEQ {before}"))
    assert error.code == "ProjectionPolicyUnavailable"


MEMORY_POLICY = {"policy": "kip:memory-default"}


STRUCTURAL = {"policy": "kip:policy:structural"}


def test_mem_029_the_memory_policy_settles_by_scope_and_by_ones_own_word_only() -> None:
    given = scene(now=DAY("09-06"))
    alice, bob, task = (given.ids[name] for name in ("alice", "bob", "project_alpha"))
    given.say(alice, "test/timezone", "spaces", DAY("01-02"))
    given.say(alice, "test/timezone", "tabs", DAY("01-02"), ", context: :context", context=[task])
    here = {"context_refs": [task]}
    settled = given.slot(alice, "test/timezone", **MEMORY_POLICY, **here)
    structural = given.slot(alice, "test/timezone", **STRUCTURAL, **here)
    loser = given.belief(alice, "test/timezone", "spaces", **MEMORY_POLICY, **here)

    # Bob speaks of himself, Alice of him: his word prevails, but not over what was observed.
    given.say(bob, "test/timezone", "+01:00", DAY("01-02"))
    given.say(alice, "test/timezone", "+02:00", DAY("01-02"), s=bob)
    assert given.slot(bob, "test/timezone", **MEMORY_POLICY)["accepted_values"] == ["+01:00"]
    assert given.slot(bob, "test/timezone", **STRUCTURAL)["status"] == "contested"
    carol = given.ids["carol"]
    given.say(carol, "test/timezone", "+01:00", DAY("01-02"))
    given.do('ASSERT (:carol, "test/timezone", "+02:00") {by: :self_agent, mode: "observed", at: :at}', at=DAY("01-02"))
    (reason,) = loser["uncertainty"]["reasons"]
    observe(
        "MEM-029",
        specificity_accepted=settled["accepted_values"],
        outranked_reason=reason,
        structural_slot_status=structural["status"],
        observation_conflict_status=given.slot(carol, "test/timezone", **MEMORY_POLICY)["status"],
        stored_lifecycle_changes=sum(status != "active" for status in given.statuses()),
    )


SHORT = """ASSERT ?new (:alice, "test/timezone", "+01:00") {{
  by: :alice, mode: "stated", stance: "support", confidence: 0.75, at: :at, valid: :valid, evidence: :e_alice_msg{}
}} SUPERSEDING :old"""


LONG = """MUTATE {{
  ENSURE PROPOSITION ?p (:alice, "test/timezone", "+01:00")
  CREATE ASSERTION ?new {{
    SET FIELDS {{proposition: ?p, asserted_by: :alice, mode: "stated", stance: "support", confidence: 0.75,
      asserted_at: :at, valid_time: :valid{}}}
    SET STRUCTURAL {{ ("evidence", :e_alice_msg) {{role: "support"}} }}
  }}
  TRANSITION :old TO "superseded" BY ?new
}}"""


@pytest.mark.parametrize("scoped", [True, False], ids=["scoped", "general"])
def test_rel_014_a_scoped_assert_is_what_it_stands_for(scoped: bool) -> None:
    worlds = []
    for text, member in ((SHORT, "context"), (LONG, "context_refs")):
        given = scene(now=DAY("09-06"))
        task = given.ids["project_alpha"]
        context = [task] if scoped else []
        old = given.say(given.ids["alice"], "test/timezone", "+08:00", DAY("01-02"), ", context: :c", c=context)
        count = given.nexus.stats()["elements"]
        given_context = f", {member}: [:project_alpha]" if scoped else ""
        new = given.do(text.format(given_context), at=DAY("03-01"), valid={"from": DAY("03-01")}, old=old)["new"]
        worlds.append((given, new, count))
    (short, first, before), (long, second, _) = worlds
    bodies = [short.content(first), long.content(second)]
    made = {kind: now - before[kind] for kind, now in short.nexus.stats()["elements"].items() if now != before[kind]}
    refs = bodies[0]["context_refs"]
    assert refs == ([{"id": task}] if scoped else [])
    accepted = [
        given.slot(given.ids["alice"], "test/timezone", context_refs=[task] if asked else [])["accepted_values"]
        for given in (short, long)
        for asked in (True, False)
    ]
    assert accepted == ([["+01:00"], [], ["+01:00"], []] if scoped else [["+01:00"]] * 4)
    assert bodies[0]["evidence"] == [{"id": short.ids["e_alice_msg"], "role": "support"}]
    observe(
        "REL-014",
        desugared_state_equal=bodies[0] == bodies[1] and short.nexus.digest() == long.nexus.digest(),
        scope_preserved=bodies[0]["context_refs"] == bodies[1]["context_refs"] == refs,
        extra_elements=sum(made.values()) - 2,  # the Proposition and the Assertion
    )


def test_mif_020_unknown_is_not_no() -> None:
    given = scene("core-basic")
    alice = given.ids["alice"]
    never = given.belief(alice, "test/is_vegetarian", True)
    assert never["proposition_id"] is None
    given.do('ASSERT (:alice, "test/is_vegetarian", true) {by: :alice, mode: "stated", stance: "reject"}')
    before = given.nexus.digest()
    said = given.belief(alice, "test/is_vegetarian", True)
    observe(
        "MIF-020",
        never_observed_status=never["status"],
        stated_rejection_status=said["status"],
        recall_writes=int(given.nexus.digest() != before),
    )


def test_rel_009_what_one_task_forms_stays_in_its_scope() -> None:
    given = scene(now=DAY("09-06"))
    alice = given.ids["alice"]
    tasks = given.do(
        'MUTATE { CREATE CONCEPT ?A { TYPE "test/Project" NAME "A" } '
        'CREATE CONCEPT ?B { TYPE "test/Project" NAME "B" } }'
    )
    for task, value in (("A", "dark"), ("B", "light")):
        given.do(
            """MUTATE {
              CREATE EVIDENCE ?said { SET FIELDS {evidence_class: "message", payload: :value}
                SET FACET "mem/MemoryScope" {task_ref: :task, context_refs: [:task]} }
              ASSERT ?claim (:alice, "test/timezone", :value) {
                by: :alice, mode: "stated", at: :at, evidence: ?said, context: [:task] }
              CREATE CONCEPT ?event { TYPE "mem/Event" SET ATTRIBUTES {summary: :value}
                SET FACET "mem/MemoryScope" {task_ref: :task, context_refs: [:task]} }
              CREATE CONCEPT ?owed { TYPE "mem/Commitment" SET ATTRIBUTES {summary: :value, status: "pending"}
                SET FACET "mem/MemoryScope" {task_ref: :task, context_refs: [:task]} }
            }""",
            value=value,
            task=tasks[task],
            at=DAY("02-01"),
        )
    before = given.nexus.digest()
    recalled = {}
    for task, id_ in tasks.items():
        (value,) = given.slot(alice, "test/timezone", context_refs=[id_])["accepted_values"]
        scope = '{facets: {"mem/MemoryScope": {task_ref: :task}}}'
        summaries = [
            *given.rows(f"FIND(?c.attributes.summary) WHERE {{ ?c CONCEPT {scope} }}", task=id_),
            *given.rows(f"FIND(?e.payload.inline) WHERE {{ ?e EVIDENCE {scope} }}", task=id_),
        ]
        assert summaries == [value] * 3
        recalled[task] = {"dark": "A", "light": "B"}[value]
    everywhere = given.slot(alice, "test/timezone")
    observe(
        "REL-009",
        task_A_context=recalled["A"],
        task_B_context=recalled["B"],
        implicit_global_preference=bool(everywhere["accepted_values"]),
        recall_scope_writes=int(given.nexus.digest() != before),
    )
    # What holds for both is a claim of its own, derived and without a scope.
    given.say(alice, "test/timezone", "dark", DAY("03-01"))
    assert given.slot(alice, "test/timezone")["accepted_values"] == ["dark"]


def test_a_claim_of_a_type_that_two_packages_define_is_ambiguous() -> None:
    with pytest.raises(KipError) as caught:
        scene().nexus.execute('CREATE CONCEPT ?x { TYPE "Person" }')
    assert caught.value.code == "SchemaSymbolAmbiguous"
