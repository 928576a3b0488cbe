"""`kipql serve`: a memory over HTTP."""

import os
import sys

import click

from kipql.cli.options import open_memory, package_option, readonly_option
from kipql.errors import KipError
from kipql.escape import terminal


@click.command("serve", short_help="Serve a memory over HTTP, for clients with a token.")
@click.argument("db", metavar="[DB]", required=False)
@package_option
@readonly_option
@click.option("--tokens", "path", metavar="FILE", required=True, help="Who may ask: a line TOKEN PRINCIPAL each.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 takes a free one.")
@click.option("--threads", type=click.IntRange(1, 256), default=4, show_default=True, help="Requests at once.")
@click.option(
    "--max-body", type=click.IntRange(1), default=1024 * 1024, show_default=True, metavar="BYTES",
    help="The largest request.",
)  # fmt: skip
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), default=30.0, show_default=True, metavar="SECONDS",
    help="The most that a request may take.",
)  # fmt: skip
@click.pass_obj
def command(
    readonly_given: bool,
    db: str | None,
    packages: tuple[str, ...],
    readonly: bool,
    path: str,
    host: str,
    port: int,
    threads: int,
    max_body: int,
    timeout: float,
) -> int:
    """Serve the memory DB: POST /kip takes a request envelope and answers a response envelope.

    A client sends Authorization: Bearer TOKEN and acts as the Principal that the file of tokens names. GET /health
    needs no token, GET /metrics does. SIGTERM and Ctrl-C finish what is under way. There is no TLS: put a proxy in
    front of it where others can listen. Needs the extra: pip install "kipql[serve]".
    """
    from kipql.fronts.extras import need

    need("serve", "starlette", "uvicorn", "prometheus_client")
    from kipql.fronts.http.app import Settings
    from kipql.fronts.http.server import run
    from kipql.fronts.http.tokens import read_tokens

    tokens = read_tokens(path)
    if os.name == "posix" and os.stat(path).st_mode & 0o077:  # noqa: PTH116
        click.echo(f"warning: others may read {terminal(path)}; chmod 600 it", err=True)
    settings = Settings(body=max_body, timeout=timeout, threads=threads)
    with open_memory(db, packages, write=not (readonly or readonly_given), seconds=timeout) as nexus:
        try:
            run(nexus, tokens, settings, host=host, port=port, listening=_listening)
        except OSError as error:
            raise KipError("ArtifactUnavailable", f"{host}:{port} can not be served: {error}") from None
    return 0


def _listening(address: str) -> None:
    click.echo(f"serving {address}/kip", err=True)
    sys.stderr.flush()
