"""A client of the language server that speaks JSON-RPC over pipes itself, so that it can also speak it badly."""

import json
import queue
import subprocess
import sys
import threading

URI = "file:///tmp/audit.kql"


class Client:
    """One server process; messages that it sends unasked are in `told`."""

    def __init__(self, *arguments, encodings=None):
        command = [sys.executable, "-m", "kipql", "lsp", "--stdio", *arguments]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._answers, self.told, self._number = queue.Queue(), queue.Queue(), 0
        threading.Thread(target=self._read, daemon=True).start()
        general = {"positionEncodings": encodings} if encodings else {}
        self.capabilities = self.ask(
            "initialize", {"processId": None, "rootUri": None, "capabilities": {"general": general}}
        )["capabilities"]
        self.tell("initialized", {})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.ask("shutdown", None)
            self.tell("exit", None)
        self.process.stdin.close()
        assert self.process.wait(timeout=20) == 0
        self.process.stdout.close()

    def _read(self):
        stream = self.process.stdout
        while True:
            length = 0
            while (line := stream.readline()).strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not line:
                return
            message = json.loads(stream.read(length))
            (self._answers if "id" in message and "method" not in message else self.told).put(message)

    def raw(self, body):
        """Send bytes as a message, whatever they are."""
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.raw(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def answer(self, method, params):
        """The whole response."""
        self._number += 1
        self.raw(json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}).encode())
        while True:
            found = self._answers.get(timeout=30)
            if found["id"] == self._number:
                return found

    def heard(self, body):
        """The answers to a message of bytes, whoever they are for: all that come before that to a later request."""
        self.answer("textDocument/noSuch", {})  # what other messages left is before it
        self.raw(body)
        self._number += 1
        self.raw(json.dumps({"jsonrpc": "2.0", "id": self._number, "method": "textDocument/noSuch"}).encode())
        found = []
        while (one := self._answers.get(timeout=30))["id"] != self._number:
            found.append(one)
        return found

    def ask(self, method, params):
        found = self.answer(method, params)
        assert "error" not in found, found
        return found["result"]

    # --- documents ----------------------------------------------------------------------------------------

    def open(self, text, uri=URI):
        """Open a text; what is wrong with it."""
        self.tell(
            "textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "kql", "version": 1, "text": text}}
        )
        return self.diagnostics(1)

    def change(self, version, *changes, uri=URI):
        """Change a text, without waiting."""
        self.tell(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)},
        )

    def diagnostics(self, version=None):
        """The next diagnostics, of a version where one is given."""
        while True:
            message = self.told.get(timeout=30)
            params = message.get("params", {})
            if message["method"] == "textDocument/publishDiagnostics" and params.get("version") == version:
                return params["diagnostics"]

    def at(self, method, line, character, uri=URI, **more):
        """A request about a position."""
        position = {"line": line, "character": character}
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": uri}, "position": position, **more})

    def words(self, line, character):
        """The labels of completion."""
        return [item["label"] for item in self.at("completion", line, character)["items"]]

    def of(self, method, uri=URI, **more):
        """A request about a whole text."""
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": uri}, **more})

    def formatted(self):
        return self.of("formatting", options={"tabSize": 2, "insertSpaces": True})


def edit(line, start, end, text, end_line=None):
    """A change of a range."""
    return {
        "range": {
            "start": {"line": line, "character": start},
            "end": {"line": line if end_line is None else end_line, "character": end},
        },
        "text": text,
    }
