"""Capturing a selection: the query dependency that a derivation carries (specification §57.7).

A selector is captured from a read that takes place, never from an account of one: the call that keeps it runs it.
"""

from collections.abc import Mapping

from kipql.errors import KipError
from kipql.exec.selection import EVIDENCE_CLASS, EXPECTATIONS, Selector, selected
from kipql.lang import format
from kipql.mutate.digests import content_digest
from kipql.runtime.session import Session
from kipql.runtime.work import Work
from kipql.values import Json

_KEEP = "CREATE EVIDENCE ?selector { SET FIELDS {evidence_class: :class, payload: :payload} }"


def capture(session: Session, text: str, parameters: Mapping[str, object] | None, expectation: str) -> dict[str, Json]:
    """Make a selection, keep its selector as Evidence and answer the QueryDependency; see `Nexus.capture`."""
    session.refuse_writing()
    if expectation not in EXPECTATIONS:
        raise KipError(
            "ConstraintViolation", f"no expectation {expectation!r}", hint=f"one of {', '.join(EXPECTATIONS)}"
        )
    parsed = session.statements.parse(text, session.limits)
    parsed.refuse_mutation()
    parsed.admit(session.authority)
    selector = Selector.of(None, text, parameters or {})
    view, projections = session.view(), session.projections
    found, basis = selected(selector, view, projections, session.budget())
    if (expectation == "accepted" and not found.accepted) or (expectation == "empty" and not found.empty):
        raise KipError("PreconditionFailed", f"the selection is not {expectation}", hint="read it before relying on it")
    artifact: dict[str, Json] = {
        "query": format(text).strip(),
        "parameters": dict(selector.parameters),
        "space_id": session.space.id,
        "snapshot_seq": view.seq,
        "basis": basis,
    }
    payload: Json = {"mode": "inline", "inline": artifact}
    with Work(session, session.budget()) as work:
        kept = work.write(session.statements.parse(_KEEP), {"class": EVIDENCE_CLASS, "payload": payload})
        work.commit()
    return {
        "kind": selector.kind,
        "selector": {"artifact_ref": kept.handles["selector"], "content_digest": content_digest(payload)},
        "result_digest": found.digest,
        "change_token": f"{session.space.id}#{view.seq}",
        "expectation": expectation,
        "authorization_view": projections.authorization_view,
    }
