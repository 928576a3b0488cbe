"""Addresses of what nobody means well with."""

import pathlib

import pytest

import kipql
from kipql.memory import Canon, address, ancestor_chain


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("../../../etc/passwd", "etc/passwd"),
        ("..\\..\\windows\\system.ini", "windows/system"),
        ("/etc/../../root/.ssh/id", "root/.ssh/id"),
        ("x/...", "x/..."),  # the stem would be `..`
        ("..b", "..b"),
        ("x/..py", "x/..py"),
        ("a/.env.local", "a/.env"),
        ("name.", "name"),
        ("a//b/./c", "a/b/c"),
        (".", ""),
        ("..", ""),
        ("a/..", ""),
        ("C:\\src\\a.py", "C:/src/a"),
        ("src∕feed", "src∕feed"),  # U+2215 is no separator
        ("src／feed", "src／feed"),  # nor is U+FF0F
        ("․․/x", "․․/x"),  # U+2024 is no dot
        ("Src/Feed.PY", "Src/Feed"),
        ("cafe\u0301/x.py", "cafe\u0301/x"),
        (pathlib.PurePosixPath("src/a.py"), "src/a"),
    ],
)
def test_address_of_odd_paths(path, expected):
    assert address(path) == expected
    assert ".." not in address(path).split("/")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a\0b", "InvalidIdentifier"),
        ("a\nb", "InvalidIdentifier"),
        ("a\x1b[31m", "InvalidIdentifier"),
        ("a\u2028b", "InvalidIdentifier"),
        ("a\ud800", "InvalidIdentifier"),
        ("a/" * 3_000, "InvalidIdentifier"),
        (None, "TypeMismatch"),
        (7, "TypeMismatch"),
        (b"src", "TypeMismatch"),
    ],
)
def test_what_is_no_path_is_a_typed_error(canon, path, code):
    for call in (address, ancestor_chain, canon.resolve, canon.read, lambda one: canon.write(one, body="b")):
        with pytest.raises(kipql.KipError) as raised:
            call(path)
        assert raised.value.code == code
    with pytest.raises(kipql.KipError):
        canon.journal("text", subject=[path])


@pytest.mark.parametrize(
    ("path", "root", "expected"),
    [
        ("/home/me/proj/src/a.py", "/home/me/proj", "src/a"),
        ("/home/me/proj/src/a.py", "/home/me/proj/", "src/a"),
        ("/home/me/project2/a.py", "/home/me/proj", "home/me/project2/a"),
        ("/home/me/proj", "/home/me/proj", ""),
        ("src/a.py", "/home/me/proj", "src/a"),
        ("C:\\proj\\a.py", "C:\\proj", "a"),
    ],
)
def test_a_root_is_taken_off_at_a_boundary(path, root, expected):
    assert address(path, root) == expected


def test_an_address_that_names_an_article_keeps_its_dot(canon, tmp_path):
    canon.write("src/config.test.ts", capsule="tests", body="b")
    assert canon.resolve("src/config.test") == "src/config.test"
    assert canon.write("src/config.test", body="c").status == "updated"
    assert canon.journal("j", subject="src/config.test").subject == ["src/config.test"]
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "config.test").touch()
    rooted = Canon(canon.nexus, root=tmp_path)
    assert rooted.resolve("src/config.test") is None, "a real file has that name, so .test is its extension"


def test_the_project_itself_has_no_article(canon):
    for path in ("", "/", "..", "."):
        with pytest.raises(kipql.KipError) as raised:
            canon.write(path, body="b")
        assert raised.value.code == "ConstraintViolation"
        assert canon.resolve(path) is None


@pytest.mark.parametrize("mount", ["a:b", "a/b", "a\0", 3, "a\\b"])
def test_a_mount_is_a_name(nexus, mount):
    with pytest.raises(kipql.KipError) as raised:
        Canon(nexus, mount)
    assert raised.value.code == "InvalidIdentifier"


def test_mounts_are_apart_and_can_be_named(nexus):
    project, lib = Canon(nexus, mounts=["lib"]), Canon(nexus, "lib")
    project.write("src/a.py", capsule="ours", body="b")
    lib.write("src/a.py", capsule="theirs", body="b")
    assert project.read("src/a.py").capsule == "ours"
    assert project.read("lib:src/a.py").capsule == lib.read("src/a.py").capsule == "theirs"
    assert project.read("other:src/a.py").found is False
    session = project.session("s")
    assert session.touch(["lib:src/a.py", "src/a.py"]) == ["lib:src/a", "src/a"]
    assert session.flush() == "[canon] lib:src/a: theirs\n[canon] src/a: ours"
    lib.journal("entry", subject="src/a")
    assert (project.read("src/a").journal, lib.read("src/a").journal) == ([], ["2026-08-11-entry.md"])
    assert project.map() == "src/a: ours"
