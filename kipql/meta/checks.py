"""VALIDATE and PREVIEW of a text, VERIFY of a Receipt: looking without leaping (§69).

VALIDATE says whether a statement would be accepted; PREVIEW says what a mutation would do now; VERIFY checks
that an artifact is what this memory issued. None of them commits, reserves an id, or establishes truth. For packages
and Capsules `packages` and `capsules` do the same.
"""

from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.lang import ast
from kipql.meta.session import MetaResult, MetaSession
from kipql.schema.fields import same
from kipql.times import format_instant
from kipql.values import Json, json_type

if TYPE_CHECKING:
    from kipql.store.history import Commit


def validate_text(statement: ast.Validate, session: MetaSession) -> MetaResult:
    """VALIDATE KQL | KML text [WITH {parameters: {...}}]: `{valid, language, errors}`; the parameters are those of the
    text, instead of the call's."""
    parameters = session.options(statement, "parameters").get("parameters")
    if parameters is not None and not isinstance(parameters, dict):
        raise KipError("TypeMismatch", f"parameters are an object, not {json_type(parameters)}", span=statement.span)
    text = session.text(statement.subject, f"the {statement.target} text")
    return MetaResult(session.validate(statement.target, text, parameters))


def preview_text(statement: ast.Preview, session: MetaSession) -> MetaResult:
    """PREVIEW KML text: the changes it would make against the present state, ids included provisionally."""
    return MetaResult(session.preview(session.text(statement.subject, "the KML text")))


def verify_receipt(statement: ast.Verify, session: MetaSession) -> MetaResult:
    """VERIFY RECEIPT receipt: `{valid, checks}`, each check "match", "mismatch" or "absent" (§69.1)."""
    receipt = session.value(statement.subject)
    if not isinstance(receipt, dict):
        raise KipError("TypeMismatch", f"a Receipt is an object, not {json_type(receipt)}", span=statement.subject.span)
    tx_id = receipt.get("tx_id")
    commit = session.view.transaction(tx_id) if isinstance(tx_id, str) else None
    checks = {
        "digest": _digest_check(receipt),
        "commit": "absent" if commit is None else _commit_check(receipt, commit, session.view.space_id),
    }
    return MetaResult({"valid": "mismatch" not in checks.values() and commit is not None, "checks": checks})


def receipt_digest(receipt: dict[str, Json]) -> str:
    """The canonical digest of a Receipt without `receipt_digest` and `proofs` (§33.2)."""
    from hashlib import sha256

    import rfc8785

    plain = {name: member for name, member in receipt.items() if name not in ("receipt_digest", "proofs")}
    return f"sha256:{sha256(rfc8785.dumps(plain)).hexdigest()}"


def _digest_check(receipt: dict[str, Json]) -> str:
    stated = receipt.get("receipt_digest")
    if stated is None:
        return "absent"
    return "match" if stated == receipt_digest(receipt) else "mismatch"


def _commit_check(receipt: dict[str, Json], commit: "Commit", space_id: str) -> str:
    """Whether everything that a Receipt states of a commit is what the Commit Record says (§33.1)."""
    recorded: dict[str, Json] = {
        "status": "committed",
        "tx_id": commit.tx_id,
        "space_id": space_id,
        "space_seq": commit.seq,
        "snapshot_seq": commit.seq - 1,
        "committed_at": format_instant(commit.at),
        "transaction_class": commit.transaction_class,
        "schema_environment_version": commit.environment_version,
    }
    stated = {name: receipt[name] for name in recorded if name in receipt}
    origin = receipt.get("origin")
    if isinstance(origin, dict) and "principal_id" in origin:
        recorded["principal_id"], stated["principal_id"] = commit.origin.principal_id, origin["principal_id"]
    return "match" if all(same(recorded[name], member) for name, member in stated.items()) else "mismatch"
