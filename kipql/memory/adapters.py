"""The primitives in the forms of two protocols: OpenAI-style function calls and MCP.

Nothing here talks to anybody: specifications go out in the form a client expects, calls come in and answers go back.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kipql.memory.primitives import Spec, is_cognitive_tool, tool_name

if TYPE_CHECKING:
    from kipql.memory.session import AgentMemory


def openai_tools(specs: Iterable[Spec]) -> list[dict[str, Any]]:
    """Specifications as the `tools` of a chat completion."""
    return [{"type": "function", "function": dict(spec)} for spec in specs]


def openai_results(memory: "AgentMemory", calls: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The tool messages for those calls of an assistant message that are for the memory, in the order of the calls.

    The host runs the others itself and puts all results into the order of the calls.
    """
    return [
        {
            "role": "tool",
            "tool_call_id": call.get("id"),
            "content": json.dumps(memory.call(str(tool_name(call)), _arguments(call)), ensure_ascii=False),
        }
        for call in calls
        if is_cognitive_tool(tool_name(call))
    ]


def mcp_tools(specs: Iterable[Spec]) -> list[dict[str, Any]]:
    """Specifications as the answer of `tools/list`."""
    return [
        {"name": spec["name"], "description": spec["description"], "inputSchema": spec["parameters"]} for spec in specs
    ]


def mcp_result(memory: "AgentMemory", name: str, arguments: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The answer of `tools/call`; `isError` only where the call itself could not be understood or carried out."""
    answer = memory.call(name, {} if arguments is None else arguments)
    text = json.dumps(answer, ensure_ascii=False)
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": answer,
        "isError": "error" in answer,
    }


def _arguments(call: Mapping[str, Any]) -> Any:
    function = call.get("function")
    owner = function if isinstance(function, Mapping) else call
    return owner.get("arguments", {})
