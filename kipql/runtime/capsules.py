"""Capsules out of a Space and into it: the host's operations, and what META asks the runtime for (§41, §63.4, §69).

An import is a host decision under the permission `import`, beside what each element that it makes needs. It is one
commit; a retry under its idempotency key answers the retained outcome, and the same Capsule again changes nothing.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from kipql import capsules
from kipql.capsules.bring import CHANNEL, foreseen
from kipql.capsules.export import everything
from kipql.capsules.portable import element_code_of
from kipql.errors import KipError
from kipql.govern.view import authorized
from kipql.limits import Budget
from kipql.model import Origin
from kipql.runtime.outcomes import Binding
from kipql.runtime.receipt import Receipt
from kipql.runtime.session import Session
from kipql.runtime.snapshots import check_start
from kipql.runtime.work import Work
from kipql.schema.contracts import canonical_digest
from kipql.values import Json, check_text, json_type

if TYPE_CHECKING:
    from kipql.runtime.space import Space
    from kipql.store.view import View

_LONGEST_KEY = 1_024


def lineage(space: "Space") -> str | None:
    """What names this memory's Space among others of its id: a digest of a secret that it was made with."""
    kept = space.store.notes.get("cursor_key")
    return blake2b(bytes.fromhex(kept[-1]), digest_size=16, person=b"kipql.lineage").hexdigest() if kept else None


def exporting(session: Session, seq: int | None = None) -> "View":
    """The Space as the caller may hand it on: what it may both see and export (§29).

    Raises NotAuthorized, HistoricalSnapshotUnavailable.
    """
    authority = session.authority
    authority.require("export")
    space = session.space
    seen = session.view().seq if seq is None else seq
    view = space.view() if seen == space.store.head else space.at(seen)
    return authorized(view, authority, None if authority.full else "export")


def export(
    session: Session, roots: Sequence[str] | None, options: dict[str, Json], seq: int | None, budget: Budget
) -> dict[str, Json]:
    """The Capsule of some elements, or of everything there is to export."""
    asked = capsules.request(options)
    if roots is not None and not (isinstance(roots, list | tuple) and all(isinstance(root, str) for root in roots)):
        raise KipError("TypeMismatch", "roots are a list of ids")
    if seq is not None and (isinstance(seq, bool) or not isinstance(seq, int)):
        raise KipError("TypeMismatch", f"a sequence is an integer, not {json_type(seq)}")
    view = exporting(session, seq)
    codes = everything(view) if roots is None else [element_code_of(view, root) for root in roots]
    return seal(session, view, codes, asked, budget)


def seal(
    session: Session, view: "View", roots: Sequence[int], asked: capsules.Request, budget: Budget
) -> dict[str, Json]:
    """The Capsule of elements of an export view."""
    self_id = session.space.governance.policy.self_id
    return capsules.export(view, roots, asked, budget, lineage=lineage(session.space), self_id=self_id)


def preview(session: Session, value: object, plan: object, budget: Budget) -> dict[str, Json]:
    """PREVIEW IMPORT (§69.3): the plan that an import would follow, and what it would change now.

    Nothing is written and no id is reserved. While something is open, `effect` is "undecided" and nothing more is
    known of the changes.
    """
    session.authority.require("import")
    importing = _importing(session, value, plan, budget)
    with Work(session, budget, rehearsal=True, origin=_origin(session, importing)) as work:
        check_start(session)
        found = work.governed(lambda tx, write: foreseen(importing, tx, write))
        if found["conflicts"] or found["errors"]:
            return {**found, "effect": "undecided"}
        effect = work.rehearse()
        return {**found, **{name: effect[name] for name in ("effect", "snapshot_seq", "changes")}}


def bring(session: Session, value: object, plan: object, key: str | None, budget: Budget) -> Receipt:
    """Import a Capsule: one commit, or nothing."""
    session.refuse_writing()
    session.authority.require("import")
    if key is not None and not (isinstance(key, str) and 0 < len(check_text(key)) <= _LONGEST_KEY):
        raise KipError("TypeMismatch", f"an idempotency key is a string of 1 to {_LONGEST_KEY} characters")
    importing = _importing(session, value, plan, budget)
    binding = None
    if key is not None:
        said = canonical_digest({"import": importing.capsule.digest, "plan": plan})
        binding = Binding(session.authority.principal.id, key, said)
    with Work(session, budget, origin=_origin(session, importing)) as work:
        if (known := session.retained(binding)) is not None:
            return known
        work.governed(lambda tx, write: capsules.bring(importing, tx, write))
        return work.commit(binding)


def _importing(session: Session, value: object, plan: object, budget: Budget) -> capsules.Importing:
    governance = session.space.governance
    return capsules.Importing(
        capsules.opened(value, budget.limits),
        capsules.read_plan(plan),
        session.authority,
        governance.policy.labels,
        lineage(session.space),
        governance.policy.self_id,
    )


def _origin(session: Session, importing: capsules.Importing) -> Origin:
    return Origin(session.principal.id, CHANNEL, importing.import_id)
