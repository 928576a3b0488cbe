"""The ready audits: each finds exactly what was planted, and nothing in a memory without it."""

import importlib.util
from datetime import UTC, datetime
from pathlib import Path

import pytest

import kipql
from kipql.audit import library
from kipql.audit.run import run_scripts
from kipql.audit.settings import Settings
from kipql.audit.static import check_statement
from kipql.memory import AgentMemory, Canon

NOW = "2026-09-01T00:00:00.000Z"
PACKAGES = ("kip://domains/general@1.0.0", "kip://kipql/agent@1.0.0")


def memory(packages=PACKAGES, **options):
    clock = lambda: datetime(2026, 8, 1, tzinfo=UTC)  # noqa: E731
    return kipql.open(packages=packages, clock=clock, **options)


def found(nexus, name):
    """The keys of what an audit finds, by check; a check that was skipped is not there."""
    report = run_scripts(nexus.readonly(), [library.script(name)], settings=Settings(now=NOW))
    assert report.problems == ()
    return {
        check.step.name: [tuple(finding.key.values()) for finding in check.findings]
        for check in report.checks
        if check.skipped is None
    }


def people(nexus):
    """C-1 Ada, C-2 Bo, E-1 a message."""
    nexus.execute("""MUTATE {
      CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" SET FIELDS {key: "ada"} }
      CREATE CONCEPT ?b { TYPE "Person" NAME "Bo" SET FIELDS {key: "bo"} }
      CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "I am in +01:00."} }
    }""")


def say(nexus, what, by="C-1", more=""):
    """An Assertion; its id."""
    return nexus.execute(f'ASSERT ?said {what} {{by: "{by}", mode: "stated"{more}}}').handles["said"]


PLANTED = {}


def plant(name):
    def keep(function):
        PLANTED[name] = function
        return function

    return keep


@plant("contested-slots")
def _contested(nexus, wrong):
    people(nexus)
    say(nexus, '("C-1", "timezone", "+01:00")')
    say(nexus, '("C-1", "timezone", "+02:00")' if wrong else '("C-1", "timezone", "+01:00")', by="C-2")
    say(nexus, '("C-2", "timezone", "+01:00")')
    return {"contested-slots": [("C-1", "kip://domains/general@1.0.0/timezone")]}


@plant("claims-without-evidence")
def _unsupported(nexus, wrong):
    people(nexus)
    say(nexus, '("C-1", "timezone", "+01:00")', more=', evidence: "E-1"')
    nexus.execute("""MUTATE {
      ASSERT ?d ("C-1", "speaks", "Italian") {by: "C-2", mode: "inferred"}
      CREATE ACTIVITY ?x {
        SET FIELDS {activity_class: "inference", status: "completed"}
        SET STRUCTURAL {("outputs", ?d)}
      }
    }""")
    nexus.execute('TRANSITION :a TO "retracted"', {"a": say(nexus, '("C-1", "speaks", "Latin")')})
    bare = say(nexus, '("C-1", "speaks", "Greek")') if wrong else None
    return {"claims-without-evidence": [(bare,)]}


@plant("self-graded-outcomes")
def _self_graded(nexus, wrong):
    skills = _skills()
    nexus.execute(skills.SKILL.replace(":behavior", skills._object(skills.behavior())), {"status": "proposed"})
    attempt = skills.attempt(nexus, None, 1)
    skills.outcome(nexus, attempt, by="instrument")
    bad = skills.outcome(nexus, attempt, status="failure", by="kip:owner") if wrong else None
    return {"self-graded-outcomes": [(bad,)]}


def _skills():
    """The module that writes Skills, trials and outcomes for its own tests."""
    path = Path(__file__).parents[1] / "mutate" / "test_kml_skill.py"
    spec = importlib.util.spec_from_file_location("skills_for_audits", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@plant("orphan-evidence")
def _orphans(nexus, wrong):
    people(nexus)
    nexus.execute("""MUTATE {
      CREATE EVIDENCE ?read { SET FIELDS {evidence_class: "message", payload: "read"} }
      CREATE EVIDENCE ?copied { SET FIELDS {evidence_class: "message", payload: "copied"} }
      CREATE EVIDENCE ?copy {
        SET FIELDS {evidence_class: "message", payload: "copy"}
        SET STRUCTURAL {("source", ?copied)}
      }
      CREATE ACTIVITY ?x {
        SET FIELDS {activity_class: "inference", status: "completed"}
        SET STRUCTURAL {("inputs", ?read) ("inputs", ?copy)}
      }
    }""")
    agent = AgentMemory(nexus, session="s")
    agent.record_turn(1, [{"role": "user", "content": "hello"}])
    agent.pin("metric units")
    assert nexus.query("FIND(COUNT(?e)) WHERE { ?e EVIDENCE {} }").scalar() == 6
    if not wrong:
        say(nexus, '("C-1", "timezone", "+01:00")', more=', evidence: "E-1"')
    return {"orphan-evidence-of-agents": [("E-1",)]}


def derived(nexus, artifact):
    """A conclusion from A-1, with its basis; `artifact` is what the Activity puts out."""
    selected = nexus.query('FIND(?b.status) WHERE { ?b BELIEF ("C-1", "timezone", "+01:00") }')
    nexus.execute(
        f"""MUTATE {{
          {artifact}
          CREATE ACTIVITY ?x {{
            SET FIELDS {{activity_class: "inference", status: "completed"}}
            SET FACET "DependencyBasis" {{basis_seq: :seq, policy_basis: :basis,
              groups: [{{role: "all_of", pins: [{{id: "A-1", version: 1}}]}}]}}
            SET STRUCTURAL {{ ("inputs", "A-1") ("outputs", ?d) }}
          }}
        }}""",
        {"seq": nexus.space_seq, "basis": selected.basis},
    )


@plant("broken-lineage")
def _broken(nexus, wrong):
    people(nexus)
    say(nexus, '("C-1", "timezone", "+01:00")')
    derived(nexus, 'ASSERT ?d ("C-1", "speaks", "Italian") {by: "C-2", mode: "inferred"}')
    if wrong:
        nexus.execute('TRANSITION "A-1" TO "retracted"')
        nexus.execute('ASSERT ("C-1", "speaks", "Dutch") {by: "C-2", mode: "inferred"}')  # A-3, on nothing
    return {"broken-lineage": [("A-2",), ("A-3",)]}


@plant("stale-derivations")
def _stale(nexus, wrong):
    people(nexus)
    say(nexus, '("C-1", "timezone", "+01:00")')
    derived(nexus, 'CREATE CONCEPT ?d { TYPE "Insight" SET ATTRIBUTES {summary: "she is in Rome"} }')
    if wrong:
        nexus.execute('TRANSITION "A-1" TO "retracted"')
    return {"stale-derivations": [("C-3",)]}


@plant("overdue-commitments")
def _overdue(nexus, wrong):
    text = 'CREATE CONCEPT ?c { TYPE "Commitment" SET ATTRIBUTES {summary: "s", status: :s, due_at: :d} }'
    nexus.execute(text, {"s": "fulfilled", "d": "2026-08-01T00:00:00.000Z"})
    nexus.execute(text, {"s": "pending", "d": NOW})
    nexus.execute(text, {"s": "pending", "d": None})
    if wrong:
        nexus.execute(text, {"s": "blocked", "d": "2026-08-31T23:59:59.999Z"})
    return {"overdue-commitments": [("C-4",)]}


@plant("duplicate-identities")
def _duplicates(nexus, wrong):
    people(nexus)
    nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "Adda" }')
    nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "Beau" }')
    say(nexus, '("C-1", "same_as", "C-3")', by="C-2")
    say(nexus, '("C-2", "same_as", "C-4")', by="C-1")
    say(nexus, '("C-2", "same_as", "C-4")', by="C-2", more=', stance: "reject"')
    if not wrong:
        nexus.execute('MERGE CONCEPT "C-3" INTO "C-1"')
    return {"duplicate-identities": [("C-1", "C-3")]}


@plant("retention-lapsed")
def _lapsed(nexus, wrong):
    people(nexus)
    for element, until, held in (("C-1", NOW, False), ("C-2", "2026-08-31T00:00:00.000Z", True)):
        nexus.execute(
            'SET RETENTION :e {retention_class: "short", expires_at: :until, legal_hold: :held}',
            {"e": element, "until": until, "held": held},
        )
    if wrong:
        nexus.execute('SET RETENTION "E-1" {retention_class: "short", expires_at: "2026-08-31T00:00:00.000Z"}')
    return {"retention-lapsed": [("E-1",)]}


@plant("purged-support")
def _purged(nexus, wrong):
    people(nexus)
    nexus.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "me too"} }')
    say(nexus, '("C-1", "speaks", "Greek")', more=', evidence: ["E-1", "E-2"]')
    say(nexus, '("C-1", "timezone", "+01:00")', more=f', evidence: "{"E-1" if wrong else "E-2"}"')
    nexus.execute('PURGE PAYLOAD "E-1" CONFIRM "PURGE"')
    return {"purged-support": [("A-2",)]}


@plant("unwritten-rules")
def _unwritten(nexus, wrong):
    people(nexus)
    Canon(nexus).write("src/writer", capsule="c", body="A header first." if wrong else "A header first, no comma.")
    for predicate, rule in (("must_contain", "header"), ("must_not_contain", "comma")):
        say(nexus, f'({{type: "Asset", key: ":src/writer"}}, "{predicate}", "{rule}")')
    say(nexus, '({type: "Asset", key: ":src/writer"}, "must_contain", "footer")', more=', stance: "reject"')
    rule = "kip://kipql/agent@1.0.0/must_not_contain"
    return {"unwritten-rules": [(":src/writer", ":src/writer", rule, "comma")]}


@plant("draft-vocabulary")
def _drafts(nexus, wrong):
    people(nexus)
    for name in ("resides_in", "dwells_in", "unused"):
        nexus.execute(f'DEFINE PREDICATE "{name}" {{description: "Where the subject lives."}}')
    nexus.execute('DEFINE CONCEPT TYPE "Robot" {description: "A machine that acts."}')
    say(nexus, '("C-1", "resides_in", "C-2")')
    task = """CREATE CONCEPT ?t { TYPE "SleepTask" CLIENT KEY :key
      SET ATTRIBUTES {task_class: "review_schema", summary: "s", status: :status} }"""
    reviewed = "review_schema:PredicateType:kip://local/draft@0.0.0/resides_in"
    nexus.execute(task, {"key": reviewed, "status": "completed"})
    nexus.execute(task, {"key": f"{reviewed[:-10]}dwells_in", "status": "pending"})
    if wrong:
        say(nexus, '("C-1", "dwells_in", "C-2")')
        nexus.execute('CREATE CONCEPT ?r { TYPE "Robot" NAME "R2" }')
    return {
        "draft-predicates": [("kip://local/draft@0.0.0/dwells_in",)],
        "draft-types": [("kip://local/draft@0.0.0/Robot",)],
    }


@plant("superseded-across-actors")
def _across(nexus, wrong):
    people(nexus)
    nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "Ada L." }')
    nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "Countess" }')
    claims = {"C-1": say(nexus, '("C-1", "timezone", "+01:00")', by="C-3")}
    claims["C-2"] = say(nexus, '("C-2", "timezone", "+01:00")', by="C-4")
    nexus.execute('MERGE CONCEPT "C-4" INTO "C-3"')
    nexus.execute('MERGE CONCEPT "C-3" INTO "C-1"')
    for subject, claim in claims.items():
        text = 'ASSERT (:who, "timezone", "+02:00") {by: "C-1", mode: "stated"} SUPERSEDING :claim'
        nexus.execute(text, {"who": subject, "claim": claim})
    if wrong:
        nexus.repair.identity(
            nexus.repair.decisions()[1]["decision_id"],
            expected_identity_version=nexus.stats()["identity_version"],
            reason_evidence="E-1",
        )
    return {"superseded-across-actors": [("A-1",), ("A-2",)]}


def test_every_audit_is_planted():
    assert sorted(PLANTED) == list(library.names())


@pytest.mark.parametrize("name", library.names())
def test_an_audit_finds_exactly_what_was_planted(name):
    nexus = memory()
    expected = PLANTED[name](nexus, True)
    assert found(nexus, name) == expected


@pytest.mark.parametrize("name", library.names())
def test_an_audit_finds_nothing_where_nothing_is_wrong(name):
    nexus = memory()
    expected = PLANTED[name](nexus, False)
    assert found(nexus, name) == {check: [] for check in expected}


@pytest.mark.parametrize("name", library.names())
def test_an_audit_says_what_it_looks_for(name):
    script = library.script(name)
    assert script.problems == () and script.steps
    assert len(library.about(name)) > 40
    for step in script.steps:
        said = step.directives
        assert said.title and said.message and said.key and said.tags
        assert step.warnings == () and check_statement(step.text) == []


@pytest.mark.parametrize("name", library.names())
def test_an_audit_runs_over_an_empty_memory_without_a_package(name):
    assert all(keys == [] for keys in found(memory(packages=()), name).values())


def test_evidence_is_asked_for_with_the_fields_of_the_packages_that_are_there():
    nexus = memory(packages=())
    nexus.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "p"} }')
    assert found(nexus, "orphan-evidence") == {"orphan-evidence": [("E-1",)]}


def test_an_unknown_audit_names_the_one_that_was_meant():
    with pytest.raises(kipql.KipError) as caught:
        library.script("contested-slot")
    assert caught.value.hint == "did you mean contested-slots?"
