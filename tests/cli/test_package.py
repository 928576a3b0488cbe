"""`kipql package new` and `kipql package check`."""

import json

import pytest


@pytest.fixture
def package(tmp_path):
    """Write a package file and answer its path."""

    def write(definitions, name="a.json", package_id="kip://lab/things", **rest):
        path = tmp_path / name
        manifest = {"package_id": package_id, "version": "1.0.0"}
        path.write_text(json.dumps({"manifest": manifest, "definitions": definitions, **rest}), encoding="utf-8")
        return path

    return write


GOOD = {"concept_types": {"Robot": {"description": "A machine.", "attributes": {"fields": {}}}}}


def test_a_new_package_can_be_activated_as_it_is(kipql, tmp_path):
    path = tmp_path / "things.json"
    names = ("--type", "Robot", "--type", "Room", "--predicate", "stands_in", "--facet", "Wear", "--field", "part_of")
    assert kipql("package", "new", "kip://lab/things", "-o", path, *names).code == 0
    assert kipql("package", "check", "--strict", path).code == 0
    artifact = json.loads(path.read_text(encoding="utf-8"))
    import kipql as library  # the fixture has the name

    nexus = library.open(packages=[artifact])
    nexus.execute('CREATE CONCEPT ?r { TYPE "Robot" SET ATTRIBUTES {summary: "s"} SET FACET "Wear" {note: "n"} }')
    nexus.execute('CREATE CONCEPT ?r { TYPE "Room" SET STRUCTURAL { ("part_of", "C-1") } }')
    nexus.execute('ENSURE PROPOSITION ("C-1", "stands_in", "C-2")')


def test_without_symbols_it_is_an_example(kipql):
    called = kipql("package", "new", "kip://lab/things", "--version", "2.1.0")
    artifact = json.loads(called.out)
    assert artifact["manifest"]["package_ref"] == "kip://lab/things@2.1.0"
    assert list(artifact["definitions"]) == ["concept_types", "predicates"]


@pytest.mark.parametrize(
    "arguments",
    [("Things",), ("kip://lab/things", "--version", "latest"), ("kip://core",), ("kip://a", "--type", "a b")],
)
def test_what_is_no_package_is_refused(kipql, arguments):
    called = kipql("package", "new", *arguments)
    assert (called.code, called.out) == (2, "")


def test_a_file_that_is_there_is_not_overwritten(kipql, package):
    path = package(GOOD)
    before = path.read_text()
    assert kipql("package", "new", "kip://lab/things", "-o", path).code == 2
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("definitions", "said"),
    [
        ({"concept_types": {"Robot": {"attributes": {"fields": {"a": {"type": "float"}}}}}}, "unknown type 'float'"),
        ({"predicates": {"p": {"subject": {"concept_types": ["Ghost"]}}}}, "SchemaSymbolNotFound"),
        ({"facets": {"F": {"value_schema": {"$ref": "urn:nothing"}}}}, "value_schema"),
        ({"predicates": {"p": {"functional": True, "functional_by": "object_type"}}}, "functional"),
        ({"concept_types": {"Evidence": {}}}, "Core kind"),
        ({"structural_fields": {"s": {"cardinality": {"min": 2, "max": 1}}}}, "impossible"),
    ],
)
def test_what_activating_would_refuse_is_1(kipql, package, definitions, said):
    path = package(definitions)
    called = kipql("package", "check", path)
    assert called.code == 1 and called.out == ""
    assert called.err.startswith(f"{path}: ") and said in called.err


@pytest.mark.parametrize(
    ("definitions", "said"),
    [
        ({"concept_types": {"Robot": {}}}, "Robot: has no description"),
        ({"concept_types": {"R": {"description": "x", "attributes": {"fields": {"a": {}}}}}}, "takes any value"),
        (
            {
                "concept_types": {
                    "R": {"description": "x", "attributes": {"fields": {"a": {"type": "string", "enum": [1]}}}}
                }
            },
            "lists 1",
        ),
        ({"predicates": {"p": {"description": "x"}}}, "does not constrain its subject"),
        (
            {"predicates": {"p": {"description": "x", "complete": True, "object": {"kinds": ["Concept"]}}}},
            "complete but not functional",
        ),
        ({"predicates": {"p": {"description": "x", "object": {"format": "iban"}}}}, "nothing defines"),
        ({"facets": {"F": {"description": "x"}}}, "can hold nothing"),
        ({"concept_types": {"Person": {"description": "x"}}}, "exact ref"),
        ({}, "defines nothing"),
        (GOOD, "content_digest"),
    ],
)
def test_what_reads_badly_is_a_note(kipql, package, definitions, said):
    path = package(definitions)
    called = kipql("package", "check", path)
    assert called.code == 0 and f"{path}: note: " in called.err and said in called.err
    assert kipql("package", "check", "--strict", path).code == 1


def test_packages_are_checked_with_what_they_are_used_with(kipql, package):
    base = package(GOOD)
    predicates = {
        "owns": {"description": "x", "subject": {"concept_types": ["Robot"]}, "object": {"kinds": ["Concept"]}}
    }
    path = package({"predicates": predicates}, "b.json", "kip://lab/more")
    assert kipql("package", "check", path).code == 1
    assert kipql("package", "check", path, "--package", base).code == 0
    assert kipql("package", "check", path, base).code == 0


def test_sealing_writes_the_digest_of_what_is_right(kipql, package):
    path = package(GOOD, integrity={"content_digest": "sha256:" + "0" * 64})
    assert kipql("package", "check", path).code == 1
    assert kipql("package", "check", "--seal", "--strict", path).code == 0
    assert kipql("package", "check", "--strict", path).code == 0
    once = path.read_text()
    kipql("package", "check", "--seal", path)
    assert path.read_text() == once


def test_a_package_that_is_wrong_is_not_sealed(kipql, package):
    path = package({"concept_types": {"Evidence": {}}})
    before = path.read_text()
    assert kipql("package", "check", "--seal", path).code == 1
    assert path.read_text() == before


def test_what_can_not_be_read_is_2_and_the_rest_is_checked(kipql, package, tmp_path):
    good = package(GOOD)
    called = kipql("package", "check", tmp_path / "none.json", good)
    assert called.code == 2 and "1 type" in called.out
    (tmp_path / "bad.json").write_text("{")
    assert kipql("package", "check", tmp_path / "bad.json").code == 2


def test_the_shipped_packages_hold(kipql, tmp_path):
    from kipql.schema import builtin

    for name in ("cognitive_memory", "general_domain", "agent"):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(dict(getattr(builtin, name)().artifact)), encoding="utf-8")
        assert kipql("package", "check", path).code == 0


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xff"], ids=["a byte order mark", "no UTF-8"])
def test_an_artifact_begins_with_its_json(kipql, package, mark):
    path = package(GOOD)
    path.write_bytes(mark + path.read_bytes())
    called = kipql("package", "check", path)
    assert called.code == 2
    assert "ArtifactParseError" in called.err
