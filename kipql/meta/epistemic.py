"""DESCRIBE EPISTEMIC POLICY and TRUST, LIST EPISTEMIC POLICIES: what beliefs are projected with (§21.10, §22.5)."""

from kipql.belief.control import DEFAULT
from kipql.belief.policies import described
from kipql.lang import ast
from kipql.meta.paging import fingerprint, paged
from kipql.meta.session import MetaResult, MetaSession
from kipql.values import Json


def list_policies(statement: ast.List, session: MetaSession) -> MetaResult:
    """LIST EPISTEMIC POLICIES: those in force, ordered by id."""
    shape = fingerprint(session, statement.target)

    def rows(seq: int) -> list[Json]:
        return [
            {
                "id": policy.id,
                "version": policy.version,
                "description": policy.description,
                "default": policy.id == DEFAULT,
            }
            for policy in session.control.policies(seq)
        ]

    return paged(session, "list", shape, rows, statement.limit, statement.cursor)


def describe_policy(statement: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE EPISTEMIC POLICY [id]: one policy, the default when none is named.

    Raises ProjectionPolicyUnavailable for one that is not in force.
    """
    name = DEFAULT if statement.subject is None else session.text(statement.subject, "an epistemic policy")
    found = described(name, session.control, session.view.seq)
    if found is None:
        error = session.control.unavailable(name, session.view.seq)
        error.span = None if statement.subject is None else statement.subject.span
        raise error
    return MetaResult(found)


def describe_trust(statement: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE TRUST [actor]: the records in force, of one actor when one is named (§22.5)."""
    seq = session.view.seq
    known = session.control.trust_records(session.view).values()
    records = [record for record in known if session.view.code(record.actor) is not None]
    if statement.subject is not None:
        wanted = session.view.canonical(session.element(statement.subject))
        records = [record for record in records if session.view.code(record.actor) == wanted]
    return MetaResult(
        {
            "trust_version": session.control.trust_version(seq),
            "snapshot_seq": seq,
            "records": [record.to_dict() for record in records],
        }
    )
