"""`kipql canon` from the outside: output and exit codes."""

import json
import subprocess
import sys

import pytest

from kipql.cli.main import main


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "repo"
    for name, text in {
        "articles/src/feed.md": "---\ncapsule: API caps pages at 50\n---\n- never ask for more than 50\n",
        "articles/lost.md": "nobody's\n",
        "journal/2026-08-11-vendor-cap.md": "---\nsubject: [src/feed]\n---\nthe vendor said 50\n",
        "src/feed/sync.py": "",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root


@pytest.fixture
def db(repository, tmp_path):
    path = str(tmp_path / "m.kip")
    assert main(["canon", "import", str(repository), "--db", path]) == 0
    return path


def told(capsys, *arguments):
    capsys.readouterr()
    code = main(["canon", *arguments])
    return code, capsys.readouterr().out


def test_import_counts_and_can_be_repeated(repository, db, capsys):
    code, out = told(capsys, "import", str(repository), "--db", db)
    assert (code, out) == (0, "0 articles created, 0 updated, 2 unchanged; 0 journal files logged, 1 known\n")


def test_resolve_read_map_and_search(db, repository, capsys):
    paths = [str(repository / "src/feed/sync.py"), "tools/x.py"]
    assert told(capsys, "resolve", *paths, "--db", db, "--root", str(repository)) == (
        0,
        f"{paths[0]} -> src/feed\ntools/x.py -> none\n",
    )
    assert "Journal: 2026-08-11-vendor-cap.md" in told(capsys, "read", "src/feed/sync.py", "--db", db)[1]
    assert told(capsys, "map", "src", "--db", db)[1] == "src/feed: API caps pages at 50\n"
    assert "journal/2026-08-11-vendor-cap.md" in told(capsys, "search", "vendor", "--journal", "--db", db)[1]


def test_surface_shows_a_line_once_a_session(db, tmp_path, capsys):
    session = ["--session", str(tmp_path / "s.json"), "--db", db]
    assert told(capsys, "surface", "src/feed/sync.py", *session) == (0, "[canon] src/feed: API caps pages at 50\n")
    assert told(capsys, "surface", "src/feed/other.py", *session) == (0, "")
    assert told(capsys, "surface", "src/feed/sync.py", "--budget", "3", "--db", db)[1].endswith("read it\n")
    (tmp_path / "s.json").write_text("[]", "utf-8")
    assert told(capsys, "surface", "src/feed/sync.py", *session)[0] == 2


def test_audit_exits_1_for_findings(repository, db, capsys):
    assert told(capsys, "audit", "--db", db) == (1, "orphans: lost\n")
    assert told(capsys, "audit", "dead-links", "--db", db) == (0, "nothing found\n")
    (repository / "articles/src/feed.md").write_text(
        "---\ncapsule: API caps pages\n---\nas many as you like\n", "utf-8"
    )
    main(["canon", "import", str(repository), "--db", db])
    code, out = told(capsys, "audit", "constraint-loss", "--db", db)
    assert (code, out) == (1, "constraint-loss: src/feed: line - never ask for more than 50\n")
    found = json.loads(told(capsys, "audit", "constraint-loss", "unretained-values", "--format", "json", "--db", db)[1])
    assert found["unretained-values"] == [{"address": "src/feed", "value": "50", "entry": "2026-08-11-vendor-cap.md"}]


def test_a_memory_without_a_canon_could_not_run(tmp_path, capsys):
    assert main(["canon", "map"]) == 2
    assert "packages=" in capsys.readouterr().err
    assert main(["--readonly", "canon", "import", str(tmp_path), "--db", str(tmp_path / "m.kip")]) == 2


def test_the_names_of_the_audits_are_those_of_the_library():
    from kipql.cli.canon_command import AUDITS
    from kipql.memory.canon.audit import NAMES

    assert AUDITS == NAMES


def test_terminal_controls_of_an_article_are_escaped(repository, tmp_path, capsys):
    (repository / "articles/src/feed.md").write_text('---\ncapsule: "a\x1b[31m\u202eb"\n---\nx\n', "utf-8")
    path = str(tmp_path / "n.kip")
    main(["canon", "import", str(repository), "--db", path])
    for command in (["map"], ["read", "src/feed"], ["surface", "src/feed"], ["search", "feed"]):
        out = told(capsys, *command, "--db", path)[1]
        assert "\x1b" not in out and "\u202e" not in out


def test_help_loads_no_memory():
    program = (
        "import sys; from kipql.cli.main import main; main(['canon', '--help']); "
        "assert not any(name.startswith('kipql.memory') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_a_canon_is_written_out_and_comes_back_the_same(repository, tmp_path, capsys):
    db, out = str(tmp_path / "x.kip"), tmp_path / "out"
    main(["canon", "import", str(repository), "--db", db])
    capsys.readouterr()
    code, said = told(capsys, "export", str(out), "--db", db)
    assert code == 0 and said.endswith("written, 0 files unchanged\n")
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.md")) == [
        *("articles/lost.md", "articles/src/feed.md", "journal/2026-08-11-vendor-cap.md")
    ]
    assert told(capsys, "export", str(out), "--db", db) == (
        0,
        "0 articles and 0 journal files written, 3 files unchanged\n",
    )
    other = str(tmp_path / "y.kip")
    main(["canon", "import", str(out), "--db", other])
    assert told(capsys, "map", "--db", db) == told(capsys, "map", "--db", other)
