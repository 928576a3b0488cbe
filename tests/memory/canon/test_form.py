"""A schema of articles is opt-in: only `required` refuses, and only a new article; a broken one checks nothing."""

import json

import pytest

import kipql
from kipql.memory import Canon

SCHEMA = {"required": ["capsule", "owner"], "properties": {"capsule": {"maxLength": 10}, "owner": {"enum": ["ada"]}}}
BODY = "Pages hold 50 items, because the vendor says so."


def test_without_a_schema_nothing_is_required(canon):
    assert canon.write("src/feed", body=BODY).status == "created"


def test_a_new_article_has_what_is_required(nexus):
    canon = Canon(nexus, schema=SCHEMA)
    with pytest.raises(kipql.KipError) as raised:
        canon.write("src/feed", body=BODY)
    assert raised.value.code == "ConstraintViolation"
    assert "'capsule' is a required property" in raised.value.message and "'owner'" in raised.value.message
    assert canon.resolve("src/feed") is None
    written = canon.write("src/feed", capsule="caps at 50", body=BODY, front={"owner": "ada"})
    assert written.status == "created" and not [one for one in written.advice if "schema" in one]


def test_what_was_there_before_is_not_held_against_the_writer(nexus):
    Canon(nexus).write("src/feed", body=BODY)
    written = Canon(nexus, schema=SCHEMA).write("src/feed", body=f"{BODY} Every page.")
    assert written.status == "updated"
    assert "The schema says: 'capsule' is a required property" in written.advice


def test_every_other_rule_is_advice(nexus):
    canon = Canon(nexus, schema=SCHEMA)
    written = canon.write("src/feed", capsule="longer than ten", body=BODY, front={"owner": "bob"})
    told = [one for one in written.advice if one.startswith("The schema says")]
    assert written.status == "created" and len(told) == 2
    assert told[0].startswith("The schema says of owner: 'bob'") and "of capsule" in told[1]


@pytest.mark.parametrize(
    "content", [None, "{", "[1]", json.dumps({"required": "capsule"}), json.dumps({"$ref": "#/nowhere"})]
)
def test_a_broken_schema_checks_nothing_and_says_so(nexus, tmp_path, content):
    path = tmp_path / "schema.json"
    if content is not None:
        path.write_text(content)
    written = Canon(nexus, schema=path).write("src/feed", body=BODY)
    assert written.status == "created"
    assert [one for one in written.advice if one.startswith("The schema of this canon was not applied: ")]


def test_something_else_than_a_schema_is_refused(nexus):
    with pytest.raises(kipql.KipError) as raised:
        Canon(nexus, schema=5)
    assert raised.value.code == "TypeMismatch"
