"""`kipql capsule`: export, verify, preview, import."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def exported(kipql, memory, tmp_path):
    """A Capsule file of the memory with two people."""
    path = tmp_path / "two.capsule.json"
    called = kipql("capsule", "export", "--db", memory, "-o", path)
    assert (called.code, called.out) == (0, ""), called.err
    return path


def test_out_of_one_memory_and_into_another(kipql, exported, tmp_path):
    assert kipql("capsule", "verify", exported).code == 0
    other = tmp_path / "other.kip"
    assert kipql("exec", "--db", other, "-c", 'CREATE CONCEPT ?x { TYPE "Person" NAME "Cy" }').code == 0
    seen = kipql("capsule", "preview", exported, "--db", other)
    assert (seen.code, seen.out) == (0, "changes: 2 create, 0 match, 0 skip, 0 conflict\n")
    done = kipql("capsule", "import", exported, "--db", other)
    assert (done.code, done.out) == (0, "committed: 2 create, 0 match, 0 skip, 0 conflict\n")
    again = kipql("capsule", "import", exported, "--db", other)
    assert again.out == "no_effect: 0 create, 2 match, 0 skip, 0 conflict\n"
    found = kipql("query", "--db", other, "--format", "jsonl", "-c", "FIND(?c.name) WHERE { ?c CONCEPT {} }")
    assert sorted(json.loads(line)["c.name"] for line in found.out.splitlines()) == ["Ada", "Bo", "Cy"]


def test_roots_and_selections(kipql, memory):
    def names(*arguments):
        called = kipql("capsule", "export", "--db", memory, *arguments)
        assert called.code == 0, called.err
        return [record["name"] for record in json.loads(called.out)["payload"]["records"]]

    assert names("--root", "C-2") == ["Bo"]
    assert names("--where", '?root {type: "Person", name: "Ada"}', "--closure", "selective") == ["Ada"]
    assert names("--as-of", "0") == []
    assert kipql("capsule", "export", "--db", memory, "--root", "C-1", "--where", "?root CONCEPT {}").code == 2
    assert kipql("capsule", "export", "--db", memory, "--root", "C-9").code == 2


def test_a_file_that_is_there_is_not_overwritten(kipql, memory, exported):
    before = exported.read_text()
    assert kipql("capsule", "export", "--db", memory, "-o", exported).code == 2
    assert exported.read_text() == before


def test_a_wrong_capsule_is_a_finding_and_no_capsule_is_none(kipql, exported, tmp_path):
    changed = tmp_path / "changed.json"
    changed.write_text(exported.read_text().replace("Ada", "Eve"))
    called = kipql("capsule", "verify", changed)
    assert (called.code, "digest: mismatch" in called.out, "DigestMismatch" in called.err) == (1, True, True)
    assert kipql("capsule", "import", changed).code == 2
    changed.write_text("{")
    assert kipql("capsule", "verify", changed).code == 2
    assert kipql("capsule", "verify", tmp_path / "missing.json").code == 2


def test_an_open_plan_is_decided_in_a_file(kipql, tmp_path):
    source, target, capsule, plan = (tmp_path / name for name in ("a.kip", "b.kip", "c.json", "p.json"))
    text = 'CREATE CONCEPT ?x { TYPE "Person" NAME "Ada" SET FIELDS {canonical_id: "did:ada"} }'
    for folder in (source, target):
        assert kipql("exec", "--db", folder, "-c", text).code == 0
    assert kipql("capsule", "export", "--db", source, "-o", capsule).code == 0
    seen = kipql("capsule", "preview", capsule, "--db", target, "-o", plan)
    assert (seen.code, "C-1: the canonical_id" in seen.err) == (1, True)
    assert kipql("capsule", "import", capsule, "--db", target).code == 2
    decided = json.loads(plan.read_text())
    decided["records"] = [{"id": "C-1", "action": "match", "target": "C-1"}]
    plan.write_text(json.dumps(decided))
    done = kipql("capsule", "import", capsule, "--db", target, "--plan", plan)
    assert (done.code, done.out) == (0, "committed: 0 create, 1 match, 0 skip, 0 conflict\n")


def test_what_comes_in_isolated_is_in_quarantine(kipql, exported, tmp_path):
    other = tmp_path / "other.kip"
    assert kipql("capsule", "import", exported, "--db", other, "--isolate").code == 0
    found = kipql("query", "--db", other, "--format", "jsonl", "-c", "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }")
    assert json.loads(found.out) == {"COUNT(c)": 0}


def test_reading_only_refuses_an_import(kipql, exported, memory):
    assert kipql("--readonly", "capsule", "import", exported, "--db", memory).code == 2


LAB = Path(__file__).parents[2] / "docs" / "examples" / "lab.json"


def test_a_preview_with_a_package_shows_what_an_import_with_it_would_do(kipql, memory, tmp_path):
    source, capsule = tmp_path / "lab.kip", tmp_path / "lab.capsule.json"
    robot = 'CREATE CONCEPT ?r { TYPE "Robot" NAME "Rover" }'
    assert kipql("exec", "--db", source, "--package", LAB, "-c", robot).code == 0
    assert kipql("capsule", "export", "--db", source, "-o", capsule).code == 0
    before = kipql("dump", "--db", memory).out
    missing = kipql("capsule", "preview", capsule, "--db", memory)
    assert (missing.code, "install it first" in missing.err) == (1, True)
    seen = kipql("capsule", "preview", capsule, "--db", memory, "--package", LAB)
    assert (seen.code, seen.out, seen.err) == (0, "changes: 1 create, 0 match, 0 skip, 0 conflict\n", "")
    assert kipql("dump", "--db", memory).out == before
    done = kipql("capsule", "import", capsule, "--db", memory, "--package", LAB)
    assert (done.code, done.out) == (0, "committed: 1 create, 0 match, 0 skip, 0 conflict\n")
    again = kipql("capsule", "preview", capsule, "--db", memory, "--package", LAB)
    assert (again.code, again.out) == (0, "no_effect: 0 create, 1 match, 0 skip, 0 conflict\n")
    wrong = kipql("capsule", "preview", capsule, "--db", memory, "--package", "kip://no/such@1.0.0")
    assert (wrong.code, "SchemaPackageUnavailable" in wrong.err) == (2, True)
