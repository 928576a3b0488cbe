"""The server: two tools and four resources over stdio, each call in a thread of its own (a Nexus serves many).

A KIP error is an answer, marked as an error and with its code and hint, so that a model can do better; only what is no
call of a tool that is offered is an error of the protocol.
"""

from typing import Any

import anyio
from anyio import to_thread
from mcp import MCPError, types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

import kipql
from kipql.errors import KipError
from kipql.escape import json_text
from kipql.fronts import pages
from kipql.fronts.mcp.answering import Page, answer
from kipql.fronts.mcp.reading import Readable
from kipql.fronts.mcp.tools import INSTRUCTIONS, READ, RESOURCES, WRITE, described, schema
from kipql.nexus import Nexus

Context = ServerRequestContext[Any]


def run(nexus: Nexus, *, write: bool, page: Page) -> None:
    """Serve a memory on standard input and output until the input ends."""
    anyio.run(_serve, server(nexus, write=write, page=page))


def server(nexus: Nexus, *, write: bool, page: Page) -> "Server[Any]":
    """The server of a memory; without `write` it has no tool that could."""
    doors = {READ: nexus.readonly(), **({WRITE: nexus} if write else {})}

    async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(name, page.rows) for name in doors])

    async def call_tool(_: Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        if asked.name not in doors:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {asked.name!r}; this server has {', '.join(doors)}")
        reply = await to_thread.run_sync(
            lambda: answer(doors[asked.name], asked.arguments or {}, page, reads=asked.name == READ)
        )
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=json_text(reply))],
            structured_content=reply,
            is_error=reply["status"] == "failed",
        )

    async def list_resources(_: Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=uri, name=name, description=about, mime_type="text/markdown")
                for uri, (name, _, about) in RESOURCES.items()
            ]
        )

    async def read_resource(_: Context, asked: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(asked.uri)
        if uri not in RESOURCES:
            raise MCPError(types.INVALID_PARAMS, f"there is no resource {uri!r}")
        try:
            text = pages.page(RESOURCES[uri][1])
        except KipError as error:
            raise MCPError(types.INTERNAL_ERROR, error.message) from None
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="text/markdown", text=text)]
        )

    return Server(
        "kipql",
        version=kipql.__version__,
        title="A memory in KIP 2.0",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def _tool(name: str, rows: int) -> types.Tool:
    write = name == WRITE
    return types.Tool(
        name=name,
        description=described(rows, write=write),
        input_schema=schema(write=write),
        annotations=types.ToolAnnotations(read_only_hint=not write, destructive_hint=write, open_world_hint=False),
    )


async def _serve(server: "Server[Any]") -> None:
    async with stdio_server() as (received, sent):
        await server.run(Readable(received, sent), sent, server.create_initialization_options())
