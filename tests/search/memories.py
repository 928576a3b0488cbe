"""Small memories to search, and a view from which rows are withheld."""

from collections.abc import Collection, Iterable
from typing import Any

import kipql
from kipql.errors import KipError
from kipql.limits import Budget
from kipql.model import AnyRecord, parse_id
from kipql.search.ask import Ask
from kipql.search.run import search
from kipql.store.view import View

GENERAL = "kip://domains/general@1.0.0"


def memory(records: Iterable[dict[str, Any]] = (), **options: Any) -> kipql.Nexus:
    """A memory in which these records were loaded, one commit each."""
    nexus = kipql.open(packages=[GENERAL], **options)
    nexus.load(records, batch=1)
    return nexus


def person(name: str | None, **members: Any) -> dict[str, Any]:
    return {"kind": "concept", "type": "Person", "name": name, **members}


def message(payload: Any, **fields: Any) -> dict[str, Any]:
    return {"kind": "evidence", "fields": {"evidence_class": "message", "payload": payload, **fields}}


def rows(nexus: kipql.Nexus, text: str, **parameters: Any) -> list[dict[str, Any]]:
    return nexus.query(text, parameters).rows


def ids(nexus: kipql.Nexus, text: str, **parameters: Any) -> list[str]:
    """The ids of the hits, best first."""
    return [row["id"] for row in rows(nexus, text, **parameters)]


def scores(nexus: kipql.Nexus, text: str, **parameters: Any) -> list[float]:
    return [row["retrieval"]["score"] for row in rows(nexus, text, **parameters)]


def hits(view: View, ask: Ask) -> list[tuple[int, float]]:
    """(row, score) of every hit on a view."""
    found = search(view, ask, Budget())
    return list(zip(found.rows, found.scores, strict=True))


class Restricted(View):
    """A view without some elements; `replaced` are records of which the caller sees another form."""

    __slots__ = ("hidden", "replaced")

    def __init__(self, whole: View, hidden: Collection[str] = (), replaced: dict[str, AnyRecord] | None = None) -> None:
        super().__init__(whole.graph, whole._environments, whole.seq, whole.bounds)
        self.hidden = frozenset(parse_id(one) for one in hidden)
        self.replaced = {parse_id(one): record for one, record in (replaced or {}).items()}

    def exists(self, code: int) -> bool:
        return super().exists(code) and code not in self.hidden

    def record(self, code: int) -> AnyRecord:
        if not self.exists(code):
            raise KipError("NotFoundOrNotVisible", "hidden")
        return self.replaced.get(code) or super().record(code)
