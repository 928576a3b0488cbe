"""Without an extra, what needs it says which it is and how to get it; everything else works."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kipql

ROOT = Path(__file__).resolve().parents[1]
BLOCKED = """
import sys
for name in sys.argv.pop(1).split(","):
    for known in [each for each in sys.modules if each == name or each.startswith(name + ".")]:
        del sys.modules[known]
    sys.modules[name] = None
"""
COMMAND = f"{BLOCKED}\nfrom kipql.cli.main import main\nsys.exit(main(sys.argv[1:]))"
LAKE = "sqlglot,pyarrow,duckdb"


def run(code, blocked, *arguments):
    """A process in which modules can not be imported."""
    return subprocess.run(
        [sys.executable, "-c", code, blocked, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )


def is_said(done, module, extra):
    assert done.returncode == 2, done.stderr
    assert "UnsupportedCapability" in done.stderr and f"{module} is not installed" in done.stderr
    assert f'pip install "kipql[{extra}]"' in done.stderr
    assert "Traceback" not in done.stderr and "InternalError" not in done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a memory, a script, tokens and, where the extra is there, a lake."""
    folder = tmp_path_factory.mktemp("extras")
    with kipql.open(folder / "lab.kip") as nexus:
        nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
    (folder / "a.kql").write_text("FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }\n", "utf-8")
    (folder / "tokens").write_text("owner-token-0123456789 kip:owner\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def lake(folder):
    for module in LAKE.split(","):
        pytest.importorskip(module, reason="the extra lake is not installed")
    from kipql import lake

    with kipql.open(folder / "lab.kip", readonly=True) as nexus:
        lake.export(nexus, folder / "lake")
    return folder / "lake"


@pytest.mark.parametrize(("blocked", "missed"), [(LAKE, "sqlglot"), ("sqlglot", "sqlglot"), ("pyarrow", "pyarrow")])
def test_export_lake_without_its_extra(folder, tmp_path, blocked, missed):
    done = run(COMMAND, blocked, "export", "lake", tmp_path / "x.lake", "--db", folder / "lab.kip")
    is_said(done, missed, "lake")
    assert not (tmp_path / "x.lake").exists()


@pytest.mark.parametrize(
    ("blocked", "missed"),
    [(LAKE, "sqlglot"), ("sqlglot", "sqlglot"), ("pyarrow,duckdb", "pyarrow"), ("duckdb", "duckdb")],
)
def test_run_over_a_lake_without_its_extra(folder, lake, blocked, missed):
    is_said(run(COMMAND, blocked, "run", folder / "a.kql", "--lake", lake), missed, "lake")


def test_run_over_a_lake_on_spark_without_its_extra(folder, lake):
    done = run(COMMAND, "pyspark", "run", folder / "a.kql", "--lake", lake, "--engine", "spark")
    is_said(done, "pyspark", "spark")


@pytest.mark.parametrize(
    "code",
    [
        "from kipql import lake",
        "import kipql.lake",
        "from kipql.lake import open",
        "import kipql.lake.export",
        "import kipql.lake.engines.on_duckdb",
    ],
)
def test_an_import_of_the_lake_without_its_extra_is_a_kip_error(code):
    caught = (
        f"{BLOCKED}\nimport kipql\ntry:\n    {code}\n"
        "except kipql.KipError as error:\n    print(error.code, error.message, error.hint, sep='\\n')\n"
    )
    done = run(caught, LAKE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "UnsupportedCapability", "sqlglot is not installed", 'pip install "kipql[lake]"'
    ]  # fmt: skip


@pytest.mark.parametrize(("engine", "module", "extra"), [("duckdb", "duckdb", "lake"), ("spark", "pyspark", "spark")])
def test_an_engine_that_is_not_there_is_a_kip_error(lake, engine, module, extra):
    code = (
        f"{BLOCKED}\nimport kipql\nfrom kipql import lake\ntry:\n    lake.open(sys.argv[1], engine={engine!r})\n"
        "except kipql.KipError as error:\n    print(error.code, error.message, error.hint, sep='\\n')\n"
    )
    done = run(code, module, lake)
    assert done.returncode == 0, done.stderr
    said = ["UnsupportedCapability", f"{module} is not installed", f'pip install "kipql[{extra}]"']
    assert done.stdout.splitlines() == said


@pytest.mark.parametrize(
    ("module", "extra", "arguments"),
    [
        ("mcp", "mcp", ["mcp", "lab.kip"]),
        ("pygls", "lsp", ["lsp"]),
        ("lsprotocol", "lsp", ["lsp"]),
        ("starlette", "serve", ["serve", "lab.kip", "--tokens", "tokens"]),
        ("uvicorn", "serve", ["serve", "lab.kip", "--tokens", "tokens"]),
        ("prometheus_client", "serve", ["serve", "lab.kip", "--tokens", "tokens"]),
    ],
)
def test_a_front_without_its_extra(folder, module, extra, arguments):
    pytest.importorskip({"pygls": "lsprotocol"}.get(module, module), reason=f"the extra {extra} is not installed")
    named = [str(folder / each) if (folder / each).exists() else each for each in arguments]
    done = run(COMMAND, module, *named)
    assert done.returncode == 2 and f'pip install "kipql[{extra}]"' in done.stderr and "Traceback" not in done.stderr


def test_without_any_extra_the_base_works(folder):
    extras = f"{LAKE},pyspark,pandas,polars,mcp,pygls,lsprotocol,starlette,uvicorn,prometheus_client"
    assert run(COMMAND, extras, "--version").returncode == 0
    done = run(COMMAND, extras, "run", folder / "a.kql", "--db", folder / "lab.kip")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("command", "extra"), [(["export", "lake"], "lake"), (["mcp"], "mcp"), (["lsp"], "lsp"), (["serve"], "serve")]
)
def test_the_help_of_a_command_names_its_extra(command, extra):
    from click.testing import CliRunner

    from kipql.cli.main import cli

    said = CliRunner().invoke(cli, [*command, "--help"]).output
    assert f'pip install "kipql[{extra}]"' in " ".join(said.split())
