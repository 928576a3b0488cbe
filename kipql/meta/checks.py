"""VALIDATE, PREVIEW and VERIFY: looking without leaping (§69).

VALIDATE says whether a statement would be accepted; PREVIEW says what a mutation would do now; VERIFY checks
that an artifact is what this memory issued. None of them commits, reserves an id, or establishes truth.
"""

from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.lang import ast
from kipql.meta.packages import validate_package, verify_package
from kipql.meta.session import MetaResult, MetaSession
from kipql.times import format_instant
from kipql.values import Json, json_type

if TYPE_CHECKING:
    from kipql.store.history import Commit


def validate(statement: ast.Validate, session: MetaSession) -> MetaResult:
    """VALIDATE KQL | KML text: `{valid, language, errors}`; VALIDATE SCHEMA PACKAGE as `packages` says."""
    if statement.target == "SCHEMA PACKAGE" and statement.options is None:
        return validate_package(statement, session)
    if statement.target not in ("KQL", "KML") or statement.options is not None:
        raise unavailable(f"VALIDATE {statement.target}", statement)
    text = session.text(statement.subject, f"the {statement.target} text")
    return MetaResult(session.validate(statement.target, text))


def preview(statement: ast.Preview, session: MetaSession) -> MetaResult:
    """PREVIEW KML text: the changes it would make against the present state, ids included provisionally."""
    if statement.target != "KML":
        raise unavailable(f"PREVIEW {statement.target}", statement)
    return MetaResult(session.preview(session.text(statement.subject, "the KML text")))


def verify(statement: ast.Verify, session: MetaSession) -> MetaResult:
    """VERIFY RECEIPT receipt: `{valid, checks}`, each check "match", "mismatch" or "absent" (§69.1); VERIFY SCHEMA
    PACKAGE as `packages` says."""
    if statement.target == "SCHEMA PACKAGE":
        return verify_package(statement, session)
    if statement.target != "RECEIPT":
        raise unavailable(f"VERIFY {statement.target}", statement)
    receipt = session.value(statement.subject)
    if not isinstance(receipt, dict):
        raise KipError("TypeMismatch", f"a Receipt is an object, not {json_type(receipt)}", span=statement.subject.span)
    tx_id = receipt.get("tx_id")
    commit = session.view.transaction(tx_id) if isinstance(tx_id, str) else None
    checks = {
        "digest": _digest_check(receipt),
        "commit": "absent" if commit is None else _commit_check(receipt, commit),
    }
    return MetaResult({"valid": "mismatch" not in checks.values() and commit is not None, "checks": checks})


def receipt_digest(receipt: dict[str, Json]) -> str:
    """The canonical digest of a Receipt without `receipt_digest` and `proofs` (§33.2)."""
    from hashlib import sha256

    import rfc8785

    plain = {name: member for name, member in receipt.items() if name not in ("receipt_digest", "proofs")}
    return f"sha256:{sha256(rfc8785.dumps(plain)).hexdigest()}"


def unavailable(what: str, statement: ast.Node) -> KipError:
    """The answer of a statement family that is not built yet."""
    return KipError("UnsupportedCapability", f"{what} is not available yet", span=statement.span)


def _digest_check(receipt: dict[str, Json]) -> str:
    stated = receipt.get("receipt_digest")
    if stated is None:
        return "absent"
    return "match" if stated == receipt_digest(receipt) else "mismatch"


def _commit_check(receipt: dict[str, Json], commit: "Commit") -> str:
    recorded = {
        "status": "committed",
        "space_seq": commit.seq,
        "snapshot_seq": commit.seq - 1,
        "committed_at": format_instant(commit.at),
        "transaction_class": commit.transaction_class,
        "schema_environment_version": commit.environment_version,
    }
    stated = {name: receipt[name] for name in recorded if name in receipt}
    return "match" if all(recorded[name] == member for name, member in stated.items()) else "mismatch"
