"""What a script may read beside itself (docs/security.md): its own folder, wherever a link leads."""

from pathlib import Path

import pytest

from kipql import KipError
from kipql.audit.paths import LARGEST, beside, read_beside


@pytest.fixture
def script(tmp_path: Path) -> Path:
    folder = tmp_path / "audits"
    (folder / "expected").mkdir(parents=True)
    (folder / "expected" / "rows.json").write_text("[1]", encoding="utf-8")
    (tmp_path / "secret").write_text("not yours", encoding="utf-8")
    (tmp_path / "audits-too").mkdir()
    (tmp_path / "audits-too" / "x").write_text("not yours", encoding="utf-8")
    (folder / "a.kql").write_text("", encoding="utf-8")
    return folder / "a.kql"


def refusal(script: Path, name: str) -> str:
    with pytest.raises(KipError) as caught:
        read_beside(str(script), name)
    assert "not yours" not in str(caught.value)
    return caught.value.code


def test_a_file_in_the_folder_is_read(script: Path) -> None:
    for name in ("expected/rows.json", "./expected/rows.json", "expected/../expected/rows.json", "in/rows.json"):
        if name.startswith("in/"):
            (script.parent / "in").symlink_to(script.parent / "expected")
        assert read_beside(str(script), name) == "[1]"


@pytest.mark.parametrize(
    "name",
    [
        "../secret", "expected/../../secret", "./../secret", "../audits-too/x", "/etc/passwd", "//etc/passwd",
        "\\\\h\\x",
        "C:\\x", "C:x", "file:///etc/passwd", "expected/\x00rows.json", "..", "/", "expected/../../audits-too/x",
    ],
)  # fmt: skip
def test_what_leads_out_is_refused(script: Path, name: str) -> None:
    assert refusal(script, name) == "InvalidSyntax"


def test_the_absolute_path_of_a_file_in_the_folder_is_no_relative_one(script: Path) -> None:
    assert refusal(script, str(script.parent / "expected" / "rows.json")) == "InvalidSyntax"


@pytest.mark.parametrize("target", ["../secret", "/etc/passwd", "../audits-too/x"])
def test_a_link_that_leads_out_is_refused(script: Path, target: str) -> None:
    (script.parent / "link").symlink_to(target)
    (script.parent / "folder").symlink_to(Path("..") / Path(target).parent)
    assert refusal(script, "link") == "InvalidSyntax"
    assert refusal(script, f"folder/{Path(target).name}") in ("InvalidSyntax", "ArtifactUnavailable")


@pytest.mark.parametrize("name", ["nothing", "expected", ".", "", "x" * 5_000, "loop", "loop/x", "~/x", "$HOME"])
def test_what_is_no_file_is_unavailable(script: Path, name: str) -> None:
    (script.parent / "loop").symlink_to(script.parent / "loop")
    assert refusal(script, name) == "ArtifactUnavailable"


def test_a_script_on_standard_input_has_no_folder(script: Path) -> None:
    with pytest.raises(KipError) as caught:
        beside("-", "expected/rows.json")
    assert caught.value.code == "InvalidSyntax"


def test_a_script_behind_a_link_reads_beside_the_file_that_it_is(script: Path, tmp_path: Path) -> None:
    (tmp_path / "audits-too" / "linked.kql").symlink_to(script)
    assert refusal(tmp_path / "audits-too" / "linked.kql", "x") == "ArtifactUnavailable"
    assert read_beside(str(tmp_path / "audits-too" / "linked.kql"), "expected/rows.json") == "[1]"


def test_what_is_too_large_or_no_text_is_refused(script: Path) -> None:
    (script.parent / "latin").write_bytes(b"\xe9")
    assert refusal(script, "latin") == "ArtifactParseError"
    with (script.parent / "huge").open("wb") as file:
        file.truncate(LARGEST + 1)
    assert refusal(script, "huge") == "ArtifactTooLarge"
