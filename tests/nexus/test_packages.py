"""Installing Schema Packages is the host's decision (§20.8, §20.10)."""

from pathlib import Path

import pytest

import kipql
from kipql.errors import KipError

GENERAL = "kip://domains/general@1.0.0"
PROFILE = "kip://profiles/cognitive-memory@2.0.0"
WIDGETS = {
    "manifest": {"package_id": "kip://test/widgets", "version": "1.0.0"},
    "definitions": {"concept_types": {"Widget": {"kind": "ConceptType", "description": "A thing."}}},
}


def active(nexus: kipql.Nexus) -> list[str]:
    return [row["package_ref"] for row in nexus.query("LIST SCHEMA PACKAGES")]


def test_a_new_space_has_the_profile_and_what_the_host_names() -> None:
    assert active(kipql.open()) == [PROFILE]
    nexus = kipql.open(packages=[GENERAL, WIDGETS])
    assert active(nexus) == [GENERAL, PROFILE, "kip://test/widgets@1.0.0"]
    assert (nexus.space_seq, nexus.stats()["schema_environment_version"]) == (0, 1)


def test_before_the_first_commit_packages_take_no_sequence() -> None:
    nexus = kipql.open()
    nexus.install_package(GENERAL)
    nexus.install_packages([WIDGETS])
    assert (nexus.space_seq, nexus.stats()["schema_environment_version"]) == (0, 1)


def test_later_a_package_is_a_commit_with_a_schema_control_change() -> None:
    nexus = kipql.open()
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
    nexus.install_package(WIDGETS)
    assert (nexus.space_seq, nexus.stats()["schema_environment_version"]) == (2, 2)
    (envelope,) = nexus.query("CHANGES AFTER SEQ 1").rows
    assert envelope["control_changes"] == [{"kind": "schema", "version": "2"}]
    assert envelope["changes"] == []
    assert nexus.execute('CREATE CONCEPT ?w { TYPE "Widget" NAME "W" }').space_seq == 3


def test_a_past_snapshot_keeps_its_own_environment() -> None:
    nexus = kipql.open()
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
    nexus.install_package(WIDGETS)
    then = nexus.query("DESCRIBE SCHEMA ENVIRONMENT AS OF SEQ 1").one()
    assert ([row["package_ref"] for row in then["packages"]], then["schema_environment_version"]) == ([PROFILE], 1)


def test_a_name_means_in_a_past_state_what_it_meant_then() -> None:
    """§48.6: that two packages export the name by now is nothing to a read of before; that one did not, is."""
    nexus = kipql.open(packages=[WIDGETS])
    nexus.execute('CREATE CONCEPT ?w { TYPE "Widget" NAME "W" }')
    now = 'FIND(?w.name) WHERE { ?w {type: "Widget"} FILTER(?w.name != "x%d") }'
    then = f"{now} AS OF SEQ 1"
    warm = nexus.prepare(then % 0)
    assert warm.query().rows == ["W"]
    rival = {**WIDGETS, "manifest": {"package_id": "kip://test/rival", "version": "1.0.0"}}
    late = {
        "manifest": {"package_id": "kip://test/late", "version": "1.0.0"},
        "definitions": {"concept_types": {"Late": {"kind": "ConceptType", "description": "A thing."}}},
    }
    nexus.install_packages([rival, late])
    for number in range(6):  # closures, generated source, the ready paths of the text and of its form
        assert warm.query().rows == nexus.query(then % 0).rows == nexus.query(then % number).rows == ["W"]
        for text, code in (
            (now % number, "SchemaSymbolAmbiguous"),
            (f"{now % number} AS OF SEQ 2", "SchemaSymbolAmbiguous"),
            ((then % number).replace("Widget", "Late"), "SchemaSymbolNotFound"),
        ):
            with pytest.raises(KipError) as caught:
                nexus.query(text)
            assert caught.value.code == code
            (error,) = nexus.query("VALIDATE KQL :q", {"q": text}).one()["errors"]
            assert error["code"] == code
        assert nexus.query("VALIDATE KQL :q", {"q": then % number}).one()["valid"]


def test_an_active_package_changes_nothing() -> None:
    nexus = kipql.open(packages=[WIDGETS])
    nexus.execute('CREATE CONCEPT ?w { TYPE "Widget" NAME "W" }')
    nexus.install_packages([WIDGETS, PROFILE])
    assert nexus.space_seq == 1


def test_another_content_under_an_active_version_is_refused() -> None:
    nexus = kipql.open(packages=[WIDGETS])
    changed = {**WIDGETS, "definitions": {}}
    with pytest.raises(KipError) as caught:
        nexus.install_package(changed)
    assert caught.value.code == "SchemaSymbolConflict"


@pytest.mark.parametrize(
    ("package", "code"),
    [
        ("kip://domains/generl@1.0.0", "SchemaPackageUnavailable"),
        ({"manifest": {}}, "ConstraintViolation"),
        (7, "TypeMismatch"),
    ],
)
def test_a_package_that_can_not_be_had_is_refused(package: object, code: str) -> None:
    with pytest.raises(KipError) as caught:
        kipql.open(packages=[package])  # type: ignore[list-item]
    assert caught.value.code == code


def test_packages_are_there_when_opened_again(tmp_path: Path) -> None:
    with kipql.open(tmp_path / "m", packages=[WIDGETS]) as nexus:
        nexus.execute('CREATE CONCEPT ?w { TYPE "Widget" NAME "W" }')
        nexus.install_package(GENERAL)
    with kipql.open(tmp_path / "m", packages=[WIDGETS], readonly=True) as nexus:
        assert active(nexus) == [GENERAL, PROFILE, "kip://test/widgets@1.0.0"]
        assert (nexus.space_seq, nexus.stats()["schema_environment_version"]) == (2, 2)
