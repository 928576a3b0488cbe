"""Where the vertices stand: the same memory always looks the same.

What hangs together is laid out by forces of its own, and these pieces stand in rows, the largest first: one layout for
all would press them together and push them apart.
"""

from collections.abc import Iterable, Sequence
from typing import Any

_SEED = 7
_ROOM = 84.0  # for one vertex with its name
_MARGIN = 64.0
_ASPECT = 1.7

Places = dict[str, tuple[float, float]]


def positions(vertices: Sequence[str], edges: Iterable[tuple[str, str]]) -> Places:
    """A place for each vertex, in the units of the drawing, from 0 to the right and down."""
    import networkx

    drawn = networkx.Graph()
    drawn.add_nodes_from(vertices)
    drawn.add_edges_from(edges)
    order = {vertex: at for at, vertex in enumerate(vertices)}
    parts = [sorted(part, key=order.__getitem__) for part in networkx.connected_components(drawn)]
    parts.sort(key=lambda part: (-len(part), order[part[0]]))
    return _rows([_laid_out(drawn.subgraph(part), part) for part in parts])


def _laid_out(part: Any, vertices: Sequence[str]) -> tuple[Places, float, float]:
    """The places of one piece, with its width and height."""
    if len(vertices) == 1:
        return {vertices[0]: (_MARGIN, _MARGIN)}, 2 * _MARGIN, 2 * _MARGIN
    import networkx

    ordered = networkx.Graph()  # a subgraph has no order of its own
    ordered.add_nodes_from(vertices)
    ordered.add_edges_from(part.edges)
    placed = networkx.spring_layout(ordered, iterations=200, seed=_SEED)
    side = _ROOM * (len(vertices) ** 0.5) * (1.35 if len(vertices) > 2 else 1.1)
    across, down = ([float(place[axis]) for place in placed.values()] for axis in (0, 1))
    stretch = side / max(max(across) - min(across), max(down) - min(down), 1e-9)
    places = {
        vertex: (_MARGIN + (float(x) - min(across)) * stretch, _MARGIN + (float(y) - min(down)) * stretch)
        for vertex, (x, y) in placed.items()
    }
    wide, high = (max(place[axis] for place in places.values()) + _MARGIN for axis in (0, 1))
    return places, wide, high


def _rows(parts: Sequence[tuple[Places, float, float]]) -> Places:
    """The pieces beside and below each other, in about the shape of a screen."""
    area = sum(wide * high for _, wide, high in parts)
    most = max([(area * _ASPECT) ** 0.5, *(wide for _, wide, _ in parts)], default=0.0)
    made: Places = {}
    left = top = tall = 0.0
    for places, wide, high in parts:
        if left and left + wide > most:
            left, top, tall = 0.0, top + tall, 0.0
        made |= {vertex: (round(left + x, 1), round(top + y, 1)) for vertex, (x, y) in places.items()}
        left, tall = left + wide, max(tall, high)
    return made
