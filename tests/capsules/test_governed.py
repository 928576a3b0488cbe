"""Who may export and import, and what a Capsule tells of what its caller may not see (§28-§31, §41.2)."""

import json
from typing import Any

import pytest

import kipql
from kipql import KipError, Nexus
from tests.capsules.material import THINGS, empty, told

READING = ("discover", "read", "search", "project")
WRITING = ("import", "create", "assert", "record_attributed_assertion", "derive")


def refused(nexus: Nexus, call: Any) -> KipError:
    before = nexus.digest()
    with pytest.raises(KipError) as caught:
        call()
    assert nexus.digest() == before
    return caught.value


def governed() -> tuple[Nexus, dict[str, str]]:
    """The story, in which what was summed up is secret and Bo is internal."""
    nexus, made = told()
    nexus.govern.labels("public", "internal", "secret")
    nexus.govern.classify([made["summary"], made["said"]], "secret")
    nexus.govern.classify(made["bo"], "internal")
    nexus.govern.grant("reader", *READING, "export", up_to="internal")
    nexus.govern.grant("onlooker", *READING)
    return nexus, made


def test_exporting_needs_the_permission() -> None:
    nexus, _ = governed()
    error = refused(nexus, lambda: nexus.as_principal("onlooker").export_capsule())
    assert (error.code, error.details["permission"]) == ("NotAuthorized", "export")
    text = "EXPORT CAPSULE ?x WHERE { ?x CONCEPT {} }"
    assert refused(nexus, lambda: nexus.as_principal("onlooker").query(text)).code == "NotAuthorized"


def test_what_is_hidden_leaves_no_trace() -> None:
    nexus, made = governed()
    capsule = nexus.as_principal("reader").export_capsule()
    text = json.dumps(capsule)
    for name in ("summary", "said"):
        assert f'"{made[name]}"' not in text
    assert "I like the box" not in text
    assert capsule["payload"]["external_refs"] == []
    claim = next(each for each in capsule["payload"]["records"] if each["id"] == made["claim"])
    assert claim["evidence"] == []
    assert claim["_system"]["plane_versions"]["structural"] == 0  # no counter tells of a citation either
    error = refused(nexus, lambda: nexus.as_principal("reader").export_capsule([made["said"]]))
    nothing = refused(nexus, lambda: nexus.as_principal("reader").export_capsule(["E-99"]))
    assert (error.code, error.message.replace(made["said"], "E-99")) == (nothing.code, nothing.message)


def test_what_may_be_seen_but_not_handed_on_stays() -> None:
    nexus, made = governed()
    nexus.govern.grant("press", *READING)
    nexus.govern.grant("press", "export", up_to="public")
    capsule = nexus.as_principal("press").export_capsule()
    assert made["bo"] not in json.dumps([record["id"] for record in capsule["payload"]["records"]])
    assert made["ada"] in [record["id"] for record in capsule["payload"]["records"]]


def test_redacted_fields_stay_redacted() -> None:
    nexus, made = governed()
    nexus.govern.deny("reader", "read", fields=["attributes.floor", "aliases"])
    capsule = nexus.as_principal("reader").export_capsule([made["work"], made["ada"]])
    by_id = {record["id"]: record for record in capsule["payload"]["records"]}
    assert by_id[made["work"]]["attributes"] == {"open": True}
    assert by_id[made["ada"]]["aliases"] == []
    assert by_id[made["ada"]]["_system"]["origin"]["channel"] == "withheld"  # read_raw_origin is another permission
    to = empty().import_capsule(capsule).result["mapping"]
    assert set(to) == {made["work"], made["ada"]}


@pytest.mark.parametrize("missing", ["import", "create", "record_attributed_assertion", "derive"])
def test_importing_needs_the_permission_and_what_each_element_needs(missing: str) -> None:
    source, _ = told()
    capsule = source.export_capsule()
    target = empty()
    target.govern.grant("agent", *READING, *(set(WRITING) - {missing}))
    error = refused(target, lambda: target.as_principal("agent").import_capsule(capsule))
    assert (error.code, error.details["permission"]) == ("NotAuthorized", missing)
    target.govern.grant("agent", missing)
    receipt = target.as_principal("agent").import_capsule(capsule)
    assert (receipt.status, receipt.principal_id) == ("committed", "agent")


def test_a_preview_needs_the_permission_too() -> None:
    source, _ = told()
    target = empty()
    target.govern.grant("reader", *READING)
    capsule = source.export_capsule()
    text = "PREVIEW IMPORT CAPSULE :c INTO :s"
    call = lambda: target.as_principal("reader").query(text, {"c": capsule, "s": target.space_id})  # noqa: E731
    assert refused(target, call).code == "NotAuthorized"
    # to look at a Capsule needs nothing: it is the caller's own
    assert target.as_principal("reader").query("VALIDATE CAPSULE :c", {"c": capsule}).one()["valid"] is True


def test_claims_by_a_reserved_actor_need_its_representative() -> None:
    source, made = told()
    target = empty()
    me: str = target.execute('CREATE CONCEPT ?m { TYPE "Person" NAME "Me" }').handles["m"]  # type: ignore[union-attr]
    target.govern.reserve(me)
    target.govern.grant("agent", *READING, *WRITING, "merge_identity")
    plan = {"records": [{"id": made["bo"], "action": "match", "target": me}]}
    capsule = source.export_capsule([made["count"]])
    error = refused(target, lambda: target.as_principal("agent").import_capsule(capsule, plan))
    assert error.code == "ActorBindingRequired"


def test_labels_come_along_and_only_declassification_lowers_one() -> None:
    source, made = governed()
    capsule = source.export_capsule([made["said"]], closure="selective")
    target = empty()
    target.govern.labels("public", "secret")
    name = target.import_capsule(capsule).result["mapping"][made["said"]]
    target.govern.grant("public", *READING, up_to="public")
    find = "FIND(COUNT(?e)) WHERE { ?e EVIDENCE {id: :x} }"
    assert target.query(find, {"x": name}).scalar() == 1
    assert target.as_principal("public").query(find, {"x": name}).scalar() == 0
    other = empty()
    other.govern.labels("public", "secret")
    other.govern.grant("agent", *READING, *WRITING)
    lower = {"classification": "public"}
    error = refused(other, lambda: other.as_principal("agent").import_capsule(capsule, lower))
    assert error.details["permission"] == "declassify"
    assert refused(other, lambda: other.import_capsule(capsule, {"classification": "x"})).code == "ConstraintViolation"
    other.govern.grant("agent", "declassify")
    other.as_principal("agent").import_capsule(capsule, lower)


def test_a_label_that_is_not_declared_here_counts_as_the_highest() -> None:
    source, made = governed()
    capsule = source.export_capsule([made["said"]], closure="selective")
    target = empty()
    target.govern.labels("low", "high")
    name = target.import_capsule(capsule).result["mapping"][made["said"]]
    target.govern.grant("reader", *READING, up_to="high")
    find = "FIND(COUNT(?e)) WHERE { ?e EVIDENCE {id: :x} }"
    assert target.as_principal("reader").query(find, {"x": name}).scalar() == 0


def test_an_importer_learns_nothing_of_what_is_hidden_from_it() -> None:
    source, made = told()
    capsule = source.export_capsule([made["ada"]])
    target = empty()
    target.govern.labels("public", "secret")
    ours = {"same_owner": True}
    hidden = target.import_capsule(capsule, {**ours, "classification": "secret"}).result["mapping"][made["ada"]]
    target.govern.grant("agent", *READING, *WRITING, "merge_identity", up_to="public")
    (row,) = target.as_principal("agent").preview_import(capsule, {"records": [{"id": made["ada"], "action": "skip"}]})[
        "plan"
    ]["records"]
    assert row["action"] == "skip"  # the earlier import is not known to it
    error = refused(target, lambda: target.as_principal("agent").import_capsule(capsule, ours))
    assert error.code == "IdentityConflict"  # the key is taken: uniqueness holds over the whole Space
    assert hidden not in json.dumps(error.to_dict())


def test_who_may_make_nothing_can_not_probe_for_what_is_hidden() -> None:
    """A key that a hidden Concept holds is in nobody's way who could not make one (§30.4)."""
    source, made = told()
    capsule = source.export_capsule([made["ada"]])
    answers = []
    for hidden in (False, True):
        target = empty()
        target.govern.labels("public", "secret")
        if hidden:
            target.import_capsule(capsule, {"classification": "secret"})
        target.govern.grant("agent", *READING, "import", up_to="public")
        preview = target.as_principal("agent").preview_import
        error = refused(target, lambda preview=preview: preview(capsule))  # type: ignore[misc]
        answers.append(error.to_dict())
    assert answers[0] == answers[1]
    assert (answers[0]["code"], answers[0]["details"]) == ("NotAuthorized", {"permission": "create"})


def test_merges_need_the_authority_over_identity() -> None:
    source, made = told()
    source.execute("MERGE CONCEPT :bo INTO :ada", made)
    capsule = source.export_capsule([made["bo"]])
    target = empty()
    target.govern.grant("agent", *READING, *WRITING)
    error = refused(target, lambda: target.as_principal("agent").import_capsule(capsule))
    assert error.details["permission"] == "merge_identity"


def test_retention_is_the_destinations() -> None:
    source, made = told()
    source.execute('SET RETENTION :x {retention_class: "long"}', {"x": made["said"]})
    capsule = source.export_capsule([made["said"]], closure="selective")
    target = empty()
    target.govern.grant("agent", *READING, *WRITING)
    name = target.as_principal("agent").import_capsule(capsule).result["mapping"][made["said"]]
    find = "FIND(?e.retention.retention_class) WHERE { ?e EVIDENCE {id: :x} }"
    assert target.query(find, {"x": name}).scalar() is None


def test_approval_of_a_creation_holds_for_an_import() -> None:
    source, made = told()
    target = kipql.open(packages=[THINGS])
    target.govern.grant("agent", *READING, *WRITING)
    target.govern.require_approval("create")
    capsule = source.export_capsule([made["ada"]])
    error = refused(target, lambda: target.as_principal("agent").import_capsule(capsule))
    assert error.code == "RequiresApproval"
    target.govern.approve(error.details["request"])
    assert target.as_principal("agent").import_capsule(capsule).status == "committed"
