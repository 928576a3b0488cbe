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
    *(["run", "--db", "{m}", "--format", form, "{s}"] for form in ("json", "junit", "sarif", "github")),
    ["run", "--db", "{m}", "--github", "{s}"],
    ["run", "--db", "{m}", "-q", "{s}"],
    ["run", "--db", "{m}", "--baseline", "\x1b[31m::nothing", "{s}"],
    ["audits", "--db", "{m}"],
    ["dump", "--db", "{m}"],
    ["doctor", "{m}"],
    ["doctor", "\x1b[31m::nothing"],
    ["exec", "--db", "{m}", "-c", 'CREATE CONCEPT ?a { TYPE "\u202e\x9b" }'],
    ["capsule", "export", "--db", "{m}", "C-1"],
    ["load", "\x1b[31m::nothing", "\x1b[32m::there"],
    ["trace", "show", "\x1b[31m::nothing"],
    ["package", "check", "\x1b[31m::nothing"],
    ["fmt", "\x1b[31m::nothing"],
    ["import", "chat", "\x1b[31m::nothing"],
    ["export", "html", "\x1b[31m::nothing/x", "--db", "{m}"],
    ["serve", "{m}", "--tokens", "\x1b[31m::nothing"],
    ["\x1b[31m::nothing"],
    ["query", "--\x1b[31m"],
    ["run", "--db", "{m}", "\x1b[31m::nothing"],
    ["check", "\x1b[31m::nothing"],
]


@pytest.mark.parametrize("at", range(len(COMMANDS)))
def test_no_command_shows_a_stored_text_raw(
    memory: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, at: int
) -> None:
    monkeypatch.chdir(tmp_path)
    command = [
        part.format(m=memory, s=memory.parent / "s.kql") if part in ("{m}", "{s}") else part for part in COMMANDS[at]
    ]
    main(command)
    out, err = capfd.readouterr()
    assert out or err
    own = f"::warning file={memory.parent / 's.kql'},"  # an annotation is a command to CI: those that kipql gives
    for shown in (out, err):
        shown = re.sub(f"^{re.escape(own)}", "", shown, flags=re.MULTILINE) if "github" in str(command) else shown
        assert not _RAW.search(shown), ascii(_RAW.search(shown))
    if "json" in command and "query" in command and command[-1] == QUERIES[0]:
        assert NASTY in [row["c.name"] for row in json.loads(out)], "nothing is lost in JSON"
