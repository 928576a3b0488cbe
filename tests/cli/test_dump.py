"""`kipql dump` and `kipql load`."""

import json


def test_out_to_text_and_back(kipql, memory, tmp_path):
    out = kipql("dump", memory)
    assert out.code == 0 and json.loads(out.out.splitlines()[0])["kipql_dump"] == 1
    assert kipql("dump", memory, "-o", tmp_path / "d.jsonl").code == 0
    assert (tmp_path / "d.jsonl").read_text(encoding="utf-8") == out.out
    done = kipql("load", tmp_path / "d.jsonl", tmp_path / "copy")
    assert (done.code, done.out) == (0, "kip:space:default: 1 commit\n"), done.err
    assert kipql("load", "-", tmp_path / "second", stdin=out.out).code == 0
    for copy in ("copy", "second"):
        assert kipql("dump", tmp_path / copy).out == out.out


def test_what_is_no_dump_names_its_line(kipql, memory, tmp_path):
    lines = kipql("dump", memory).out.splitlines()
    lines[4] = "{"
    refused = kipql("load", "-", tmp_path / "copy", stdin="\n".join(lines))
    assert refused.code == 2 and "line 5 of the dump" in refused.err and not (tmp_path / "copy").exists()


def test_readonly_loads_nothing_and_a_folder_that_is_there_stays(kipql, memory, tmp_path):
    text = kipql("dump", memory).out
    assert kipql("--readonly", "load", "-", tmp_path / "copy", stdin=text).code == 2
    assert kipql("load", "-", memory, stdin=text).code == 2
    assert kipql("dump", memory).out == text
    assert kipql("dump", tmp_path / "nothing here").code == 2
