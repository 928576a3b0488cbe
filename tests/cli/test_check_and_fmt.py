"""`check` and `fmt`: scripts without a memory."""

import pytest


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "a.kql"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_script_without_faults_is_0(kipql, script):
    assert kipql("check", script('FIND(?p) WHERE { ?p {type: "Nonsense"} }')) == (0, "", "")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("FIND(?p) WHERE { ?p {}", "1:23"),
        ("FIND(?p) WHERE { ?p {} };\nFIND(?q) WHERE { ?p {} }", "2:6"),
        ("FIND(?p) WHERE { ?p {} FILTER(NOPE(?p)) }", "1:31"),
        ("//! check: a b\nFIND(?p) WHERE { ?p {} }", "1:12"),
        ('UPDATE ?p SET FIELDS { name: "x" } WHERE { ?p {} FILTER(?q.x == 1) }', "1:57"),
    ],
)
def test_a_fault_is_1_with_its_place(kipql, script, text, place):
    path = script(text)
    called = kipql("check", path)
    assert called.code == 1
    assert called.err.startswith(f"{path}:{place}: ")


def test_every_fault_of_a_script_is_reported(kipql, script):
    called = kipql("check", script("FIND(?a) WHERE { ?p {} };\nFIND(?b) WHERE { ?p {} }"))
    assert called.err.count("InvalidSyntax") == 2


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ('FIND(?p.name) WHERE { ?p {type: "Person", nme: "Jo"} }', "1:43", "did you mean name?"),
        ("FIND(?p.id) WHERE { ?p {} FILTER(?p.goal == 1) }", "1:34", "attributes.goal"),
        ("FIND(?p.type) WHERE { ?p CONCEPT {} }", "1:6", "did you mean schema_ref?"),
        ("FIND(?a.valid.from) WHERE { ?a ASSERTION {} }", "1:6", "did you mean valid_time?"),
        ("FIND(?a) WHERE { ?a ASSERTION {asserted_by: {naem: 1}} }", "1:46", "did you mean name?"),
        ('FIND(?p.predicate) WHERE { ?p (?a, "prefers", ?b) }', "1:6", "did you mean predicate_ref?"),
        ('UPDATE ?p SET FIELDS { name: "x" } WHERE { ?p {kee: "a"} }', "1:48", "did you mean key?"),
    ],
)
def test_a_core_field_that_no_element_has_is_a_fault(kipql, script, text, place, hint):
    called = kipql("check", script(text))
    assert called.code == 1
    assert f"a.kql:{place}: SchemaFieldNotFound" in called.err
    assert hint in called.err


@pytest.mark.parametrize(
    "text",
    [
        'FIND(?x.key, ?x.stance) WHERE { UNION { ?x CONCEPT {} } UNION { ?x ASSERTION {state: "archived"} } }',
        'FIND(?e.index, ?e.role) WHERE { ?c CONCEPT {} ?e STRUCTURAL (?c, "involves", ?d) }',
        "FIND(?c._system.state, ?c.attributes.anything, ?c.facets.F.x) WHERE { ?c CONCEPT {facets: {F: {x: 1}}} }",
        'FIND(?p.canonical_object, ?b.anything) WHERE { ?p (?a, "prefers", ?b) }',
        "FIND(?e.payload.inline.x) WHERE { ?e EVIDENCE {payload: {inline: {x: ?y}}, lifecycle: {status: ?z}} }",
    ],
)
def test_fields_that_an_element_may_have_are_none(kipql, script, text):
    assert kipql("check", script(text)) == (0, "", "")


def test_a_file_that_is_not_there_is_2(kipql, tmp_path):
    assert kipql("check", tmp_path / "none.kql").code == 2
    assert kipql("fmt", tmp_path / "none.kql").code == 2


def test_fmt_rewrites_a_file_once(kipql, script):
    path = script('//! check: a\nfind(?p)   where{?p{type:"Person"}}')
    assert kipql("fmt", "--check", path).code == 1
    assert kipql("fmt", path).code == 0
    formatted = path.read_text()
    assert formatted.startswith("//! check: a\nFIND(?p)")
    assert formatted.endswith("\n")
    assert kipql("fmt", "--check", path) == (0, "", "")
    assert kipql("fmt", path) == (0, "", "")
    assert path.read_text() == formatted


def test_fmt_diff_shows_and_changes_nothing(kipql, script):
    path = script("find(?p) where { ?p {} }\n")
    called = kipql("fmt", "--diff", path)
    assert called.code == 1
    assert "-find(?p) where { ?p {} }" in called.out
    assert path.read_text() == "find(?p) where { ?p {} }\n"


def test_fmt_leaves_a_broken_file_alone(kipql, script):
    path = script("FIND(?p WHERE")
    called = kipql("fmt", path)
    assert called.code == 2
    assert f"{path}:1:" in called.err
    assert path.read_text() == "FIND(?p WHERE"


def test_fmt_of_standard_input_goes_to_standard_output(kipql):
    called = kipql("fmt", "-", stdin="find(?p) where { ?p {} }")
    assert called.code == 0
    assert called.out.startswith("FIND(?p)")


AGENT = "kip://kipql/agent@1.0.0"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('FIND(?p) WHERE { ?p {type: "Nonsense"} }', "1:28: SchemaSymbolNotFound"),
        ('FIND(?p) WHERE { ?p {} };\nFIND(?p) WHERE { (?p, "nope", ?q) }', "2:23: SchemaSymbolNotFound"),
        ('//! check: a\nFIND(?p.facets["Nope"].x) WHERE { ?p {} }', "2:"),
        ('UPDATE ?x SET FIELDS {name: "y"} WHERE {\n  ?x {type: "Nope"} }', "2:13: SchemaSymbolNotFound"),
    ],
)
def test_a_schema_finds_symbols_that_are_not_there(kipql, script, text, place):
    path = script(text)
    assert kipql("check", path).code == 0
    called = kipql("check", "--package", AGENT, path)
    assert called.code == 1 and called.err.startswith(f"{path}:{place}")


def test_a_schema_knows_its_packages_and_what_the_script_defines(kipql, script, memory):
    path = script(
        'FIND(?a) WHERE { ?a {type: "CanonArticle"} };\n'
        'DEFINE PREDICATE "resides_in" {description: "Where the subject lives."};\n'
        'FIND(?p) WHERE { (?p, "resides_in", ?q) };\n'
        'CREATE CONCEPT ?e { TYPE "Event" NAME "no summary yet" }\n'
    )
    assert kipql("check", "--package", AGENT, path) == (0, "", "")
    called = kipql("check", "--db", memory, path)
    assert called.code == 1
    assert [line.split(" ")[0] for line in called.err.splitlines() if "SchemaSymbolNotFound" in line] == [
        f"{path}:1:28:",
        f"{path}:3:23:",
    ]


def test_what_is_wrong_anyway_is_told_once(kipql, script):
    called = kipql("check", "--package", AGENT, script("FIND(?q) WHERE { ?p {} }"))
    assert called.code == 1 and called.err.count("InvalidSyntax") == 1


def test_a_schema_that_can_not_be_opened_is_2(kipql, script, tmp_path):
    assert kipql("check", "--db", tmp_path / "none", script("FIND(?p) WHERE { ?p {} }")).code == 2
    assert kipql("check", "--package", tmp_path / "none.json", script("FIND(?p) WHERE { ?p {} }")).code == 2
