"""`kipql wire`: the request and response envelopes of the protocol as JSON lines."""

import click

import kipql
from kipql.cli.files import answer_lines, decoded
from kipql.cli.options import db_option, open_memory, package_option, readonly_option
from kipql.errors import KipError
from kipql.runtime.response import refusal
from kipql.values import Json

INSTALL = "$install"


@click.command("wire", short_help="Answer request envelopes, one JSON object a line.")
@db_option
@package_option
@readonly_option
@click.option("--principal", metavar="ID", help="Whom every request comes from, as you authenticated them.")
@click.pass_obj
def command(
    readonly_given: bool, db: str | None, packages: tuple[str, ...], readonly: bool, principal: str | None
) -> None:
    """Read one request envelope a line from standard input and write one response envelope a line.

    The least request is {"kip":"2.0","operations":[{"command":"DESCRIBE PROTOCOL"}]}.

    A line {"$install": [package, ...]} installs schema packages, as the host, and is answered by
    {"installed": [package ref, ...]} or {"error": ...}. An error of a request is in its response, and so is that
    of a line which is no JSON in UTF-8; the exit code is 0 unless the memory can not be opened.
    """
    with open_memory(db, packages, write=not (readonly or readonly_given)) as nexus:
        seen = nexus if principal is None else nexus.as_principal(principal)
        answer_lines(lambda line: answer(seen, line))


def answer(nexus: "kipql.Nexus", line: bytes) -> Json:
    """The response to one line; never an exception for what the line holds."""
    try:
        request = decoded(line)
    except (ValueError, RecursionError) as error:
        return refusal(None, None, KipError("InvalidRequestEnvelope", f"the line is not JSON: {error}"))
    if isinstance(request, dict) and INSTALL in request:
        try:
            return {"installed": _install(nexus, request)}
        except KipError as error:
            return {"error": refusal(None, None, error)["error"]}
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
