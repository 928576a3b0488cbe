"""The tools of a Brain for a model: specifications in the usual JSON form, and calls that never raise.

`recall`, `execute_kip_readonly`, `check_procedure_status`, `ground` and `kip_reference`; with a wiki also `wiki_search`
and `wiki_read`. Without one those two are absent.
"""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.brief.question import MODES
from kipql.memory.brief.reference import PAGE, kip_reference
from kipql.memory.graph import snake

if TYPE_CHECKING:
    from kipql.memory.brief.brain import Brain

Spec = dict[str, Any]
_TEXT = {"type": "string"}
_OBJECT = {"type": "object"}


def _spec(name: str, description: str, required: tuple[str, ...], **properties: Any) -> Spec:
    parameters = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return {"name": name, "description": description, "parameters": parameters}


_OPERATION = {
    "type": "object",
    "properties": {"command": _TEXT, "parameters": _OBJECT, "language": {"enum": ["KQL", "META"]}},
    "required": ["command"],
    "additionalProperties": False,
}
SPECS: Mapping[str, Spec] = {
    one["name"]: one
    for one in (
        _spec(
            "recall",
            "Ask the memory. Answers carry support, opposition, gaps and coverage; `action` is a briefing.",
            ("query",),
            query=_TEXT,
            mode={"type": "string", "enum": list(MODES)},
            context={"type": "object", "description": "counterparty (a key), agent, source, topic"},
            action_context={"type": "object", "description": "goal, current_state, available_tools"},
            time={"type": "object", "description": "valid_at (the world), as_of_seq (the memory)"},
            budget={"type": "object", "description": "items, max_output_tokens, deadline_ms"},
            subject=_TEXT,
            predicate=_TEXT,
            forms={"type": "array", "items": _TEXT, "description": "the question in other languages"},
        ),
        _spec(
            "execute_kip_readonly",
            "Run KQL and META statements as one batch of independent reads. Anything that writes is refused.",
            ("operations",),
            operations={"type": "array", "items": _OPERATION, "minItems": 1, "maxItems": 50},
        ),
        _spec(
            "check_procedure_status",
            "Whether a skill may be recommended. Not a permission.",
            ("skill",),
            skill={"type": "string", "description": "its id or key"},
        ),
        _spec(
            "ground",
            "What a name might mean, probed in all the forms given.",
            ("forms",),
            forms={"type": "array", "items": _TEXT, "minItems": 1, "maxItems": 8},
        ),
        _spec(
            "kip_reference",
            "The language reference: documents, their sections, or one section by page.",
            (),
            document=_TEXT,
            section=_TEXT,
            page={"type": "integer", "minimum": 1, "description": f"pages have at most {PAGE} characters"},
        ),
        _spec(
            "wiki_search",
            "Passages of documents with wiki:// citations.",
            ("query",),
            query=_TEXT,
            limit={"type": "integer", "minimum": 1, "maximum": 20},
        ),
        _spec(
            "wiki_read",
            "A document: its table of contents, one section, a cited range, or all of it.",
            ("ref",),
            ref={"type": "string", "description": "doc, doc@version or a wiki:// citation"},
            section=_TEXT,
            view={"type": "string", "enum": ["contents", "section", "full"]},
        ),
    )
}
_WIKI = ("wiki_search", "wiki_read")


def specs(brain: "Brain") -> list[Spec]:
    """The specifications of the tools that this Brain has."""
    return [json.loads(json.dumps(SPECS[name])) for name in _names(brain)]


def call(brain: "Brain", name: str, given: Any = None) -> dict[str, Any]:
    """Run one tool. What goes wrong is `{error, detail, code}`."""
    try:
        if name not in _names(brain):
            detail = f"there is no tool {name!r}, only {', '.join(_names(brain))}"
            if name in _WIKI:
                detail = "there are no documents here, so no authoritative source"
            return {"error": "unknown_tool", "detail": detail, "code": "NotFoundOrNotVisible"}
        arguments = _arguments(name, given)
        return _RUN[name](brain, arguments)
    except _Arguments as error:
        return {"error": "invalid_arguments", "detail": str(error), "code": "InvalidArguments"}
    except kipql.KipError as error:
        return {"error": snake(error.code), "detail": error.message, "hint": error.hint, "code": error.code}
    except Exception as error:
        return {"error": "internal_error", "detail": f"{type(error).__name__}: {error}", "code": "InternalError"}


class _Arguments(ValueError):
    """Arguments that do not fit."""


def _names(brain: "Brain") -> list[str]:
    return [name for name in SPECS if brain.wiki is not None or name not in _WIKI]


def _arguments(name: str, given: Any) -> dict[str, Any]:
    if isinstance(given, (str, bytes)):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise _Arguments(f"the arguments are not JSON: {error}") from None
    if given is None:
        given = {}
    from jsonschema import Draft202012Validator

    faults = sorted(Draft202012Validator(SPECS[name]["parameters"]).iter_errors(given), key=lambda one: list(one.path))
    if faults:
        raise _Arguments(f"{'.'.join(map(str, faults[0].path)) or name}: {faults[0].message}")
    return dict(given)


def _recall(brain: "Brain", arguments: dict[str, Any]) -> dict[str, Any]:
    return brain.recall(**arguments).to_dict()


def _execute(brain: "Brain", arguments: dict[str, Any]) -> dict[str, Any]:
    return brain.batches.run(arguments["operations"])


def _check(brain: "Brain", arguments: dict[str, Any]) -> dict[str, Any]:
    return brain.check_procedure_status(arguments["skill"])


def _ground(brain: "Brain", arguments: dict[str, Any]) -> dict[str, Any]:
    found = brain.ground(*arguments["forms"])
    return {"found": bool(found), "candidates": found, "note": None if found else "a miss is not absence"}


def _reference(brain: "Brain", arguments: dict[str, Any]) -> dict[str, Any]:
    return kip_reference(**arguments)


def _search(brain: "Brain", arguments: dict[str, Any]) -> dict[str, Any]:
    assert brain.wiki is not None
    return {"passages": brain.wiki.search(arguments["query"], limit=arguments.get("limit", 5))}


def _read(brain: "Brain", arguments: dict[str, Any]) -> dict[str, Any]:
    assert brain.wiki is not None
    return brain.wiki.read(arguments["ref"], section=arguments.get("section"), view=arguments.get("view"))


_RUN: Mapping[str, Callable[["Brain", dict[str, Any]], dict[str, Any]]] = {
    "recall": _recall,
    "execute_kip_readonly": _execute,
    "check_procedure_status": _check,
    "ground": _ground,
    "kip_reference": _reference,
    "wiki_search": _search,
    "wiki_read": _read,
}
