"""The first hour: every block of docs/first-hour.md runs, in order, and prints what the page says."""

import subprocess

import pytest

from tests.docs.first_hour import INSTALL, PAGE, ROOT, blocks, newcomer, run, timeless


@pytest.fixture(scope="module")
def hour(tmp_path_factory):
    """What each block printed, or that it failed."""
    folder = tmp_path_factory.mktemp("hour")
    environment = newcomer(folder)
    printed = {}
    for block in blocks(PAGE.read_text("utf-8")):
        try:
            printed[block.start, block.commands] = run(block.commands, folder, environment)
        except subprocess.CalledProcessError as error:
            printed[block.start, block.commands] = f"exit code {error.returncode}:\n{error.stdout.decode()}"
    return printed


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(list(blocks(PAGE.read_text("utf-8"))))))
def test_each_block_prints_what_the_page_says(hour, number):
    block = list(blocks(PAGE.read_text("utf-8")))[number]
    printed = hour[block.start, block.commands]
    assert timeless(printed) == timeless(block.printed or "")


def test_each_axis_is_asked_five_questions():
    text = PAGE.read_text("utf-8")
    for title in ("FIND", "BELIEF", "AS OF SEQ", "FOR TIME"):
        (section,) = [part for part in text.split("\n## ") if part.split("\n")[0].endswith(f": {title}")]
        assert section.count("\n// ") >= 5, title


def test_it_installs_as_readme_does():
    readme = (ROOT / "README.md").read_text("utf-8")
    (install,) = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith(INSTALL)]
    assert readme.count(install) >= 1
    assert "docs/first-hour.md" in readme
