"""Connections of `kipql serve`: what says nothing, or little by little, is let go; TLS; an address that can not be."""

import asyncio
import contextlib
import json
import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest

import kipql
from kipql.fronts.http.settings import Settings
from kipql.fronts.http.tokens import parse_tokens

pytest.importorskip("uvicorn", reason="the extra serve is not installed")
pytest.importorskip("prometheus_client", reason="the extra serve is not installed")

TOKEN = "owner-token-0123456789"
ENDS = 0.4  # seconds of every wait here
BOUNDS = Settings(head=ENDS, arriving=ENDS, idle=1, reading=ENDS, connections=8)
PATIENCE = 10
HEAD = f"POST /kip HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
READ = b'{"kip":"2.0","operations":[{"command":"DESCRIBE PROTOCOL"}]}'
WHOLE = f"{HEAD}Content-Length: {len(READ)}\r\n\r\n".encode() + READ


@contextlib.contextmanager
def served(settings=BOUNDS, tls=None, nexus=None):
    """The port of a server that runs in a thread."""
    from kipql.fronts.http.server import bound, made

    server = made(nexus or kipql.open(), parse_tokens([f"{TOKEN} kip:owner"]), settings, tls)
    with bound("127.0.0.1", 0) as listens:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listens])))
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        try:
            yield listens.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()


@pytest.fixture(scope="module")
def port():
    with served() as port:
        yield port


def client(port):
    made = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    made.settimeout(PATIENCE)
    return made


def rest(connection):
    """All that comes until the other side ends; a reset is an end too."""
    got = b""
    with contextlib.suppress(ConnectionError):
        while chunk := connection.recv(65536):
            got += chunk
    return got


def answered(connection):
    """The status of the next answer, which is read to its end."""
    got = b""
    while b"\r\n\r\n" not in got:
        got += connection.recv(65536)
    head, _, body = got.partition(b"\r\n\r\n")
    (length,) = (line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    while len(body) < int(length):
        body += connection.recv(65536)
    return int(head.split()[1])


def drip(connection, text, every=0.05):
    """Send a text again and again; the seconds until the other side ends."""
    began = time.monotonic()
    connection.settimeout(every)
    while time.monotonic() - began < PATIENCE:
        try:
            connection.sendall(text)
            if not connection.recv(65536):
                break
        except TimeoutError:
            continue
        except ConnectionError:
            break
    return time.monotonic() - began


BEGINNINGS = {
    "nothing": b"",
    "half a request line": b"POST /k",
    "half a header": b"POST /kip HTTP/1.1\r\nHost: x\r\nX-A: ",
    "headers without an end": HEAD.encode(),
    "after an answer": WHOLE + b"GET /hea",
}


@pytest.mark.parametrize("sent", BEGINNINGS.values(), ids=BEGINNINGS)
def test_headers_that_do_not_come_are_not_waited_for(port, sent):
    with client(port) as connection:
        connection.sendall(sent)
        began = time.monotonic()
        got = rest(connection)
        assert ENDS * 0.5 < time.monotonic() - began < PATIENCE / 2
    if WHOLE not in sent:
        assert b" 408 " in got and json.loads(got.partition(b"\r\n\r\n")[2])["error"]["code"] == "ExecutionTimeout"


@pytest.mark.parametrize("sent", [b"X-A: a\r\n", b"a"], ids=["a header each", "a byte each"])
def test_headers_that_drip_are_not_waited_for_longer(port, sent):
    with client(port) as connection:
        connection.sendall(b"POST /kip HTTP/1.1\r\nHost: x\r\nX-A: a")
        assert drip(connection, sent) < PATIENCE / 2


def test_headers_that_drip_after_an_answer_are_not_waited_for_longer(port):
    with client(port) as connection:
        connection.sendall(WHOLE)
        assert answered(connection) == 200
        connection.sendall(b"POST /kip HTTP/1.1\r\nX-A: a")
        assert drip(connection, b"a") < PATIENCE / 2


@pytest.mark.parametrize("path", ["/kip", "/nowhere", "/health"])
def test_a_body_that_drips_on_after_its_answer_is_not_taken_for_ever(port, path):
    with client(port) as connection:
        connection.sendall(HEAD.replace("/kip", path).encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        assert drip(connection, b"1\r\n \r\n") < PATIENCE / 2


def test_an_idle_connection_ends_and_one_in_use_goes_on(port):
    with client(port) as connection:
        began = time.monotonic()
        for _ in range(4):  # longer than one wait in all, each request in time
            connection.sendall(WHOLE)
            assert answered(connection) == 200
            time.sleep(ENDS * 0.6)
        assert time.monotonic() - began > 2 * ENDS
        assert rest(connection) == b"" and time.monotonic() - began < PATIENCE


def test_a_slow_request_is_no_slow_client():
    class Slow:
        space_seq = 0

        def request(self, envelope, *, principal):
            time.sleep(2 * ENDS)
            return {"kip": "2.0", "status": "succeeded", "results": []}

    with served(nexus=Slow()) as port, client(port) as connection:
        connection.sendall(WHOLE)
        assert answered(connection) == 200


def test_an_answer_that_nobody_reads_is_given_up():
    class Long:
        space_seq = 0

        def request(self, envelope, *, principal):
            return {"kip": "2.0", "status": "succeeded", "results": ["x" * 30_000_000]}

    with served(nexus=Long()) as port, client(port) as connection:
        connection.sendall(WHOLE)
        time.sleep(4 * ENDS)
        assert len(rest(connection)) < 30_000_000


def test_more_connections_than_may_be_open_are_turned_away_and_come_in_when_others_end(port):
    time.sleep(2.5)  # those of the other tests end
    waiting = [client(port) for _ in range(BOUNDS.connections)]
    with client(port) as one_more:
        got = rest(one_more)
        assert got.startswith(b"HTTP/1.1 503 ") and b"RateLimited" in got
    for each in waiting:
        assert b" 408 " in rest(each)
        each.close()
    with client(port) as connection:
        connection.sendall(WHOLE)
        assert answered(connection) == 200


def test_the_bounds_of_the_command_are_bounds():
    settings = Settings()
    assert settings.head == settings.arriving == 10 and settings.idle == 5 and settings.connections == 512


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of 127.0.0.1, its key, and the key with a password."""
    tool = shutil.which("openssl")
    if tool is None:
        pytest.skip("there is no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    cert, key, locked = (folder / name for name in ("cert.pem", "key.pem", "locked.pem"))
    names = ["-subj", "/CN=x", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = [tool, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, "-keyout", key, "-out", cert]
    subprocess.run(made, check=True, capture_output=True)
    lock = [tool, "rsa", "-aes256", "-passout", "pass:secret", "-in", key, "-out", locked]
    subprocess.run(lock, check=True, capture_output=True)
    return str(cert), str(key), str(locked)


def test_with_a_certificate_only_tls_is_answered(certificate):
    from kipql.fronts.http.server import Tls

    cert, key, _ = certificate
    trusting = ssl.create_default_context(cafile=cert)
    with served(tls=Tls(cert, key)) as port:
        with trusting.wrap_socket(client(port), server_hostname="127.0.0.1") as connection:
            assert connection.version() in ("TLSv1.2", "TLSv1.3")
            connection.sendall(WHOLE)
            assert answered(connection) == 200
        with trusting.wrap_socket(client(port), server_hostname="127.0.0.1") as connection:
            connection.sendall(b"POST /kip HTTP/1.1\r\nX-A: ")
            assert b" 408 " in rest(connection)
        with client(port) as clear:
            clear.sendall(WHOLE)
            assert b"200" not in rest(clear)


@pytest.mark.parametrize("which", ["none", "nothing", "no pem", "other key", "password"])
def test_what_can_not_be_a_certificate_is_said_in_words(certificate, tmp_path, which):
    from kipql.fronts.http.server import Tls, made

    cert, key, locked = certificate
    text = tmp_path / "text.pem"
    text.write_text("no pem", "utf-8")
    tls = {
        "none": Tls(str(tmp_path / "none.pem")),
        "nothing": Tls(cert),
        "no pem": Tls(str(text), key),
        "other key": Tls(cert, cert),
        "password": Tls(cert, locked),
    }[which]
    with pytest.raises(kipql.KipError) as caught:
        made(kipql.open(), parse_tokens([f"{TOKEN} kip:owner"]), BOUNDS, tls)
    assert caught.value.code == "ArtifactUnavailable"
    assert "can not be" in caught.value.message and "Errno" not in caught.value.message


@pytest.mark.parametrize("host", ["203.0.113.1", "no.such.host.invalid", "a" * 70, "a..b", "\x00", "::1::"])
def test_an_address_that_is_none_of_this_machine_is_said_in_words(host):
    from kipql.fronts.http.server import bound

    with pytest.raises(kipql.KipError) as caught:
        bound(host, 0)
    assert caught.value.code == "ArtifactUnavailable" and "Errno" not in caught.value.message
    assert "address of this machine" in caught.value.message and "--host" in caught.value.hint


def test_an_address_that_is_taken_is_said_in_words():
    from kipql.fronts.http.server import bound

    with bound("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(kipql.KipError) as caught:
            bound("127.0.0.1", port)
    error = caught.value
    assert error.message == f"127.0.0.1:{port} can not be served: another program listens there"
    assert "--port" in error.hint
