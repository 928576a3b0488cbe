"""Scenarios of derivation: what rests on what, whether it still stands, and who may see that it does."""

from typing import Any

from tests.conformance.vectors.learning import behavior, members
from tests.conformance.vectors.registry import observe
from tests.conformance.vectors.scene import DAY, Scene, scene

BASIS = 'SET FACET "mem/DependencyBasis" {basis_seq: :seq, policy_basis: :basis, groups: :groups}'


def derive(
    given: Scene, activity_class: str, creation: str, inputs: list[str], groups: Any, **more: Any
) -> dict[str, str]:
    """Something made by an Activity under a basis; `?d` in `creation` is what is put out."""
    queries = ", queries: :queries" if "queries" in more else ""
    listed = " ".join(f'("inputs", "{each}")' for each in inputs)
    return given.do(
        f"""MUTATE {{
          {creation}
          CREATE ACTIVITY ?x {{
            SET FIELDS {{activity_class: "{activity_class}", status: "completed"}}
            {BASIS.replace("}", queries + "}")}
            SET STRUCTURAL {{ {listed} ("outputs", ?d) }} }}
        }}""",
        **{"seq": given.nexus.space_seq, "basis": basis(given), "groups": groups, **more},
    )


def basis(given: Scene) -> dict[str, Any]:
    found: dict[str, Any] = given.slot(given.ids["alice"], "test/timezone")["basis"]
    return found


def all_of(*pins: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "all_of", "pins": [*pins]}]


def pin(given: Scene, id_: str, **planes: int) -> dict[str, Any]:
    version = given.element(id_)["_system"]["version"]
    return {"id": id_, "version": version, **({"planes": planes} if planes else {})}


def validity(given: Scene, id_: str, at: str | None = None) -> dict[str, Any]:
    kind = "ASSERTION" if id_[0] == "A" else "CONCEPT"
    text = f"FIND(?x._system.dependency_validity) WHERE {{ ?x {kind} {{id: :id}} }}"
    found: dict[str, Any] = given.ask(text + (" FOR TIME :at" if at else ""), id=id_, at=at)
    return found


INFERRED = 'ASSERT ?d (:bob, "test/timezone", "+08:00") {by: :self_agent, mode: "inferred", at: :at}'


def derived(given: Scene) -> dict[str, str]:
    """An inferred Assertion, a SkillRevision, an Insight and a WorkingState that rest on what Alice said."""
    root = pin(given, given.ids["a_alice_prefers"])
    inputs = [root["id"]]
    content = behavior()
    skill = f"""CREATE CONCEPT ?s {{ TYPE "mem/Skill"
        SET ATTRIBUTES {{skill_class: "workflow", summary: "s", status: "proposed"}}
        SET STRUCTURAL {{ ("mem/current_revision", ?d) }} }}
      CREATE CONCEPT ?d {{ TYPE "mem/SkillRevision" SET ATTRIBUTES {members(content)}
        SET STRUCTURAL {{ ("mem/revision_of", ?s) }} }}"""
    concept = 'CREATE CONCEPT ?d {{ TYPE "mem/{}" SET ATTRIBUTES {{{}}} }}'
    state = concept.format("WorkingState", 'summary: "s", basis_seq: 1')
    made = {
        "claim": derive(given, "inference", INFERRED, inputs, all_of(root), at=DAY("01-02")),
        "revision": derive(given, "skill_compilation", skill, inputs, all_of(root), **content),
        "insight": derive(
            given, "semantic_consolidation", concept.format("Insight", 'summary: "s"'), inputs, all_of(root)
        ),
        "state": derive(given, "working_state_refresh", state, inputs, all_of(root)),
    }
    return {name: handles["d"] for name, handles in made.items()}


def test_mem_006_what_rested_on_a_corrected_root_is_not_acted_on_and_not_rewritten() -> None:
    given = scene(now=DAY("09-06"))
    made = derived(given)
    other = given.do(
        'ASSERT ?a (:carol, "test/prefers", :light_mode) {by: :carol, mode: "stated", at: :at}', at=DAY("01-02")
    )["a"]
    either = [{"role": "any_of", "pins": [pin(given, given.ids["a_alice_prefers"]), pin(given, other)]}]
    spared = derive(
        given, "semantic_consolidation", 'CREATE CONCEPT ?d { TYPE "mem/Insight" SET ATTRIBUTES {summary: "either"} }',
        [given.ids["a_alice_prefers"], other], either,
    )["d"]  # fmt: skip
    bare = given.do(INFERRED.replace("?d", "?a").replace("+08:00", "+02:00"), at=DAY("01-02"))["a"]
    assert all(validity(given, id_)["status"] == "current" for id_ in made.values())
    assert given.belief(given.ids["bob"], "test/timezone", "+08:00")["status"] == "accepted"
    assert validity(given, bare)["status"] == "unverifiable"

    payloads = {id_: given.element(id_) for id_ in made.values()}
    given.do('TRANSITION :a TO "retracted"', a=given.ids["a_alice_prefers"])
    now = {name: validity(given, id_) for name, id_ in made.items()}
    assert given.belief(given.ids["bob"], "test/timezone", "+08:00")["status"] == "uncertain"
    assert validity(given, spared)["status"] == "current"

    # A review goes through every page, and a page that is not the last says so.
    whole = [row["id"] for row in given.rows("LIST DEPENDENTS :id DEPTH 9", id=given.ids["a_alice_prefers"])]
    first = given.nexus.query("LIST DEPENDENTS :id DEPTH 9 LIMIT 2", {"id": given.ids["a_alice_prefers"]})
    assert first.truncated and first.next_cursor and set(whole) >= set(made.values())
    _hidden(given, made["insight"], other)
    observe(
        "MEM-006",
        dependency_status=_one({each["status"] for each in now.values()}),
        action_eligible=_one({each["action_eligible"] for each in now.values()}),
        derived_payload_unchanged={id_: given.element(id_) for id_ in made.values()} == payloads,
        review_flag_unchanged=not any("DerivationState" in str(given.element(id_)) for id_ in made.values()),
    )


def _one(found: set[Any]) -> Any:
    (value,) = found
    return value


def _hidden(given: Scene, insight: str, visible: str) -> None:
    """A caller who may not see what something rests on learns that it can not be checked, and no more."""
    govern = given.nexus.govern
    govern.labels("public", "secret")
    secret = given.do('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "secret"} }')["e"]
    resting = derive(
        given, "semantic_consolidation", 'CREATE CONCEPT ?d { TYPE "mem/Insight" SET ATTRIBUTES {summary: "hidden"} }',
        [secret, visible], all_of(pin(given, secret), pin(given, visible)),
    )["d"]  # fmt: skip
    govern.classify(secret, "secret")
    govern.classify(resting, "public")
    govern.grant("reader", "discover", "read", "project", up_to="public")
    seen = validity(given.as_("reader"), resting)
    assert (seen["status"], seen["action_eligible"]) == ("unverifiable", False)
    assert secret not in str(seen) and secret not in str(given.as_("reader").element(resting))


def test_mem_017_a_working_state_is_a_view_that_says_how_far_it_has_read() -> None:
    given = scene(now=DAY("09-06"))
    root = given.ids["a_alice_prefers"]
    made = derive(
        given, "working_state_refresh",
        'CREATE CONCEPT ?d { TYPE "mem/WorkingState" SET ATTRIBUTES {summary: "she likes it dark", basis_seq: :seq} }',
        [root], all_of(pin(given, root)),
    )["d"]  # fmt: skip
    state = given.element(made)
    assert state["kind"] == "concept"
    cited = 'ASSERT (:alice, "test/prefers", :light_mode) {by: :alice, mode: "stated", evidence: :state}'
    assert given.refused(cited, state=made) in ("ConstraintViolation", "TypeMismatch")
    before = given.belief(given.ids["alice"], "test/prefers", given.ids["dark_mode"])

    # Waking up: the deltas since its basis, page by page, up to a watermark.
    watermark = state["attributes"]["basis_seq"]
    for name in ("one", "two", "three"):
        given.do('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: :p} }', p=name)
    given.do('TRANSITION :a TO "retracted"', a=root)
    page = given.nexus.query(f"CHANGES AFTER SEQ {watermark} LIMIT 2")
    incomplete = page.truncated and page.next_cursor is not None
    seen = [row["space_seq"] for row in page.rows]
    while page.next_cursor:
        page = given.nexus.query("CHANGES SINCE :c LIMIT 2", {"c": page.next_cursor})
        seen += [row["space_seq"] for row in page.rows]
    assert seen == list(range(watermark + 1, given.nexus.space_seq + 1))
    disclosed = validity(given, made)
    # What it says overrides nothing: the claim is withdrawn, whatever the summary remembers.
    assert before["status"] == "accepted"
    assert given.belief(given.ids["alice"], "test/prefers", given.ids["dark_mode"])["status"] == "insufficient"
    observe(
        "MEM-017",
        incomplete_wake_disclosed=incomplete
        and (disclosed["status"], disclosed["action_eligible"]) == ("needs_review", False),
        working_state_evidence=made in str(before["support"])
        or given.rows("FIND(?e) WHERE { ?e EVIDENCE {id: :id} }", id=made) != [],
    )


HEALTHY = """FIND(?b.status) WHERE { ?b BELIEF (:api, "kip://test/core-domain@1.0.0/service_healthy", true) }"""
BLOCKERS = """FIND(?c.id) WHERE { ?c CONCEPT {type: "kip://profiles/cognitive-memory@2.0.0/Commitment",
  attributes: {status: "blocked"}} }"""
RECOMMENDED = """ASSERT ?d (:project_alpha, "test/project_status", :status_active) {
  by: :self_agent, mode: "inferred", at: :at}"""


def recommended() -> tuple[Scene, str]:
    """A recommendation to go on, from an accepted health and from there being nothing in the way."""
    given = scene(now=DAY("09-06"))
    api = given.ids["service_api"]
    claim = given.do(
        'ASSERT ?a (:service_api, "test/service_healthy", true) {by: :bob, mode: "stated", at: :at}', at=DAY("01-02")
    )["a"]
    queries = [
        given.nexus.capture(HEALTHY, {"api": api}, expectation="accepted"),
        given.nexus.capture(BLOCKERS, expectation="empty"),
    ]
    made = derive(given, "inference", RECOMMENDED, [claim], all_of(pin(given, claim)), queries=queries, at=DAY("01-03"))
    assert validity(given, made["d"])["status"] == "current"
    return given, made["d"]


def test_rel_002_new_opposition_and_a_new_blocker_unsettle_what_was_selected() -> None:
    found, unchanged = {}, []
    for name, text in {
        "after_new_opposition": 'ASSERT (:service_api, "test/service_healthy", true) '
        '{by: :carol, mode: "stated", stance: "reject", at: :at}',
        "after_new_blocker": 'CREATE CONCEPT ?c { TYPE "mem/Commitment" '
        'SET ATTRIBUTES {summary: "audit", status: "blocked"} }',
    }.items():
        given, claim = recommended()
        before = given.element(claim)
        given.do('CREATE CONCEPT ?c { TYPE "test/Theme" NAME "beside the point" }')
        assert validity(given, claim)["status"] == "current"
        given.do(text, at=DAY("02-01"))
        found[name] = validity(given, claim)["status"]
        project, active = given.ids["project_alpha"], given.ids["status_active"]
        assert given.belief(project, "test/project_status", active)["status"] == "uncertain"
        unchanged.append(given.element(claim) == before)
    observe("REL-002", **found, old_assertion_unchanged=all(unchanged))


def test_rel_003_only_what_was_relied_on_can_invalidate() -> None:
    given = scene(now=DAY("02-01"))
    exp, claim = given.ids["exp_deploy"], given.ids["a_alice_works"]
    planes = given.element(exp)["_system"]["plane_versions"]
    relied = {name: planes[name] for name in ("attributes", "structural")}
    made = derive(
        given, "semantic_consolidation", 'CREATE CONCEPT ?d { TYPE "mem/Insight" SET ATTRIBUTES {summary: "drain"} }',
        [exp], all_of(pin(given, exp, **relied)),
    )  # fmt: skip
    produced = given.element(made["x"])["_system"]
    assert produced["output_plane_versions"] == {made["d"]: {"attributes": 1, "structural": 0}}
    assert produced["input_versions"] == {exp: 1}
    behaviour = given.element(made["d"])
    given.do('UPDATE :exp_deploy SET FACET "test/MnemonicState" {salience: 0.9}')
    given.do('UPDATE :d SET FACET "mem/MnemonicState" {salience: 0.4}', d=made["d"])
    mnemonic = validity(given, made["d"])["status"]
    given.do('TRANSITION :exp_deploy TO "archived"')
    lifecycle = validity(given, made["d"])["status"]

    until = DAY("06-01")
    ending = given.do(
        'ASSERT ?a (:alice, "test/knows", :bob) {by: :alice, mode: "stated", at: :at, valid: {until: :until}}',
        at=DAY("01-02"),
        until=until,
    )["a"]
    temporal = derive(
        given, "inference", INFERRED, [ending], all_of(pin(given, ending), pin(given, claim)), at=DAY("01-03")
    )["d"]
    assert validity(given, temporal)["basis"]["next_invalid_at"] == until
    states = [validity(given, temporal, at)["status"] for at in (DAY("05-31"), until)]
    given.clock.advance(days=180)
    after = {name: each for name, each in given.element(made["d"]).items() if name not in ("_system", "facets")}
    observe(
        "REL-003",
        mnemonic_change_invalidates=mnemonic != "current",
        lifecycle_change_invalidates=lifecycle == "needs_review",
        boundary_revalidated=[*states, validity(given, temporal)["status"]]
        == ["current", "needs_review", "needs_review"],
        behavior_unchanged=after
        == {name: each for name, each in behaviour.items() if name not in ("_system", "facets")},
    )


def test_rel_010_a_hidden_dependent_changes_nothing_of_what_others_see() -> None:
    answers, hidden = [], ""
    for with_secret in (False, True):
        given = scene(now=DAY("09-06"))
        govern, root = given.nexus.govern, given.ids["a_alice_prefers"]
        govern.labels("public", "secret")
        text = 'CREATE CONCEPT ?d { TYPE "mem/Insight" NAME :name SET ATTRIBUTES {summary: "s"} }'
        for name in ("one", "two"):
            derive(given, "semantic_consolidation", text, [root], all_of(pin(given, root)), name=name)
        if with_secret:
            made = derive(given, "semantic_consolidation", text, [root], all_of(pin(given, root)), name="secret")
            hidden = made["d"]
            govern.classify([*made.values()], "secret")
        govern.grant("reader", "discover", "read", up_to="public")
        reader = given.nexus.as_principal("reader")
        pages = []
        for limit in (1, 2, 3):
            page = reader.query(f"LIST DEPENDENTS :id DEPTH 5 LIMIT {limit}", {"id": root})
            context = {name: each for name, each in page.context.items() if name != "snapshot_seq"}
            pages.append((page.rows, page.truncated, page.next_cursor is None, context))
        answers.append(pages)
        everything = [row["id"] for row in given.rows("LIST DEPENDENTS :id DEPTH 5", id=root)]
        assert (hidden in everything) == with_secret
    observe(
        "REL-010",
        visible_results_equal=answers[0] == answers[1],
        hidden_identity_disclosed=f"'{hidden}'" in str(answers[1]),
    )
