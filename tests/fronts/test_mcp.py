"""`kipql mcp` through the SDK's own client, over standard input and output of a process."""

import asyncio
import json
import os
import sys

import pytest

import kipql
from tests.fronts.conftest import NASTY, ROOT, people

mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")
NAMES = "FIND(?p.name) WHERE { ?p CONCEPT {} } ORDER BY ?p.key"
WRITE = 'CREATE CONCEPT ?p { TYPE "Person" NAME "Gus" }'
EVERYONE = ["Ada", "Bo", "Cy", "Di", "Ed", "Fay", NASTY]
READ = "execute_kip_readonly"


def served(talk, *arguments):
    """What `talk` makes of a client of a server started with these arguments."""
    server = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "kipql", "mcp", *map(str, arguments)],
        env={"PYTHONPATH": str(ROOT), **os.environ},
    )

    async def main():
        async with mcp.Client(server) as client:
            return await talk(client)

    return asyncio.run(asyncio.wait_for(main(), 60))


def request(*commands, **members):
    return {"operations": [each if isinstance(each, dict) else {"command": each} for each in commands], **members}


def deep(levels):
    return json.loads("[" * levels + "]" * levels)


CALLS = {
    "batch": request(
        NAMES,
        {"command": f"// FIND(?x)\n{WRITE}", "op_id": "w", "language": "KML"},
        {"command": WRITE, "language": "KQL"},
        "DESCRIBE PROTOCOL",
    ),
    "alone": request(WRITE),
    "atomic": request(NAMES, WRITE, execution={"mode": "atomic"}),
    "nasty": request('FIND(?p.name) WHERE { ?p {key: "p6"} }'),
    "wrong": request("FIND(?p.name)\nWHERE { ?p CONCEPT {} FILTER(?q == 1) }"),
    "shape": {"operations": [], "nonsense": 1},
    "deep": request({"command": "DESCRIBE PROTOCOL", "parameters": {"a": deep(100)}}),
}


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A session with a reader: its tools, its pages, its answers to CALLS, and what it refuses; and the memory."""
    folder = people(tmp_path_factory.mktemp("mcp") / "brain.kip")

    async def talk(client):
        said = {
            "tools": (await client.list_tools()).tools,
            "pages": {
                each.uri: (await client.read_resource(each.uri)).contents[0].text
                for each in (await client.list_resources()).resources
            },
        }
        for name, arguments in CALLS.items():
            said[name] = await client.call_tool(READ, arguments)
        with pytest.raises(mcp.MCPError, match="no tool"):
            await client.call_tool("execute_kip", request(WRITE))
        with pytest.raises(mcp.MCPError, match="no resource"):
            await client.read_resource("file:///etc/passwd")
        return said

    said = served(talk, folder)
    with kipql.open(folder, readonly=True) as nexus:
        said["seq"] = nexus.space_seq
    return said


def test_a_reader_offers_one_tool_and_the_pages(reader):
    (tool,) = reader["tools"]
    assert tool.name == READ and tool.annotations.read_only_hint is True
    assert tool.input_schema["required"] == ["operations"]
    names = ("primer", "syntax", "kql", "language")
    assert reader["pages"] == {f"kipql://{name}": (ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in names}


def test_a_reader_reads_a_batch_and_refuses_writes_by_their_tree(reader):
    batch = reader["batch"]
    assert not batch.is_error and batch.structured_content["status"] == "partial"
    names, write, lie, protocol = batch.structured_content["results"]
    assert names["result"] == EVERYONE and protocol["result"]["kip"] == "2.0"
    assert (write["op_id"], write["error"]["code"]) == ("w", "ReadonlyViolation")
    assert lie["error"]["code"] == "LanguageMismatch"
    assert reader["alone"].is_error and reader["atomic"].is_error
    assert reader["alone"].structured_content["results"][0]["error"]["code"] == "ReadonlyViolation"
    assert reader["atomic"].structured_content["results"][1]["error"]["code"] == "ReadonlyViolation"
    assert reader["seq"] == len(EVERYONE)


def test_stored_text_reaches_the_model_as_escaped_json(reader):
    answered = reader["nasty"]
    text = answered.content[0].text
    assert not {"\x1b", "\u202e", "\u2028", "\u200b"} & set(text)
    assert json.loads(text) == answered.structured_content
    assert answered.structured_content["results"][0]["result"] == [NASTY]


def test_an_error_has_code_position_and_hint(reader):
    assert all(reader[name].is_error for name in ("wrong", "shape", "deep"))
    error = reader["wrong"].structured_content["results"][0]["error"]
    assert error["code"] == "InvalidSyntax" and error["hint"]
    assert error["details"]["position"] == {"line": 2, "column": 30, "column_utf16": 30}
    assert reader["shape"].structured_content["error"]["code"] == "InvalidRequestEnvelope"
    assert reader["deep"].structured_content["error"]["code"] == "ResourceExhausted"


def test_rows_are_bounded_and_a_cursor_goes_on(folder):
    async def talk(client):
        seen, pages, after = [], 0, ""
        while True:
            reply = await client.call_tool(READ, request(NAMES + after))
            result = reply.structured_content["results"][0]
            seen += result["result"]
            pages += 1
            if "next_cursor" not in result:
                break
            after = f' CURSOR "{result["next_cursor"]}"'
        more = await client.call_tool(READ, request(f"{NAMES} LIMIT 5"))
        return seen, pages, more.structured_content["results"][0]

    seen, pages, more = served(talk, folder, "--rows", 3)
    assert seen == EVERYONE and pages == 3
    assert more["result"] == EVERYONE[:3] and more["next_cursor"]
    assert [warning["code"] for warning in more["warnings"]] == ["PageBounded"]


def test_with_write_a_model_writes_as_its_principal(folder):
    async def talk(client):
        tools = [tool.name for tool in (await client.list_tools()).tools]
        made = await client.call_tool("execute_kip", request(WRITE))
        unsaid = await client.call_tool("execute_kip", request(WRITE, WRITE))
        still = await client.call_tool(READ, request(WRITE))
        return tools, made, unsaid, still

    tools, made, unsaid, still = served(talk, folder, "--write", "--as", "planner")
    assert tools == [READ, "execute_kip"]
    receipt = made.structured_content["results"][0]["receipt"]
    assert receipt["space_seq"] == 8 and receipt["origin"]["principal_id"] == "planner"
    assert unsaid.is_error and "execution" in unsaid.structured_content["error"]["message"]
    assert still.is_error


def test_a_principal_sees_what_it_may(folder):
    with kipql.open(folder) as nexus:
        nexus.govern.grant("reader", "discover", "read", ids=["C-2"])

    async def talk(client):
        return (await client.call_tool(READ, request(NAMES))).structured_content["results"][0]

    assert served(talk, folder, "--as", "reader")["result"] == ["Bo"]
    assert served(talk, folder, "--as", "stranger")["error"]["code"] == "NotAuthorized"


def test_rows_that_are_too_large_fail_as_a_whole():
    from kipql.fronts.mcp.answering import Page, answer

    nexus = kipql.open()
    nexus.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: :text} }', {"text": "x" * 500})
    asked = request({"command": "FIND(?e) WHERE { ?e EVIDENCE {} }", "op_id": "big"}, "DESCRIBE SNAPSHOT")
    reply = answer(nexus.readonly(), asked, Page(10, 400), reads=True)
    big, small = reply["results"]
    assert (big["op_id"], big["status"], big["error"]["code"]) == ("big", "failed", "ResultLimitExceeded")
    assert "result" not in big and small["status"] == "succeeded" and reply["status"] == "partial"
