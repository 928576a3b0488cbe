"""What each change of an element needs (§28.4, §29), whatever statement makes it."""

from typing import Any

import pytest

from kipql.errors import KipError
from tests.govern.conftest import Setting

READING = ("discover", "read", "project", "search")
NEEDS = [
    ('CREATE CONCEPT ?c { TYPE "Person" NAME "Eve" }', {"create"}),
    ('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "x"} }', {"create"}),
    ('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "outcome", payload: "x"} }', {"create", "record_outcome"}),
    ('CREATE ACTIVITY ?x { SET FIELDS {activity_class: "inference"} }', {"create"}),
    ('CREATE ACTIVITY ?x { SET FIELDS {activity_class: "look"} SET STRUCTURAL { ("inputs", "E-1") } }', {"create"}),
    ('CREATE ACTIVITY ?x { SET FIELDS {activity_class: "look"} SET STRUCTURAL { ("outputs", "A-1") } }', {"create"}),
    ('CREATE ACTIVITY ?x { SET FIELDS {activity_class: "inference"} '
     'SET STRUCTURAL { ("inputs", "E-1") ("outputs", "A-1") } }', {"create", "derive"}),
    ('MUTATE { CREATE EVIDENCE ?o { SET FIELDS {evidence_class: "outcome", payload: 1} } '
     'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "observation"} '
     'SET STRUCTURAL { ("inputs", "E-1") ("outputs", ?o) } } }', {"create", "record_outcome"}),
    ('TRANSITION "X-1" TO "completed" SET STRUCTURAL { ("outputs", "C-1") }', {"update", "derive"}),
    ('ENSURE PROPOSITION ("C-2", "prefers", "C-5")', {"create"}),
    ('ASSERT ("C-2", "prefers", "C-4") {by: "C-1", mode: "stated"}', {"record_attributed_assertion"}),
    ('ASSERT ("C-2", "prefers", "C-5") {by: "C-1", mode: "stated"}', {"record_attributed_assertion", "create"}),
    ('CREATE ASSERTION ?a { SET FIELDS {proposition: "P-1", asserted_by: "C-2", stance: "reject", mode: "stated"} }',
     {"record_attributed_assertion"}),
    ('ASSERT ("C-2", "prefers", "C-4") {by: "C-3", mode: "stated"}', {"assert"}),
    ('UPSERT CONCEPT ?c { MATCH {type: "Person", key: "bob"} SET FIELDS {name: "Rob"} }', {"update"}),
    ('UPSERT CONCEPT ?c { MATCH {type: "Person", key: "eve"} SET FIELDS {name: "Eve"} }', {"create"}),
    ('UPDATE "C-2" SET ATTRIBUTES {age: 7}', {"update"}),
    ('UPDATE "C-2" SET FACET "MnemonicState" {salience: 0.5}', {"update"}),
    ('UPDATE "C-2" SET FACET "MnemonicState" {salience: 0.5}', {"maintain"}),
    ('UPDATE "C-2" SET ATTRIBUTES {age: 7} SET FACET "MnemonicState" {salience: 0.5}', {"update"}),
    ('SET RETENTION "C-2" {retention_class: "short"}', {"manage_retention"}),
    ('SET RETENTION "C-2" {legal_hold: true}', {"manage_legal_hold"}),
    ('SET RETENTION "C-2" {retention_class: "short", legal_hold: true}', {"manage_retention", "manage_legal_hold"}),
    ('TRANSITION "C-2" TO "archived"', {"archive"}),
    ('TRANSITION "C-2" TO "tombstoned"', {"tombstone"}),
    ('TRANSITION "X-1" TO "completed"', {"update"}),
    ('TRANSITION "E-1" TO "corrected" BY "E-2"', {"update"}),
    ('PURGE "C-6" CONFIRM "PURGE"', {"purge"}),
    ('PURGE PAYLOAD "E-1" CONFIRM "PURGE"', {"purge"}),
    ('MERGE CONCEPT "C-2" INTO "C-1"', {"merge_identity"}),
    ('DEFINE PREDICATE "likes" { description: "The subject likes the object." }', {"propose_schema"}),
]  # fmt: skip


def refused(setting: Setting, text: str, parameters: Any = None) -> dict[str, Any] | None:
    try:
        setting.as_("writer").execute(text, parameters)
    except KipError as error:
        return error.to_dict()
    return None


@pytest.fixture
def writing(setting: Setting) -> Setting:
    """`writer` reads everything and speaks for Dave (C-3); C-6 is referred to by nothing, X-1 has an input."""
    setting.nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "Zoe" }')
    setting.nexus.execute(
        'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "inference"} SET STRUCTURAL { ("inputs", "E-1") } }'
    )
    setting.nexus.govern.grant("writer", *READING)
    setting.nexus.govern.bind("writer", setting.ids["dave"])
    return setting


@pytest.mark.parametrize(("text", "needed"), NEEDS)
def test_a_change_passes_with_what_it_needs_and_fails_without_any_of_it(
    writing: Setting, text: str, needed: set[str]
) -> None:
    govern = writing.nexus.govern
    for missing in sorted(needed):
        rule = govern.grant("writer", *sorted(needed - {missing}) or ["export"])
        before = (writing.nexus.space_seq, writing.nexus.digest())
        error = refused(writing, text)
        assert error is not None and error["code"] == "NotAuthorized", (missing, error)
        assert needed.intersection([error["details"]["permission"], *error["details"].get("one_of", ())])
        assert (writing.nexus.space_seq, writing.nexus.digest()) == before
        govern.revoke(rule)
    govern.grant("writer", *sorted(needed))
    assert refused(writing, text) is None


@pytest.mark.parametrize(("text", "needed"), NEEDS)
def test_looking_ahead_needs_what_doing_needs(writing: Setting, text: str, needed: set[str]) -> None:
    with pytest.raises(KipError) as caught:
        writing.as_("writer").query("PREVIEW KML :text", {"text": text})
    assert caught.value.code == "NotAuthorized"
    writing.nexus.govern.grant("writer", *sorted(needed))
    seq = writing.nexus.space_seq
    assert writing.as_("writer").query("PREVIEW KML :text", {"text": text}).rows
    assert writing.nexus.space_seq == seq


def test_a_scope_bounds_what_is_written(writing: Setting) -> None:
    govern = writing.nexus.govern
    govern.grant("writer", "update", types="Option")
    assert refused(writing, 'UPDATE "C-4" SET FIELDS {name: "Dark"}') is None
    assert refused(writing, 'UPDATE "C-2" SET FIELDS {name: "Rob"}')["code"] == "NotAuthorized"
    sweep = "UPDATE ?c SET ATTRIBUTES {seen: true} WHERE { ?c CONCEPT {} }"
    assert refused(writing, sweep)["code"] == "NotAuthorized", "a sweep does all of it or nothing"
    assert writing.nexus.query("FIND(COUNT(?c)) WHERE { ?c CONCEPT {attributes: {seen: true}} }").scalar() == 0


def test_maintenance_reaches_the_facets_it_was_given(writing: Setting) -> None:
    writing.nexus.govern.grant("writer", "maintain", facets="MnemonicState")
    assert refused(writing, 'UPDATE "C-2" SET FACET "MnemonicState" {salience: 0.5}') is None
    text = 'UPDATE "C-2" SET FACET "WatchState" {armed_seq: 1}'
    error = refused(writing, text)
    assert error is not None and error["code"] in ("NotAuthorized", "ConstraintViolation")
    writing.nexus.govern.grant("writer", "maintain", facets="DependencyBasis")
    assert refused(writing, 'UPDATE "C-2" SET FACET "MnemonicState" {salience: 0.75}') is None


def test_every_way_in_is_gated(writing: Setting) -> None:
    writer = writing.as_("writer")
    create = 'CREATE CONCEPT ?c { TYPE "Person" NAME "Eve" }'
    calls: list[Any] = [
        lambda: writer.execute(create),
        lambda: writer.prepare(create).execute(),
        lambda: writer.load([{"kind": "concept", "type": "Person", "name": "Eve"}]),
        lambda: writer.query("PREVIEW KML :text", {"text": create}),
    ]
    seq = writing.nexus.space_seq
    for call in calls:
        with pytest.raises(KipError) as caught:
            call()
        assert caught.value.code == "NotAuthorized"
    with pytest.raises(KipError), writer.transaction() as tx:
        tx.execute(create)
    entry = {"key": "m", "evidence_class": "message", "payload": "x"}
    for operations in ([{"command": create}], [{"command": create}, {"command": create}]):
        mode = {"execution": {"mode": "atomic"}} if len(operations) > 1 else {}
        reply = writing.nexus.request({"kip": "2.0", "operations": operations, **mode}, principal="writer")
        assert reply["results"][0]["error"]["code"] == "NotAuthorized"
    writing.nexus.govern.grant("writer", "record_attributed_assertion")
    command = 'ASSERT ("C-2", "prefers", "C-4") {by: "C-1", mode: "stated", evidence: :m}'
    envelope = {"kip": "2.0", "ingest": {"evidence": [entry]}, "operations": [{"command": command}]}
    reply = writing.nexus.request(envelope, principal="writer")
    assert reply["results"][0]["error"]["details"]["permission"] == "create"
    assert writing.nexus.space_seq == seq + 1


def test_a_statement_that_was_refused_leaves_its_transaction_going(writing: Setting) -> None:
    writing.nexus.govern.grant("writer", "create")
    with writing.as_("writer").transaction() as tx:
        tx.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "Eve" SET FIELDS {key: "eve"} }')
        with pytest.raises(KipError):
            tx.execute('UPDATE "C-2" SET FIELDS {name: "Rob"}')
        assert tx.query('FIND(?c.name) WHERE { ?c {key: "eve"} }').rows == ["Eve"]
    found = writing.nexus.query('FIND(?c.name) WHERE { ?c {type: "Person"} } ORDER BY ?c.name')
    assert found.rows == ["Alice", "Bob", "Dave", "Eve", "Zoe"]


# --- what is hidden from the writer --------------------------------------------------------------------


@pytest.fixture
def blind(governed: Setting) -> Setting:
    """`writer` writes everything and sees up to internal."""
    writing = (
        "create", "update", "assert", "record_attributed_assertion", "supersede_own", "retract_own", "archive", "purge",
        "merge_identity", "manage_retention",
    )  # fmt: skip
    governed.nexus.govern.grant("writer", *READING, *writing, up_to="internal")
    return governed


def test_a_where_selects_what_the_writer_sees(blind: Setting) -> None:
    blind.as_("writer").execute('UPDATE ?c SET ATTRIBUTES {seen: true} WHERE { ?c {type: "Person"} }')
    found = blind.nexus.query("FIND(?c.name) WHERE { ?c CONCEPT {attributes: {seen: true}} } ORDER BY ?c.name")
    assert found.rows == ["Alice", "Bob"]


def test_a_write_keeps_what_its_writer_can_not_see(blind: Setting) -> None:
    blind.nexus.execute('UPDATE "C-2" SET STRUCTURAL { ("seen_in", "E-2") }')
    seen = blind.as_("writer").query('FIND(?c._system.version) WHERE { ?c {id: "C-2"} }').scalar()
    assert seen == 1
    blind.as_("writer").execute(f'UPDATE "C-2" SET FIELDS {{name: "Rob"}} EXPECT VERSION {seen}')
    element = blind.nexus.query('FIND(?c) WHERE { ?c {id: "C-2"} }').one()
    assert element["name"] == "Rob" and element["_system"]["version"] == 3
    assert element["structural"] == {"kip://test/govern@1.0.0/seen_in": [{"id": "E-2"}]}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('CREATE CONCEPT ?c { TYPE "Person" NAME "Other" SET FIELDS {key: "dave"} }', "IdentityConflict"),
        ('UPSERT CONCEPT ?c { MATCH {type: "Person", key: "dave"} SET FIELDS {name: "x"} }', "IdentityConflict"),
        ('CREATE EVIDENCE ?e { CLIENT KEY "k" SET FIELDS {evidence_class: "x", payload: 1} }', "ClientKeyConflict"),
        ('ENSURE PROPOSITION ("C-2", "prefers", "C-5")', "NotAuthorized"),
        ('PURGE "C-5" REFERENCE POLICY "deny_if_referenced" CONFIRM "PURGE"', "PurgeDenied"),
    ],
)
def test_what_a_hidden_element_holds_stays_its_own_and_is_not_named(blind: Setting, text: str, code: str) -> None:
    made = blind.nexus.execute(
        'MUTATE { CREATE EVIDENCE ?e { CLIENT KEY "k" SET FIELDS {evidence_class: "x", payload: 1} } '
        'ENSURE PROPOSITION ?p ("C-2", "prefers", "C-5") }'
    )
    blind.nexus.govern.classify([made.handles["e"], made.handles["p"]], "secret")
    before = (blind.nexus.space_seq, blind.nexus.digest())
    error = refused(blind, text)
    assert error is not None and error["code"] == code
    hidden = ("C-3", "E-2", "E-3", "P-3", "P-4", "A-3")
    assert not any(each in str(error) for each in hidden), error
    assert (blind.nexus.space_seq, blind.nexus.digest()) == before
    retried = 'CREATE EVIDENCE ?e { CLIENT KEY "k" SET FIELDS {evidence_class: "x", payload: 1} }'
    assert blind.nexus.execute(retried).handles["e"] == made.handles["e"]


def test_what_is_derived_from_a_secret_is_one(governed: Setting) -> None:
    made = governed.nexus.execute(
        'MUTATE { CREATE CONCEPT ?c { TYPE "Option" NAME "Dave likes light" } '
        'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "inference"} '
        f'SET STRUCTURAL {{ ("inputs", "{governed.ids["told"]}") ("inputs", "C-1") ("outputs", ?c) }} }} }}'
    ).handles
    text = f'FIND(?c.governance.classification) WHERE {{ ?c {{id: "{made["c"]}"}} }}'
    assert governed.nexus.query(text).rows == ["secret"]
    assert governed.as_("reader").query(text).rows == []
