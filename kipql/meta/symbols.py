"""Schema introspection: DESCRIBE TYPE/PREDICATE/FACET/STRUCTURAL FIELD/PACKAGE, LIST of the same (§65).

Every answer names exact refs. A listed symbol is a row of four members ordered by ref, so that a LIMIT cuts
the same rows twice; Core is not listed, because it is the same everywhere.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.lang import ast
from kipql.meta.packages import find_package
from kipql.meta.paging import fingerprint, paged
from kipql.meta.session import MetaResult, MetaSession
from kipql.schema import refs
from kipql.schema.core import description
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.schema.environment import Environment
    from kipql.schema.packages import Package

_LISTED: dict[str, Callable[["Environment"], Sequence[Any]]] = {
    "TYPES": lambda environment: environment.concept_types,
    "PREDICATES": lambda environment: environment.predicates,
    "FACETS": lambda environment: environment.facets,
    "STRUCTURAL FIELDS": lambda environment: environment.structural_fields,
}
_FOUND: dict[str, Callable[["Environment", str], Any]] = {
    "TYPE": lambda environment, name: environment.concept_type(name),
    "PREDICATE": lambda environment, name: environment.predicate(name),
    "FACET": lambda environment, name: environment.facet(name),
    "STRUCTURAL FIELD": lambda environment, name: environment.structural_field(name),
}


def _symbol_row(definition: Any) -> dict[str, Json]:
    return {
        "ref": definition.ref,
        "local_name": definition.local_name,
        "package_ref": definition.package_ref,
        "status": definition.status,
    }


def _package_row(package: "Package") -> dict[str, Json]:
    return _row(package.ref, package.package_id, package.version)


def _row(ref: str, package_id: str, version: str) -> dict[str, Json]:
    return {"package_ref": ref, "package_id": package_id, "version": version, "status": "active"}


def package_rows(environment: "Environment") -> list[dict[str, Json]]:
    """The active packages, ordered by ref, Core omitted."""
    rows = [_package_row(package) for package in environment.packages if package.package_id != "kip://core"]
    return sorted(rows, key=lambda row: str(row["package_ref"]))


def list_symbols(statement: ast.List, session: MetaSession) -> MetaResult:
    """LIST TYPES | PREDICATES | FACETS | STRUCTURAL FIELDS."""
    listed = _LISTED[statement.target]
    shape = fingerprint(session, statement.target)

    def rows(seq: int) -> list[Json]:
        return [_symbol_row(definition) for definition in listed(session.at(seq).environment)]

    return paged(session, "list", shape, rows, statement.limit, statement.cursor)


def list_packages(statement: ast.List, session: MetaSession) -> MetaResult:
    """LIST SCHEMA PACKAGES [STATUS s]."""
    status = session.text(statement.status, "STATUS") if statement.status is not None else None
    shape = fingerprint(session, statement.target, status)

    def rows(seq: int) -> list[Json]:
        every = package_rows(session.at(seq).environment)
        return [row for row in every if status is None or row["status"] == status]

    return paged(session, "list", shape, rows, statement.limit, statement.cursor)


def describe_symbol(statement: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE TYPE | PREDICATE | FACET | STRUCTURAL FIELD name.

    Raises SchemaSymbolNotFound or SchemaSymbolAmbiguous, with the position of the name.
    """
    name = session.text(statement.subject, "a symbol")
    try:
        definition = _FOUND[statement.target](session.view.environment, name)
    except KipError as error:
        if error.span is None and statement.subject is not None:
            error.span = statement.subject.span
        raise
    described = _symbol_row(definition)
    described["lineage"] = definition.lineage
    described["description"] = definition.description
    described["definition"] = dict(definition.raw)
    return MetaResult(described)


def describe_package(statement: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE PACKAGE ref: `kip://path@version`, or `kip://path` for the version in force.

    Core, which has no artifact (§20.13), is described by its kinds, reserved fields and registries.
    """
    if session.text(statement.subject, "a package") in (refs.CORE_REF, refs.CORE_PACKAGE):
        core = {name: member for name, member in description().items() if name not in ("format", "definitions")}
        return MetaResult({**_row(refs.CORE_REF, refs.CORE_PACKAGE, refs.CORE_VERSION), **core})
    package = find_package(session, statement.subject)
    described = _package_row(package)
    artifact = package.artifact
    described["manifest"] = artifact.get("manifest", {})
    definitions = artifact.get("definitions", {})
    described["symbols"] = {section: sorted(named) for section, named in sorted(definitions.items()) if named}
    return MetaResult(described)


def describe_environment(statement: ast.Describe, session: MetaSession) -> MetaResult:
    """DESCRIBE SCHEMA ENVIRONMENT [AS OF SEQ s]: the exact lock that is in force (§20.9)."""
    view = session.view
    if statement.as_of is not None:
        view = session.at(session.count(statement.as_of, "AS OF SEQ"))
    environment = view.environment
    return MetaResult(
        {
            "space_id": view.space_id,
            "snapshot_seq": view.seq,
            "schema_environment_version": environment.version,
            "packages": package_rows(environment),
            "symbols": {
                target.lower().replace(" ", "_"): len(listed(environment)) for target, listed in _LISTED.items()
            },
        }
    )
