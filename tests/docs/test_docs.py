"""The documents are true: every fenced statement and program in them runs, and what is generated is current."""

import re
import shlex
from pathlib import Path

import pytest

import kipql
from kipql.audit.script import read_script
from kipql.audit.static import check_script
from kipql.meta.errors import document
from tests.docs.generate import cli_page

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def fences(*languages):
    """Every fenced block in one of these languages, with the line it begins on."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in _FENCE.finditer(text):
            if match[1] in languages:
                line = text.count("\n", 0, match.start()) + 2
                found.append(pytest.param(match[2], id=f"{page.relative_to(ROOT)}:{line}"))
    return found


@pytest.mark.parametrize("program", fences("python"))
def test_python_in_the_documents_runs(program):
    exec(compile(program, "document", "exec"), {"__name__": "document"})


@pytest.mark.parametrize("script", fences("kip", "kql"))
def test_statements_in_the_documents_run(script, tmp_path):
    path = tmp_path / "document.kql"
    path.write_text(script, encoding="utf-8")
    assert list(check_script(str(path))) == []
    with kipql.open() as nexus:
        for step in read_script(str(path)).steps:
            nexus.execute(step.text)


# Those of docs/first-hour.md are run: test_first_hour.py.
@pytest.mark.parametrize("script", [each for each in fences("sh") if "first-hour" not in each.id])
def test_commands_in_the_documents_exist(script):
    from kipql.cli.main import COMMANDS

    lines = [shlex.split(line, comments=True) for line in script.splitlines()]
    for words in (line for line in lines if line and line[0] == "kipql"):
        assert next(word for word in words[1:] if not word.startswith("-")) in COMMANDS


def test_the_command_line_reference_is_the_help():
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == cli_page()


def test_the_error_reference_is_the_table():
    assert (ROOT / "docs" / "errors.md").read_text(encoding="utf-8") == document()


def test_links_in_the_documents_lead_somewhere():
    missing = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert missing == []


def test_readme_leads_to_every_page():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = [f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md"))]
    assert [page for page in pages if f"]({page})" not in readme] == []


@pytest.mark.parametrize("name", [name for name in vars(kipql.Nexus) if not name.startswith("_")])
def test_every_public_name_of_a_nexus_is_on_a_page(name):
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    assert re.search(rf"(\bnexus\.{name}\b|`{name}[`(])", pages)


def test_the_tests_of_ci_are_the_readme_command_word_for_word():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^```sh\n(python3 .*)\n```$", readme, re.MULTILINE)
    assert len(commands) == 2
    assert commands[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_readme_commands_are_one_line_and_make_their_own_environment():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in re.findall(r"^```sh\n(python3 .*)\n```$", readme, re.MULTILINE):
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")


def test_pre_commit_hooks_call_commands_that_exist():
    from kipql.cli.main import COMMANDS

    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entries = re.findall(r"entry: kipql (\S+)", hooks)
    assert len(entries) == hooks.count("- id:")
    assert set(entries) <= set(COMMANDS)


def test_every_decision_has_context_choice_and_consequences():
    for page in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        assert re.match(r"# \d{4}: ", text), page.name
        assert all(f"**{part}" in text for part in ("Context.", "Choice.", "Consequences.")), page.name
