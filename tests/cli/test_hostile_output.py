"""What a memory holds is shown by every command without being obeyed (docs/security.md)."""

import json
import re
from pathlib import Path

import pytest

import kipql
from kipql.cli.main import main

NASTY = "\x1b[2J\x1b]0;owned\x07\u202egnp\u2066\x9b\u200b\r::error::forged"
LINES = "fine\n::error file=a::forged\n##[group]x"
_RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]|^\s*::|##\[", re.MULTILINE)


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    with kipql.open(tmp_path / "m") as nexus:
        for name in (NASTY, LINES, "=cmd|'/C calc'!A0", "::stop-commands::x"):
            nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME :n }', {"n": name})
            nexus.execute("CREATE EVIDENCE ?e { SET FIELDS {evidence_class: :n, payload: {a: :n}} }", {"n": name})
    (tmp_path / "s.kql").write_text(
        '//! check: names\n//! message: found {c.name}\nFIND(?c.name) WHERE { ?c CONCEPT {} }\n'
        'FIND(?c.name, ?c) WHERE { ?c CONCEPT {} }\n', encoding="utf-8"
    )  # fmt: skip
    return tmp_path / "m"


QUERIES = (
    "FIND(?c.name) WHERE { ?c CONCEPT {} }",
    "FIND(?c) WHERE { ?c CONCEPT {} }",
    "FIND(?e) WHERE { ?e EVIDENCE {} }",
    'SEARCH CONCEPT "forged" LIMIT 5',
    'DESCRIBE TYPE "Person"',
)
COMMANDS = [
    *(
        ["query", "--db", "{m}", "--format", form, "-c", text]
        for form in ("table", "json", "jsonl", "csv")
        for text in QUERIES
    ),
    ["query", "--db", "{m}", "-c", f'FIND(?c) WHERE {{ ?c {{nme: "{NASTY}"}} }}'.replace("\r", " ")],
    ["query", "--db", "{m}", "-c", f'FIND(?c WHERE "{NASTY}"'],
    ["query", "--db", "{m}", "-c", "FIND(?c.id) WHERE { ?c {type: :t} }", "-p", f"t={NASTY}"],
    ["run", "--db", "{m}", "{s}"],
    ["run", "--db", "{m}", "--format", "json", "{s}"],
    ["run", "--db", "{m}", "\x1b[31m::nothing"],
    ["check", "\x1b[31m::nothing"],
]


@pytest.mark.parametrize("at", range(len(COMMANDS)))
def test_no_command_shows_a_stored_text_raw(memory: Path, capfd: pytest.CaptureFixture[str], at: int) -> None:
    command = [
        part.format(m=memory, s=memory.parent / "s.kql") if part in ("{m}", "{s}") else part for part in COMMANDS[at]
    ]
    main(command)
    out, err = capfd.readouterr()
    assert out or err
    for shown in (out, err):
        assert not _RAW.search(shown), ascii(_RAW.search(shown))
    if "json" in command and "query" in command and command[-1] == QUERIES[0]:
        assert NASTY in [row["c.name"] for row in json.loads(out)], "nothing is lost in JSON"
