"""The server: it listens, and on SIGINT or SIGTERM stops taking requests, finishes those under way, and returns."""

import errno
import signal
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import uvicorn

from kipql.errors import KipError
from kipql.fronts.http.app import application
from kipql.fronts.http.connection import connection
from kipql.fronts.http.settings import Settings
from kipql.fronts.http.tokens import Tokens
from kipql.nexus import Nexus


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files: the certificate of a server with its chain, and its key; without `key` the certificate holds both."""

    certificate: str
    key: str | None = None


def run(
    nexus: Nexus,
    tokens: Tokens,
    settings: Settings,
    *,
    host: str,
    port: int,
    listening: Callable[[str], None],
    tls: Tls | None = None,
) -> None:
    """Serve a memory until a signal. `listening` is called with the address once it is bound.

    Raises ArtifactUnavailable when the address can not be bound, or the certificate not be used.
    """
    server = made(nexus, tokens, settings, tls)
    with bound(host, port) as listens:
        _stop_at_signals(server)
        scheme = "http" if tls is None else "https"
        listening(f"{scheme}://{f'[{host}]' if ':' in host else host}:{listens.getsockname()[1]}")
        server.run(sockets=[listens])


def made(nexus: Nexus, tokens: Tokens, settings: Settings, tls: Tls | None = None) -> uvicorn.Server:
    """The server that runs on a socket. Raises ArtifactUnavailable for a certificate that can not be used."""
    if tls is not None:
        _check(tls)
    config = uvicorn.Config(
        application(nexus, tokens, settings),
        http=connection(settings),
        ws="none",
        ssl_certfile=None if tls is None else tls.certificate,
        ssl_keyfile=None if tls is None else tls.key,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_keep_alive=settings.idle,
        timeout_graceful_shutdown=int(settings.timeout) + 1,
    )
    return uvicorn.Server(config)


def _check(tls: Tls) -> None:
    """Load the files once, so that what is wrong with them is said and nobody is asked for a password."""
    for path in filter(None, (tls.certificate, tls.key)):
        try:
            Path(path).read_bytes()
        except (OSError, ValueError) as error:
            raise KipError("ArtifactUnavailable", f"{path} can not be read: {_words(error)}") from None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tls.certificate, tls.key, _no_password)
    except (ssl.SSLError, ValueError) as error:
        raise KipError(
            "ArtifactUnavailable",
            f"{tls.certificate} can not be used for TLS: {getattr(error, 'reason', None) or error}",
            hint="give the certificate and its key as PEM files, the key without a password",
        ) from None


def _no_password() -> NoReturn:
    raise ValueError("the key has a password")


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens. It names its protocol: asyncio sets TCP_NODELAY only where it is named, and without that
    an answer waits 40 ms for an acknowledgement. Raises ArtifactUnavailable."""
    listens = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listens.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listens.bind((host, port))
        listens.listen(2048)
    except (OSError, ValueError, TypeError) as error:  # TypeError: a name with a NUL
        listens.close()
        raise _unbound(host, port, error) from None
    return listens


def _unbound(host: str, port: int, error: Exception) -> KipError:
    """What is wrong with an address, in words, and how to say another."""
    match error:
        case socket.gaierror() | ValueError() | TypeError():
            return _unserved(f"{host!r} is no address of this machine", "say another --host, as 127.0.0.1")
        case OSError(errno=errno.EADDRINUSE):
            return _unserved(
                f"{host}:{port} can not be served: another program listens there",
                "end it, or say another --port; --port 0 takes a free one",
            )
        case OSError(errno=errno.EADDRNOTAVAIL):
            return _unserved(f"{host} is no address of this machine", "say another --host, as 127.0.0.1")
        case OSError(errno=errno.EACCES | errno.EPERM):
            return _unserved(
                f"{host}:{port} can not be served: this user may not listen there",
                "say a --port of 1024 or more; --port 0 takes a free one",
            )
    return _unserved(f"{host}:{port} can not be served: {_words(error)}", "say another --host or --port")


def _unserved(message: str, hint: str) -> KipError:
    return KipError("ArtifactUnavailable", message, hint=hint)


def _words(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _stop_at_signals(server: Any) -> None:
    """uvicorn stops at a signal and raises it again for whoever listened before it: that is us, and we are done."""

    def stop(*_: object) -> None:
        server.should_exit = True

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, stop)
