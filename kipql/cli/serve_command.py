"""`kipql serve`: a memory over HTTP."""

import os
import sys
from ipaddress import ip_address

import click

from kipql.cli.options import open_memory, package_option, readonly_option
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
@click.option(
    "--max-connections", type=click.IntRange(1), default=512, show_default=True, metavar="N",
    help="The most connections at once.",
)  # fmt: skip
@click.option("--tls-cert", metavar="FILE", help="Serve HTTPS with this certificate (PEM, with its chain).")
@click.option("--tls-key", metavar="FILE", help="The key of --tls-cert, where it is in another file.")
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
    max_connections: int,
    tls_cert: str | None,
    tls_key: str | None,
) -> int:
    """Serve the memory DB: POST /kip takes a request envelope and answers a response envelope.

    A client sends Authorization: Bearer TOKEN and acts as the Principal that the file of tokens names. GET /health
    needs no token, GET /metrics does. SIGTERM and Ctrl-C finish what is under way. Without --tls-cert everything, the
    tokens too, goes in the clear. Needs the extra: pip install "kipql[serve]".
    """
    from kipql.extras import need

    if tls_key and not tls_cert:
        raise click.UsageError("--tls-key goes with --tls-cert")
    need("serve", "starlette", "uvicorn", "prometheus_client")
    from kipql.fronts.http.server import Tls, run
    from kipql.fronts.http.settings import Settings
    from kipql.fronts.http.tokens import read_tokens

    tokens = read_tokens(path)
    if os.name == "posix" and os.stat(path).st_mode & 0o077:  # noqa: PTH116
        click.echo(f"warning: others may read {terminal(path)}; chmod 600 it", err=True)
    if tls_cert is None and not _is_local(host):
        click.echo("warning: the tokens go over the network in the clear; give --tls-cert", err=True)
    settings = Settings(body=max_body, timeout=timeout, threads=threads, connections=max_connections)
    tls = None if tls_cert is None else Tls(tls_cert, tls_key)
    with open_memory(db, packages, write=not (readonly or readonly_given), seconds=timeout) as nexus:
        run(nexus, tokens, settings, host=host, port=port, listening=_listening, tls=tls)
    return 0


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(address: str) -> None:
    click.echo(f"serving {address}/kip", err=True)
    sys.stderr.flush()
