"""Completion: from the text before the cursor to the words that are offered."""

import pytest

from kipql.editing.completing import offers
from kipql.editing.vocabulary import FEW, Vocabulary

# The text before the cursor; words that are offered; words that are not.
TABLE = [
    ("", ["FIND", "DESCRIBE", "SET RETENTION"], ["WHERE", "LIMIT"]),
    ("fi", ["FIND"], ["FILTER", "DEFINE"]),
    ("FIND(?x) ", ["WHERE"], ["FIND", "LIMIT"]),
    ("FIND(?x) WH", ["WHERE"], []),
    ("FIND(CO", ["COUNT(", "CONTAINS("], ["FIND"]),
    ("FIND(?who, ?", ["?who"], ["FIND"]),
    ("FIND(?x) WHERE { ?x {} } ", ["AS OF SEQ", "FOR TIME", "ORDER BY", "LIMIT", "FIND"], ["WHERE"]),
    ("FIND(?x) WHERE { ?x {} } ORD", ["ORDER BY"], ["OPTIONAL"]),
    ("FIND(?x) WHERE { ", ["FILTER", "OPTIONAL", "?x"], ["LIMIT"]),
    ("FIND(?x) WHERE { ?x ", ["BELIEF", "CONCEPT", "ASSERTION", "SEARCH"], ["WHERE"]),
    ("FIND(?x) WHERE { ?x {", ["type", "key", "name"], ["asserted_by"]),
    ('FIND(?x) WHERE { ?x {type: "Robot", ', ["key"], ["type"]),
    ("FIND(?x) WHERE { ?x {type: ", ['"Robot"', '"Person"'], ['"kept_by"']),
    ('FIND(?x) WHERE { ?x {type: "Ro', ['"Robot"', '"Room"'], ['"Person"']),
    ("FIND(?x) WHERE { ?x {type: Rob", ['"Robot"'], ['"Room"']),
    ('FIND(?x) WHERE { ?x {type: "Robot", key: "', ['"rover"', '"arm"'], ['"ada"']),
    ('FIND(?x) WHERE { ?x {key: "a', ['"ada"', '"arm"'], ['"rover"']),
    ("FIND(?x) WHERE { ?x {key: :", [":who"], []),
    ("FIND(?x) WHERE { ?x {key: :other} FILTER(?x.name == :", [":who", ":other"], []),
    ("FIND(?x) WHERE { (?x, ", ['"kept_by"', '"stands_in"'], ['"Robot"']),
    ('FIND(?x) WHERE { (?x, "k', ['"kept_by"'], ['"stands_in"']),
    ("FIND(?b) WHERE { ?b BELIEF SLOT (?x, ", ['"kept_by"'], ['"Robot"']),
    ('ASSERT (?x, "kept_by", ?y) {', ["by", "mode", "evidence"], ["type"]),
    ('ASSERT (?x, "kept_by", ?y) {mode: ', ['"stated"', '"observed"'], ['"support"']),
    ("FIND(?a) WHERE { ?a ASSERTION {", ["asserted_by", "stance"], ["name"]),
    ("FIND(?a) WHERE { ?a ASSERTION {stance: ", ['"support"', '"reject"'], []),
    ("FIND(?x) WHERE { ?x {} } WITH EPISTEMIC {", ["explanation", "policy"], ["type"]),
    ("FIND(?x) WHERE { ?x {} } WITH EPISTEMIC {explanation: ", ['"ledger"'], ["COUNT("]),
    ("FIND(?x) WHERE { ?x {} FILTER(", ["CONTAINS(", "?x"], ["COUNT("]),
    ("FIND(?a) WHERE { ?a ASSERTION {} FILTER(?a.", ["confidence", "stance"], ["attributes"]),
    ("FIND(?a) WHERE { ?a ASSERTION {} FILTER(?a.valid_time.", ["from", "until"], ["stance"]),
    ("FIND(?x) WHERE { ?x {} FILTER(?x.attributes.", ["serial"], ["name"]),
    ("FIND(?b) WHERE { ?b BELIEF (?p) FILTER(?b.", ["status", "support"], ["name"]),
    ("FIND(?x.facets[", ['"MnemonicState"'], ['"Robot"']),
    ('FIND(?x.facets["MnemonicState"].', ["salience", "effective_strength"], ["name"]),
    ('FIND(?x.facets["kip://profiles/cognitive-memory/MnemonicState"].', ["salience"], ["name"]),
    ("FIND(?x.facets.", [], ["name"]),
    ("FIND(?x) WHERE { ?x {facets: {", ['"MnemonicState"'], ["name", '"Robot"']),
    ('FIND(?x) WHERE { ?x {facets: {"MnemonicState": {', ["salience"], ["name", "effective_strength"]),
    ("UPDATE ?x SET FACET ", ['"MnemonicState"'], ['"Robot"']),
    ('UPDATE ?x SET FACET "MnemonicState" {', ["salience"], ["name", "effective_strength"]),
    ('UPDATE ?x SET FACET "MnemonicState" {salience: 1, ', ["utility"], ["salience"]),
    ('UPDATE ?x UNSET FACET "MnemonicState" {', ["salience"], ["name"]),
    ("FIND(?x) WHERE { ?x {attributes: {", ["serial"], ["name"]),
    ("FIND(?x) WHERE { ?x {} FILTER(?x._system.", ["version", "dependency_validity"], ["name"]),
    ("DESCRIBE ", ["TYPE", "SCHEMA ENVIRONMENT", "PRIMER"], ["TYPES"]),
    ("DESCRIBE TYPE ", ['"Robot"'], ['"kept_by"']),
    ("DESCRIBE PREDICATE ", ['"kept_by"'], ['"Robot"']),
    ("DESCRIBE PACKAGE ", ['"kip://examples/lab@1.0.0"'], []),
    ("DESCRIBE ERROR ", ['"InvalidSyntax"'], []),
    ("LIST ", ["TYPES", "SCHEMA PACKAGES", "SPACES"], ["TYPE"]),
    ("CREATE CONCEPT ?x { TYPE ", ['"Robot"'], ['"kept_by"']),
    ("CREATE CONCEPT ?x { ", ["TYPE", "NAME", "SET", "CLIENT KEY"], ["WHERE"]),
    ("DEFINE PREDICATE ", [":who"], ['"kept_by"']),
    ("TRANSITION ?x TO ", ['"retracted"'], ['"Robot"']),
    ("FIND(?x) WHERE { STRUCTURAL (?x, ", ['"evidence"'], ['"kept_by"']),
    ("FIND(] ", [], ["FIND"]),
    ('FIND(?x) WHERE { ?x {name: "done"', [], ["FIND"]),
]


@pytest.mark.parametrize(("text", "offered", "not_offered"), TABLE, ids=[row[0] or "(empty)" for row in TABLE])
def test_what_is_offered(example, text, offered, not_offered):
    words = [each.text for each in offers(text, len(text), Vocabulary(example), ["who"])]
    assert [word for word in offered if word not in words] == []
    assert [word for word in not_offered if word in words] == []


def test_the_text_behind_the_cursor_gives_variables_and_does_not_disturb():
    import kipql

    with kipql.open() as nexus:
        text = "FIND(?) WHERE { ?person {} "
        assert [each.text for each in offers(text, 6, Vocabulary(nexus))] == ["?person"]


def test_an_offer_replaces_what_is_written():
    import kipql

    with kipql.open() as nexus:
        text = 'FIND(?x) WHERE { ?x {type: "Pers'
        (offer,) = offers(text, len(text), Vocabulary(nexus))
        assert text[: offer.begin] + offer.text == 'FIND(?x) WHERE { ?x {type: "Person"'


def test_what_was_defined_just_now_is_offered(writable):
    writable.run('DEFINE PREDICATE "painted" { description: "Its colour." }')
    text = "FIND(?x) WHERE { (?x, "
    assert '"painted"' in [each.text for each in offers(text, len(text), writable.shell.vocabulary)]


@pytest.mark.parametrize("text", [row[0] for row in TABLE if row[1]])
def test_every_word_offered_leads_on(example, text):
    """Taking an offer never makes the text wrong at that place."""
    from kipql.lang.expected import expected

    for each in offers(text, len(text), Vocabulary(example), ["who"]):
        taken = text[: each.begin] + each.text
        begun = expected(taken + " ", len(taken) + 1)
        assert begun.terminals, taken


def test_keys_follow_the_memory(writable):
    text = 'FIND(?x) WHERE { ?x {key: "z'
    assert offers(text, len(text), writable.shell.vocabulary) == []
    writable.run('CREATE CONCEPT ?a { TYPE "Person" NAME "Z" SET FIELDS {key: "zed"} }')
    assert [each.text for each in offers(text, len(text), writable.shell.vocabulary)] == ['"zed"']


def test_many_keys_are_asked_in_the_background(monkeypatch):
    import kipql

    with kipql.open() as nexus:
        nexus.load({"kind": "concept", "type": "Person", "key": f"p{number}"} for number in range(FEW + 1))
        words = Vocabulary(nexus)
        behind = []
        monkeypatch.setattr(words, "_ask_behind", behind.append)
        assert words.stored("key", "p20", None) == []
        assert behind == ["key"]
        words.ask("key")
        assert words.stored("key", "p200", None) == ["p200", "p2000"]
        assert words.stored("key", "p200", "Robot") == []
