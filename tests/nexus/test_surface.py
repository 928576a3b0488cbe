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
    "kipql.errors",
    "kipql.nexus",
    "kipql.govern.principals",
    "kipql.plan.caveats",
    "kipql.runtime.governing",
    "kipql.runtime.prepared",
    "kipql.runtime.receipt",
    "kipql.runtime.repair",
    "kipql.runtime.result",
    "kipql.runtime.transaction",
    "kipql.runtime.watches",
    "kipql.schema.packages",
)


def _python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_opening_and_asking_does_not_load_lark() -> None:
    code = "import kipql, sys; kipql.open().query('DESCRIBE PROTOCOL'); print('lark' in sys.modules)"
    assert _python(code) == "False"


def test_every_public_name_can_be_had_and_is_documented() -> None:
    for name in kipql.__all__:
        value = getattr(kipql, name)
        if callable(value):
            assert inspect.getdoc(value), name


@pytest.mark.parametrize("name", [name for name in vars(kipql.Nexus) if not name.startswith("_")])
def test_every_public_name_of_a_nexus_has_an_example(name: str) -> None:
    documentation = inspect.getdoc(inspect.getattr_static(kipql.Nexus, name)) or ""
    assert f".{name}" in documentation.partition(">>>")[2]


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
