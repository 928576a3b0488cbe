"""`wire`: an envelope a line in, a response a line out."""

import json

PACKAGE = {
    "manifest": {"package_id": "kip://tests/zoo", "version": "1.0.0", "package_ref": "kip://tests/zoo@1.0.0"},
    "definitions": {"concept_types": {"Animal": {"attributes": {"open": True, "fields": {}}}}},
}


def request(command, **members):
    return {"kip": "2.0", "operations": [{"command": command, **members}]}


def talk(kipql, *lines, arguments=()):
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    called = kipql("wire", *arguments, stdin=text)
    assert called.code == 0, called.err
    return [json.loads(line) for line in called.out.splitlines()]


def test_one_response_a_line(kipql):
    first, second = talk(
        kipql,
        request('CREATE CONCEPT ?x { TYPE "Person" NAME "Ada" }'),
        "",
        request("FIND(?p.name) WHERE { ?p {} }"),
    )
    assert first["status"] == "succeeded"
    assert second["results"][0]["result"] == ["Ada"]


def test_packages_are_installed_by_the_host(kipql):
    installed, listed = talk(kipql, {"$install": [PACKAGE]}, request('CREATE CONCEPT ?x { TYPE "Animal" }'))
    assert installed == {"installed": ["kip://tests/zoo@1.0.0"]}
    assert listed["status"] == "succeeded"


def test_what_is_wrong_with_a_line_is_in_its_response(kipql):
    responses = talk(
        kipql,
        "{",
        "[" * 100_000,
        '{"kip": NaN}',
        {"$install": "x"},
        {"$install": [{}]},
        {"$install": [5]},
        {"$install": [], "kip": "2.0"},
        7,
        request("DESCRIBE PROTOCOL"),
    )
    assert len(responses) == 9
    assert all("error" in response for response in responses[:8])
    assert responses[8]["status"] == "succeeded"


def test_readonly_refuses_mutations_and_packages(kipql, memory):
    write, install = talk(
        kipql,
        request('CREATE CONCEPT ?x { TYPE "Person" }'),
        {"$install": [PACKAGE]},
        arguments=["--readonly", "--db", memory],
    )
    assert "ReadonlyViolation" in json.dumps(write)
    assert install["error"]["code"] == "ReadonlyViolation"


def test_a_member_that_is_given_twice_is_refused(kipql):
    twice = '{"kip":"2.0","operations":[{"command":"CREATE CONCEPT ?a { TYPE \\"Person\\" }","command":"LIST TYPES"}]}'
    refused, after = talk(kipql, twice, request("FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }"))
    assert refused["error"]["code"] == "InvalidRequestEnvelope"
    assert "'command' is given twice" in refused["error"]["message"]
    assert after["results"][0]["result"] == [0]
