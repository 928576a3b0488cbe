"""A canon as Markdown folders: brought in again it changes nothing, and no journal file is rewritten."""

import pytest

import kipql
from kipql.memory import Canon
from kipql.memory.canon.export import export_repository
from kipql.memory.canon.repository import import_repository
from tests.memory.canon.conftest import DAY


@pytest.fixture
def written(canon):
    canon.write(
        "src/feed.py", capsule='caps at "50": \\ see', body="One.\n\n---\nTwo.\n", front={"tags": ["a", "b, c"]}
    )
    canon.write("src/feed/sync", capsule="sync", body="Body\n", front={"more": "  b: 1\n  c: 2", "note": ">\n  one"})
    canon.write("naming", body="Always say what it is.", scope="rule")
    canon.journal("vendor said: 50\n", subject=["src/feed", "a, b"], slug="cap", harness="cli", session="run")
    canon.journal("nobody knows", slug="cap")
    return canon


def test_what_was_exported_is_brought_in_unchanged(written, tmp_path):
    done = export_repository(written, tmp_path)
    assert (done.articles, done.entries, done.unchanged, done.left_out) == (3, 2, 0, [])
    names = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md"))
    assert names == [
        *("articles/naming.md", "articles/src/feed.md", "articles/src/feed/sync.md"),
        *("journal/2026-08-11-cap-2.md", "journal/2026-08-11-cap.md"),
    ]
    for address in ("src/feed", "src/feed/sync"):  # what an article governs is a file of the repository
        (tmp_path / f"{address}.py").parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{address}.py").touch()
    digest = written.nexus.digest()
    again = import_repository(written, tmp_path)
    assert (again.created, again.updated, again.unchanged, again.logged, again.known) == (0, 0, 3, 0, 2)
    assert written.nexus.digest() == digest
    fresh = Canon(kipql.open(clock=lambda: DAY))
    import_repository(fresh, tmp_path)
    for address in ("src/feed", "src/feed/sync", "naming"):
        assert fresh.read(address).to_dict() == written.read(address).to_dict()


def test_a_second_export_writes_what_changed(written, tmp_path):
    export_repository(written, tmp_path)
    written.write("naming", body="Always say what it is, in one word.")
    done = export_repository(written, tmp_path)
    assert (done.articles, done.entries, done.unchanged) == (1, 0, 4)
    assert (tmp_path / "articles/naming.md").read_text().endswith("\n---\n\nAlways say what it is, in one word.")


def test_a_journal_file_with_another_text_stops_it_before_anything_is_written(written, tmp_path):
    file = tmp_path / "journal/2026-08-11-cap.md"
    file.parent.mkdir()
    file.write_text("vendor said: 5")
    with pytest.raises(kipql.KipError) as raised:
        export_repository(written, tmp_path)
    assert raised.value.code == "IdentityConflict" and file.read_text() == "vendor said: 5"
    assert not (tmp_path / "articles").exists()


def test_a_folder_that_leads_out_is_not_followed(written, tmp_path):
    (tmp_path / "out").mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "articles").symlink_to(tmp_path / "out")
    with pytest.raises(kipql.KipError) as raised:
        export_repository(written, root)
    assert raised.value.code == "ArtifactUnavailable" and not list((tmp_path / "out").iterdir())


def test_an_erased_entry_is_left_out_and_said(written, tmp_path):
    source = written.nexus.query(
        'FIND(?e.id) WHERE { ?e EVIDENCE {client_key: "journal:2026-08-11-cap-2.md:source"} }'
    ).scalar()
    written.nexus.execute('PURGE PAYLOAD :id CONFIRM "PURGE"', {"id": source})
    assert export_repository(written, tmp_path).left_out == ["journal/2026-08-11-cap-2.md"]
