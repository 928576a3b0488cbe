"""`kipql capsule`: portable artifacts of cognition, out of a memory and into one."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from kipql.cli.files import read_json, write_new
from kipql.cli.options import db_option, open_memory, package_option, read_package
from kipql.errors import KipError
from kipql.escape import json_text, terminal_lines
from kipql.values import members_once

if TYPE_CHECKING:
    from kipql import Nexus

_plan_option = click.option("--plan", metavar="FILE", help="An Import Plan: JSON, such as `preview` writes.")
_mode_option = click.option(
    "--isolate", is_flag=True, help="Put what comes in into quarantine, whatever the plan says."
)


@click.group("capsule", short_help="Export, verify and import Capsules.")
def command() -> None:
    """Export, verify and import Capsules."""


@command.command("export", short_help="Write a Capsule of a memory.")
@db_option
@click.option("--root", "roots", multiple=True, metavar="ID", help="An element it is about; repeat for more.")
@click.option("--where", metavar="TEXT", help="A WHERE block that binds ?root, instead of --root.")
@click.option(
    "--closure",
    type=click.Choice(["closed", "referential", "selective"]),
    default="closed",
    show_default=True,
    help="What comes along beside the roots.",
)
@click.option("--depth", type=click.IntRange(0), metavar="N", help="How many steps of provenance are followed.")
@click.option("--schema", is_flag=True, help="Embed the Schema Packages, to look at.")
@click.option("--omit-payloads", is_flag=True, help="Name what Evidence says by its digest only.")
@click.option("--as-of", type=click.IntRange(0), metavar="SEQ", help="The memory as it was after a commit.")
@click.option("-o", "--output", metavar="FILE", help="A file that does not exist yet; default standard output.")
def export(
    db: str | None,
    roots: tuple[str, ...],
    where: str | None,
    closure: str,
    depth: int | None,
    schema: bool,
    omit_payloads: bool,
    as_of: int | None,
    output: str | None,
) -> None:
    """Write a Capsule: of everything, of the elements named by --root, or of what --where binds to ?root."""
    options: dict[str, Any] = {"closure": closure, "include_schema": schema}
    options |= {} if depth is None else {"provenance_depth": depth}
    options |= {"payloads": "omitted"} if omit_payloads else {}
    if where is not None and roots:
        raise click.UsageError("give --root or --where, not both")
    with open_memory(db, write=False) as nexus:
        if where is None:
            capsule = nexus.export_capsule(list(roots) or None, as_of=as_of, **options)
        else:
            past = "" if as_of is None else f" AS OF SEQ {as_of}"
            given = ", ".join(f"{name}: {json.dumps(value)}" for name, value in options.items())
            text = f"EXPORT CAPSULE ?root WHERE {{ {where} }} WITH {{{given}}}{past}"
            capsule = nexus.query(text).one()
    _write(capsule, output)


@command.command("verify", short_help="Check that a Capsule is whole and well formed.")
@click.argument("path", metavar="FILE")
def verify(path: str) -> int:
    """Check the digest of a Capsule and its form. It says nothing about trust or truth.

    The exit code is 0 for a right Capsule, 1 for a wrong one, and 2 when the file could not be read.
    """
    import kipql

    text = _read(path)
    with kipql.open() as nexus:
        found = nexus.query("VERIFY CAPSULE :capsule", {"capsule": _value(text)}).one()
        valid = nexus.query("VALIDATE CAPSULE :capsule", {"capsule": _value(text)}).one()
    for name, result in found["checks"].items():
        click.echo(terminal_lines(f"{name}: {result}"))
    for error in valid["errors"]:
        click.echo(terminal_lines(f"{error['path'] or '/'}: {error['code']}: {error['message']}"), err=True)
    return 0 if found["valid"] and valid["valid"] else 1


@command.command("preview", short_help="Show what an import would do.")
@click.argument("path", metavar="FILE")
@db_option
@package_option
@_plan_option
@_mode_option
@click.option("-o", "--output", metavar="FILE", help="Write the plan to a file that does not exist yet.")
def preview(
    path: str, db: str | None, packages: tuple[str, ...], plan: str | None, isolate: bool, output: str | None
) -> int:
    """Show what importing a Capsule would do; with --output, write the plan to decide its open rows.

    A package that --package names and the memory does not have is activated in a copy, which is gone afterwards.

    The exit code is 0 when the import would go through, 1 while something is open.
    """
    with _with_packages(db, packages) as nexus:
        found = nexus.preview_import(_read(path), _plan(plan, isolate))
    counts = ", ".join(f"{count} {name}" for name, count in found["counts"].items())
    click.echo(terminal_lines(f"{found['effect']}: {counts}"))
    for row in found["conflicts"]:
        known = f" ({', '.join(row['candidates'])})" if row.get("candidates") else ""
        click.echo(terminal_lines(f"{row['id']}: {row['problem']}{known}"), err=True)
    for error in found["errors"]:
        click.echo(terminal_lines(f"{error['code']}: {error['message']}"), err=True)
    if output is not None:
        _write(found["plan"], output)
    return 1 if found["effect"] == "undecided" else 0


@contextmanager
def _with_packages(db: str | None, packages: tuple[str, ...]) -> "Iterator[Nexus]":
    """The memory with packages activated: itself where they are, else a copy, for a preview changes nothing."""
    if db is None or not packages:
        with open_memory(db, packages, write=False) as nexus:
            yield nexus
        return
    with open_memory(db, write=False) as nexus:
        try:
            nexus.install_packages([read_package(package) for package in packages])
        except KipError as error:
            if error.code != "ReadonlyViolation":
                raise
        else:
            yield nexus
            return
        with TemporaryDirectory(prefix="kipql-") as folder:
            copy = Path(folder) / "copy"
            nexus.backup(copy)
            with open_memory(str(copy), packages, write=True) as rehearsal:
                yield rehearsal


@command.command("import", short_help="Import a Capsule.")
@click.argument("path", metavar="FILE")
@db_option
@package_option
@_plan_option
@_mode_option
@click.pass_obj
def bring(
    readonly_given: bool, path: str, db: str | None, packages: tuple[str, ...], plan: str | None, isolate: bool
) -> None:
    """Import a Capsule in one commit, or not at all. Importing it again changes nothing."""
    with open_memory(db, packages, write=not readonly_given) as nexus:
        receipt = nexus.import_capsule(_read(path), _plan(plan, isolate))
    counts = ", ".join(f"{count} {name}" for name, count in receipt.result["counts"].items())
    click.echo(terminal_lines(f"{receipt.status}: {counts}"))


def _read(path: str) -> str:
    from kipql.runtime.texts import read_text

    return read_text(path)


def _value(text: str) -> Any:
    """The JSON in a file, or its text where it is none, for the statement to say what is wrong with it."""
    try:
        return json.loads(text, object_pairs_hook=members_once)
    except (ValueError, RecursionError):
        return text


def _plan(path: str | None, isolate: bool) -> Any:
    if path is None:
        return {"mode": "isolate"} if isolate else None
    plan = read_json(path)
    return {**plan, "mode": "isolate"} if isolate and isinstance(plan, dict) else plan


def _write(value: Any, output: str | None) -> None:
    write_new(json_text(value, indent=2) + "\n", output)
