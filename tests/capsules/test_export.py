"""EXPORT CAPSULE and `nexus.export_capsule` (§37, §40, §41.1, §63.4)."""

import json
from typing import Any

import pytest
import rfc8785

import kipql
from kipql import KipError
from tests.capsules.material import told


def refused(call: Any) -> KipError:
    with pytest.raises(KipError) as caught:
        call()
    return caught.value


def ids(capsule: dict[str, Any]) -> set[str]:
    return {record["id"] for record in capsule["payload"]["records"]}


def outside(capsule: dict[str, Any]) -> dict[str, str]:
    return {each["id"]: each["kind"] for each in capsule["payload"]["external_refs"]}


def test_the_digest_is_that_of_the_canonical_content() -> None:
    import hashlib

    nexus, _ = told()
    capsule = nexus.export_capsule()
    content = {name: member for name, member in capsule.items() if name != "integrity"}
    digest = f"sha256:{hashlib.sha256(rfc8785.dumps(content)).hexdigest()}"
    assert capsule["integrity"]["content_digest"] == digest
    assert capsule["integrity"]["digest_profile"] == "kip-jcs-safe-v1"
    assert nexus.query("VERIFY CAPSULE :c", {"c": capsule}).one()["valid"] is True
    assert nexus.query("VALIDATE CAPSULE :c", {"c": capsule}).one()["errors"] == []


def test_an_export_is_a_read_and_says_the_same_twice() -> None:
    nexus, _ = told()
    before = nexus.digest()
    assert nexus.export_capsule() == nexus.readonly().export_capsule()
    assert nexus.digest() == before


def test_a_closed_capsule_follows_every_reference_and_what_put_it_out() -> None:
    nexus, made = told()
    capsule = nexus.export_capsule([made["claim"]])
    assert ids(capsule) == {
        made[name] for name in ("claim", "near", "ada", "box", "work", "bo", "summary", "reading", "said")
    }
    assert outside(capsule) == {}
    assert capsule["payload"]["manifest"] == {"kind": "snapshot", "closure": "closed", "roots": [made["claim"]]}


@pytest.mark.parametrize(
    ("closure", "depth", "inside", "left"),
    [
        # a claim can not stand without its Proposition, its actor and its context, those not without their ends
        ("referential", 0, "claim near ada box work", {"summary", "bo"}),
        ("referential", 1, "claim near ada box work summary", {"bo"}),
        ("referential", 2, "claim near ada box work summary reading", {"bo", "said"}),
        ("referential", 3, "claim near ada box work summary reading bo said", set()),
        ("selective", None, "claim", {"near", "ada", "work", "summary"}),
        ("selective", 1, "claim summary", {"near", "ada", "work"}),
    ],
)
def test_a_closure_takes_what_it_says_and_names_the_rest(
    closure: str, depth: int | None, inside: str, left: set[str]
) -> None:
    nexus, made = told()
    options: dict[str, Any] = {"closure": closure} | ({} if depth is None else {"provenance_depth": depth})
    capsule = nexus.export_capsule([made["claim"]], **options)
    assert ids(capsule) == {made[name] for name in inside.split()}
    assert outside(capsule) == dict.fromkeys((made[name] for name in left), "source_element")


def test_the_statement_binds_roots_by_a_variable_or_constrains_the_one_that_is_named() -> None:
    nexus, made = told()
    people = nexus.query('EXPORT CAPSULE ?p WHERE { ?p {type: "Person"} }').one()
    assert people["payload"]["manifest"]["roots"] == [made["ada"], made["bo"]]
    text = 'EXPORT CAPSULE :root WHERE { ?p {type: "Person", name: :name} } WITH {closure: "selective"}'
    assert ids(nexus.query(text, {"root": made["box"], "name": "Ada"}).one()) == {made["box"]}
    assert ids(nexus.query(text, {"root": {"id": made["box"]}, "name": "nobody"}).one()) == set()


def test_an_export_of_the_past_is_the_past() -> None:
    nexus, made = told()
    then = nexus.export_capsule([made["ada"]])
    nexus.execute('UPDATE :ada SET FIELDS {name: "Augusta"}', {"ada": made["ada"]})
    past = nexus.query('EXPORT CAPSULE ?p WHERE { ?p {key: "ada", type: "Person"} } AS OF SEQ 1').one()
    assert past == then
    assert past["payload"]["source"]["snapshot_seq"] == 1
    assert nexus.export_capsule([made["ada"]])["payload"]["records"][0]["name"] == "Augusta"


def test_symbols_name_their_packages_by_digest() -> None:
    nexus, made = told()
    rows = nexus.export_capsule([made["box"]])["payload"]["schema_dependencies"]
    assert [row["package_ref"] for row in rows] == [
        "kip://core@2.0.0",
        "kip://profiles/cognitive-memory@2.0.0",
        "kip://test/things@1.0.0",
    ]
    # the published digest, so that every engine recognises the standard Profile
    assert rows[1]["content_digest"] == "sha256:734aa0fd93b6258d433a6f71915d9d5118552e2ea0458a3050d368dcfcc1d1b3"


def test_embedded_packages_are_blobs_named_by_their_bytes() -> None:
    import hashlib

    nexus, made = told()
    blobs = nexus.export_capsule([made["box"]], include_schema=True)["payload"]["blobs"]
    names = {json.loads(text)["manifest"]["package_id"] for text in blobs.values()}
    assert names == {"kip://profiles/cognitive-memory", "kip://test/things"}
    assert all(name == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}" for name, text in blobs.items())


def test_payloads_may_stay_at_home() -> None:
    nexus, made = told()
    capsule = nexus.export_capsule([made["said"]], payloads="omitted", closure="selective")
    (record,) = capsule["payload"]["records"]
    assert record["payload"] == {"mode": "external", "content_ref": record["content_digest"]}
    assert "I like the box" not in json.dumps(capsule)


def test_what_the_shape_can_not_carry_is_left_at_home_and_said() -> None:
    nexus, made = told()
    capsule = nexus.export_capsule()
    assert "claim:1" not in json.dumps(capsule)  # client keys are the source's own
    assert capsule["payload"]["handling"]["observed_at_unknown"] == [made["summary"]]


def test_purged_and_quarantined_elements_are_outside() -> None:
    nexus, made = told()
    nexus.govern.quarantine(made["summary"])
    capsule = nexus.export_capsule([made["claim"]])
    assert outside(capsule)[made["summary"]] == "redacted"
    assert refused(lambda: nexus.export_capsule([made["summary"]])).code == "NotFoundOrNotVisible"
    nexus.govern.release(made["summary"])
    nexus.execute('PURGE :x REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"', {"x": made["summary"]})
    assert outside(nexus.export_capsule([made["claim"]]))[made["summary"]] == "unavailable"


def test_a_purged_payload_travels_as_purged() -> None:
    nexus, made = told()
    nexus.execute('PURGE PAYLOAD :x CONFIRM "PURGE"', {"x": made["said"]})
    (record,) = nexus.export_capsule([made["said"]], closure="selective")["payload"]["records"]
    assert record["payload"] == {"status": "purged"}
    assert record["content_digest"].startswith("sha256:")


def test_evidence_without_a_digest_is_named_not_carried() -> None:
    nexus, _ = told()
    text = 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "document", payload: :p} }'
    far = nexus.execute(text, {"p": {"mode": "external", "content_ref": "vault://9"}}).handles["e"]  # type: ignore[union-attr]
    text = (
        'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: "n"} SET STRUCTURAL { ("source", :far) } }'
    )
    near = nexus.execute(text, {"far": far}).handles["e"]  # type: ignore[union-attr]
    (external,) = nexus.export_capsule([near])["payload"]["external_refs"]
    assert (external["id"], external["kind"]) == (far, "external_artifact")
    assert external["locator"]["content_ref"] == "vault://9"


def test_an_identity_without_an_element_is_an_external_ref() -> None:
    nexus, made = told()
    nexus.execute('ENSURE PROPOSITION (:ada, "is", {canonical_id: "did:elsewhere"})', {"ada": made["ada"]})
    capsule = nexus.query('EXPORT CAPSULE ?p WHERE { ?p (?s, "is", ?o) }').one()
    (external,) = capsule["payload"]["external_refs"]
    assert external["locator"] == {"canonical_id": "did:elsewhere"}
    assert external["kind"] == "canonical_identity"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"closure": "open"}, "ConstraintViolation"),
        ({"closure": ["closed"]}, "ConstraintViolation"),
        ({"provenance_depth": -1}, "ConstraintViolation"),
        ({"provenance_depth": True}, "TypeMismatch"),
        ({"include_schema": "yes"}, "TypeMismatch"),
        ({"proof_profile": "ed25519"}, "UnsupportedCapability"),
        ({"depth": 1}, "ConstraintViolation"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], code: str) -> None:
    nexus, _ = told()
    assert refused(lambda: nexus.export_capsule(**options)).code == code
    text = "EXPORT CAPSULE ?x WHERE { ?x CONCEPT {} } WITH {" + ", ".join(f"{name}: :{name}" for name in options) + "}"
    error = refused(lambda: nexus.query(text, options))
    assert (error.code, error.span is not None) == (code, True)


def test_bytes_that_are_elsewhere_can_not_be_included() -> None:
    nexus, made = told()
    assert nexus.export_capsule(include_blobs=True)["payload"]["blobs"] == {}
    call = lambda: nexus.export_capsule([made["said"]], include_blobs=True, payloads="omitted")  # noqa: E731
    assert refused(call).code == "BlobUnavailable"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('EXPORT CAPSULE "C-99" WHERE { ?x CONCEPT {} }', "NotFoundOrNotVisible"),
        ('EXPORT CAPSULE "nothing" WHERE { ?x CONCEPT {} }', "NotFoundOrNotVisible"),
        ("EXPORT CAPSULE ?n WHERE { ?x {name: ?n} }", "ReferenceError"),
        ("EXPORT CAPSULE ?y WHERE { ?x CONCEPT {} }", "InvalidSyntax"),
        ("EXPORT CAPSULE ?x WHERE { ?x CONCEPT {} } AS OF SEQ 99", "HistoricalSnapshotUnavailable"),
    ],
)
def test_roots_are_elements_that_are_there(text: str, code: str) -> None:
    nexus, _ = told()
    assert refused(lambda: nexus.query(text)).code == code


def test_the_capability_is_there_to_be_required() -> None:
    reply = kipql.open().request(
        {
            "kip": "2.0",
            "requires": {"capsule_export": True, "capsule_import": True},
            "operations": [{"command": "EXPORT CAPSULE ?x WHERE { ?x CONCEPT {} }"}],
        }
    )
    assert reply["status"] == "succeeded"
    assert reply["results"][0]["result"]["payload"]["records"] == []
