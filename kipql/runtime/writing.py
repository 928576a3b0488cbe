"""Running one statement that may write, as a transaction of its own (§32.1)."""

import threading
from collections.abc import Callable, Mapping, Sequence

from kipql.govern.principals import OWNER
from kipql.limits import Budget, Limits
from kipql.runtime.outcomes import Binding
from kipql.runtime.parsed import Parsed
from kipql.runtime.receipt import Receipt
from kipql.runtime.session import Session
from kipql.runtime.snapshots import check_start
from kipql.runtime.work import Work
from kipql.values import Json


def write(
    session: Session,
    parsed: Parsed,
    parameters: Mapping[str, object] | None,
    budget: Budget,
    *,
    entries: Sequence[Mapping[str, Json]] = (),
    binding: Binding | None = None,
    decide: Callable[[], Receipt | None] | None = None,
) -> Receipt:
    """Commit one mutation. Raises KipError, and then nothing was written.

    entries  material to mint into Evidence in the same transaction
    binding  the idempotency key that will stand for the outcome
    decide   asked once nobody else can write: the Receipt of an earlier attempt, or None to go on; may raise
    """
    if session.readonly:
        parsed.refuse_mutation()
    with Work(session, budget) as work:
        if decide is not None and (known := decide()) is not None:
            return known
        check_start(session)
        work.write(parsed, {**(parameters or {}), **work.ingest(entries)} if entries else parameters)
        return work.commit(binding)


def write_alone(
    session: Session,
    parsed: Parsed,
    parameters: Mapping[str, object] | None,
    limits: Limits | None,
    cancel: threading.Event | None,
) -> Receipt:
    """`write` for a statement that came without material and without a key; a plain claim has a way of its own."""
    if (
        limits is None
        and cancel is None
        and session.principal is OWNER
        and not session.readonly
        and session.pinned is None
    ):
        from kipql.runtime.claiming import claim_of

        claim = claim_of(parsed)
        receipt = None if claim is None else claim.run(session, parameters)
        if receipt is not None:
            return receipt
    return write(session, parsed, parameters, session.budget(limits, cancel))


def rehearse(
    session: Session,
    parsed: Parsed,
    parameters: Mapping[str, object] | None,
    budget: Budget,
    entries: Sequence[Mapping[str, Json]] = (),
) -> dict[str, Json]:
    """What one mutation would do now; nothing is written and no id is reserved. Raises what it would raise."""
    with Work(session, budget, rehearsal=True) as work:
        check_start(session)
        work.write(parsed, {**(parameters or {}), **work.ingest(entries)} if entries else parameters)
        return work.rehearse()
