"""The application of `kipql serve` without a network: what arrives late, too many at once, the file of tokens."""

import asyncio
import json
import threading
from hashlib import sha256

import pytest

import kipql
from kipql.fronts.http.tokens import parse_tokens, read_tokens

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("prometheus_client", reason="the extra serve is not installed")

TOKEN = "owner-token-0123456789"
READ = b'{"kip":"2.0","operations":[{"command":"DESCRIBE PROTOCOL"}]}'


def application(nexus, token=TOKEN, principal="kip:owner", **settings):
    from kipql.fronts.http.app import application
    from kipql.fronts.http.settings import Settings

    return application(nexus, parse_tokens([f"{token} {principal}"]), Settings(**settings))


async def post(app, *chunks, ends=True, token=TOKEN):
    """Status and envelope of a POST whose body comes in chunks, and perhaps never ends."""
    waiting = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    if ends:
        waiting[-1]["more_body"] = False
    sent = []

    async def receive():
        if not waiting:
            await asyncio.sleep(30)
        return waiting.pop(0)

    async def send(message):
        sent.append(message)

    headers = [(b"authorization", f"Bearer {token}".encode()), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/kip", "headers": headers, "query_string": b""}
    await app({**scope, "scheme": "http", "server": ("x", 1), "client": ("y", 2), "root_path": ""}, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"]), dict(sent[0]["headers"])


def test_a_body_in_pieces_is_one():
    status, reply, _ = asyncio.run(post(application(kipql.open()), READ[:7], READ[7:]))
    assert (status, reply["status"]) == (200, "succeeded")


def test_a_body_that_does_not_come_is_408():
    status, reply, _ = asyncio.run(post(application(kipql.open(), arriving=0.05), READ[:7], ends=False))
    assert (status, reply["error"]["code"]) == (408, "ExecutionTimeout")


def test_more_than_may_wait_are_turned_away_and_the_others_answered():
    go = threading.Event()

    class Slow:
        space_seq = 0

        def request(self, envelope, *, principal):
            go.wait(10)
            return {"kip": "2.0", "status": "succeeded", "results": []}

    async def crowd():
        app = application(Slow(), threads=1, waiting=2)
        calls = [asyncio.create_task(post(app, READ)) for _ in range(3)]
        await asyncio.sleep(0.2)  # one runs, two wait
        turned = await post(app, READ)
        go.set()
        return turned, [status for status, *_ in await asyncio.gather(*calls)]

    (status, reply, headers), others = asyncio.run(crowd())
    assert (status, reply["error"]["code"], headers[b"retry-after"]) == (503, "RateLimited", b"1")
    assert others == [200, 200, 200]


def test_a_digest_stands_for_its_token():
    tokens = parse_tokens([f"sha256:{sha256(TOKEN.encode()).hexdigest()} Ada Brunner", "# comment", ""])
    assert tokens.principal(TOKEN).id == "Ada Brunner"
    assert tokens.principal(TOKEN.upper()) is None and tokens.principal("\udc80") is None


def test_a_token_is_in_no_representation():
    assert TOKEN not in repr(parse_tokens([f"{TOKEN} ada"]))


@pytest.mark.parametrize(
    "lines", [[], ["# none"], ["short ada"], [TOKEN], [f"{TOKEN} "], ["sha256:12 ada"], [f"{TOKEN} a", f"{TOKEN} b"]]
)
def test_a_file_that_is_no_file_of_tokens_is_refused_without_quoting_it(lines):
    with pytest.raises(kipql.KipError) as caught:
        parse_tokens(lines)
    assert caught.value.code == "ArtifactParseError"
    assert TOKEN not in str(caught.value) and "short" not in str(caught.value)


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(kipql.KipError, match="can not be read"):
        read_tokens(str(tmp_path / "none"))
