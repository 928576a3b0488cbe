"""META about Capsules: EXPORT, DESCRIBE, VERIFY, VALIDATE and PREVIEW IMPORT (§63.4, §69). None of them writes.

A Capsule is given as a parameter: the JSON object, or its text. What is read from it is judged, never obeyed.
"""

from collections import Counter
from collections.abc import Mapping

from kipql import capsules
from kipql.capsules import symbols
from kipql.errors import KipError
from kipql.exec.select import select
from kipql.lang import ast
from kipql.meta.session import MetaResult, MetaSession
from kipql.model import parse_id
from kipql.plan.cells import Value
from kipql.values import Json, json_type

# What says nothing about the plan: who asks, another transaction, the clock, the disk.
_SURROUNDINGS = (
    "NotAuthorized", "ExecutionTimeout", "SerializationConflict", "UnsupportedIsolation", "MemoryUnavailable"
)  # fmt: skip


def export(statement: ast.ExportCapsule, session: MetaSession) -> MetaResult:
    """EXPORT CAPSULE ?roots | root WHERE {...} [WITH {...}] [AS OF SEQ n]: the sealed Capsule.

    Raises NotAuthorized without `export`, NotFoundOrNotVisible for a root that is not there, ReferenceError for a
    root variable that is bound to no element, and what the options and the WHERE raise.
    """
    given = {} if statement.options is None else session.value(statement.options)
    try:
        asked = capsules.request(given)
    except KipError as error:
        assert statement.options is not None
        raise _placed(error, statement.options) from None
    seq = None if statement.as_of is None else session.count(statement.as_of, "AS OF SEQ")
    view = session.exporting(seq)
    target = statement.target
    if isinstance(target, ast.Var):
        rows = select(statement.where, (target.name,), view, session.parameters, session.budget)
        roots = [_element(row[0], target) for row in rows]
    else:
        code = _named(session.value(target), target)
        if not view.exists(code):
            raise KipError("NotFoundOrNotVisible", "there is no such element to export", span=target.span)
        roots = [code] if select(statement.where, (), view, session.parameters, session.budget) else []
    try:
        return MetaResult(session.seal(view, roots, asked), context={"snapshot_seq": view.seq})
    except KipError as error:
        raise _placed(error, statement) from None


def describe(statement: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE CAPSULE capsule: what is in it, and what it needs here."""
    assert statement.subject is not None
    capsule = _opened(statement.subject, session)
    payload, environment = capsule.payload, session.view.environment
    inside = {each.ref for each in symbols.packages_in(payload["blobs"])}
    dependencies = [
        {
            **row,
            "status": symbols.status(environment, row),
            "embedded": row["package_ref"] in inside,
        }
        for row in payload["schema_dependencies"]
    ]
    known = symbols.Symbols(environment, {})
    return MetaResult(
        {
            "format": capsule.artifact["format"],
            "format_version": capsule.artifact["format_version"],
            "content_digest": capsule.digest,
            "manifest": payload["manifest"],
            "source": payload["source"],
            "records": dict(Counter(record["kind"] for record in payload["records"])),
            "external_refs": dict(Counter(each["kind"] for each in payload["external_refs"])),
            "schema_dependencies": dependencies,
            "unresolved_symbols": known.missing(payload["records"]),
            "blobs": len(payload["blobs"]),
            "handling": payload["handling"],
            "signatures": len(capsule.artifact["integrity"].get("signatures", ())),
        }
    )


def verify(statement: ast.Verify, session: MetaSession) -> MetaResult:
    """VERIFY CAPSULE capsule: `{valid, content_digest, checks}`; it says nothing about trust or truth."""
    try:
        return MetaResult(capsules.verification(session.value(statement.subject), session.limits))
    except KipError as error:
        raise _placed(error, statement.subject) from None


def validate_capsule(statement: ast.Validate, session: MetaSession) -> MetaResult:
    """VALIDATE CAPSULE capsule: `{valid, content_digest, errors}`, each error with a JSON Pointer as its `path`."""
    session.options(statement)
    digest, errors = None, []
    try:
        capsule = capsules.opened(session.value(statement.subject), session.limits)
        digest = capsule.digest
        errors = [problem.to_dict() for problem in capsules.problems(capsule, session.view.environment)]
    except KipError as error:
        errors.append({"code": error.code, "path": error.details.get("path", ""), "message": error.message})
    return MetaResult({"valid": not errors, "content_digest": digest, "errors": errors})


def validate_plan(statement: ast.Validate, session: MetaSession) -> MetaResult:
    """VALIDATE IMPORT PLAN plan WITH {capsule: ...}: `{valid, errors, conflicts}`, whether importing the Capsule under
    this plan would go through now."""
    options = session.options(statement, "capsule")
    if "capsule" not in options:
        raise KipError("ConstraintViolation", "VALIDATE IMPORT PLAN is WITH {capsule: ...}", span=statement.span)
    try:
        found = session.preview_import(options["capsule"], session.value(statement.subject))
    except KipError as error:
        stale = error.details.get("precondition") == "snapshot_token"
        if stale or error.code in _SURROUNDINGS:
            raise
        return MetaResult({"valid": False, "errors": [_shown(error)], "conflicts": []})
    errors = [{"code": each["code"], "message": each["message"]} for each in found["errors"]]
    return MetaResult({"valid": found["effect"] != "undecided", "errors": errors, "conflicts": found["conflicts"]})


def preview(statement: ast.Preview, session: MetaSession) -> MetaResult:
    """PREVIEW IMPORT CAPSULE capsule INTO space: `{plan, counts, conflicts, errors, effect, changes}`."""
    assert statement.into is not None
    space = session.value(statement.into)
    named = space.get("id") if isinstance(space, Mapping) else space
    if not isinstance(named, str):
        raise KipError("TypeMismatch", f"INTO names a Space, not {json_type(space)}", span=statement.into.span)
    if named != session.view.space_id:
        raise KipError(
            "NotFoundOrNotVisible",
            f"this call is on the Space {session.view.space_id!r}, not on {named!r}",
            span=statement.into.span,
            hint="send it to that Space",
        )
    try:
        return MetaResult(session.preview_import(session.value(statement.subject), None))
    except KipError as error:
        raise _placed(error, statement.subject) from None


def _opened(operand: ast.Value, session: MetaSession) -> capsules.Capsule:
    try:
        return capsules.opened(session.value(operand), session.limits)
    except KipError as error:
        raise _placed(error, operand) from None


def _element(cell: object, target: ast.Var) -> int:
    if isinstance(cell, int) and not isinstance(cell, bool | Value) and cell >= 0:
        return cell
    raise KipError(
        "ReferenceError",
        f"?{target.name} stands for no element in a selected row",
        span=target.span,
        hint="bind the root by a pattern outside OPTIONAL",
    )


def _named(value: Json, target: ast.Node) -> int:
    named = value.get("id") if isinstance(value, Mapping) else value
    if not isinstance(named, str):
        raise KipError("TypeMismatch", f"a root is an id, not {json_type(value)}", span=target.span)
    code = parse_id(named)
    if code is None:
        raise KipError("NotFoundOrNotVisible", f"there is no element {named!r} to export", span=target.span)
    return code


def _shown(error: KipError) -> dict[str, Json]:
    found = {"code": error.code, "message": error.message}
    return found | ({"path": error.details["path"]} if "path" in error.details else {})


def _placed(error: KipError, node: ast.Node) -> KipError:
    error.span = error.span or node.span
    return error
