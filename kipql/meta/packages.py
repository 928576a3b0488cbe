"""VERIFY and VALIDATE of a Schema Package artifact (§69.1, §69.2, §20.11): integrity and legality, never activation."""

from collections.abc import Mapping

from kipql.errors import KipError
from kipql.lang import ast
from kipql.meta.session import MetaResult, MetaSession
from kipql.values import Json, json_type


def verify_package(statement: ast.Verify, session: MetaSession) -> MetaResult:
    """VERIFY SCHEMA PACKAGE artifact: `{valid, package_ref, content_digest, checks}`.

    Each check is "match", "mismatch" or "absent": the digest that the artifact states, and the artifact that is
    installed under the same reference. Raises TypeMismatch for what is no object, ArtifactParseError for a package
    that names itself by nothing.
    """
    from kipql.schema.contracts import canonical_digest

    artifact = _artifact(statement.subject, session)
    ref = _ref(artifact, statement.subject)
    digest = canonical_digest(_content(artifact))
    stated = artifact.get("integrity")
    stated = stated.get("content_digest") if isinstance(stated, Mapping) else None
    installed = next((each for each in session.view.environment.packages if each.ref == ref), None)
    checks = {
        "digest": "absent" if stated is None else _match(stated == digest),
        "installed": "absent"
        if installed is None
        else _match(canonical_digest(_content(dict(installed.artifact))) == digest),
    }
    valid = "mismatch" not in checks.values()
    return MetaResult({"valid": valid, "package_ref": ref, "content_digest": digest, "checks": checks})


def validate_package(statement: ast.Validate, session: MetaSession) -> MetaResult:
    """VALIDATE SCHEMA PACKAGE artifact: `{valid, package_ref, errors}`, against the Environment in force."""
    from kipql.schema.packages import Package

    artifact = _artifact(statement.subject, session)
    ref, errors = None, []
    try:
        package = Package.load(artifact)
        ref = package.ref
        environment = session.view.environment
        if environment.package(ref) is None:
            environment.with_packages([package], environment.version + 1)
    except KipError as error:
        errors.append(error.to_dict())
    return MetaResult({"valid": not errors, "package_ref": ref, "errors": errors})


def _artifact(operand: ast.Value, session: MetaSession) -> dict[str, Json]:
    value = session.value(operand)
    if isinstance(value, dict):
        return value
    raise KipError("TypeMismatch", f"a Schema Package is an object, not {json_type(value)}", span=operand.span)


def _ref(artifact: Mapping[str, Json], operand: ast.Value) -> str:
    manifest = artifact.get("manifest")
    names = [manifest.get(name) for name in ("package_id", "version")] if isinstance(manifest, Mapping) else []
    if len(names) == 2 and all(isinstance(name, str) for name in names):
        return f"{names[0]}@{names[1]}"
    raise KipError("ArtifactParseError", "the manifest names no package_id and version", span=operand.span)


def _content(artifact: Mapping[str, Json]) -> dict[str, Json]:
    """What the digest covers: everything but `integrity`."""
    return {name: member for name, member in artifact.items() if name != "integrity"}


def _match(same: bool) -> str:
    return "match" if same else "mismatch"
