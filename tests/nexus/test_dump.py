"""`nexus.dump` and `kipql.load_dump`: a whole memory through text, and dumps that are none."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError, Limits

PERSON = 'CREATE CONCEPT ?a {{ TYPE "Person" NAME "{0}" SET FIELDS {{ key: "{0}" }} }}'
SAID = 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: "once s3cret"} }'
LIVES = 'ASSERT ?a ("C-1", "knows", "C-3") {by: "C-1", mode: "stated", confidence: 0.5, evidence: "E-1"}'
ONCE = {
    "kip": "2.0",
    "execution": {"mode": "atomic", "idempotency_key": "once"},
    "operations": [{"command": PERSON.format("Once")}],
}


def filled(path: Path | None) -> kipql.Nexus:
    """Two Spaces with packages, a policy, trust, grants, merges, outcomes, changes."""
    nexus = kipql.open(path, packages=["kip://domains/general@1.0.0"])
    nexus.install_policy({"policy_id": "acme:newest", "version": "1", "precedence": {"order": ["recency"]}})
    for name in ("Ada", "Bo", "Ann‮ \x1b[31m"):
        nexus.execute(
            PERSON.format(name) if name.isalpha() else 'CREATE CONCEPT ?a { TYPE "Person" NAME :n }', {"n": name}
        )
    nexus.execute('UPDATE :a SET FIELDS { name: "Ada L." }', {"a": "C-1"})
    nexus.request(ONCE)
    nexus.install_policy({"policy_id": "acme:newest", "version": "2"})
    nexus.govern.grant("kip:reader", "read")
    nexus.govern.trust.set("C-1", 0.25, note="second hand")
    nexus.execute(SAID)
    nexus.execute(LIVES)
    nexus.execute("MERGE CONCEPT :b INTO :a", {"a": "C-1", "b": "C-2"})
    nexus.execute('DEFINE PREDICATE "met" { description: "They met." }')
    other = nexus.space("lab/.. x")
    other.execute(PERSON.format("Zoe"))
    return nexus


def seen(nexus: kipql.Nexus) -> dict[str, Any]:
    found = {}
    for space_id in nexus.spaces():
        space = nexus.space(space_id)
        digests = [
            space._session.space.store.digest(space._session.space.at(seq)) for seq in range(space.space_seq + 1)
        ]
        changes = space.query("CHANGES AFTER SEQ 0").rows
        receipts = [space.query("DESCRIBE TRANSACTION :tx", {"tx": row["tx_id"]}).rows for row in changes]
        found[space_id] = [
            digests,
            changes,
            receipts,
            space.stats(),
            space.query("HISTORY ELEMENT :a", {"a": "C-1"}).rows,
        ]
    return found


def without_token(reply: dict[str, Any]) -> dict[str, Any]:
    """A reply but for the token that each memory signs with its own key."""
    coordinate = {name: value for name, value in reply["snapshot"].items() if name != "snapshot_token"}
    return {**reply, "snapshot": coordinate}


def dumped(nexus: kipql.Nexus) -> str:
    file = io.StringIO()
    nexus.dump(file)
    return file.getvalue()


@pytest.mark.parametrize("snapshot", [False, True])
def test_a_loaded_memory_is_the_one_that_was_dumped(snapshot: bool, tmp_path: Path) -> None:
    with filled(tmp_path / "m") as nexus:
        if snapshot:
            nexus.snapshot()
        text, said, outcome = dumped(nexus), seen(nexus), nexus.request(ONCE)
        nexus.dump(tmp_path / "m.jsonl")
    heads = kipql.load_dump(tmp_path / "m.jsonl", tmp_path / "copy")
    assert (tmp_path / "m.jsonl").read_text(encoding="utf-8") == text
    with kipql.open(tmp_path / "copy") as copy:
        assert heads == {space_id: copy.space(space_id).space_seq for space_id in copy.spaces()}
        assert seen(copy) == said and dumped(copy) == text
        head = copy.space_seq
        assert without_token(copy.request(ONCE)) == without_token(outcome) and copy.space_seq == head
        assert copy.query('DESCRIBE EPISTEMIC POLICY "acme:newest"').one()["version"] == "2"
        copy.execute(PERSON.format("Dan"))
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".tmp")] == []


def test_a_memory_without_a_folder_is_dumped_as_one_with(tmp_path: Path) -> None:
    nexus = filled(None)
    said = seen(nexus)
    file = io.BytesIO()
    nexus.dump(file)
    kipql.load_dump(io.BytesIO(file.getvalue()), tmp_path / "copy")
    with kipql.open(tmp_path / "copy", readonly=True) as copy:
        assert seen(copy.readonly()) == said


def test_lines_are_sorted_and_say_nothing_that_a_terminal_obeys() -> None:
    for line in dumped(filled(None)).splitlines():
        members = json.loads(line, object_pairs_hook=list)
        assert [name for name, _ in members] == sorted(name for name, _ in members)
        assert line.isprintable(), line


def test_one_more_commit_is_one_more_line() -> None:
    nexus = filled(None)
    before = dumped(nexus).splitlines()
    nexus.execute(PERSON.format("Last"))
    after = dumped(nexus).splitlines()
    assert len(after) == len(before) + 1
    assert len([line for line in after if line not in before]) == 4  # commits, the commit, the digest, the count


def test_a_cursor_key_stays_where_it_is(tmp_path: Path) -> None:
    with filled(tmp_path / "m") as nexus:
        (key,) = nexus._session.space.store.notes["cursor_key"]
        assert key not in dumped(nexus)


def test_a_purged_payload_is_in_no_dump(tmp_path: Path) -> None:
    with kipql.open(tmp_path / "m") as nexus:
        nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "s3cret-name" }')
        nexus.execute('PURGE :a CONFIRM "PURGE"', {"a": "C-1"})
        text = dumped(nexus)
        assert "s3cret-name" not in text
        digest = nexus.digest()
    kipql.load_dump(io.StringIO(text), tmp_path / "copy")
    with kipql.open(tmp_path / "copy") as copy:
        assert copy.digest() == digest


def test_only_the_owner_dumps() -> None:
    nexus = kipql.open()
    nexus.govern.grant("kip:reader", "read")
    with pytest.raises(KipError) as raised:
        nexus.as_principal("kip:reader").dump(io.StringIO())
    assert raised.value.code == "NotAuthorized"


@pytest.mark.parametrize(
    "write",
    [
        'ASSERT ("C-1", "same_as", "C-1") {by: "C-1", mode: "stated"}',
        'CREATE CONCEPT ?c { TYPE "Person" NAME "Late" }',
    ],
)
def test_what_takes_the_lines_of_a_dump_can_not_write_meanwhile(write: str, tmp_path: Path) -> None:
    nexus, codes = kipql.open(), []
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')

    class Hooked(io.BytesIO):
        def write(self, data: Any) -> int:
            if b'"space"' not in data and b"kipql_dump" not in data:
                try:
                    nexus.execute(write)
                except KipError as error:
                    codes.append(error.code)
            return super().write(data)

    file = Hooked()
    nexus.dump(file)
    assert set(codes) == {"SerializationConflict"}
    file.seek(0)
    kipql.load_dump(file, tmp_path / "loaded")


def test_a_dump_inside_a_transaction_is_refused(tmp_path: Path) -> None:
    nexus = filled(None)
    with nexus.transaction(), pytest.raises(KipError) as raised:
        nexus.dump(tmp_path / "d")
    assert raised.value.code == "SerializationConflict" and list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def text() -> str:
    return dumped(filled(None))


def refused(source: Any, folder: Path, **options: Any) -> KipError:
    with pytest.raises(KipError) as raised:
        kipql.load_dump(source, folder / "copy", **options)
    assert list(folder.iterdir()) == []
    return raised.value


def test_every_truncation_is_refused(text: str, tmp_path: Path) -> None:
    lines = text.splitlines(keepends=True)
    for count in range(len(lines)):
        error = refused(io.StringIO("".join(lines[:count])), tmp_path)
        assert error.code == "ArtifactParseError" and error.details["line"] in (count, count + 1)
    for cut in range(1, len(lines[-1]) - 1):
        assert refused(io.StringIO(text[: -cut - 1]), tmp_path).code == "ArtifactParseError"


def _line(text: str, marker: str) -> int:
    return next(number for number, line in enumerate(text.splitlines()) if marker in line)


HOSTILE: dict[str, tuple[str, str]] = {  # what the line with this text becomes: a marker and the line
    "no JSON": ('"commit":2', "{"),
    "no object": ('"commit":2', "[1]"),
    "nested deeply": ('"commit":2', "[" * 100_000 + "]" * 100_000),
    "a member twice": ('"commit":2', '{"commit":2,"commit":2}'),
    "NaN": ('"commit":2', '{"commit":NaN}'),
    "a number that is infinite": ('"commit":2', '{"commit":1e999}'),
    "a number of a million digits": ('"commit":2', '{"commit":' + "9" * 1_000_000 + "}"),
    "another Space": ('"commits"', '{"space":"other","commits":1}'),
    "an end of another Space": ('"ended"', '{"ended":"other"}'),
    "the last line in the middle": ('"commit":2', '{"lines":4}'),
    "an empty line": ('"commit":2', ""),
    "a number of lines that is wrong": ('{"lines"', '{"lines":1}'),
    "a package that is none": ('"setup":"schema"', '{"setup":"schema","payload":{"packages":[{"x":1}]}}'),
}


@pytest.mark.parametrize(("marker", "line"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_line_is_named_and_nothing_is_made(marker: str, line: str, text: str, tmp_path: Path) -> None:
    lines = text.splitlines()
    at = _line(text, marker)
    lines[at] = line
    error = refused(io.StringIO("\n".join(lines) + "\n"), tmp_path)
    assert error.code == "ArtifactParseError", error
    assert error.details["line"] == at + 1


MEMBERS: dict[str, Any] = {  # what the first commit says besides
    "a reference to nothing": lambda line: line["create"][0].update(state="merged", merged_into="C-999"),
    "a symbol of no package": lambda line: line["create"][0].update(schema="no ref at all"),
    "grants that are none": lambda line: line.update(control=[{"kind": "authorization", "version": "1", "payload": 7}]),
    "a policy that is none": lambda line: line.update(control=[{"kind": "policy", "version": "1", "payload": 7}]),
    "trust that is none": lambda line: line.update(control=[{"kind": "trust", "version": "1", "payload": 7}]),
    "a repair that is none": lambda line: line.update(control=[{"kind": "identity", "version": "1", "payload": 7}]),
}


@pytest.mark.parametrize("edit", MEMBERS.values(), ids=MEMBERS)
def test_a_commit_that_no_memory_made_is_refused(edit: Any, text: str, tmp_path: Path) -> None:
    lines = text.splitlines()
    at = _line(text, '"commit":1,')
    line = json.loads(lines[at])
    edit(line)
    lines[at] = json.dumps(line)
    error = refused(io.StringIO("\n".join(lines)), tmp_path)
    assert error.code in ("ArtifactParseError", "DigestMismatch"), error
    assert 0 < error.details["line"] <= len(lines)


def test_a_changed_value_does_not_match_the_digest(text: str, tmp_path: Path) -> None:
    error = refused(io.StringIO(text.replace("Ada L.", "Eve L.")), tmp_path)
    assert error.code == "DigestMismatch" and error.details["space_id"] == "kip:space:default"


def test_a_dump_may_be_edited_when_its_digest_is_left_out(text: str, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in text.replace("Ada L.", "Eve L.").splitlines()]
    for line in lines:
        line.pop("digest", None) if "ended" in line else None
    kipql.load_dump(io.StringIO("\n".join(map(json.dumps, lines))), tmp_path / "copy")
    with kipql.open(tmp_path / "copy") as copy:
        assert copy.query('FIND(?c.name) WHERE { ?c {type: "Person", key: "Ada"} }').scalar() == "Eve L."


def test_a_newer_format_a_binary_file_and_a_long_line(text: str, tmp_path: Path) -> None:
    newer = text.replace('"kipql_dump":1', '"kipql_dump":2')
    assert refused(io.StringIO(newer), tmp_path).code == "MemoryFormatUnsupported"
    assert refused(io.BytesIO(b"\xff\xfe\x00" * 9), tmp_path).details["line"] == 1
    long = refused(io.StringIO(text), tmp_path, limits=Limits(frame=1_000))
    assert long.code == "ArtifactParseError" and "frame" in long.message


def test_a_folder_that_exists_is_left_alone(text: str, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    for source in (io.StringIO(text), tmp_path / "no file"):
        with pytest.raises(KipError) as raised:
            kipql.load_dump(source, tmp_path / "copy")
        assert raised.value.code == "MemoryUnavailable"
    assert [path.name for path in tmp_path.rglob("*")] == ["copy"]
