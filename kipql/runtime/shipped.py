"""Which packages a host may name, and what a new Space starts with (§18.3, §20.8).

Core and the cognitive-memory Profile are active in a new Space; general-domain and the agent package ship and
wait for the host.
"""

from collections.abc import Iterable, Mapping, Sequence

from kipql.errors import KipError
from kipql.lang.words import near
from kipql.schema.artifacts import COGNITIVE_MEMORY, FILES
from kipql.schema.environment import Environment
from kipql.schema.packages import Package
from kipql.schema.packages import shipped as find_shipped
from kipql.schema.strict import check_path
from kipql.values import Json, json_type

_environments: dict[tuple[object, ...], Environment] = {}


def initial() -> list[Package]:
    """The packages of a new Space beside Core."""
    return [_shipped(COGNITIVE_MEMORY)]


def package(given: object) -> Package:
    """The package that a host means: a Package, an artifact, or the ref of a shipped one.

    Raises ConstraintViolation for a malformed artifact and for a path that is the Space's own (§20.16),
    SchemaPackageUnavailable for a ref that does not ship.
    """
    if isinstance(given, str):
        return _shipped(given)
    if isinstance(given, Package | Mapping):
        found = given if isinstance(given, Package) else Package.load(given)
        check_path(found.package_id)
        return found
    raise KipError(
        "TypeMismatch",
        f"a package is a Package, an artifact or the ref of a shipped one, not {json_type(given)}",
    )


def load_schema(before: Environment | None, artifacts: Sequence[Json], version: int) -> Environment:
    """The Environment with these artifacts added; the store calls it for set-up, commits and replay alike.

    A shipped package is loaded once for the process, and so is the Environment that a new Space starts with.
    """
    packages = [_loaded(artifact) for artifact in artifacts]
    if before is not None and before.packages:
        return before.with_packages(packages, version)
    shipped = all(package is find_shipped(package.ref) for package in packages)
    key = (version, *(package.ref for package in packages))
    if shipped and key in _environments:
        return _environments[key]
    environment = Environment.of(packages, version)
    if shipped:
        _environments[key] = environment
    return environment


def missing(environment: Environment, packages: Iterable[Package]) -> list[Package]:
    """Those that are not active yet. Raises SchemaSymbolConflict for other content under an active ref (§20.11)."""
    active = {each.ref: each for each in environment.packages}
    wanted: dict[str, Package] = {}
    for each in packages:
        known = active.get(each.ref) or wanted.get(each.ref)
        if known is None:
            wanted[each.ref] = each
        elif known.artifact != each.artifact:
            raise KipError(
                "SchemaSymbolConflict",
                f"{each.ref} is active with other content; a version never changes",
                hint="give the changed package a new version",
                details={"package_ref": each.ref},
            )
    return list(wanted.values())


def _shipped(ref: str) -> Package:
    found = find_shipped(ref)
    if found is None:
        close = near(ref, FILES)
        raise KipError(
            "SchemaPackageUnavailable",
            f"no package {ref!r} ships with kipql",
            hint=f"did you mean {close!r}?" if close else f"shipped are {', '.join(FILES)}",
        )
    return found


def _loaded(artifact: Mapping[str, Json]) -> Package:
    manifest = artifact["manifest"]
    known = find_shipped(f"{manifest['package_id']}@{manifest['version']}")
    return known if known is not None and known.artifact == artifact else Package.load(artifact, trusted=True)
