"""Every member of WITH EPISTEMIC does what it says, or is refused by the code that says why (§27.1, §49)."""

from typing import Any

import pytest

import kipql
from kipql.errors import KipError
from tests.belief.world import PEOPLE, TEXTS

JULY = 'FOR TIME "2026-07-15T00:00:00.000Z"'


@pytest.fixture(scope="module")
def nexus() -> kipql.Nexus:
    nexus = kipql.open(packages=[PEOPLE])
    for text in TEXTS:
        nexus.execute(text)
    return nexus


def read(nexus: kipql.Nexus, pattern: str, columns: str, settings: str, **parameters: Any) -> Any:
    text = f"FIND({columns}) WHERE {{ ?b BELIEF {pattern} }} {JULY} WITH EPISTEMIC {{{settings}}}"
    return nexus.query(text, parameters).one()


BEN, DEE = 'SLOT ("C-2", "lives_in")', 'SLOT ("C-4", "lives_in")'
VIM = '("C-3", "likes", "C-10")'
HONOURED = [
    # pattern, what is read, without the member, the member, with it
    (BEN, "?b.status", "", "contested", 'policy: "kip:memory-default"', "accepted"),
    (BEN, "?b.basis.policy.version", "", "1", 'policy: "kip:memory-default@1"', "1"),
    (DEE, "?b.accepted_values", "", [{"id": "C-6"}], 'policy: "kip:memory-default", context_refs: ["C-11"]',
     [{"id": "C-5"}]),
    (DEE, "?b.basis.context_refs", "", [], 'context_refs: [{id: "C-12"}, "C-11", "C-12"]', ["C-11", "C-12"]),
    (VIM, "?b.status", "include_hypothetical: false", "insufficient", "include_hypothetical: true", "accepted"),
    (BEN, "?b.explanation.historical", "include_historical: false", None, "include_historical: true", []),
    (BEN, "?b.explanation.level", "", None, 'explanation: "summary"', "summary"),
    (BEN, "?b.explanation", 'explanation: "none"', None, 'explanation: "none"', None),
    (BEN, "?b.basis.purpose", "", "unspecified", 'purpose: "answer_user"', "answer_user"),
    (BEN, "?b.basis.risk", "", "unspecified", 'risk: "high"', "high"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "read_", "without", "before", "member", "after"), HONOURED)
def test_a_member_is_honoured(
    nexus: kipql.Nexus, pattern: str, read_: str, without: str, before: Any, member: str, after: Any
) -> None:
    for _ in range(2):  # closures, then generated source
        assert read(nexus, pattern, read_, without) == before
        assert read(nexus, pattern, read_, member) == after


REFUSED = [
    # A setting that is not implemented is refused, never ignored. The clause's object is any object to the grammar
    # (KQL EBNF, epistemic_clause), so it is no error of syntax: it is something this engine does not do (§87.1).
    ("curiosity: 0.5", "UnsupportedCapability"),
    ("Policy: \"kip:memory-default\"", "UnsupportedCapability"),
    ('policy: "kip:memory-defaults"', "ProjectionPolicyUnavailable"),
    ('policy: "kip:memory-default@2"', "ProjectionPolicyUnavailable"),
    ("policy: null", "TypeMismatch"),
    ("policy: 1", "TypeMismatch"),
    ('policy: ""', "ConstraintViolation"),
    ('context_refs: "C-11"', "TypeMismatch"),
    ('context_refs: ["C-999"]', "NotFoundOrNotVisible"),
    ('context_refs: ["nowhere"]', "NotFoundOrNotVisible"),
    ('include_hypothetical: "yes"', "TypeMismatch"),
    ("include_historical: 1", "TypeMismatch"),
    ("explanation: true", "TypeMismatch"),
    ('explanation: "Ledger"', "ConstraintViolation"),
    ("purpose: 7", "TypeMismatch"),
    ('risk: ""', "ConstraintViolation"),
    ('risk: "low", risk: "high"', "InvalidSyntax"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "code"), REFUSED)
@pytest.mark.parametrize("pattern", [BEN, VIM])
def test_a_member_is_refused(nexus: kipql.Nexus, pattern: str, settings: str, code: str) -> None:
    with pytest.raises(KipError) as caught:
        read(nexus, pattern, "?b.status", settings)
    assert caught.value.code == code
    assert caught.value.span is not None


@pytest.mark.parametrize(("settings", "code"), [row for row in REFUSED if row[1] != "InvalidSyntax"])
def test_it_is_refused_without_any_row_too(nexus: kipql.Nexus, settings: str, code: str) -> None:
    """What is wrong whatever is stored is wrong on an empty branch (§44.2)."""
    text = f'FIND(?b) WHERE {{ ?s {{key: "nobody"}} ?b BELIEF SLOT (?s, "lives_in") }} WITH EPISTEMIC {{{settings}}}'
    with pytest.raises(KipError) as caught:
        nexus.query(text)
    assert caught.value.code == code


def test_members_take_parameters(nexus: kipql.Nexus) -> None:
    settings = "policy: :policy, context_refs: :contexts, include_historical: :past, explanation: :level"
    given: dict[str, Any] = {
        "policy": "kip:memory-default",
        "contexts": [{"id": "C-11"}],
        "past": True,
        "level": "none",
    }
    assert read(nexus, DEE, "?b.accepted_values", settings, **given) == [{"id": "C-5"}]
    assert read(nexus, DEE, "?b.explanation.level", settings, **given) == "none"
    with pytest.raises(KipError) as caught:
        read(nexus, DEE, "?b.status", settings, **{**given, "past": "yes"})
    assert caught.value.code == "TypeMismatch"
