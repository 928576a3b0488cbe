"""What may not be discovered is in no count, order, error, cursor, history or past (§29.1, §30.4, §48.5, §88.6)."""

from threading import Event, Thread
from typing import Any

import pytest

import kipql
from kipql.errors import KipError
from tests.govern.conftest import PACKAGE, SETTING, Setting

PERSON = '?c {type: "Person"}'
READS = [
    (f"FIND(COUNT(?c)) WHERE {{ {PERSON} }}", [2]),
    (f"FIND(?c.name) WHERE {{ {PERSON} }} ORDER BY ?c.name DESC LIMIT 1", ["Bob"]),
    (f'FIND(?c.name) WHERE {{ {PERSON} NOT {{ (?c, "prefers", ?x) }} }}', []),
    (f'FIND(?c.name, ?x.name) WHERE {{ {PERSON} OPTIONAL {{ (?c, "prefers", ?x) FILTER(?x.name == "Light mode") }} }}',
     [("Alice", None), ("Bob", None)]),
    ('FIND(?x.name, COUNT(?c)) WHERE { (?c, "prefers", ?x) }', [("Dark mode", 2)]),
    ('FIND(?x.name) WHERE { ?x {type: "Option"} NOT { (?c, "prefers", ?x) } }', ["Light mode"]),
    ("FIND(COUNT(?p)) WHERE { ?p PROPOSITION (?s, ?k, ?o) }", [2]),
    ("FIND(COUNT(?a)) WHERE { ?a ASSERTION {} }", [2]),
    ("FIND(?e.payload.inline) WHERE { ?e EVIDENCE {} }", ["I like it dark."]),
    ('FIND(COUNT(?c)) WHERE { ?c {id: "C-3"} }', [0]),
    ('FIND(COUNT(?c)) WHERE { ?c {type: "Person", key: "dave"} }', [0]),
    ('FIND(COUNT(?c)) WHERE { ?c {type: "Person", name: "Dave"} }', [0]),
    ('FIND(COUNT(?p)) WHERE { ?p (id: "P-3") }', [0]),
    ('FIND(COUNT(?a)) WHERE { ?a ASSERTION {asserted_by: "C-3"} }', [0]),
    ('FIND(COUNT(?c)) WHERE { UNION { ?c {key: "dave"} } }', [0]),
    ('FIND(COUNT(?x)) WHERE { (?c, "prefers"{0,2}, ?x) }', [9 + 2]),
    ('FIND(COUNT(?a)) WHERE { STRUCTURAL (?a, "evidence", ?e) }', [1]),
]  # fmt: skip


def failure(nexus: kipql.Nexus, text: str, parameters: Any = None) -> dict[str, Any]:
    with pytest.raises(KipError) as caught:
        nexus.execute(text, parameters)
    return caught.value.to_dict()


@pytest.mark.parametrize(("text", "rows"), READS)
def test_a_query_runs_over_what_may_be_seen(governed: Setting, text: str, rows: list[Any]) -> None:
    reader = governed.as_("reader")
    for _ in range(2):  # closures, then generated source
        assert reader.query(text).rows == rows
    past = text.replace(" ORDER BY", f" AS OF SEQ {1} ORDER BY") if "ORDER BY" in text else f"{text} AS OF SEQ 1"
    assert reader.query(past).rows == rows, "today's secrecy holds for the past too"


def test_a_secret_that_is_lifted_is_lifted_for_the_past_too(governed: Setting) -> None:
    text = f"FIND(COUNT(?c)) WHERE {{ {PERSON} }}"
    governed.nexus.govern.classify(governed.ids["dave"], "public")
    reader = governed.as_("reader")
    assert reader.query(text).scalar() == reader.query(f"{text} AS OF SEQ 1").scalar() == 3


@pytest.mark.parametrize(
    "text",
    [
        'HISTORY ELEMENT "{}"',
        'DESCRIBE ACCESS WITH {{element: "{}"}}',
        'UPDATE "{}" SET FIELDS {{name: "x"}}',
        'ASSERT ("{}", "prefers", "C-4") {{by: "C-2", mode: "stated"}}',
        'ASSERT ("C-2", "prefers", "{}") {{by: "C-2", mode: "stated"}}',
        'ASSERT ("C-2", "prefers", "C-4") {{by: "{}", mode: "stated"}}',
        'MERGE CONCEPT "C-2" INTO "{}"',
        'TRANSITION "{}" TO "archived"',
        'SET RETENTION "{}" {{retention_class: "short"}}',
        'UPSERT CONCEPT ?c {{ MATCH {{id: "{}"}} SET FIELDS {{name: "x"}} }}',
    ],
)
def test_naming_a_hidden_element_fails_as_naming_none_does(governed: Setting, text: str) -> None:
    governed.nexus.govern.grant(
        "reader", "create", "update", "assert", "record_attributed_assertion", "merge_identity", "archive",
        "manage_retention",
    )  # fmt: skip
    reader = governed.as_("reader")
    hidden, absent = (failure(reader, text.format(each)) for each in ("C-3", "C-7"))
    assert hidden["code"] == absent["code"] == "NotFoundOrNotVisible"
    assert hidden["message"].replace("C-3", "C-7") == absent["message"]
    assert hidden["details"] == absent["details"]


def test_history_and_changes_tell_what_is_visible(governed: Setting) -> None:
    reader, everything = governed.as_("reader"), governed.as_("everything")
    made = {entry["id"] for entry in reader.query("CHANGES AFTER SEQ 0 LIMIT 1").rows[0]["changes"]}
    assert made == {"C-1", "C-2", "C-4", "C-5", "E-1", "P-1", "P-2", "A-1", "A-2"}
    seen = [row["space_seq"] for row in reader.query("HISTORY SPACE").rows]
    assert seen == [1, 4], "the founding, and Alice's label; the rules and the secrets are nobody else's business"
    assert [row["space_seq"] for row in everything.query("HISTORY SPACE").rows] == [1, 2, 3, 4, 5, 6]
    [row] = reader.query("CHANGES AFTER SEQ 1").rows
    assert row["coverage"]["complete"] is False and row["coverage"]["authorization_view"].startswith("restricted:")
    assert everything.query("CHANGES AFTER SEQ 3").rows[0]["coverage"]["complete"] is True
    governed.nexus.govern.grant("reader", "read_audit")
    assert [row["space_seq"] for row in reader.query("HISTORY SPACE").rows] == [1, 2, 3, 4, 5, 6, 7]


def test_a_page_of_changes_does_not_tell_that_hidden_ones_follow(governed: Setting) -> None:
    governed.nexus.govern.classify(governed.ids["light"], "secret")
    reader = governed.as_("reader")
    page = reader.query("CHANGES AFTER SEQ 1 LIMIT 1")
    assert [row["space_seq"] for row in page.rows] == [4]
    assert page.next_cursor is None and not page.truncated


def test_a_transaction_is_known_to_who_sees_something_of_it_or_made_it(governed: Setting) -> None:
    governed.nexus.govern.grant("reader", "create")
    space = governed.nexus.space_id
    reader = governed.as_("reader")
    assert failure(reader, f'DESCRIBE TRANSACTION "{space}#3"')["code"] == "TransactionUnknown"
    assert failure(reader, f'DESCRIBE TRANSACTION "{space}#99"')["code"] == "TransactionUnknown"
    assert len(reader.query(f'DESCRIBE TRANSACTION "{space}#1"').one()["changes"]) == 9
    made = reader.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Eve" }')
    governed.nexus.govern.classify(made.handles["a"], "secret")
    described = reader.query(f'DESCRIBE TRANSACTION "{made.tx_id}"').one()
    assert described["status"] == "committed" and described["changes"] == []


def test_subscribers_hear_what_they_may_see(governed: Setting) -> None:
    heard: list[Any] = []
    governed.as_("reader").subscribe(heard.append)
    made = governed.nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Eve" }').handles["a"]
    governed.nexus.govern.classify(made, "secret")
    governed.nexus.execute(f'UPDATE "{made}" SET FIELDS {{name: "Adam"}}')
    assert [[entry["id"] for entry in each["changes"]] for each in heard] == [[made]]


def test_a_cursor_ends_with_the_rules_it_was_issued_under(governed: Setting) -> None:
    text = f"FIND(?c.name) WHERE {{ {PERSON} }} LIMIT 1"
    reader = governed.as_("reader")
    cursor = reader.query(text).next_cursor
    assert cursor is not None
    following = f"{text} CURSOR :cursor"
    assert failure(governed.as_("everything"), following, {"cursor": cursor})["code"] == "CursorMismatch"
    governed.nexus.govern.grant("reader", "discover", "read", classification="secret")
    assert failure(reader, following, {"cursor": cursor})["code"] == "CursorMismatch"


def test_a_merge_into_something_hidden_has_not_happened(governed: Setting) -> None:
    governed.nexus.execute('MERGE CONCEPT "C-2" INTO "C-3"')
    text = f"FIND(?c.name, ?c.merged_into, ?c._system.state, ?c._system.version) WHERE {{ {PERSON} }} ORDER BY ?c.name"
    assert governed.as_("reader").query(text).rows == [("Alice", None, "active", 2), ("Bob", None, "active", 1)]
    stats = governed.as_("reader").stats()
    assert stats["identity_version"] == 1 and governed.nexus.stats()["identity_version"] == 2
    assert governed.as_("everything").query('FIND(?c.merged_into) WHERE { ?c {id: "C-2"} }').rows == ["C-3"]


def test_a_claim_that_something_hidden_superseded_still_stands(governed: Setting) -> None:
    made = governed.nexus.execute(
        'ASSERT ?n ("C-2", "prefers", "C-4") {by: "C-2", mode: "stated", stance: "reject"} SUPERSEDING "A-2"'
    )
    governed.nexus.govern.classify(made.handles["n"], "secret")
    text = (
        'FIND(?a.lifecycle.status, ?a.lifecycle.superseded_by, ?a._system.version) WHERE { ?a ASSERTION {id: "A-2"} }'
    )
    assert governed.as_("reader").query(text).rows == [("active", [], 1)]
    assert governed.as_("everything").query(text).rows == [("superseded", [{"id": made.handles["n"]}], 2)]
    belief = 'FIND(?b.status) WHERE { ?b BELIEF ("C-2", "prefers", "C-4") }'
    assert governed.as_("reader").query(belief).rows == ["accepted"]
    assert governed.as_("everything").query(belief).rows == ["rejected"]


def test_a_hidden_citation_is_left_out_and_moves_no_counter(governed: Setting) -> None:
    governed.nexus.govern.classify(governed.ids["said"], "secret")
    element = governed.as_("reader").query('FIND(?a) WHERE { ?a ASSERTION {id: "A-1"} }').one()
    assert element["evidence"] == [] and element["governance"]["authority_lineage"] == []
    assert element["_system"]["plane_versions"]["structural"] == 0
    whole = governed.as_("everything").query('FIND(?a) WHERE { ?a ASSERTION {id: "A-1"} }').one()
    assert whole["evidence"] == [{"id": "E-1", "role": "support"}]
    assert whole["_system"]["plane_versions"]["structural"] == 1


def test_a_claim_in_a_hidden_context_is_hidden_instead_of_made_general(governed: Setting) -> None:
    made = governed.nexus.execute(
        'ASSERT ?n ("C-2", "prefers", "C-5") {by: "C-2", mode: "stated", context: ["C-3"]}'
    ).handles["n"]
    assert governed.as_("everything").query("FIND(COUNT(?a)) WHERE { ?a ASSERTION {} }").scalar() == 4
    count = f'FIND(COUNT(?a)) WHERE {{ ?a ASSERTION {{id: "{made}"}} }}'
    assert governed.as_("reader").query(count).scalar() == 0


def test_a_search_ranks_what_may_be_searched(governed: Setting) -> None:
    reader, everything = governed.as_("reader"), governed.as_("everything")
    assert [hit["id"] for hit in everything.query('SEARCH CONCEPT "Dave"').rows] == ["C-3"]
    assert reader.query('SEARCH CONCEPT "Dave"').rows == []
    before = [(hit["id"], hit["retrieval"]) for hit in reader.query('SEARCH EVIDENCE "likes dark"').rows]
    governed.nexus.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "dark dark likes"} }')
    governed.nexus.govern.classify("E-3", "secret")
    after = [(hit["id"], hit["retrieval"]) for hit in reader.query('SEARCH EVIDENCE "likes dark"').rows]
    assert before == after == [(governed.ids["said"], before[0][1])]
    governed.nexus.govern.deny("reader", "search", kinds="evidence")
    assert reader.query('SEARCH EVIDENCE "likes dark"').rows == []
    assert reader.query("FIND(COUNT(?e)) WHERE { ?e EVIDENCE {} }").scalar() == 1


@pytest.mark.parametrize(
    ("missing", "text", "code"),
    [
        ("read", f"FIND(COUNT(?c)) WHERE {{ {PERSON} }}", "NotAuthorized"),
        ("discover", f"FIND(COUNT(?c)) WHERE {{ {PERSON} }}", "NotAuthorized"),
        ("project", 'FIND(?s.status) WHERE { ?s BELIEF SLOT ("C-1", "prefers") }', "ProjectionNotAuthorized"),
        ("search", 'SEARCH CONCEPT "Alice"', "NotAuthorized"),
        ("search", 'FIND(?c.name) WHERE { ?c SEARCH CONCEPT "Alice" LIMIT 3 }', "NotAuthorized"),
        ("read_history", "HISTORY SPACE", "NotAuthorized"),
    ],
)
def test_each_way_of_reading_has_its_own_permission(setting: Setting, missing: str, text: str, code: str) -> None:
    govern = setting.nexus.govern
    held = {"discover", "read", "search", "project", "read_history"}
    govern.grant("carol", *sorted(held - {missing}))
    govern.grant("dora", *sorted(held))
    error = failure(setting.as_("carol"), text)
    assert (error["code"], error["details"]["permission"]) == (code, missing)
    assert setting.as_("dora").query(text).rows is not None


def test_what_is_discovered_without_being_read_has_no_content(setting: Setting) -> None:
    govern = setting.nexus.govern
    govern.grant("carol", "discover")
    govern.grant("carol", "read", types="Option")
    carol = setting.as_("carol")
    names = carol.query("FIND(?c.id, ?c.name, ?c.key) WHERE { ?c CONCEPT {} } ORDER BY ?c.id").rows
    assert names == [
        ("C-1", None, None), ("C-2", None, None), ("C-3", None, None), ("C-4", "Dark mode", "dark"),
        ("C-5", "Light mode", "light"),
    ]  # fmt: skip
    assert carol.query('FIND(COUNT(?c)) WHERE { ?c {type: "Person", key: "alice"} }').scalar() == 0
    assert carol.query('FIND(COUNT(?c)) WHERE { ?c {type: "Person", name: "Alice"} }').scalar() == 0
    assert carol.query("FIND(COUNT(?a)) WHERE { ?a ASSERTION {} }").scalar() == 0


def test_origin_is_raw_for_who_may_read_that(governed: Setting) -> None:
    text = 'FIND(?c._system.origin.principal_id, ?c._system.origin.channel) WHERE { ?c {id: "C-2"} }'
    assert governed.as_("everything").query(text).rows == [("kip:owner", None)]
    governed.nexus.govern.grant("everything", "read_raw_origin")
    assert governed.as_("everything").query(text).rows == [("kip:owner", "local")]


def test_trust_and_coordinates_name_no_hidden_actor_and_no_hidden_commit(governed: Setting) -> None:
    for who, value in (("dave", 0.25), ("bob", 0.5)):
        governed.nexus.govern.trust.set(governed.ids[who], value)
    listed = governed.as_("reader").query("DESCRIBE TRUST").one()["records"]
    assert [record["actor"] for record in listed] == [{"id": "C-2"}]
    made = governed.nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Eve" }')
    governed.nexus.govern.classify(made.handles["a"], "secret")
    snapshot = governed.as_("reader").query("DESCRIBE SNAPSHOT").one()
    assert snapshot["space_seq"] == governed.nexus.space_seq
    assert snapshot["tx_id"] is snapshot["committed_at"] is None
    assert governed.nexus.query("DESCRIBE SNAPSHOT").one()["tx_id"].endswith(f"#{governed.nexus.space_seq}")


def test_readers_see_whole_states_while_somebody_writes(governed: Setting) -> None:
    """Hidden and visible rows come and go under a reader's feet; what it sees is always a state that was."""
    text = 'FIND(COUNT(?c)) WHERE { ?c {type: "Person"} }'
    reader, stop, seen, failures = governed.as_("reader"), Event(), [2], []

    def look() -> None:
        try:
            while not stop.is_set():
                seen.append(reader.query(text).scalar())
                reader.query('FIND(?c) WHERE { ?c {type: "Person"} }')
                reader.query("FIND(?a) WHERE { ?a ASSERTION {} }")
        except Exception as error:
            failures.append(error)

    threads = [Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(60):
        with governed.nexus.transaction() as tx:
            made = tx.execute(f'CREATE CONCEPT ?a {{ TYPE "Person" NAME "P{number}" }}').handles["a"]
            tx.execute(f'ASSERT ("{made}", "prefers", "C-4") {{by: "{made}", mode: "stated"}}')
            if number % 3:
                tx.rollback()
        if not number % 6:
            governed.nexus.govern.classify(made, "secret")
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert reader.query(text).scalar() == 2 + 10
    assert max(seen) <= 2 + 11


PREFERS = 'FIND(?s.status, ?s.accepted_values) WHERE { ?s BELIEF SLOT (:who, "prefers") }'


def test_what_may_be_read_and_not_projected_is_in_no_belief(setting: Setting) -> None:
    """`project` is held of claims (§29.4): beliefs are those of a memory that never held the others."""
    govern = setting.nexus.govern
    govern.grant("carol", "discover", "read", "search")
    govern.grant("carol", "project", ids=[setting.ids["a"], "P-1"])
    carol = setting.as_("carol")
    assert carol.query("FIND(COUNT(?a)) WHERE { ?a ASSERTION {} }").scalar() == 3
    assert carol.query(PREFERS, {"who": "C-1"}).one() == ("accepted", [{"id": "C-4"}])
    assert carol.query(PREFERS, {"who": "C-2"}).one() == ("insufficient", [])
    told = carol.query(
        f'{PREFERS.replace("?s.status, ?s.accepted_values", "?s")} WITH EPISTEMIC {{explanation: "ledger"}}',
        {"who": "C-2"},
    ).scalar()
    assert told["candidate_projections"] == [] and told["explanation"]["entries"] == []
    by_id = "FIND(?b.status, ?b.support.assertion_ids) WHERE { ?b BELIEF (id: :p) }"
    assert carol.query(by_id, {"p": "P-2"}).one() == ("insufficient", [])
    assert carol.query(by_id, {"p": "P-1"}).one() == ("accepted", [setting.ids["a"]])
    open_ = 'FIND(?s.key, ?b.status) WHERE { ?s {type: "Person"} ?b BELIEF (?s, "prefers", ?o) } ORDER BY ?s.key'
    assert carol.query(open_).rows == [("alice", "accepted"), ("bob", "insufficient"), ("dave", "insufficient")]


def test_one_projected_predicate_needs_no_right_over_the_subject(setting: Setting) -> None:
    setting.nexus.govern.grant("carol", "discover", "read")
    setting.nexus.govern.grant("carol", "project", predicates="prefers")
    setting.nexus.govern.deny("carol", "project", ids=[setting.ids["b"]])
    carol = setting.as_("carol")
    assert carol.query(PREFERS, {"who": "C-1"}).one() == ("accepted", [{"id": "C-4"}])
    assert carol.query(PREFERS, {"who": "C-2"}).one() == ("insufficient", [])
    assert carol.query(f"{PREFERS} AS OF SEQ 1", {"who": "C-2"}).one() == ("insufficient", [])


def test_the_whole_memory_without_project_is_refused_a_belief(setting: Setting) -> None:
    setting.nexus.govern.grant("carol", "discover", "read", "search")
    for text in (PREFERS, 'FIND(COUNT(?c)) WHERE { ?c {type: "Person"} NOT { ?b BELIEF SLOT (?c, "prefers") } }'):
        with pytest.raises(kipql.KipError) as caught:
            setting.as_("carol").query(text, {"who": "C-1"})
        assert caught.value.code == "ProjectionNotAuthorized"


TAKEN = {
    "a key": 'CREATE CONCEPT ?c { TYPE "Person" NAME "X" SET FIELDS {key: "dave"} }',
    "a key by UPSERT": 'UPSERT CONCEPT ?c { MATCH {type: "Person", key: "dave"} SET FIELDS {name: "X"} }',
    "a canonical id": 'CREATE CONCEPT ?c { TYPE "Person" NAME "X" SET FIELDS {canonical_id: "did:dave"} }',
    "a client key": 'CREATE CONCEPT ?c { TYPE "Person" CLIENT KEY "made:dave" NAME "X" }',
    "a client key of Evidence": 'CREATE EVIDENCE ?e { CLIENT KEY "said:dave" SET FIELDS {evidence_class: "message", payload: "X"} }',  # noqa: E501
    "a tuple": 'ENSURE PROPOSITION ?p ("C-1", "prefers", "C-5")',
}


WAYS = [
    (what, through)
    for what in TAKEN
    for through in ("execute", "batch", "preview", "load")
    if through != "load" or what not in ("a key by UPSERT", "a tuple")  # a load has no such record
]


@pytest.mark.parametrize(("what", "through"), WAYS)
def test_who_may_not_write_it_learns_nothing_of_what_is_in_the_way(what: str, through: str) -> None:
    """A partial `create` lets a statement in, and a permission that is missing comes before what is taken (§30.4)."""
    answers = []
    for wanted in (TAKEN[what], TAKEN[what].replace("dave", "free").replace("C-1", "C-2")):
        nexus = kipql.open(packages=[PACKAGE])
        nexus.execute(SETTING)
        secret = nexus.execute("""MUTATE {
          CREATE CONCEPT ?d { TYPE "Person" CLIENT KEY "made:dave" NAME "D" SET FIELDS {canonical_id: "did:dave"} }
          CREATE EVIDENCE ?e { CLIENT KEY "said:dave" SET FIELDS {evidence_class: "message", payload: "Y"} }
          ENSURE PROPOSITION ?p ("C-1", "prefers", "C-5")
        }""").handles
        nexus.govern.labels("public", "secret")
        nexus.govern.classify([*secret.values(), "C-3"], "secret")
        nexus.govern.grant("reader", "discover", "read", up_to="public")
        nexus.govern.grant("reader", "create", types=["Option"])
        answers.append(_refusal(nexus.as_principal("reader"), wanted, through))
    assert answers[0] == answers[1]
    assert answers[0]["code"] == "NotAuthorized"


def _refusal(nexus: kipql.Nexus, text: str, through: str) -> dict[str, Any]:
    if through == "batch":
        operation = {"language": "KML", "command": text}
        envelope = {"kip": "2.0", "execution": {"mode": "atomic"}, "operations": [operation, operation]}
        found = nexus.request(envelope)["results"][0]["error"]
    elif through == "load":
        key = text.split('CLIENT KEY "')[-1].split('"')[0] if "CLIENT KEY" in text else None
        fields = {
            name: text.split(f'{name}: "')[1].split('"')[0] for name in ("key", "canonical_id") if f"{name}: " in text
        }
        record: dict[str, Any] = {"kind": "concept", "type": "Person", "name": "X", **fields}
        if "EVIDENCE" in text:
            record = {"kind": "evidence", "fields": {"evidence_class": "message", "payload": "X"}}
        record |= {} if key is None else {"client_key": key}
        with pytest.raises(KipError) as caught:
            nexus.load([record])
        found = caught.value.to_dict()
    elif through == "preview":
        found = failure(nexus, "PREVIEW KML :text", {"text": text})
    else:
        found = failure(nexus, text)
    return {name: found[name] for name in ("code", "message", "details") if name in found}


@pytest.mark.parametrize("policy", ["authorized_cascade", "tombstone_reference", "deny_if_referenced"])
def test_a_purge_reaches_nothing_that_its_caller_may_not_see(governed: Setting, policy: str) -> None:
    """A hidden reference blocks it under every policy, and is told of in none of its words (§30.4, §60.3)."""
    hidden = governed.nexus.execute('ASSERT ?h ("C-3", "prefers", "C-5") {by: "C-3", mode: "stated"}', {}).handles[
        "h"
    ]  # Dave, who is secret, about the light mode, which is not
    governed.nexus.govern.grant("reader", "purge", "tombstone", "update")
    reader, digest = governed.as_("reader"), governed.nexus.digest()
    error = failure(reader, f'PURGE "C-5" REFERENCE POLICY "{policy}" CONFIRM "PURGE"')
    assert error["code"] == "PurgeDenied"
    assert governed.nexus.digest() == digest
    text = repr(error)
    assert hidden not in text
    assert "C-3" not in text
    assert "P-3" not in text
    governed.nexus.govern.grant("everything", "purge", "tombstone", "update")
    if policy == "authorized_cascade":
        receipt = governed.as_("everything").execute(f'PURGE "C-5" REFERENCE POLICY "{policy}" CONFIRM "PURGE"')
        assert hidden in [change["id"] for change in receipt.changes]


@pytest.mark.parametrize("hidden", [True, False])
def test_what_a_write_reports_counts_nothing_that_is_hidden(setting: Setting, hidden: bool) -> None:
    """A Receipt, a PREVIEW and a dry run tell the versions that their writer reads (§30.4, §33.2)."""
    nexus = setting.nexus
    change = 'SET STRUCTURAL { ("seen_in", "E-2") }' if hidden else "SET ATTRIBUTES {other: 1}"
    nexus.execute(f'UPDATE "{"C-4" if hidden else "C-5"}" {change}')
    nexus.govern.labels("public", "secret")
    nexus.govern.classify(["E-2", "C-5"], "secret")
    nexus.govern.grant("reader", "discover", "read", "read_history", "update", up_to="public")
    reader = nexus.as_principal("reader")
    text = 'UPDATE "C-4" SET ATTRIBUTES {x: 1}'
    envelope = {"kip": "2.0", "operations": [{"command": text}], "options": {"dry_run": True}}
    (wire,) = reader.request(envelope)["results"]
    found = [
        reader.query("PREVIEW KML :t", {"t": text}).one()["changes"],
        wire["result"]["changes"],
        list(reader.execute(text).changes),
        reader.query('HISTORY ELEMENT "C-4"').rows[-1]["changes"],
    ]
    for (entry,) in found:
        assert (entry["old_version"], entry["new_version"], entry["planes"]) == (1, 2, {"attributes": 2})
