"""`kipql wire`: the request and response envelopes of the protocol as JSON lines."""

import json
import sys

import click

import kipql
from kipql.cli.options import db_option, open_memory, package_option, readonly_option
from kipql.errors import KipError
from kipql.values import Json, members_once

INSTALL = "$install"


@click.command("wire", short_help="Answer request envelopes, one JSON object a line.")
@db_option
@package_option
@readonly_option
@click.pass_obj
def command(readonly_given: bool, db: str | None, packages: tuple[str, ...], readonly: bool) -> None:
    """Read one request envelope a line from standard input and write one response envelope a line.

    The least request is {"kip":"2.0","operations":[{"command":"DESCRIBE PROTOCOL"}]}.

    A line {"$install": [package, ...]} installs schema packages, as the host, and is answered by
    {"installed": [package ref, ...]} or {"error": ...}. An error of a request is in its response; the exit
    code is 0 unless the memory can not be opened.
    """
    with open_memory(db, packages, write=not (readonly or readonly_given)) as nexus:
        for line in sys.stdin.buffer:
            if line.strip():
                click.echo(json.dumps(answer(nexus, line), ensure_ascii=True, separators=(",", ":")))


def answer(nexus: "kipql.Nexus", line: bytes) -> Json:
    """The response to one line; never an exception for what the line holds."""
    try:
        request = json.loads(line, parse_constant=_no_number, object_pairs_hook=members_once)
    except (ValueError, RecursionError) as error:
        return {"error": KipError("InvalidRequestEnvelope", f"the line is not JSON: {error}").to_dict()}
    if isinstance(request, dict) and INSTALL in request:
        try:
            return {"installed": _install(nexus, request)}
        except KipError as error:
            return {"error": error.to_dict()}
    return nexus.request(request)


def _install(nexus: "kipql.Nexus", request: dict[str, Json]) -> list[str]:
    packages = request[INSTALL]
    if len(request) != 1 or not isinstance(packages, list):
        raise KipError("InvalidRequestEnvelope", f'{INSTALL} is alone in its line: {{"{INSTALL}": [package, ...]}}')
    if not all(isinstance(package, dict | str) for package in packages):
        raise KipError("InvalidRequestEnvelope", "a package is an artifact or the ref of a shipped one")
    loaded = [package if isinstance(package, str) else kipql.Package.load(package) for package in packages]
    nexus.install_packages(loaded)
    return [package if isinstance(package, str) else package.ref for package in loaded]


def _no_number(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")
