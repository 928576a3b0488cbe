"""`nexus.repair`: protected corrections of the record, which no command can make (§11.5, §57.8)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.model import element_id
from kipql.runtime.guard import reraise
from kipql.runtime.receipt import Receipt
from kipql.runtime.session import Session
from kipql.runtime.work import Work
from kipql.values import Json, check_json, json_type

if TYPE_CHECKING:
    from kipql.store.identity import Decision


class Repair:
    """Withdraw a merge that was wrong, invalidate a recording that was wrong.

    >>> import kipql
    >>> nexus = kipql.open()
    >>> nexus.repair.decisions()
    []
    """

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        self._session = session

    def decisions(self) -> list[dict[str, Json]]:
        """Every merge as an identity decision, oldest first: `{decision_id, source, target, space_seq,
        identity_version, principal_id, withdrawn_seq}`; `withdrawn_seq` is None while it holds."""
        return [_row(each) for each in self._session.view().decisions()]

    def identity(
        self, decision_id: str, *, expected_identity_version: int, reason_evidence: str, action: str = "withdraw"
    ) -> Receipt:
        """Withdraw a merge decision; its source resolves to itself again (§11.5).

        decision_id                one of `decisions()`
        expected_identity_version  what `stats()["identity_version"]` said when this was decided
        reason_evidence            the id of the Evidence that says why

        The Receipt's `result` is `{decision_id, source, target, identity_version, review}`. `review` lists the writes
        since the merge that are affected: `{id, kind, path, supplied, status}`, where `status` is "attributed" when
        the write named what it meant, "needs_review" when that can not be known. Nothing of them is changed.

        Raises NotFoundOrNotVisible, VersionConflict, IdentityConflict, NotAuthorized, ReadonlyViolation.
        """
        from kipql.mutate.identity import withdraw

        session = self._session
        try:
            session.refuse_writing()
            session.authority.require("merge_identity")
            if decision_id not in [each.decision_id for each in session.view().decisions()]:
                raise KipError("NotFoundOrNotVisible", f"there is no identity decision {decision_id!r}")
            _check_seen(session, [reason_evidence])
            if action != "withdraw":
                raise KipError("ConstraintViolation", f"{action!r} is no repair of an identity", hint='use "withdraw"')
            with Work(session, session.budget()) as work:
                work.protected(
                    lambda tx, write: withdraw(tx, write, decision_id, expected_identity_version, reason_evidence)
                )
                return work.commit()
        except Exception as error:
            reraise(error)

    def recording(
        self,
        *,
        source_ref: str,
        source_digest: str,
        source_locator: str,
        invalidated_refs: Sequence[str],
        reason: str,
        expected_versions: Mapping[str, int],
        replacement_refs: Sequence[str] = (),
        statement: str | None = None,
        parameters: Mapping[str, object] | None = None,
    ) -> Receipt:
        """Invalidate what was extracted wrongly from a source that is right (§57.8).

        source_ref, source_digest  the Evidence and its `content_digest`
        source_locator             where in it: "bytes:0-12", a JSON Pointer ("/messages/3"), or another selector
        invalidated_refs           ids of the Assertions or Concepts that misrecord it
        reason                     "extraction_error" or "attribution_error"
        expected_versions          id -> version for each of `invalidated_refs`
        replacement_refs           ids of the claims that are right, or handles ("?a") of `statement`
        statement, parameters      KML that writes them in the same transaction

        The Receipt's `result` is `{repair_ref, invalidated_refs, replacement_refs}`. A recorder repairs its own
        recordings, the owner repairs any.

        Raises ConstraintViolation, NotFoundOrNotVisible, DigestMismatch, VersionConflict, NotAuthorized,
        ReadonlyViolation, and what `statement` raises.
        """
        from kipql.mutate.recording import repair

        session = self._session
        try:
            given: dict[str, Json] = {
                "source_ref": source_ref,
                "source_digest": source_digest,
                "source_locator": source_locator,
                "invalidated_refs": _refs(invalidated_refs, "invalidated_refs"),
                "reason": reason,
                "expected_versions": _versions(expected_versions),
            }
            replacements = _refs(replacement_refs, "replacement_refs")
            session.refuse_writing()
            session.authority.require("repair_recording")
            _check_seen(session, [source_ref, *invalidated_refs, *replacements])
            with Work(session, session.budget()) as work:
                handles: Mapping[str, str] = {}
                if statement is not None:
                    parsed = session.statements.parse(statement)
                    handles = work.write(parsed, parameters).handles
                given["replacement_refs"] = [_replacement(ref, handles) for ref in replacements]
                check_json(given)
                work.protected(lambda tx, write: repair(tx, write, given))
                return work.commit()
        except Exception as error:
            reraise(error, statement)


def _refs(value: object, what: str) -> list[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise KipError("TypeMismatch", f"{what} are a list of ids")
    return list(value)


def _versions(value: object) -> dict[str, Json]:
    if not isinstance(value, Mapping):
        raise KipError("TypeMismatch", f"expected_versions are an object of ids and versions, not {json_type(value)}")
    return dict(value)


def _check_seen(session: Session, refs: Sequence[object]) -> None:
    """Raise NotFoundOrNotVisible for an id of an element that the caller may not see."""
    view, whole = session.view(), session.space.view()
    for ref in refs:
        if isinstance(ref, str) and whole.code(ref) is not None and view.code(ref) is None:
            raise KipError("NotFoundOrNotVisible", f"{ref} is not there or not visible")


def _replacement(ref: str, handles: Mapping[str, str]) -> str:
    if not ref.startswith("?"):
        return ref
    known = handles.get(ref[1:])
    if known is None:
        raise KipError("ReferenceError", f"{ref} names nothing in the statement")
    return known


def _row(decision: "Decision") -> dict[str, Json]:
    return {
        "decision_id": decision.decision_id,
        "source": element_id(decision.source),
        "target": element_id(decision.target),
        "space_seq": decision.seq,
        "identity_version": decision.identity_version,
        "principal_id": decision.origin.principal_id,
        "withdrawn_seq": decision.withdrawn,
    }
