"""What is no message is answered by `kipql mcp`, and the server goes on; lines are sent as they are."""

import json
import os
import subprocess
import sys

import pytest

from tests.fronts.conftest import ROOT, people

pytest.importorskip("mcp", reason="the extra mcp is not installed")

CALL = '"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "execute_kip_readonly", "arguments": '
READ = '{"operations": [{"command": "DESCRIBE PROTOCOL"'


class Server:
    """A server process and the lines to and from it."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kipql", "mcp", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PYTHONPATH": str(ROOT), **os.environ},
        )
        self._number = 1000
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        self.send(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}).encode())
        assert "result" in self.next()
        self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def send(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def next(self):
        return json.loads(self.process.stdout.readline())

    def heard(self, line):
        """The answers to a line: all that come before that to a later request."""
        self._number += 1
        self.send(line)
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._number, "method": "ping"}).encode())
        found = []
        while (one := self.next())["id"] != self._number:
            found.append(one)
        assert "result" in one
        return found


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(people(tmp_path_factory.mktemp("mcp") / "brain.kip"))
    yield server
    server.process.stdin.close()
    assert server.process.wait(timeout=20) == 0
    server.process.stdout.close()


def deep(levels):
    return "[" * levels + "]" * levels


@pytest.mark.parametrize(
    ("line", "id_", "code"),
    [
        (rf'{{"id": 7, {CALL} {READ}, "parameters": {{"k": "\ud800"}}}}]}}}}}}', 7, -32700),
        (rf'{{"id": "a\u00e4", {CALL} {READ}, "op_id": "\udc00"}}]}}}}}}', "a\u00e4", -32700),
        (rf'{{"id": 7, {CALL} {{"\ud800": {{"id": 8, "method": "x"}}}}}}}}', 7, -32700),
        (f'{{"id": 7, {CALL} {READ}, "parameters": {{"k": {deep(250)}}}}}]}}}}}}', 7, -32700),
        (f'{{{CALL} {READ}, "parameters": {{"k": {deep(100_000)}}}}}]}}}}, "id": 7}}', 7, -32700),
        (f'{{"id": 7, {CALL} {READ}', 7, -32700),
        (r'{"id": "\ud800", "jsonrpc": "2.0", "method": "ping"}', None, -32700),
        (r'{"id": [7], "jsonrpc": "2.0", "method": "ping", "params": {"x": "\ud800"}}', None, -32700),
        (r'{"id": 7, "jsonrpc": "2.0", "result": "\ud800"}', None, -32700),
        ("{", None, -32700),
        ("nonsense", None, -32700),
        ('"id": 7, "method": "ping"', None, -32700),
        (deep(100_000), None, -32700),
        ("[1, 2]", None, -32600),
        ("null", None, -32600),
        ('{"id": 7, "jsonrpc": "2.0", "method": 5}', 7, -32600),
        ('{"id": 7, "jsonrpc": "2.0", "method": "ping", "params": []}', 7, -32600),
        ('{"id": 7, "jsonrpc": "1.0", "method": "ping"}', 7, -32600),
        ('{"id": 7, "method": "ping"}', 7, -32600),
    ],
    ids=range(19),
)
def test_who_sends_what_is_no_request_is_told(server, line, id_, code):
    (answer,) = server.heard(line.encode())
    assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", id_, code)
    assert 0 < len(answer["error"]["message"]) <= 300


@pytest.mark.parametrize(
    "line",
    [
        "",
        "  ",
        '{"jsonrpc": "2.0", "method": 5}',
        '{"jsonrpc": "2.0", "method": "x", "params": []}',
        '{"jsonrpc": "2.0", "id": 7, "result": 5}',
    ],
    ids=range(5),
)
def test_nobody_waits_for_an_answer_to_a_notification_or_an_answer(server, line):
    assert server.heard(line.encode()) == []


def test_what_is_no_utf_8_is_answered_too(server):
    (answer,) = server.heard(b'{"id": 7, "jsonrpc": "2.0", "method": "ping", "params": \xff}')
    assert (answer["id"], answer["error"]["code"]) == (7, -32700)


@pytest.mark.parametrize("levels", [100, 180])
def test_what_the_reader_of_json_can_read_is_answered_by_the_memory(server, levels):
    server.send(f'{{"id": 7, {CALL} {READ}, "parameters": {{"k": {deep(levels)}}}}}]}}}}}}'.encode())
    answer = server.next()
    assert answer["id"] == 7 and answer["result"]["structuredContent"]["error"]["code"] == "ResourceExhausted"
