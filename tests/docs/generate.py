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
error, with the caret under the place; a defect of kipql is one line (`InternalError`), and `KIPQL_TRACEBACK=1` in the
environment shows where it comes from. Without `--db` a command works on an empty memory of its own.
"""

_MEMORY = (
    *(f"memory {name}" for name in ("recall", "pins", "touch", "flush", "compact plan", "assemble", "trace")),
    "memory request",
    *(f"trace {name}" for name in ("show", "replay")),
)
_CANON = ("import", "export", "resolve", "read", "map", "search", "surface", "audit")


def cli_page() -> str:
    """docs/cli.md."""
    commands = (["kipql"], *(["kipql", name] for name in COMMANDS), ["kipql", "import", "chat"])
    commands += tuple(["kipql", "audits", name] for name in ("list", "show", "run"))
    commands += (["kipql", "export", "lake"], ["kipql", "export", "html"])
    commands += (["kipql", "package", "new"], ["kipql", "package", "check"])
    commands += tuple(["kipql", "capsule", name] for name in ("export", "verify", "preview", "import"))
    commands += tuple(["kipql", "canon", name] for name in _CANON)
    commands += tuple(["kipql", *words.split()] for words in _MEMORY)
    return "\n".join((_CLI, *(f"## {' '.join(words)}\n\n```text\n{_help(words)}\n```\n" for words in commands)))


def _help(words: list[str]) -> str:
    called = CliRunner().invoke(cli, [*words[1:], "--help"], prog_name="kipql", terminal_width=100)
    assert called.exit_code == 0, called.output
    return re.sub(r"[ \t]+$", "", called.output.rstrip("\n"), flags=re.MULTILINE)


_TABLES = re.compile(r"(<!-- tables: [^\n]* -->\n).*(<!-- end of tables -->\n)", re.DOTALL)


def scale_page(text: str) -> str:
    """docs/scale.md with the tables of a lake as they are."""
    return _TABLES.sub(lambda found: f"{found[1]}{lake_tables()}{found[2]}", text)


def lake_tables() -> str:
    """The tables of a lake and their columns."""
    from kipql.lake.layout import TABLES

    parts = []
    for table in TABLES:
        rows = "".join(f"| `{column.name}` | {column.kind} | {_cell(column.doc)} |\n" for column in table.columns)
        parts.append(f"\n### {table.name}\n\n{table.doc}.\n\n| column | type | |\n|---|---|---|\n{rows}")
    return "".join(parts) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    path = DOCS / "scale.md"
    path.write_text(scale_page(path.read_text(encoding="utf-8")), encoding="utf-8")
    (DOCS / "cli.md").write_text(cli_page(), encoding="utf-8")
    (DOCS / "errors.md").write_text(document(), encoding="utf-8")
