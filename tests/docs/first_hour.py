"""docs/first-hour.md as a newcomer runs it: its `sh` blocks in one folder, one after another, and what they must print.

`python -m tests.docs.first_hour` writes what they print into the page; review it as a difference. The installation is
the one block that is not run: whoever runs this has installed already.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "first-hour.md"
INSTALL = "python3 -m venv "
_BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
_NOW = re.compile(r"\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?Z?")


@dataclass(frozen=True, slots=True)
class Block:
    """The commands of a block, what is said to come of them (None: nothing is said), and where that stands."""

    commands: str
    printed: str | None
    start: int
    end: int


def blocks(text: str) -> Iterator[Block]:
    """The `sh` blocks of a page but for the installation."""
    for match in _BLOCK.finditer(text):
        if not match[1].startswith(INSTALL):
            yield Block(match[1], match[2], match.start(2), match.end(2))


def newcomer(folder: Path) -> dict[str, str]:
    """A folder like a fresh clone with kipql installed; the environment to run in."""
    shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples")
    program = folder / ".bin" / "kipql"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m kipql "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    found = {
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "KIPQL_HOME": str(folder / ".home"),
        "COLUMNS": "110",
        "LANG": "C.UTF-8",
    }
    return {**os.environ, **found}


def run(commands: str, folder: Path, environment: dict[str, str]) -> str:
    """What a block prints, errors included. Raises CalledProcessError for a block that fails."""
    called = subprocess.run(
        ["bash", "-e", "-c", commands],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
    )
    return "".join(f"{line.rstrip()}\n" for line in called.stdout.decode("utf-8").splitlines())


def timeless(text: str) -> str:
    """A text without times that are exact to a second: those of the run itself, not of the example."""
    return _NOW.sub("(now)", text)


def main() -> int:
    """Write what the blocks print into the page."""
    text = PAGE.read_text("utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = newcomer(folder)
        replaced = []
        for block in blocks(text):
            try:
                printed = run(block.commands, folder, environment)
            except subprocess.CalledProcessError as error:
                print(f"{block.commands}\nends with exit code {error.returncode}", file=sys.stderr)
                printed = error.stdout.decode()
            if block.printed is not None and timeless(printed) != timeless(block.printed):
                replaced.append((block.start, block.end, printed))
        for start, end, printed in reversed(replaced):
            text = text[:start] + printed + text[end:]
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
