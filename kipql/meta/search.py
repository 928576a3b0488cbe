"""SEARCH: associative grounding, a ranked page of exact ids (specification §66).

A hit tells what an element is and where to go on: its id, kind and exact symbol, a snippet, and how well it
matches. It is no belief and no evidence; a miss proves nothing. The search runs on the snapshot of the call, of
AS OF SEQ, or of the cursor, and the index is always exactly there.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kipql import cursors
from kipql.errors import KipError
from kipql.lang import ast
from kipql.meta.paging import fingerprint
from kipql.meta.session import MetaResult, MetaSession
from kipql.model import ASSERTION, CONCEPT, EVIDENCE, KIND_OF_NAME, KINDS, PROPOSITION, element_id
from kipql.search.ask import NO_LINEAGE, Ask, check_modifiers, limit_of, mode_of, term_of, threshold_of
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.search.rank import Hits
    from kipql.store.view import View

FAMILY = "search"
PAGE = 50  # hits of a page when no LIMIT is written; the next page is a cursor away

RANKING: Mapping[str, Json] = {
    "keyword": "bm25 share of the query; name, alias and key matches first",
    "semantic": "cosine of the embedder's vectors",
    "hybrid": "mean of keyword and semantic",
}


def search(statement: ast.Search, session: MetaSession) -> MetaResult:
    """SEARCH kind term [WITH TYPE t] [WITH PREDICATE p] [MODE m] [THRESHOLD x] [AS OF SEQ s] [LIMIT n] [CURSOR c].

    Raises NotAuthorized, TypeMismatch, ConstraintViolation (a modifier that means nothing for the kind, a threshold
    outside [0, 1]), SearchModeUnsupported, SearchIndexUnavailable, the errors of symbols and those of cursors.
    """
    from kipql.search.run import search as hits_of

    session.authority.require("search")
    view, start, most, shape, expected = _place(statement, session)
    ask = _ask(statement, session, view)
    hits = hits_of(view, ask, session.budget, start + most)
    if expected is not None and hits.total != expected:
        cursors.expired(FAMILY)  # something was erased meanwhile: what came before is not what it was
    end = len(hits.rows)
    session.budget.buffer(end)
    more = start < end < hits.total
    token = session.cursors.issue(FAMILY, shape, view.seq, [end, hits.total]) if more else None
    return MetaResult(_rows(view, ask, hits, start, end), token, more, _disclosed(view, session, ask))


def _place(statement: ast.Search, session: MetaSession) -> "tuple[View, int, int, str, int | None]":
    """The view, the first hit, how many, what a cursor is bound to, and how many hits its page before knew of."""
    view, limit = session.view, statement.limit
    most = PAGE if limit is None else limit_of(session.value(limit), limit.span)
    operands = (
        statement.term, statement.with_type, statement.with_predicate, statement.mode, statement.threshold,
        statement.as_of,
    )  # fmt: skip
    shape = fingerprint(session, "SEARCH", statement.kind, *map(session.value, operands), most)
    if statement.as_of is not None:
        view = session.at(session.count(statement.as_of, "AS OF SEQ"))
    if statement.cursor is None:
        return view, 0, most, shape, None
    seq, position = session.cursors.open(session.text(statement.cursor, "CURSOR"), FAMILY, shape)
    start, expected = position
    return view if seq == view.seq else session.at(seq), start, most, shape, expected


def _ask(statement: ast.Search, session: MetaSession, view: "View") -> Ask:
    kind = KIND_OF_NAME[statement.kind]
    typed, related = statement.with_type, statement.with_predicate
    check_modifiers(kind, _span(typed), _span(related))
    return Ask(
        kind=kind,
        term=term_of(session.value(statement.term), statement.term.span),
        mode=mode_of(session.value(statement.mode), _span(statement.mode)),
        threshold=threshold_of(session.value(statement.threshold), _span(statement.threshold)),
        type_lineage=_lineage(session, view, typed, "concept_type"),
        predicate_lineage=_lineage(session, view, related, "predicate"),
    )


def _span(node: ast.Value | None) -> Any:
    return None if node is None else node.span


def _lineage(session: MetaSession, view: "View", node: ast.Value | None, group: str) -> int | None:
    """The lineage number of a symbol. Raises with the position of the name."""
    if node is None:
        return None
    name = session.text(node, "a symbol")
    try:
        lineage = getattr(view.environment, group)(name).lineage
    except KipError as error:
        error.span = error.span or node.span
        raise
    number = view.lineage_number(lineage)
    return NO_LINEAGE if number is None else number


def _rows(view: "View", ask: Ask, hits: "Hits", start: int, end: int) -> list[dict[str, Json]]:
    from kipql.search.run import snippets

    rows = hits.rows[start:end]
    found = []
    for row, score, text in zip(rows, hits.scores[start:end], snippets(view, ask, rows), strict=True):
        code = row * 8 + ask.kind
        found.append(
            {
                "id": element_id(code),
                "kind": KINDS[ask.kind],
                **_identity(view, code),
                "snippet": text,
                "retrieval": {"score": score, "mode": hits.mode},
            }
        )
    return found


def _identity(view: "View", code: int) -> dict[str, Json]:
    """What an element is: the exact ref of its Type or Predicate, or its class."""
    record: Any = view.record(code)
    match code & 7:
        case kind if kind == CONCEPT:
            return {"schema_ref": record.schema, "name": record.name}
        case kind if kind == PROPOSITION:
            return {"predicate_ref": record.predicate}
        case kind if kind == ASSERTION:
            proposition: Any = view.record(record.proposition) if view.exists(record.proposition) else None
            return {"predicate_ref": None if proposition is None else proposition.predicate}
        case kind if kind == EVIDENCE:
            return {"evidence_class": record.evidence_class}
        case _:
            return {"activity_class": record.activity_class}


def _disclosed(view: "View", session: MetaSession, ask: Ask) -> dict[str, Json]:
    """How fresh and how ranked the hits are (§66.5)."""
    return {
        "snapshot_seq": view.seq,
        "schema_environment_version": view.environment.version,
        "index_seq": view.seq,
        "current_space_seq": session.view.seq,
        "consistency": "snapshot",
        "mode": ask.mode,
        "ranking": {"method": RANKING[ask.mode], "score": "0 to 1 within this query; no confidence"},
    }
