"""What counts as a path in a tool's input, and what must not."""

import pytest

import kipql
from kipql.memory import paths_in
from tests.counting import calls


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "proj"
    (root / "src" / "feed").mkdir(parents=True)
    (root / "src" / "feed" / "sync.py").touch()
    (root / "README.md").touch()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").touch()
    return root


@pytest.mark.parametrize(
    ("tool_input", "expected"),
    [
        ({"path": "new.py"}, ["new.py"]),
        ({"query": "feed"}, []),
        ({"path": "src"}, ["src"]),
        ({"path": "nowhere/deep/new.py"}, []),
        ({"command": "diff src/feed/sync.py 'src/feed/new.py' > /dev/null"}, ["src/feed/sync.py", "src/feed/new.py"]),
        ({"text": "see https://example.com/src/feed"}, []),
        ({"path": "src\\feed\\sync.py"}, ["src/feed/sync.py"]),
        ({"path": "./src/../src/feed/sync.py"}, ["src/feed/sync.py"]),
        ({"path": "../secret/key"}, []),
        ({"path": "src/../../secret/key"}, []),
        ({"path": "/etc/passwd"}, []),
        ({"path": "~/x.py"}, []),
        ({"path": "src/feed\0/x"}, []),
        ({"path": "x" * 600}, []),
        ({"path": "src/" + "x" * 400}, []),
        ({"src/feed": 1, "n": None, "t": True}, []),
        (["src/feed", ["src"]], ["src/feed", "src"]),
        ("src/feed", ["src/feed"]),
        (None, []),
    ],
)
def test_paths(project, tool_input, expected):
    assert paths_in(tool_input, project) == expected


def test_an_absolute_path_in_the_project_is_relative(project):
    assert paths_in({"path": str(project / "src" / "feed")}, project) == ["src/feed"]
    assert paths_in({"command": f"cat {project}/src/feed/sync.py"}, str(project)) == ["src/feed/sync.py"]
    assert paths_in({"path": f"{project}-other/src/x.py"}, project) == []


def test_a_link_that_leads_out_is_none(project):
    (project / "out").symlink_to(project.parent / "secret")
    (project / "in").symlink_to(project / "src")
    (project / "loop").symlink_to(project / "loop")
    assert paths_in(["out/key", "out/new.py", "loop/x", "in/feed/sync.py"], project) == ["in/feed/sync.py"]


def test_a_huge_input_is_bounded(project):
    for n in range(400):
        (project / f"f{n}.py").touch()
    assert len(paths_in([f"f{n}.py" for n in range(400)], project)) == 256
    for letters in ("a/", "/"):
        assert calls(lambda letters=letters: paths_in({"text": letters * 500_000}, project)) < 100_000
    nested = "src/feed"
    for _ in range(5_000):
        nested = [nested]
    assert paths_in(nested, project) == ["src/feed"]
    assert calls(lambda: paths_in(nested, project)) < 100_000


def test_a_root_that_is_no_path_is_a_typed_error():
    with pytest.raises(kipql.KipError) as raised:
        paths_in({}, None)
    assert raised.value.code == "TypeMismatch"
