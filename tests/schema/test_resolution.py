"""What a name means in a Schema Environment (specification §20.6-§20.8, §20.13, §20.14, §65)."""

from typing import Any

import pytest

from kipql.errors import KipError
from kipql.model import ACTIVITY, ASSERTION, CONCEPT
from kipql.schema.builtin import cognitive_memory, general_domain
from kipql.schema.core import CoreField
from kipql.schema.definitions import ConceptType, PredicateType
from kipql.schema.environment import Environment, describe, symbol_row
from kipql.schema.packages import Rename
from tests.schema.small import LAB, THINGS, environment, package


def refusal(call: Any, *arguments: Any) -> KipError:
    with pytest.raises(KipError) as caught:
        call(*arguments)
    return caught.value


@pytest.mark.parametrize("name", ["Robot", "kip://lab/things/Robot", f"{LAB}/Robot"])
def test_a_local_name_a_lineage_and_an_exact_ref_mean_the_symbol(name: str) -> None:
    env = environment(package(THINGS))
    assert env.concept_type(name).ref == f"{LAB}/Robot"
    assert env.find_concept_type(name) is env.concept_type(name)


def test_an_absent_symbol_is_not_found_with_a_near_name() -> None:
    env = environment(package(THINGS))
    error = refusal(env.concept_type, "Robbot")
    assert error.code == "SchemaSymbolNotFound" and "Robot" in (error.hint or "")
    assert env.find_concept_type("Robbot") is None


def test_an_exact_ref_of_another_version_says_which_version_is_active() -> None:
    error = refusal(environment(package(THINGS)).concept_type, "kip://lab/things@9.0.0/Robot")
    assert error.code == "SchemaSymbolNotFound" and f"{LAB}/Robot" in (error.hint or "")


def test_a_name_that_is_no_string_is_a_type_mismatch() -> None:
    env = environment(package(THINGS))
    assert refusal(env.concept_type, 42).code == "TypeMismatch"
    assert refusal(env.find_predicate, ["named"]).code == "TypeMismatch"


def test_two_packages_that_export_a_name_make_it_ambiguous() -> None:
    env = environment(package({"concept_types": {"Robot": {}}}, path="kip://a"), package(THINGS))
    error = refusal(env.concept_type, "Robot")
    assert error.code == "SchemaSymbolAmbiguous"
    assert error.details["candidates"] == ["kip://a@1.0.0/Robot", f"{LAB}/Robot"]
    assert refusal(env.find_concept_type, "Robot").code == "SchemaSymbolAmbiguous"
    assert env.concept_type(f"{LAB}/Robot").local_name == "Robot"


def test_aliases_resolve_and_collide_like_names() -> None:
    one = package(
        {"predicates": {"first": {}}}, path="kip://a", aliases={"predicates": {"status": "kip://a@1.0.0/first"}}
    )
    two = package(
        {"predicates": {"second": {}}}, path="kip://b", aliases={"predicates": {"status": "kip://b@1.0.0/second"}}
    )
    assert environment(one).predicate("status").local_name == "first"
    assert refusal(environment(one, two).predicate, "status").code == "SchemaSymbolAmbiguous"
    assert environment(one, two).predicate("kip://b@1.0.0/second").local_name == "second"


def test_an_alias_for_nothing_is_refused() -> None:
    lost = package({}, path="kip://a", aliases={"predicates": {"status": "kip://a@1.0.0/ghost"}})
    assert refusal(environment, lost).code == "SchemaSymbolNotFound"


def test_a_predicate_and_a_type_may_share_a_name_and_a_ref() -> None:
    env = environment(package({"concept_types": {"Tool": {}}, "predicates": {"Tool": {}}}))
    assert env.concept_type("Tool").KIND == "ConceptType"
    assert env.predicate("Tool").KIND == "PredicateType"
    assert env.concept_type("Tool").ref == env.predicate("Tool").ref


def test_a_core_structural_field_comes_first_on_the_kind_that_carries_it() -> None:
    env = environment(package(THINGS))
    assert isinstance(env.structural_field_of(ASSERTION, "evidence"), CoreField)
    assert env.structural_field_of(CONCEPT, "evidence") is env.structural_field("evidence")
    assert env.structural_field_of(ACTIVITY, "evidence") is env.structural_field("evidence")
    assert refusal(env.structural_field_of, CONCEPT, "inputs").code == "SchemaSymbolNotFound"


def upgraded() -> Environment:
    newer = {
        "concept_types": {"Robot": {}},
        "predicates": {"sits_in": {"subject": {"concept_types": [f"{LAB}/Robot"]}}},
    }
    moves = [
        {"kind": "rename", "symbol_kind": "PredicateType", "from": "stands_in", "to": "sits_in"},
        {"kind": "retire", "symbol_kind": "ConceptType", "symbol": "Plain"},
    ]
    return environment(
        package(THINGS), package(newer, version="1.10.0", migrations=moves), package({}, version="1.9.0")
    )


def test_a_lineage_resolves_to_its_newest_version_and_an_exact_ref_to_its_own() -> None:
    env = upgraded()
    assert env.concept_type("Robot").ref == "kip://lab/things@1.10.0/Robot"
    assert env.concept_type(f"{LAB}/Robot").ref == f"{LAB}/Robot"
    assert env.concept_type(f"{LAB}/Robot").status == "superseded"
    assert env.write_version(env.concept_type(f"{LAB}/Robot")).ref == "kip://lab/things@1.10.0/Robot"
    assert env.lineage(f"{LAB}/Robot") == env.lineage("kip://lab/things@1.10.0/Robot") == "kip://lab/things/Robot"


def test_a_symbol_that_a_newer_version_does_not_mention_stays_writable() -> None:
    env = upgraded()
    assert env.write_version(env.concept_type("Room")).ref == f"{LAB}/Room"


def test_a_rename_carries_the_old_name_the_old_ref_and_the_old_lineage() -> None:
    env = upgraded()
    for name in ("stands_in", "sits_in", "kip://lab/things/stands_in"):
        assert env.predicate(name).ref == "kip://lab/things@1.10.0/sits_in"
    assert env.predicate(f"{LAB}/stands_in").ref == f"{LAB}/stands_in"
    assert env.predicate(f"{LAB}/stands_in").lineage == "kip://lab/things/sits_in"
    assert env.lineage(f"{LAB}/stands_in") == "kip://lab/things/sits_in"
    assert "stands_in" not in {predicate.local_name for predicate in env.predicates}


def test_a_retired_symbol_is_readable_and_not_writable() -> None:
    env = upgraded()
    plain = env.concept_type("Plain")
    assert plain.ref == f"{LAB}/Plain" and plain.status == "retired"
    assert refusal(env.write_version, plain).code == "SchemaSymbolNotFound"
    assert "Plain" not in {known.local_name for known in env.concept_types}


def test_renames_that_go_round_are_refused() -> None:
    def rename(old: str, new: str) -> dict[str, str]:
        return {"kind": "rename", "symbol_kind": "PredicateType", "from": old, "to": new}

    one = package({"predicates": {"b": {}}}, version="2.0.0", migrations=[rename("a", "b")])
    two = package({"predicates": {"a": {}}}, version="3.0.0", migrations=[rename("b", "a")])
    assert refusal(environment, one, two).code == "ConstraintViolation"


def test_a_promotion_gives_a_draft_symbol_the_lineage_of_an_installed_one() -> None:
    draft = package({"concept_types": {"Machine": {}}}, path="kip://local/draft", version="0.0.0")
    env = environment(draft, package(THINGS))
    promoted = env.with_promotions([Rename("concept_types", "kip://local/draft/Machine", "kip://lab/things/Robot")], 2)
    assert promoted.version == 2
    assert promoted.concept_type("Machine").ref == f"{LAB}/Robot"
    assert promoted.lineage("kip://local/draft@0.0.0/Machine") == "kip://lab/things/Robot"
    assert env.lineage("kip://local/draft@0.0.0/Machine") == "kip://local/draft/Machine"


def test_the_lineage_of_a_package_that_is_not_active_is_what_its_ref_spells() -> None:
    env = environment(package(THINGS))
    assert env.lineage("kip://other@3.1.0/Thing") == "kip://other/Thing"
    assert refusal(env.lineage, "Robot").code == "SchemaSymbolNotFound"


def test_a_shared_ref_has_a_lineage_per_kind() -> None:
    both = package({"concept_types": {"Tool": {}}, "predicates": {"Tool": {}}})
    newer = package(
        {"predicates": {"uses": {}}},
        version="2.0.0",
        migrations=[{"kind": "rename", "symbol_kind": "PredicateType", "from": "Tool", "to": "uses"}],
    )
    env = environment(both, newer)
    assert env.lineage(f"{LAB}/Tool", ConceptType) == "kip://lab/things/Tool"
    assert env.lineage(f"{LAB}/Tool", PredicateType) == "kip://lab/things/uses"


def test_one_ref_has_one_content() -> None:
    same = environment(package(THINGS), package(THINGS))
    assert len(same.packages) == 1
    assert refusal(environment, package(THINGS), package({})).code == "SchemaSymbolConflict"


def test_required_dependencies_must_be_active_and_optional_ones_need_not() -> None:
    def depending(version: str, **rest: Any) -> Any:
        return package(
            {}, path="kip://a", dependencies=[{"package_id": "kip://lab/things", "version": version, **rest}]
        )

    assert environment(depending("1.0.0"), package(THINGS))
    assert refusal(environment, depending("1.0.0")).code == "SchemaPackageUnavailable"
    assert refusal(environment, depending("2.0.0"), package(THINGS)).code == "SchemaPackageUnavailable"
    assert environment(depending("2.0.0", required=False))
    assert environment(package({}, path="kip://a", dependencies=[{"package_ref": "kip://core@2.0.0"}]))
    assert refusal(environment, package({}, dependencies=[{"package_ref": "kip://core@1.0.0"}])).code == (
        "SchemaPackageUnavailable"
    )


def test_an_endpoint_type_must_resolve() -> None:
    lost = package({"predicates": {"p": {"subject": {"concept_types": ["Nobody"]}}}}, path="kip://a")
    assert refusal(environment, lost).code == "SchemaSymbolNotFound"


def test_an_endpoint_type_is_the_packages_own_before_anybody_elses() -> None:
    other = package({"concept_types": {"Robot": {}}}, path="kip://a")
    env = environment(other, package(THINGS))
    assert env.predicate("stands_in").subject.type_refs == {f"{LAB}/Robot"}


def test_an_endpoint_admits_every_version_of_its_lineage() -> None:
    refs = {f"{LAB}/Robot", "kip://lab/things@1.10.0/Robot"}
    assert upgraded().predicate("stands_in").subject.type_refs == refs


def test_lists_hold_four_members_are_ordered_by_ref_and_leave_core_out() -> None:
    env = environment(general_domain(), cognitive_memory(), package(THINGS))
    rows = [symbol_row(predicate) for predicate in env.predicates]
    assert [row["ref"] for row in rows] == sorted(row["ref"] for row in rows)
    assert {"ref": f"{LAB}/named", "local_name": "named", "package_ref": LAB, "status": "active"} in rows
    assert not any("kip://core" in row["ref"] for row in rows)
    assert {tuple(row) for row in rows} == {("ref", "local_name", "package_ref", "status")}


def test_packages_are_listed_with_the_newer_version_active() -> None:
    rows = {row["package_ref"]: row for row in upgraded().package_rows()}
    assert rows["kip://lab/things@1.10.0"]["status"] == "active"
    assert rows[LAB] == {
        "package_ref": LAB,
        "package_id": "kip://lab/things",
        "version": "1.0.0",
        "status": "superseded",
    }
    assert upgraded().to_dict()["packages"] == upgraded().package_rows()


def test_a_description_holds_the_definition_as_written() -> None:
    about = describe(environment(package(THINGS)).predicate("named"))
    assert about["definition"] == THINGS["predicates"]["named"]
    assert (about["kind"], about["lineage"], about["version"]) == ("PredicateType", "kip://lab/things/named", "1.0.0")


def test_an_environment_grows_without_changing() -> None:
    env = environment(package(THINGS))
    grown = env.with_packages([package({"predicates": {"new": {}}}, path="kip://a")], 2)
    assert (env.version, grown.version) == (1, 2)
    assert env.find_predicate("new") is None and grown.find_predicate("new") is not None
