"""VERIFY, VALIDATE and DESCRIBE COMPATIBILITY of Schema Packages (§65, §69, §20.11): integrity, legality and what
would change; never activation."""

from collections.abc import Mapping

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.words import near
from kipql.meta.session import MetaResult, MetaSession
from kipql.schema.artifacts import PUBLISHED_DIGESTS
from kipql.schema.compatibility import changes
from kipql.schema.packages import Package, content_digest
from kipql.schema.refs import version_key
from kipql.values import Json, json_type


def verify_package(statement: ast.Verify, session: MetaSession) -> MetaResult:
    """VERIFY SCHEMA PACKAGE artifact: `{valid, package_ref, content_digest, checks}`.

    Each check is "match", "mismatch" or "absent": the digest that the artifact states, and the artifact that is
    installed under the same reference. Raises TypeMismatch for what is no object, ArtifactParseError for a package
    that names itself by nothing.
    """
    artifact = _artifact(statement.subject, session)
    ref = _ref(artifact, statement.subject)
    digest = content_digest(artifact)
    stated = artifact.get("integrity")
    stated = stated.get("content_digest") if isinstance(stated, Mapping) else None
    installed = next((each for each in session.view.environment.packages if each.ref == ref), None)
    checks = {
        "digest": "absent" if stated is None else _match(stated == digest),
        "installed": "absent" if installed is None else _match(digest in _digests(installed)),
    }
    valid = "mismatch" not in checks.values()
    return MetaResult({"valid": valid, "package_ref": ref, "content_digest": digest, "checks": checks})


def _digests(package: Package) -> tuple[str, str | None]:
    """What the content of an active package digests to: as it is here, and as it was published (§20.3)."""
    return content_digest(package.artifact), PUBLISHED_DIGESTS.get(package.ref)


def validate_package(statement: ast.Validate, session: MetaSession) -> MetaResult:
    """VALIDATE SCHEMA PACKAGE artifact: `{valid, package_ref, errors}`, against the Environment in force."""
    session.options(statement)
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


def describe_compatibility(statement: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE COMPATIBILITY FROM a TO b: `{from, to, same_path, compatible, changes, declared}`.

    An operand is an active package by its reference, or an artifact. `compatible` is what a comparison of the
    definitions found; `declared` is what the second package says of itself, and proves nothing.
    Raises NotFoundOrNotVisible for a package that is not active, and what loading an artifact raises.
    """
    assert statement.subject is not None
    assert statement.to is not None
    old, new = _operand(statement.subject, session), _operand(statement.to, session)
    found = changes(old, new)
    return MetaResult(
        {
            "from": old.ref,
            "to": new.ref,
            "same_path": old.package_id == new.package_id,
            "compatible": not any(change["breaks"] for change in found),
            "changes": found,
            "declared": dict(new.artifact.get("compatibility", {})),
        }
    )


def find_package(session: MetaSession, operand: ast.Value | None) -> Package:
    """An active package, by `kip://path@version`, or by `kip://path` for the version in force.

    Raises TypeMismatch, NotFoundOrNotVisible.
    """
    ref = session.text(operand, "a package")
    packages = sorted(session.view.environment.packages, key=lambda each: version_key(each.version), reverse=True)
    package = next((each for each in packages if ref in (each.ref, each.package_id)), None)
    if package is None:
        close = near(ref, [each.ref for each in packages])
        raise KipError(
            "NotFoundOrNotVisible",
            f"no package {ref!r} is active",
            span=operand.span if operand is not None else None,
            hint=f"did you mean {close!r}?" if close else "LIST SCHEMA PACKAGES shows the active packages",
        )
    return package


def _operand(operand: ast.Value, session: MetaSession) -> Package:
    value = session.value(operand)
    return Package.load(value) if isinstance(value, dict) else find_package(session, operand)


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


def _match(same: bool) -> str:
    return "match" if same else "mismatch"
