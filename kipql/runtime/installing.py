"""What a host puts into force in a Space: packages, promotions, policies; a decision, never a command (§20.8, §21.10).

Before the first commit it belongs to the set-up and takes no sequence; later it is a control commit of its own (§36.1).
"""

from collections.abc import Iterable, Mapping, Sequence

from kipql.belief import policies
from kipql.errors import KipError
from kipql.runtime import shipped
from kipql.runtime.receipt import Receipt
from kipql.runtime.session import Session
from kipql.runtime.work import Work
from kipql.values import Json


def install(session: Session, packages: Sequence[object]) -> None:
    """Activate packages: part of the set-up before the first commit, a `schema` control commit later (§20.8).

    A package that is active already changes nothing. Raises ReadonlyViolation when there is something to
    install and the session only reads.
    """
    if isinstance(packages, str | Mapping) or not isinstance(packages, Iterable):
        raise KipError("TypeMismatch", "packages are a list", hint="write [package], or use install_package")
    space = session.space
    wanted = shipped.missing(space.view().environment, [shipped.package(each) for each in packages])
    if not wanted:
        return
    session.refuse_writing()
    session.authority.require("manage_schema")
    artifacts = [dict(package.artifact) for package in wanted]
    if space.store.head == 0:
        space.set_up(artifacts)
        return
    change(session, "schema", {"packages": artifacts})


def promote(session: Session, symbol: str, into: str, kind: str | None) -> Receipt:
    """Map a draft symbol to a symbol of an installed package: one `schema` control commit (§20.16).

    Raises what `kipql.schema.draft.promotion` raises, IdentityConflict when two keys would meet, and
    ReadonlyViolation.
    """
    from kipql.schema.draft import promotion  # of what DEFINE made; most memories never load it

    session.refuse_writing()
    session.authority.require("manage_schema")
    with Work(session, session.budget()) as work:
        rename = promotion(work.environment, symbol, into, kind)
        if rename is not None:
            work.control("schema", {"promote": [list(rename)]})
        return work.commit()


def install_policy(session: Session, artifact: Mapping[str, Json]) -> None:
    """Put an epistemic policy into force: part of the set-up before the first commit, a `policy` control commit
    later. The same content again changes nothing.

    Raises ConstraintViolation for a malformed artifact, other content under a version that was installed
    before, or the id of a policy that ships.
    """
    space = session.space
    wanted = policies.checked(artifact, space.control, space.store.head)
    if wanted is None:
        return
    session.refuse_writing()
    session.authority.require("manage_policy")
    if space.store.head == 0:
        space.set_up_policy(wanted)
        return
    change(session, "policy", wanted)


def change(session: Session, kind: str, payload: Json) -> None:
    """One control change as a commit of its own (§36.1)."""
    session.refuse_writing()
    with Work(session, session.budget()) as work:
        work.control(kind, payload)
        work.commit()
