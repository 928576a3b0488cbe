"""Imports go one way, and starting is cheap."""

import subprocess
import sys

import pytest

STANDARD = ("csv", "logging", "importlib.resources", "tempfile", "zipfile", "secrets")
HOST = (
    *("kipql.meta", "kipql.mutate", "kipql.importers", "kipql.audit.script"),
    *(f"kipql.runtime.{name}" for name in ("governing", "repair", "request", "watches")),
)
HEAVY = ("lark", "numpy", "networkx", "rich", "prompt_toolkit", "jsonschema", "regex")


def loaded(program, names=HEAVY):
    """Which of some modules, the heavy ones, a program has loaded at its end."""
    tail = f"; import sys; print(*(name for name in {names!r} if name in sys.modules))"
    return subprocess.run(
        [sys.executable, "-c", program + tail], check=True, capture_output=True, text=True
    ).stdout.splitlines()[-1:]


def test_import_kipql_loads_one_module():
    program = (
        "import importlib, sys, typing\nbefore = set(sys.modules)\nimport kipql\nprint(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "kipql\n"


def test_the_version_loads_nothing_heavy():
    assert loaded("from kipql.cli.main import main; main(['--version'])") == [""]


def test_a_query_loads_neither_lark_nor_numpy():
    program = "import kipql; kipql.open().query('FIND(?c) WHERE { ?c CONCEPT {} }')"
    assert not {"lark", "numpy"} & set(loaded(program)[0].split())


def test_a_one_shot_query_loads_only_what_it_runs():
    text = "FIND(?c.name) WHERE { ?c CONCEPT {} }"
    program = f"from kipql.cli.main import main; main(['query', '-c', '{text}'])"
    assert loaded(program, (*HEAVY, *STANDARD, *HOST)) == [""]


def test_a_shell_in_a_pipe_loads_no_prompt_toolkit():
    given = "import io, sys; sys.stdin = io.TextIOWrapper(io.BytesIO(b'LIST TYPES LIMIT 1'))"
    program = f"{given}; from kipql.cli.main import main; main([])"
    assert not {"prompt_toolkit", "lark", "numpy", "rich"} & set(loaded(program)[0].split())


def test_a_first_prompt_waits_for_no_engine():
    names = ("lark", "numpy", "rich", "kipql.lang.parser", "kipql.exec", "kipql.mutate", "kipql.editing.completing")
    assert loaded("import kipql.repl.prompting", names) == [""]


@pytest.mark.slow
def test_the_import_contracts_hold():
    from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

    assert lint_imports(no_cache=True) == EXIT_STATUS_SUCCESS
