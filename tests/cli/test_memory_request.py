"""`kipql memory request`: the Memory Interface as JSON lines."""

import json

from click.testing import CliRunner

from kipql.cli.main import cli


def talk(*lines, options=()):
    given = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    called = CliRunner().invoke(cli, ["memory", "request", *options], input=given)
    assert called.exit_code == 0, called.output
    return [json.loads(line) for line in called.output.splitlines()]


OBSERVE = {"kip_memory": "2.0", "operation": "observe", "idempotency_key": "1", "input": {"source_ref": "m-1"}}
RECALL = {"kip_memory": "2.0", "operation": "recall", "input": {"query": "Where does Ada live?"}}
STAGE = {"$stage": {"ref": "m-1", "content": "I live in Rome.", "speaker": "ada"}}


def test_a_source_is_staged_observed_and_recalled_across_two_processes(tmp_path):
    db = ("--db", str(tmp_path / "m"))
    staged, done, waiting = talk(STAGE, OBSERVE, RECALL, options=(*db, "--defer"))
    assert staged == {"staged": "m-1"} and (done["status"], waiting["status"]) == ("pending", "partial")
    processed, answer = talk({"$process": True}, RECALL, options=db)
    assert processed == {"processed": [done["receipt"]["receipt_ref"]]}
    assert answer["result"]["items"][0]["text"] == "ada lives in Rome"
    (refused,) = talk({**OBSERVE, "idempotency_key": "2"}, options=(*db, "--readonly"))
    assert refused["error"]["code"] == "ReadonlyViolation"
    (described,) = talk({"$describe": True}, options=db)
    assert described["bundles"] == ["memory_basic"]


def test_every_line_has_an_answer_whatever_it_holds():
    lines = [
        b"nonsense", b"\xff\xfe", b"[" * 5000, b'{"a":1,"a":2}', b"NaN", [], 7, {"$stage": 1}, {"$stage": {"ref": "x"}},
        {"$stage": {"ref": "x", "content": "y", "role": "root"}}, {"$stage": {"ref": "x", "content": "y", "more": 1}},
        {"$process": False}, {"$stage": 1, "$process": True}, {"$other": 1}, {"$review": True},
    ]  # fmt: skip
    answers = talk(*lines)
    assert len(answers) == len(lines)
    assert answers[-1] == {"raised": []} and all("error" in each for each in answers[:-1])
