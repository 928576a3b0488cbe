"""Imports go one way, and starting is cheap."""

import subprocess
import sys

import pytest

HEAVY = ("lark", "numpy", "networkx", "rich", "prompt_toolkit", "jsonschema", "regex")


def loaded(program):
    """The heavy modules that a program has loaded at its end."""
    tail = f"; import sys; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    return subprocess.run(
        [sys.executable, "-c", program + tail], check=True, capture_output=True, text=True
    ).stdout.splitlines()[-1:]


def test_import_kipql_loads_nothing_heavy():
    assert loaded("import kipql") == [""]


def test_the_version_loads_nothing_heavy():
    assert loaded("from kipql.cli.main import main; main(['--version'])") == [""]


def test_a_query_loads_neither_lark_nor_numpy():
    program = "import kipql; kipql.open().query('FIND(?c) WHERE { ?c CONCEPT {} }')"
    assert not {"lark", "numpy"} & set(loaded(program)[0].split())


@pytest.mark.slow
def test_the_import_contracts_hold():
    from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

    assert lint_imports(no_cache=True) == EXIT_STATUS_SUCCESS
