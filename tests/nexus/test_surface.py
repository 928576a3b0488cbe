"""The public surface: small to import, typed, and explained by examples that run."""

import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import kipql

DOCUMENTED = (
    "kipql.nexus",
    "kipql.govern.principals",
    "kipql.runtime.governing",
    "kipql.runtime.prepared",
    "kipql.runtime.receipt",
    "kipql.runtime.repair",
    "kipql.runtime.result",
    "kipql.runtime.transaction",
    "kipql.runtime.watches",
)


def _python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("heavy", ["lark", "numpy", "networkx", "rich", "regex", "jsonschema", "kipql.nexus"])
def test_importing_kipql_does_not_load(heavy: str) -> None:
    assert _python(f"import kipql, sys; print({heavy!r} in sys.modules)") == "False"


def test_opening_and_asking_does_not_load_lark() -> None:
    code = "import kipql, sys; kipql.open().query('DESCRIBE PROTOCOL'); print('lark' in sys.modules)"
    assert _python(code) == "False"


def test_importing_kipql_takes_less_than_80_ms() -> None:
    code = "import time; t = time.perf_counter(); import kipql; print((time.perf_counter() - t) * 1000)"
    assert min(float(_python(code)) for _ in range(3)) < 80


def test_every_public_name_can_be_had_and_is_documented() -> None:
    for name in kipql.__all__:
        value = getattr(kipql, name)
        if callable(value):
            assert inspect.getdoc(value), name


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        kipql.nonsense  # noqa: B018


def test_the_package_is_marked_as_typed() -> None:
    assert (Path(kipql.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("module", DOCUMENTED)
def test_the_examples_in_docstrings_run(module: str) -> None:
    failed, attempted = doctest.testmod(importlib.import_module(module))
    assert attempted > 0
    assert failed == 0
