"""`kipql serve` in a process of its own, asked by clients of the standard library."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from hashlib import sha256

import pytest

import kipql
from tests.fronts.conftest import NASTY, ROOT, people

pytest.importorskip("uvicorn", reason="the extra serve is not installed")
pytest.importorskip("prometheus_client", reason="the extra serve is not installed")
OWNER, READER, WRITER = "owner-token-0123456789", "reader-token-0123456789", "writer-token-0123456789"
NAMES = "FIND(?p.name) WHERE { ?p CONCEPT {} } ORDER BY ?p.key"
WRITE = 'CREATE CONCEPT ?p { TYPE "Person" NAME "Gus" }'
SLOW = "FIND(COUNT(?a)) WHERE { ?a CONCEPT {} ?b CONCEPT {} ?c CONCEPT {} ?d CONCEPT {} FILTER(?a.name != ?d.name) }"


def request(*commands, **members):
    return {"kip": "2.0", "operations": [{"command": each} for each in commands], **members}


class Served:
    """A running server and a way to ask it."""

    def __init__(self, process, port):
        self.process, self.port = process, port

    def send(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answered = connection.getresponse()
            return answered.status, dict(answered.getheaders()), answered.read()
        finally:
            connection.close()

    def post(self, body, token=OWNER, kind="application/json", **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        status, _, text = self.send("POST", "/kip", body, content_type=kind, **headers)
        return status, json.loads(text)

    def rows(self, *arguments, **more):
        status, reply = self.post(request(*arguments), **more)
        assert status == 200, reply
        return reply["results"][0].get("result")

    def metrics(self):
        status, headers, text = self.send("GET", "/metrics", authorization=f"Bearer {READER}")
        assert status == 200 and headers["content-type"].startswith("text/plain; version=0.0.4")
        found = re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", text.decode(), re.MULTILINE)
        return {name: float(value) for name, value in found}


@contextmanager
def serving(folder, *arguments):
    tokens = folder.parent / "tokens"
    digest = sha256(WRITER.encode()).hexdigest()
    tokens.write_text(f"# who is who\n{OWNER} kip:owner\n\n{READER} reader\nsha256:{digest} writer\n", "utf-8")
    tokens.chmod(0o600)
    process = subprocess.Popen(
        [sys.executable, "-m", "kipql", "serve", str(folder), "--tokens", str(tokens), "--port", "0", *arguments],
        stderr=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT), **os.environ},
        text=True,
    )
    try:
        line = process.stderr.readline()
        yield Served(process, int(re.fullmatch(r"serving http://127\.0\.0\.1:(\d+)/kip\n", line)[1]))
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = people(tmp_path_factory.mktemp("serve") / "brain.kip")
    with kipql.open(folder) as nexus:
        nexus.govern.grant("reader", "discover", "read", ids=["C-2"])
        nexus.govern.grant("writer", "discover", "read", "create")
    with serving(folder, "--max-body", "20000", "--timeout", "2") as server:
        yield server


def test_health_needs_no_token_and_tells_nothing(served):
    status, headers, text = served.send("GET", "/health")
    assert (status, json.loads(text)) == (200, {"status": "ok"})
    assert "server" not in headers


@pytest.mark.parametrize(
    "token", [None, "", "wrong", READER[:-1], f"{READER} x", f"sha256:{sha256(WRITER.encode()).hexdigest()}"]
)
def test_who_has_no_token_of_the_file_gets_401(served, token):
    status, reply = served.post(request(NAMES), token=token)
    assert (status, reply["error"]["code"], reply["results"]) == (401, "Unauthenticated", [])


@pytest.mark.parametrize("header", ["Basic b3duZXI6eA==", f"Bearer{OWNER}", OWNER, f"Token {OWNER}"])
def test_another_scheme_is_no_token(served, header):
    status, headers, _ = served.send("POST", "/kip", b"{}", content_type="application/json", authorization=header)
    assert status == 401 and headers["www-authenticate"].startswith("Bearer")
    assert served.send("GET", "/metrics", authorization=header)[0] == 401


def test_a_token_is_a_principal(served):
    assert served.rows(NAMES, token=READER) == ["Bo"]
    assert NASTY in served.rows(NAMES, token=OWNER)
    status, reply = served.post(request(WRITE), token=READER)
    assert (status, reply["results"][0]["error"]["code"]) == (200, "NotAuthorized")
    status, reply = served.post(request(WRITE), token=WRITER)
    assert reply["results"][0]["receipt"]["origin"]["principal_id"] == "writer"


def test_a_body_can_not_say_who_asks(served):
    status, reply = served.post({**request(NAMES), "principal": "kip:owner"}, token=READER)
    assert (status, reply["error"]["code"]) == (200, "InvalidRequestEnvelope")


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe{}", b'{"kip": NaN}', b'{"kip":"2.0","kip":"2.0","operations":[]}', b"[" * 10_000,
     json.dumps(request(NAMES)).encode("utf-16")],
)  # fmt: skip
def test_what_is_no_json_is_400(served, body):
    status, reply = served.post(body)
    assert (status, reply["error"]["code"], reply["status"]) == (400, "InvalidRequestEnvelope", "failed")


@pytest.mark.parametrize(
    "body", [[], 7, None, {"kip": "2.0"}, {"kip": "1.0", "operations": []}, {**request(NAMES), "options": 5}]
)
def test_what_is_no_envelope_is_answered_by_one(served, body):
    status, reply = served.post(body)
    assert status == 200 and reply["status"] == "failed" and "error" in reply


@pytest.mark.parametrize(
    "kind", ["text/plain", "", "application/x-www-form-urlencoded", "application/json; charset=latin-1"]
)
def test_another_content_type_is_415(served, kind):
    assert served.post(request(NAMES), kind=kind)[0] == 415
    assert served.rows(NAMES, kind="Application/JSON; charset=UTF-8")


def test_a_compressed_body_is_415(served):
    assert served.post(request(NAMES), content_encoding="gzip")[0] == 415


def test_a_body_over_the_limit_is_413_also_where_nothing_said_how_long(served):
    large = json.dumps(request(NAMES, *["DESCRIBE PROTOCOL"] * 2000)).encode()
    status, reply = served.post(large)
    assert (status, reply["error"]["code"], reply["error"]["details"]["value"]) == (413, "ResourceExhausted", 20000)
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    headers = {"authorization": f"Bearer {OWNER}", "content-type": "application/json"}
    connection.request("POST", "/kip", iter([b" " * 8000] * 3), headers, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


def test_other_paths_and_methods_are_not_there(served):
    assert [served.send("GET", path)[0] for path in ("/", "/kip/", "/kip")] == [404, 404, 405]
    assert served.send("DELETE", "/health")[0] == 405


def test_stored_text_leaves_as_escaped_json(served):
    _, headers, body = served.send(
        "POST",
        "/kip",
        json.dumps(request(NAMES)).encode(),
        authorization=f"Bearer {OWNER}",
        content_type="application/json",
    )
    assert headers["content-type"] == "application/json"
    assert not {"\x1b", "\u202e", "\u2028", "\u200b"} & set(body.decode("utf-8"))
    assert NASTY in json.loads(body)["results"][0]["result"]


def test_a_request_ends_at_the_deadline_of_the_server(served):
    crowd = "".join(f'CREATE CONCEPT ?a{n} {{ TYPE "Person" NAME "q{n}" }}\n' for n in range(200))
    assert served.post(request(f"MUTATE {{ {crowd} }}"))[1]["status"] == "succeeded"
    began = time.monotonic()
    status, reply = served.post({**request(SLOW), "options": {"deadline_ms": 60_000}})
    assert (status, reply["results"][0]["error"]["code"]) == (200, "ExecutionTimeout")
    assert time.monotonic() - began < 10


def test_requests_run_at_once_and_every_write_counts(served):
    before = served.metrics()["kipql_space_seq"]
    failed = []

    def work(number):
        for _ in range(5):
            status, reply = served.post(request(WRITE if number % 2 else NAMES))
            if status != 200 or reply["status"] != "succeeded":
                failed.append(reply)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == []
    assert served.metrics()["kipql_space_seq"] == before + 20


def test_metrics_count_requests_errors_and_time(served):
    before = served.metrics()
    served.post(request(NAMES, "FIND(?x", execution={"mode": "independent"}))
    served.post(b"{")
    served.post(request(NAMES), token=None)
    after = served.metrics()

    def grown(name):
        return after.get(name, 0) - before.get(name, 0)

    assert [grown(f'kipql_requests_total{{status="{code}"}}') for code in (200, 400, 401)] == [1, 1, 1]
    assert grown('kipql_errors_total{code="InvalidSyntax"}') == 1
    assert grown('kipql_errors_total{code="Unauthenticated"}') == 1
    assert grown("kipql_request_seconds_count") == grown('kipql_request_seconds_bucket{le="+Inf"}') == 3
    assert grown('kipql_operations_total{status="succeeded"}') == 1
    assert after["kipql_requests_running"] == 0


def test_an_answer_does_not_wait_for_an_acknowledgement(served):
    """With Nagle's algorithm on, every answer on a kept connection takes 40 ms."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    times = []
    for _ in range(40):
        began = time.perf_counter()
        connection.request("GET", "/health")
        connection.getresponse().read()
        times.append(time.perf_counter() - began)
    connection.close()
    assert min(times[5:]) < 0.02


def test_an_address_that_is_taken_is_said(served, folder):
    tokens = folder.parent / "other"
    tokens.write_text(f"{OWNER} kip:owner\n", "utf-8")
    asked = ["serve", str(folder), "--tokens", str(tokens), "--port", str(served.port)]
    done = subprocess.run([sys.executable, "-m", "kipql", *asked], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 2 and "another program listens there" in done.stderr
    assert "--port 0 takes a free one" in done.stderr and "Errno" not in done.stderr
    assert "warning: others may read" in done.stderr


def test_readonly_refuses_writes_by_their_tree(folder):
    with serving(folder, "--readonly") as server:
        status, reply = server.post(request(f"// FIND\n{WRITE}"))
        assert (status, reply["results"][0]["error"]["code"]) == (200, "ReadonlyViolation")
        assert len(server.rows(NAMES)) == 7


def test_a_signal_finishes_what_is_under_way_and_leaves_the_memory_whole(folder):
    with serving(folder, "--timeout", "20") as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
            body = json.dumps(request(WRITE)).encode()
            head = (
                f"POST /kip HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {OWNER}\r\nContent-Type: application/json\r\n"
            )
            client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:10])
            time.sleep(0.5)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            client.sendall(body[10:])
            assert b"200 OK" in client.recv(65536)
        assert server.process.wait(timeout=20) == 0
        assert "Traceback" not in server.process.stderr.read()
    with kipql.open(folder) as nexus:
        assert nexus.space_seq == 8


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("localhost", False), ("203.0.113.1", True)])
def test_tokens_in_the_clear_are_warned_of(folder, host, warned):
    """203.0.113.1 is of no machine: the command ends."""
    tokens = folder.parent / "clear"
    tokens.write_text(f"{OWNER} kip:owner\n", "utf-8")
    tokens.chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        asked = ["serve", str(folder), "--tokens", str(tokens), "--host", host, "--port", port]
        done = subprocess.run(
            [sys.executable, "-m", "kipql", *asked], capture_output=True, text=True, cwd=ROOT, timeout=60
        )
    assert done.returncode == 2 and ("in the clear" in done.stderr) is warned
    assert "Errno" not in done.stderr


@pytest.mark.parametrize("which", ["none", "folder", "no text"])
def test_tokens_that_can_not_be_read_are_said_in_words(folder, which):
    (folder.parent / "no text").write_bytes(b"\xff\xfe\x00")
    path = folder.parent / which if which != "folder" else folder
    asked = ["serve", str(folder), "--tokens", str(path)]
    done = subprocess.run([sys.executable, "-m", "kipql", *asked], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 2 and "can not be read" in done.stderr
    assert "Errno" not in done.stderr and "Traceback" not in done.stderr


def test_a_key_without_a_certificate_is_no_use(folder):
    asked = ["serve", str(folder), "--tokens", "x", "--tls-key", "x"]
    done = subprocess.run([sys.executable, "-m", "kipql", *asked], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 2 and "--tls-key goes with --tls-cert" in done.stderr
