"""Elements, projections and contexts as the wire schemas have them (kip-element, kip-projection, kip-response; §81.1).

A row of a program writes null for what is not there and carries hooks of the engine's own (`client_key`,
`authority_lineage`). On the wire a whole element or belief has the members of its schema and no other, and null only
where the schema admits it; a payload that was purged says so by its status. A path (`?e.client_key`) still gives what
it names.

The members of a root group stay as the engine suite has them; the schema has a name there.
"""

from collections.abc import Mapping

from kipql.values import Json

_ELEMENT = {"id", "kind", "space_id", "_system", "governance", "retention"}
_NULLABLE = {"canonical_id", "generated_by", "started_at", "ended_at", "merged_into", "object"}
_OWN = {"client_key"}
_ABOUT_SEARCH = {"index_seq", "current_space_seq", "consistency", "mode", "ranking", "search_modes"}
_GOVERNANCE = {"classification", "authority_class", "policy_ref"}


def on_wire(result: Json) -> Json:
    """A result with the elements and beliefs in its rows and cells as the schemas have them."""
    if not isinstance(result, list):
        return _shaped(result)
    return [[_shaped(cell) for cell in row] if isinstance(row, list) else _shaped(row) for row in result]


def context_on_wire(context: Mapping[str, Json]) -> dict[str, Json]:
    """The context of an operation: what is about a search under `search`, what is ours under `extensions`."""
    wire = {name: member for name, member in context.items() if name not in _ABOUT_SEARCH}
    if "index_seq" in context:
        wire["search"] = _search(context)
    if (scope := wire.pop("coverage_scope", None)) is not None:
        wire["extensions"] = {"kipql/coverage": {"coverage_scope": scope}}
    return wire


def _search(context: Mapping[str, Json]) -> dict[str, Json]:
    modes = context.get("search_modes", [context["mode"]] if "mode" in context else [])
    wire = {name: context[name] for name in ("index_seq", "current_space_seq", "consistency") if name in context}
    if len(modes) == 1:
        wire["mode"] = modes[0]
    elif modes:
        wire["extensions"] = {"kipql/modes": {"modes": modes}}
    if (ranking := context.get("ranking")) is not None:
        wire["score_semantics"] = f"{ranking['method']}; {ranking['score']}"
    return wire


def _shaped(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    if value.keys() >= _ELEMENT:
        return _element(value)
    if "candidate_status" in value:
        return _stated(value)
    if "candidate_projections" in value:
        return {**_stated(value), "candidate_projections": [_stated(each) for each in value["candidate_projections"]]}
    return value


def _element(value: Mapping[str, Json]) -> dict[str, Json]:
    kept = {
        name: member for name, member in value.items() if name not in _OWN and (member is not None or name in _NULLABLE)
    }
    if (governance := kept.get("governance")) is not None:
        kept["governance"] = _stated({name: governance[name] for name in governance if name in _GOVERNANCE})
    if (retention := kept.get("retention")) is not None:
        kept["retention"] = {
            name: member for name, member in retention.items() if member is not None or name == "expires_at"
        }
    if kept.get("payload") == {"mode": "purged"}:
        kept["payload"] = {"status": "purged"}
    if (origin := value["_system"].get("origin")) is not None:
        # The schema wants a channel; whoever may not read it is told so (`read_raw_origin`).
        kept["_system"] = {
            **value["_system"],
            "origin": {**_stated(origin), "channel": origin.get("channel") or "hidden"},
        }
    return kept


def _stated(value: Mapping[str, Json]) -> dict[str, Json]:
    """What is stated: in a belief null says that nothing was asked for, or that no rule decided."""
    return {name: member for name, member in value.items() if member is not None or name == "proposition_id"}
