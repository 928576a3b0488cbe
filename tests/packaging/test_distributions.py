"""What is built is whole: wheel and sdist carry grammar, tables, packages and types, and work when installed."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = (
    "kipql/py.typed",
    "kipql/lang/tables.json",
    "kipql/grammar/__init__.py",
    "kipql/grammar/kip.lark",
    "kipql/importers/chat-1.0.0.json",
    "kipql/meta/errors.json",
    "kipql/docs/language.md",
)
SCRIPT = """
import importlib.resources, pathlib, sys
import kipql
assert "lark" not in sys.modules
assert pathlib.Path(kipql.__file__).is_relative_to(sys.prefix), kipql.__file__
names = {entry.name for entry in importlib.resources.files("kipql.grammar").iterdir()}
assert "kip.lark" in names, names
with kipql.open() as nexus:
    nexus.install_packages(["kip://domains/general@1.0.0", "kip://kipql/agent@1.0.0"])
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
    assert nexus.query('FIND(?p.name) WHERE { ?p {type: "Person"} }').rows == ["Ada"]
assert "lark" not in sys.modules
assert not (pathlib.Path(kipql.__file__).parents[1] / "grammar").exists()
"""


def sources():
    """Every data file and module that the package has in the checkout, as paths inside a wheel."""
    package = [path.relative_to(ROOT).as_posix() for path in (ROOT / "kipql").rglob("*")]
    grammar = [f"kipql/grammar/{path.name}" for path in (ROOT / "grammar").iterdir()]
    pages = {f"kipql/docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    wanted = re.compile(r".*\.(py|css|html|js|json|kql|lark|typed)")
    return pages | {path for path in (*package, *grammar) if wanted.fullmatch(path) and "__pycache__" not in path}


def test_the_list_of_packages_is_the_list_of_folders():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    folders = {
        path.parent for path in (ROOT / "kipql").rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    packages = {folder.relative_to(ROOT).as_posix().replace("/", ".") for folder in folders}
    assert sorted(listed) == sorted(packages | {"kipql.docs", "kipql.grammar"})


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the wheel and the sdist of the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    return folder


@pytest.mark.slow
def test_the_wheel_carries_every_source_and_nothing_else(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names >= set(NEEDED)
    assert names == sources()


@pytest.mark.slow
def test_the_sdist_carries_sources_grammar_tests_and_documents(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert names >= {re.sub("^kipql/(grammar|docs)/", r"\1/", path) for path in sources()}
    assert names >= {"README.md", "LICENSE", "CHANGELOG.md", ".ci/run", "docs/cli.md", "docs/examples/lab.kql"}
    assert "tests/packaging/test_distributions.py" in names


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["*.whl", "*.tar.gz"])
def test_a_fresh_environment_runs_what_was_built(built, tmp_path, pattern):
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    binaries = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    install = [str(binaries / "python"), "-m", "pip", "install", "-q", str(next(built.glob(pattern)))]
    subprocess.run(install, check=True, capture_output=True, cwd=tmp_path)
    subprocess.run([str(binaries / "python"), "-c", SCRIPT], check=True, cwd=tmp_path)
    asked = subprocess.run(
        [str(binaries / "kipql"), "query", "-c", "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }", "--format", "csv"],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert asked.stdout.splitlines()[1] == "0"
