"""The page: data, style and script in one file.

What the memory holds is data in the page, too: it is embedded as JSON with no character that could end the element,
made visible where it would not be seen, and put into the document as text only. A policy in the page itself forbids
every script and style but the two that it was written with, and every connection.
"""

import base64
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import kipql
from kipql.escape import html, json_text, visible
from kipql.fronts.html.bounds import Bounds, Cut
from kipql.fronts.html.layout import positions
from kipql.fronts.html.slots import slots
from kipql.fronts.html.states import Graph, called, graph
from kipql.nexus import Nexus
from kipql.values import Json

_HERE = Path(__file__).resolve().parent
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}


def export_html(nexus: Nexus, *, title: str = "A memory", bounds: Bounds | None = None, now: int | None = None) -> str:
    """A memory, as its Principal sees it, as one HTML page; `now` in ms is where FOR TIME begins. Raises KipError."""
    return page(collected(nexus, bounds or Bounds(), now if now is not None else int(time.time() * 1000)), title)


def collected(nexus: Nexus, bounds: Bounds, now: int) -> dict[str, Any]:
    """What the page shows, as JSON values."""
    cut = Cut()
    seen = graph(nexus, bounds, cut)
    believed = slots(nexus, seen, bounds, cut)
    vertices = _vertices(seen)
    numbers = {identity: at for at, identity in enumerate(vertices)}
    edges = [(identity, subject, _target(identity, target)) for identity, (subject, _, target) in seen.ends.items()]
    edges = [edge for edge in edges if edge[1] in numbers and edge[2] in numbers]
    placed = positions(list(vertices), [edge[1:] for edge in edges])
    return {
        "space": nexus.space_id,
        "principal": nexus.principal.id,
        "now": now,
        "states": [[state.seq, state.at] for state in seen.states],
        "vertices": [
            {"id": identity, "literal": literal, "runs": seen.concepts.get(identity, []), "xy": placed[identity]}
            for identity, literal in vertices.items()
        ],
        "edges": [
            {
                "id": identity,
                "from": numbers[subject],
                "to": numbers[target],
                "says": seen.ends[identity][1].rpartition("/")[2],
                "runs": seen.edges[identity],
            }
            for identity, subject, target in edges
        ],
        "slots": [{**slot, "named": called({"id": slot["subject"]}, seen.names)} for slot in believed],
        "cut": cut.said,
    }


def page(data: dict[str, Any], title: str) -> str:
    """The page around the data."""
    style, script = ((_HERE / name).read_text("utf-8") for name in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    body = (_HERE / "page.html").read_text("utf-8")
    filled = {
        "title": html(title),
        "policy": policy,
        "style": style,
        "script": script,
        "memory": json_text(_seen(data)).translate(_UNSAFE),
        "version": kipql.__version__,
    }
    parts = body.split("{{")
    return parts[0] + "".join(filled[name] + rest for name, _, rest in (part.partition("}}") for part in parts[1:]))


def _vertices(seen: Graph) -> dict[str, str | None]:
    """Each vertex: a Concept, or a Literal of its own for each Proposition about one, with its text."""
    made: dict[str, str | None] = dict.fromkeys(seen.concepts)
    for identity, (_, _, target) in seen.ends.items():
        if not (isinstance(target, dict) and isinstance(target.get("id"), str)):
            made[_target(identity, target)] = called(target, seen.names)
        elif target["id"] not in made:
            made[target["id"]] = called(target, seen.names)
    return made


def _target(identity: str, target: Json) -> str:
    return target["id"] if isinstance(target, dict) and isinstance(target.get("id"), str) else f"={identity}"


def _seen(value: Any) -> Any:
    """The same data with what is not seen made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(name): _seen(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_seen(item) for item in value]
    return value


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
