"""The runner's own rules: normal form, multisets, containment, pointers, flattening."""

import pytest

from tests.conformance.compare import contains, equal, normal
from tests.conformance.engine import Answer, flattened, pointed
from tests.conformance.runner import judge
from tests.conformance.suite import Case, Step


def test_ids_are_numbered_over_all_kinds_in_the_order_of_a_walk_with_sorted_keys() -> None:
    answer = [{"b": "P-4", "a": "C-9"}, ["C-9", "A-12", "C-9x", "C-0"]]
    assert normal(answer, []) == [{"a": "C:<1>", "b": "P:<2>"}, ["C:<1>", "A:<3>", "C-9x", "C-0"]]


def test_a_volatile_member_stays_only_where_the_expectation_names_it() -> None:
    answer = {"id": "C-1", "score": 0.5, "tx_id": "t"}
    assert normal(answer, {"id": "C:<1>"}) == {"id": "C:<1>"}
    assert normal(answer, {"score": 0.5}) == {"id": "C:<1>", "score": 0.5}


@pytest.mark.parametrize(
    ("answer", "expectation", "ordered", "same"),
    [
        ([1, 2], [2, 1], False, True),
        ([1, 2], [2, 1], True, False),
        ([1, 1, 2], [1, 2, 2], False, False),
        ([1.0], [1], False, True),
        ([True], [1], False, False),
        ([None], [0], False, False),
        ([[1, 2]], [[2, 1]], False, False),
        ({"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1}, False, True),
    ],
)
def test_equality(answer: object, expectation: object, ordered: bool, same: bool) -> None:
    assert equal(answer, expectation, ordered) is same


def test_containment_allows_more_members_and_more_rows() -> None:
    assert contains([{"ref": "a", "x": 1}, {"ref": "b"}], [{"ref": "b"}])
    assert contains({"definition": {"d": 1, "e": 2}}, {"definition": {"d": 1}})
    assert not contains([{"ref": "a"}], [{"ref": "b"}])
    assert not contains({}, {"ref": "b"})


def test_a_pointer_unescapes_its_tokens() -> None:
    assert pointed([{"a/b": {"c~d": 7}}], "/0/a~1b/c~0d") == 7
    assert pointed([1], "") == [1]


def test_the_first_error_wins_over_results() -> None:
    late = {"results": [{"result": 1}, {"error": {"code": "X"}}]}
    assert flattened(late).code == "X"
    assert flattened({"error": {"code": "Y"}, **late}).code == "Y"
    assert flattened({"results": [{"result": [3]}, {"result": 4}]}) == Answer(result=[3])


@pytest.mark.parametrize(
    ("expect", "answer", "outcome"),
    [
        ({}, Answer(), "passed"),
        ({}, Answer(error={"code": "TypeMismatch"}), "failed"),
        ({"error": "TypeMismatch"}, Answer(error={"code": "TypeMismatch"}), "passed"),
        ({"error": "TypeMismatch"}, Answer(), "failed"),
        ({"withheld": True}, Answer(error={"code": "TypeMismatch"}), "executed"),
        ({"result": [1]}, Answer(result=[1]), "passed"),
        ({"result": [1]}, Answer(error={"code": "UnsupportedCapability"}), "skipped"),
        ({"error": "UnsupportedCapability"}, Answer(error={"code": "UnsupportedCapability"}), "passed"),
    ],
)
def test_verdicts(expect: dict[str, object], answer: Answer, outcome: str) -> None:
    assert judge(Case("a case", Step("FIND"), expect, False), answer).outcome == outcome
