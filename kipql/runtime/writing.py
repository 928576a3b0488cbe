"""Running one statement that may write, as a transaction of its own (§32.1)."""

from collections.abc import Callable, Mapping, Sequence

from kipql.limits import Budget
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
