"""The cognitive primitives as tools of a model: their specifications, and calls that never raise.

`recall` and `pin` are enabled by name; `unpin` comes with `pin`. A call answers a dict whatever happens: arguments
that do not fit are `{"error": "invalid_arguments", "detail": ...}`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import kipql
from kipql.memory.graph import snake
from kipql.memory.messages import INCLUDE

Spec = dict[str, Any]
ENABLED = ("recall", "pin")

_TURN = {"type": "integer", "description": "1 is the first turn"}
SPECS: Mapping[str, Spec] = {
    "recall": {
        "name": "recall",
        "description": "The original messages of an earlier turn, word for word.",
        "parameters": {
            "type": "object",
            "properties": {"turn": _TURN, "include": {"type": "string", "enum": list(INCLUDE), "default": "all"}},
            "required": ["turn"],
            "additionalProperties": False,
        },
    },
    "pin": {
        "name": "pin",
        "description": "Keep a text in view, within a fixed budget.",
        "parameters": {
            "type": "object",
            "properties": {
                "content": {"type": "string"},
                "label": {"type": ["string", "null"]},
                "until_turn": {"type": ["integer", "null"], "description": "the last turn it is kept for"},
            },
            "required": ["content"],
            "additionalProperties": False,
        },
    },
    "unpin": {
        "name": "unpin",
        "description": "End a pin.",
        "parameters": {
            "type": "object",
            "properties": {"pin_id": {"type": "string"}},
            "required": ["pin_id"],
            "additionalProperties": False,
        },
    },
}


def is_cognitive_tool(name: object) -> bool:
    """Whether a call of this name is for the memory, enabled or not."""
    return isinstance(name, str) and name in SPECS


def tool_specs(enabled: Iterable[str], user_tools: Iterable[Any] = ()) -> list[Spec]:
    """The tool specifications of the enabled primitives: `{name, description, parameters}`.

    user_tools  the host's own tools, as names or as specifications of any usual form

    Raises ValueError for a primitive that does not exist, and for a tool of the host with the name of an active one.
    """
    names = active(enabled)
    for tool in user_tools:
        if (name := tool_name(tool)) in names:
            raise ValueError(f"the tool {name!r} has the name of a cognitive primitive that is enabled; rename it")
    return [json.loads(json.dumps(SPECS[name])) for name in names]


def active(enabled: Iterable[str]) -> list[str]:
    """The tools that the enabled primitives bring. Raises ValueError for a primitive that does not exist."""
    if isinstance(enabled, str):
        raise ValueError(f"a list of primitives is expected, not {enabled!r}")
    chosen = dict.fromkeys(enabled)
    for name in chosen:
        if name not in ENABLED:
            hint = "; it comes with 'pin'" if name == "unpin" else ""
            raise ValueError(f"there is no primitive {name!r} to enable, only {' and '.join(map(repr, ENABLED))}{hint}")
    return [tool for name in chosen for tool in ((name, "unpin") if name == "pin" else (name,))]


def tool_name(tool: Any) -> str | None:
    """The name of a tool given as a name, `{name}` or `{function: {name}}`."""
    if isinstance(tool, str):
        return tool
    if not isinstance(tool, Mapping):
        name = getattr(tool, "name", None)
        return name if isinstance(name, str) else None
    function = tool.get("function")
    named = function.get("name") if isinstance(function, Mapping) else tool.get("name")
    return named if isinstance(named, str) else None


def parse_arguments(name: str, given: Any) -> dict[str, Any]:
    """The arguments of a call, from JSON text or an object. Raises TypeMismatch for what does not fit."""
    if isinstance(given, (str, bytes)):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise _invalid(f"the arguments are not JSON: {error}") from None
    if not isinstance(given, Mapping):
        raise _invalid(f"the arguments of {name} are an object")
    properties: Mapping[str, Any] = SPECS[name]["parameters"]["properties"]
    if unknown := [member for member in given if member not in properties]:
        raise _invalid(f"{name} has no argument {unknown[0]!r}; it has {', '.join(properties)}")
    for member in SPECS[name]["parameters"]["required"]:
        if member not in given:
            raise _invalid(f"{member!r} is missing")
    return {member: _fitting(member, value, properties[member]) for member, value in given.items()}


def dispatch(tools: Mapping[str, Callable[..., Any]], name: Any, given: Any) -> tuple[Any, dict[str, Any]]:
    """Call a tool by name: the arguments as they were understood, and the answer."""
    arguments = given
    try:
        if not is_cognitive_tool(name):
            known = ", ".join(SPECS)
            detail = f"there is no tool {name!r}, only {known}"
            return given, {"error": "unknown_tool", "detail": detail, "code": "UnknownTool"}
        arguments = parse_arguments(name, given)
        return arguments, tools[name](**arguments)
    except kipql.KipError as error:
        code, detail = refusal(error)
        return arguments, {"error": snake(code), "detail": detail, "code": code}
    except Exception as error:
        detail = f"{type(error).__name__}: {error}"
        return arguments, {"error": "internal_error", "detail": detail, "code": "InternalError"}


def refusal(error: kipql.KipError) -> tuple[str, str]:
    """What a primitive answers instead of raising: a code and a sentence."""
    return ("InvalidArguments" if error.details.get("tool_arguments") else error.code), error.message


def _fitting(member: str, value: Any, schema: Mapping[str, Any]) -> Any:
    """A value of one of the types of its schema; a whole number may be written with a fraction of zero."""
    types: Sequence[str] = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "integer" in types and isinstance(value, float) and value.is_integer():
        value = int(value)
    if not any(_IS[name](value) for name in types):
        raise _invalid(f"{member!r} is {' or '.join(types)}, not {value!r}")
    if "enum" in schema and value not in schema["enum"]:
        raise _invalid(f"{member!r} is one of {', '.join(schema['enum'])}, not {value!r}")
    return value


_IS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "null": lambda value: value is None,
}


def _invalid(detail: str) -> kipql.KipError:
    return kipql.KipError("TypeMismatch", detail, details={"tool_arguments": True})
