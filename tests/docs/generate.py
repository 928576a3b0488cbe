"""The pages of docs/ that are made from the program: run this file to write them anew."""

import re
from pathlib import Path

from click.testing import CliRunner

from kipql.cli.main import COMMANDS, cli
from kipql.meta.errors import document

DOCS = Path(__file__).resolve().parents[2] / "docs"

_CLI = """# The command line

Made from `--help` by `python -m tests.docs.generate`; a test holds the two equal.

Exit codes: 0 done or clean, 1 findings (`run`, `check`, `fmt --check`), 2 could not run. Errors are on standard
error, with the caret under the place. Without `--db` a command works on an empty memory of its own.
"""

_MEMORY = (
    *(f"memory {name}" for name in ("recall", "pins", "touch", "flush", "compact plan", "assemble", "trace")),
    "memory request",
    *(f"trace {name}" for name in ("show", "replay")),
)
_CANON = ("import", "resolve", "read", "map", "search", "surface", "audit")


def cli_page() -> str:
    """docs/cli.md."""
    commands = (["kipql"], *(["kipql", name] for name in COMMANDS), ["kipql", "import", "chat"])
    commands += (["kipql", "package", "new"], ["kipql", "package", "check"])
    commands += tuple(["kipql", "capsule", name] for name in ("export", "verify", "preview", "import"))
    commands += tuple(["kipql", "canon", name] for name in _CANON)
    commands += tuple(["kipql", *words.split()] for words in _MEMORY)
    return "\n".join((_CLI, *(f"## {' '.join(words)}\n\n```text\n{_help(words)}\n```\n" for words in commands)))


def _help(words: list[str]) -> str:
    called = CliRunner().invoke(cli, [*words[1:], "--help"], prog_name="kipql", terminal_width=100)
    assert called.exit_code == 0, called.output
    return re.sub(r"[ \t]+$", "", called.output.rstrip("\n"), flags=re.MULTILINE)


if __name__ == "__main__":
    (DOCS / "cli.md").write_text(cli_page(), encoding="utf-8")
    (DOCS / "errors.md").write_text(document(), encoding="utf-8")
