"""`kipql package`: writing Schema Packages."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kipql.cli.files import write_new
from kipql.cli.options import read_package
from kipql.errors import KipError
from kipql.escape import json_text, terminal_lines

if TYPE_CHECKING:
    from kipql.schema.environment import Environment
    from kipql.schema.packages import Package


@click.group("package", short_help="Start and check Schema Packages.")
def command() -> None:
    """Start and check Schema Packages."""


@command.command("new", short_help="Write a package to start from.")
@click.argument("package_id", metavar="PACKAGE_ID")
@click.option("--version", default="1.0.0", show_default=True, help="Its exact version.")
@click.option("--type", "concept_types", multiple=True, metavar="NAME", help="A Concept Type; repeat for more.")
@click.option("--predicate", "predicates", multiple=True, metavar="NAME", help="A Predicate; repeat for more.")
@click.option("--facet", "facets", multiple=True, metavar="NAME", help="A Facet; repeat for more.")
@click.option(
    "--field", "structural_fields", multiple=True, metavar="NAME", help="A Structural Field; repeat for more."
)
@click.option(
    "-o", "--output", metavar="FILE", help="Write to a file that does not exist yet; default standard output."
)
def new(package_id: str, version: str, output: str | None, **names: tuple[str, ...]) -> None:
    """Write a complete package with the symbols named, ready to edit.

    PACKAGE_ID is lower-case, "kip://acme/things"; without symbols it gets a type and a Predicate as an
    example.
    """
    from kipql.schema.authoring import skeleton
    from kipql.schema.packages import Package

    artifact = skeleton(package_id, version, names)
    Package.load(artifact)
    write_new(_text(artifact), output)


@command.command("check", short_help="Check packages as activating them would, and more.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--package",
    "beside",
    multiple=True,
    metavar="PACKAGE",
    help="A package that the files are used with: a JSON file, or the ref of a shipped one; repeat for more.",
)
@click.option("--strict", is_flag=True, help="Exit 1 for notes too.")
@click.option("--seal", is_flag=True, help="Write the digest of its content into every file that is right.")
def check(files: tuple[str, ...], beside: tuple[str, ...], strict: bool, seal: bool) -> int:
    """Check package files together: everything that activating them would refuse, and notes for the writer.

    Core and the cognitive-memory Profile are there too, as in every memory. The exit code is 0 when all can be
    activated, 1 when one can not, and 2 when a file could not be read.
    """
    from kipql.schema import authoring

    code = 0
    artifacts = {}
    for path in files:
        try:
            artifacts[path] = read_package(path)
        except KipError as error:
            _say(path, error)
            code = 2
    loaded, environment = _activated(artifacts, [read_package(each) for each in beside], seal)
    if environment is None:
        return max(code, 1)
    for path, package in loaded.items():
        advice = authoring.notes(package, environment)
        for note in advice:
            click.echo(terminal_lines(f"{path}: note: {note}"), err=True)
        if seal:
            _seal(path, artifacts[path])
        click.echo(terminal_lines(f"{path}: {package.ref}: {_counted(package)}"))
        code = max(code, 1 if strict and advice else 0)
    return code


def _activated(
    artifacts: Mapping[str, Any], beside: list[Any], seal: bool
) -> "tuple[dict[str, Package], Environment | None]":
    """The packages by file and their Environment; None when something is wrong, which is said."""
    from kipql.runtime.shipped import initial, package
    from kipql.schema.authoring import sealed
    from kipql.schema.environment import Environment
    from kipql.schema.packages import Package

    loaded: dict[str, Package] = {}
    wrong = False
    for path, artifact in artifacts.items():
        try:
            loaded[path] = Package.load(sealed(artifact) if seal else artifact)
        except KipError as error:
            _say(path, error)
            wrong = True
    if wrong:
        return loaded, None
    try:
        others = [*initial(), *(package(each) for each in beside)]
        known = {each.ref for each in loaded.values()}
        others = [each for each in others if each.ref not in known]
        return loaded, Environment.of([*others, *loaded.values()], 1)
    except KipError as error:
        _say(", ".join(artifacts), error)
        return loaded, None


def _seal(path: str, artifact: Mapping[str, Any]) -> None:
    from kipql.schema.authoring import sealed

    better = _text(sealed(artifact))
    if Path(path).read_text(encoding="utf-8") != better:
        Path(path).write_text(better, encoding="utf-8")


def _text(artifact: Mapping[str, Any]) -> str:
    return json_text(artifact, indent=2) + "\n"


def _counted(package: "Package") -> str:
    from kipql.render.values import many

    words = {
        "concept_types": "type",
        "predicates": "Predicate",
        "facets": "Facet",
        "structural_fields": "Structural Field",
    }
    counts = [many(len(members), words[group]) for group, members in package.definitions.items() if members]
    return ", ".join(counts) or "nothing"


def _say(path: str, error: KipError) -> None:
    hint = f"\nhint: {error.hint}" if error.hint else ""
    click.echo(terminal_lines(f"{path}: {error.code}: {error.message}{hint}"), err=True)
