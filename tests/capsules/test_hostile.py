"""Capsules that lie, break or are too large: a typed error with a path, and nothing written (§9.3, §37.7, §70.2)."""

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kipql
from kipql import KipError
from kipql.capsules.artifact import sealed
from tests.capsules.material import empty, record_of, resealed, told
from tests.properties.engine import EXAMPLES

Payload = dict[str, Any]


@pytest.fixture(scope="module")
def capsule() -> dict[str, Any]:
    return told()[0].export_capsule()


def refused(value: Any, **options: Any) -> KipError:
    target = empty(**options)
    with pytest.raises(KipError) as caught:
        target.import_capsule(value)
    assert (target.space_seq, target.query("FIND(COUNT(?x)) WHERE { ?x CONCEPT {} }").scalar()) == (0, 0)
    return caught.value


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "ArtifactParseError"),
        ("{", "ArtifactParseError"),
        ("[]", "ArtifactParseError"),
        ("null", "ArtifactParseError"),
        ('{"format": 1, "format": 2}', "ArtifactParseError"),
        ('{"a": NaN}', "ArtifactParseError"),
        ('{"a": Infinity}', "ArtifactParseError"),
        ('{"a": 1e-400}', "ArtifactParseError"),
        ('{"a": 1e999}', "ArtifactParseError"),
        ('{"a": 9007199254740993}', "ArtifactParseError"),
        ('{"a": ' + "9" * 5000 + "}", "ArtifactParseError"),
        ('{"a": "\\ud800"}', "ArtifactParseError"),
        ('{"a": ' + "[" * 200 + "]" * 200 + "}", "ArtifactParseError"),
        ('{"a": ' + "[" * 200_000, "ArtifactParseError"),
        ("\ufeff{}", "ArtifactParseError"),
        ("{}", "CapsuleValidationFailed"),
        (b"\xff\xfe{}", "ArtifactParseError"),
        (5, "ArtifactParseError"),
        (None, "ArtifactParseError"),
        ({"a": float("nan")}, "ArtifactParseError"),
        ({"a": {"b": [{1: 2}]}}, "ArtifactParseError"),
        ({"a": object()}, "ArtifactParseError"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_what_is_no_portable_json(text: Any, code: str) -> None:
    assert refused(text).code == code


def test_a_problem_of_the_json_has_a_path() -> None:
    assert refused({"a": {"b/c": [1, float("inf")]}}).details["path"] == "/a/b~1c/1"


@pytest.mark.parametrize("cut", [1, 10, 100, 1000])
def test_a_truncated_capsule(capsule: dict[str, Any], cut: int) -> None:
    assert refused(json.dumps(capsule)[:-cut]).code == "ArtifactParseError"


def test_any_change_shows_in_the_digest(capsule: dict[str, Any]) -> None:
    changed = copy.deepcopy(capsule)
    record_of(changed["payload"], "concept")["name"] = "Mallory"
    error = refused(changed)
    assert (error.code, error.details["path"]) == ("DigestMismatch", "/integrity/content_digest")
    found = kipql.open().query("VERIFY CAPSULE :c", {"c": changed}).one()
    assert (found["valid"], found["checks"]["digest"]) == (False, "mismatch")


def test_the_order_of_members_and_the_signatures_do_not(capsule: dict[str, Any]) -> None:
    turned = json.loads(json.dumps(capsule, sort_keys=True))
    turned["integrity"]["signatures"] = [{"by": "anybody"}]
    assert empty().import_capsule(turned).status == "committed"
    found = kipql.open().query("VERIFY CAPSULE :c", {"c": turned}).one()
    assert (found["valid"], found["checks"]["signatures"]) == (True, "unchecked")


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda c: c.update(format="KIP-Schema-Package"), "/format"),
        (lambda c: c.update(format_version="3.0"), "/format_version"),
        (lambda c: c.update(extra=1), "/extra"),
        (lambda c: c.pop("integrity"), ""),
        (lambda c: c["integrity"].update(digest_profile="kip-draft-canonical-json-v1"), "/integrity/digest_profile"),
        (lambda c: c["integrity"].update(content_digest="sha256:XYZ"), "/integrity/content_digest"),
        (lambda c: c["payload"].pop("handling"), "/payload"),
        (lambda c: c["payload"].update(policies=[]), "/payload/policies"),
        (lambda c: c["payload"].update(records={}), "/payload/records"),
        (lambda c: c["payload"]["manifest"].update(closure="ajar"), "/payload/manifest/closure"),
        (lambda c: c["payload"]["manifest"].update(kind="delta"), "/payload/manifest"),
        (lambda c: c["payload"]["source"].update(snapshot_seq=-1), "/payload/source/snapshot_seq"),
        (lambda c: c["payload"]["source"].update(snapshot_seq=True), "/payload/source/snapshot_seq"),
        (lambda c: c["payload"]["schema_dependencies"][1].pop("content_digest"), "/payload/schema_dependencies/1"),
        (lambda c: c["payload"]["external_refs"].append({"id": "x", "kind": "s"}), "/payload/external_refs/0/kind"),
        (lambda c: c["payload"]["records"][0].update(grants=["*"]), "/payload/records/0/grants"),
        (lambda c: c["payload"]["records"][0].update(kind="policy"), "/payload/records/0/kind"),
        (lambda c: c["payload"]["records"][0].update(kind=[]), "/payload/records/0/kind"),
        (lambda c: c["payload"]["records"][0].update(confidence=1), "/payload/records/0/confidence"),
        (lambda c: c["payload"]["records"][0].update(client_key="k"), "/payload/records/0/client_key"),
        (lambda c: c["payload"]["records"][0]["governance"].update(trust=1), "/payload/records/0/governance/trust"),
        (lambda c: c["payload"]["records"][0]["_system"].update(version=0), "/payload/records/0/_system/version"),
        (lambda c: c["payload"]["records"].append(7), "/payload/records/13"),
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_shape_says_where(capsule: dict[str, Any], change: Callable[[Payload], Any], path: str) -> None:
    wrong = copy.deepcopy(capsule)
    change(wrong)
    error = refused(wrong)
    assert (error.code, error.details["path"]) == ("CapsuleValidationFailed", path)


def _nameless(payload: Payload) -> None:
    payload["external_refs"].append({"id": "i", "kind": "canonical_identity"})


def _cites_a_concept(payload: Payload) -> None:
    record_of(payload, "assertion")["evidence"].append({"id": "C-1", "role": "support"})


def _turn_back(payload: Payload) -> None:
    record_of(payload, "assertion")["valid_time"] = {
        "from": "2026-05-01T00:00:00.000Z",
        "until": "2026-04-01T00:00:00.000Z",
    }


def _retime(payload: Payload) -> None:
    record_of(payload, "assertion")["asserted_at"] = "2026-02-30T00:00:00.000Z"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda p: p["records"].append(copy.deepcopy(p["records"][0])), "/payload/records"),
        (lambda p: p["external_refs"].append({"id": "C-1", "kind": "unavailable"}), "/payload/external_refs/0"),
        (lambda p: p["external_refs"].append({"id": "E-9", "kind": "source_element"}), "/payload/external_refs/0"),
        (_nameless, "/payload/external_refs/0/locator"),
        (lambda p: p["manifest"]["roots"].append("C-99"), "/payload/manifest/roots/13"),
        (lambda p: record_of(p, "concept").update(space_id="elsewhere"), "/payload/records/0/space_id"),
        (lambda p: record_of(p, "assertion").update(asserted_by={"id": "C-99"}), "/payload/records/7/asserted_by"),
        (lambda p: record_of(p, "assertion").update(asserted_by={"id": "P-1"}), "/payload/records/7/asserted_by"),
        (_cites_a_concept, "/payload/records/7/evidence/1"),
        (lambda p: record_of(p, "assertion")["lifecycle"].update(status="e"), "/payload/records/7/lifecycle/status"),
        (lambda p: record_of(p, "concept")["_system"].update(state="merged"), "/payload/records/0/merged_into"),
        (lambda p: record_of(p, "concept")["_system"].update(state="purged"), "/payload/records/0/_system/state"),
        (lambda p: record_of(p, "concept").update(schema_ref="kip://nowhere@1.0.0/Thing"), "/payload/records/0"),
        (lambda p: p["schema_dependencies"].append(p["schema_dependencies"][1]), "/payload/schema_dependencies"),
        (_retime, "/payload/records/7/asserted_at"),
        (_turn_back, "/payload/records/7/valid_time"),
    ],
    ids=str,
)  # fmt: skip
def test_a_sealed_capsule_may_still_be_wrong(
    capsule: dict[str, Any], change: Callable[[Payload], Any], path: str
) -> None:
    wrong = resealed(capsule, change)
    error = refused(wrong)
    assert (error.code, error.details["path"]) == ("CapsuleValidationFailed", path)
    found = empty().query("VALIDATE CAPSULE :c", {"c": wrong}).one()
    assert (found["valid"], found["errors"][0]["path"]) == (False, path)
    assert kipql.open().query("VERIFY CAPSULE :c", {"c": wrong}).one()["valid"] is True  # whole, and wrong


def _ring(payload: Payload) -> None:
    one, two = record_of(payload, "concept", 0), record_of(payload, "concept", 1)
    for record, other in ((one, two), (two, one)):
        record["merged_into"] = {"id": other["id"]}
        record["_system"]["state"] = "merged"


def test_concepts_that_are_merged_into_each_other(capsule: dict[str, Any]) -> None:
    error = refused(resealed(capsule, _ring))
    assert (error.code, error.details["path"]) == ("CapsuleValidationFailed", "/payload/records")


def _tangle(payload: Payload) -> None:
    one, two = record_of(payload, "proposition", 0), record_of(payload, "proposition", 1)
    one["object"], two["subject"] = {"id": two["id"]}, {"id": one["id"]}


def test_propositions_about_each_other(capsule: dict[str, Any]) -> None:
    error = refused(resealed(capsule, _tangle))
    assert error.code == "ImportPreviewConflict"


def test_a_delta_is_a_subprofile_that_is_not_here(capsule: dict[str, Any]) -> None:
    delta = resealed(capsule, lambda payload: payload["manifest"].update(kind="delta", base_seq=1, target_seq=2))
    error = refused(delta)
    assert (error.code, error.details["capability"]) == ("UnsupportedCapability", "capsule_delta")


@pytest.mark.parametrize(
    ("ask", "capability"),
    [
        (lambda nexus, capsule: nexus.import_capsule(capsule, {"mode": "restore"}), "capsule_restore"),
        (lambda nexus, capsule: nexus.export_capsule(proof_profile="ed25519"), "capsule_signatures"),
        (lambda nexus, capsule: nexus.query("VERIFY CAPSULE :c", {"c": capsule}).one(), None),
    ],
)
def test_what_is_a_subprofile_says_so_by_the_name_that_the_registry_knows(
    capsule: dict[str, Any], ask: Callable[..., Any], capability: str | None
) -> None:
    nexus = empty()
    entries = nexus.query("DESCRIBE CAPABILITIES").one()["capabilities"]
    for name in ("capsule_signatures", "capsule_delta", "capsule_restore", "artifacts"):
        assert entries[name] == {"supported": False, "available": False}
    if capability is None:
        signed = {**capsule, "integrity": {**capsule["integrity"], "signatures": [{"signer": "x", "value": "y"}]}}
        found = ask(nexus, signed)
        assert (found["valid"], found["checks"]["signatures"]) == (True, "unchecked")
        return
    with pytest.raises(KipError) as caught:
        ask(nexus, capsule)
    assert (caught.value.code, caught.value.details["capability"]) == ("UnsupportedCapability", capability)


def test_a_blob_is_its_digest(capsule: dict[str, Any]) -> None:
    name = "sha256:" + "0" * 64
    error = refused(resealed(capsule, lambda payload: payload["blobs"].update({name: "other bytes"})))
    assert (error.code, error.details["path"]) == ("DigestMismatch", f"/payload/blobs/{name}")


def test_limits_hold(capsule: dict[str, Any]) -> None:
    small = kipql.Limits(capsule=1_000)
    assert refused(capsule, limits=small).code == "ArtifactTooLarge"
    assert refused(json.dumps(capsule), limits=small).code == "ArtifactTooLarge"
    assert refused(capsule, limits=kipql.Limits(rows=5)).code == "ArtifactTooLarge"


def test_a_long_chain_of_dependents_is_settled_within_the_budget() -> None:
    """Each Proposition is about the next, in the worst order, and the last can not be had."""
    system = {"version": 1, "state": "active", "origin": {"principal_id": "x", "channel": "x"}}
    records = [
        {
            "id": f"P-{at}", "kind": "proposition", "space_id": "s", "_system": system,
            "predicate_ref": "kip://test/things@1.0.0/is", "subject": {"id": f"P-{at + 1}"}, "object": {"id": "x"},
        }
        for at in range(1, 3_000)
    ]  # fmt: skip
    known = told()[0].export_capsule()["payload"]["schema_dependencies"]
    payload = {
        "manifest": {"kind": "snapshot", "closure": "selective", "roots": []},
        "source": {"space_id": "s", "snapshot_seq": 1},
        "schema_dependencies": known,
        "records": records,
        "external_refs": [{"id": "x", "kind": "source_element"}, {"id": "P-3000", "kind": "source_element"}],
        "blobs": {},
        "handling": {},
    }
    error = refused(sealed(payload), limits=kipql.Limits(ticks=10_000_000))
    assert error.code in ("ImportPreviewConflict", "ResourceExhausted")


HANDLING = [
    {"observed_at_unknown": 5}, {"observed_at_unknown": [1, {}]}, {"source_self": []}, {"source_self": "C-9"},
    {"source_lineage": {"a": 1}}, {"left_out": 1}, {"anything": {"at": ["all"]}},
]  # fmt: skip


@pytest.mark.parametrize("handling", HANDLING, ids=str)
def test_what_handling_says_breaks_nothing(capsule: dict[str, Any], handling: Any) -> None:
    changed = resealed(capsule, lambda payload: payload.update(handling=handling))
    assert empty().import_capsule(changed).status == "committed"


@pytest.mark.parametrize(
    "located", [{"fingerprint": 5}, {"fingerprint": []}, {"canonical_id": "x"}, {"space_id": None}], ids=str
)
def test_what_a_locator_says_breaks_nothing(capsule: dict[str, Any], located: Any) -> None:
    def change(payload: Payload) -> None:
        payload["manifest"]["closure"] = "referential"
        payload["external_refs"].append({"id": "E-9", "kind": "source_element", "locator": located})
        record_of(payload, "evidence")["source"].append({"id": "E-9"})

    assert empty().import_capsule(resealed(capsule, change)).status == "committed"


JUNK: list[Any] = [
    None, True, 0, 2**60, -1.5, "", "C-1", "P-2", "A-9", "2026-05-01T12:00:00.000Z", "kip://test/things@1.0.0/is",
    [], {}, [{}], {"id": "C-1"}, {"id": "E-1", "role": "support"}, [{"id": "P-1"}], "active", "merged", "imported",
]  # fmt: skip
STORY_CAPSULE = told()[0].export_capsule()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        yield (*path, key)
        yield from places(member, (*path, key))


PLACES = list(places(STORY_CAPSULE["payload"]))


@settings(max_examples=20 * EXAMPLES, deadline=None)
@given(data=st.data())
def test_a_sealed_lie_is_refused_whole_or_taken_whole(data: st.DataObject) -> None:
    """Up to three members anywhere are replaced or removed, and the Capsule is sealed again."""
    payload = copy.deepcopy(STORY_CAPSULE["payload"])
    for path in data.draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=3)):
        holder: Any = payload
        try:
            for step in path[:-1]:
                holder = holder[step]
            if data.draw(st.booleans()):
                holder[path[-1]] = data.draw(st.sampled_from(JUNK))
            else:
                del holder[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue
    try:
        capsule = sealed(payload)
    except KipError:
        return  # no canonical JSON, so nobody can seal it
    target = empty()
    before = target.digest()
    try:
        receipt = target.import_capsule(capsule)
    except KipError as error:
        assert error.code != "InternalError", error
        assert (target.digest(), target.space_seq) == (before, 0)
    else:
        assert receipt.status == "committed" or not capsule["payload"]["records"]
        assert target.import_capsule(capsule).status == "no_effect"
        assert target.query("VALIDATE CAPSULE :c", {"c": target.export_capsule()}).one()["errors"] == []
