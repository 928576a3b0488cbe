"""Schema Packages: immutable, versioned, exact (specification §20.2-§20.5, §20.11).

`Package.load` accepts a published artifact and the abbreviated form hosts write: `integrity`, `format_version`,
`ref`, `kind` and most members may be left out. What is there must be right: a package is refused as a whole.

A rename or retirement (§20.14) is an entry of `migrations`; entries of any other kind are kept and not read:

    {"kind": "rename", "symbol_kind": "PredicateType", "from": "lives_at", "to": "lives_in"}
    {"kind": "retire", "symbol_kind": "ConceptType", "symbol": "Option"}
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from kipql.errors import KipError
from kipql.lang.words import near
from kipql.schema import artifacts, refs, strict
from kipql.schema.contracts import canonical_digest, check_contract, check_pins
from kipql.schema.definitions import (
    ConceptType,
    Definition,
    Endpoint,
    FacetDefinition,
    PredicateType,
    StructuralField,
)
from kipql.schema.reading import GROUPS, contracts_of, read_definitions
from kipql.schema.shapes import json_object, member, names, refuse
from kipql.values import Json, check_json

_MEMBERS = {
    "format",
    "format_version",
    "manifest",
    "dependencies",
    "definitions",
    "constraints",
    "aliases",
    "compatibility",
    "migrations",
    "model_hints",
    "canonicalization",
    "integrity",
}
_GROUP_OF_KIND = {
    definition.KIND: definition.GROUP for definition in (ConceptType, PredicateType, FacetDefinition, StructuralField)
}


class Rename(NamedTuple):
    """A declared succession of one lineage by another (§20.14); `group` is the kind of symbol."""

    group: str
    old: str
    new: str


class Dependency(NamedTuple):
    """Another package that must be active; `version` None admits any."""

    package_id: str
    version: str | None
    required: bool


@dataclass(frozen=True, slots=True, eq=False)
class Package:
    """A loaded Schema Package, which never changes (§20.11): its definitions by local name, as the artifact has them.

    artifact  the JSON it came from, as given
    renames   the declared successions of its lineages, `retired` the lineages it ends (§20.14)

    >>> import kipql
    >>> things = kipql.Package.load({
    ...     "manifest": {"package_id": "kip://acme/things", "version": "1.0.0"},
    ...     "definitions": {"concept_types": {"Robot": {"description": "A machine that moves."}}},
    ... })
    >>> things.ref, sorted(things.concept_types)
    ('kip://acme/things@1.0.0', ['Robot'])
    """

    package_id: str
    version: str
    artifact: Mapping[str, Json]
    concept_types: Mapping[str, ConceptType]
    predicates: Mapping[str, PredicateType]
    facets: Mapping[str, FacetDefinition]
    structural_fields: Mapping[str, StructuralField]
    aliases: Mapping[str, Mapping[str, str]]
    dependencies: tuple[Dependency, ...]
    renames: tuple[Rename, ...]
    retired: tuple[tuple[str, str], ...]  # (group, lineage)
    activity_classes: tuple[str, ...]

    @property
    def ref(self) -> str:
        """Its exact ref, `kip://path@version` (§20.2)."""
        return f"{self.package_id}@{self.version}"

    @property
    def definitions(self) -> Mapping[str, Mapping[str, Definition]]:
        """Every definition by group (`concept_types`, ...) and local name."""
        return {group: getattr(self, group) for group in GROUPS}

    @classmethod
    def load(cls, artifact: Mapping[str, Json], *, trusted: bool = False) -> "Package":
        """The package that an artifact describes.

        trusted   the artifact was activated before (a journal, a packaged file): its digest and its value
                  schemas are not checked again

        Raises ConstraintViolation for anything malformed, SchemaSymbolConflict for a symbol that would shadow
        Core or is defined twice, SchemaSymbolNotFound for a reference to a symbol its own path does not
        define, DigestMismatch when content and digest disagree.
        """
        artifact = json_object(artifact if trusted else check_json(artifact), "a Schema Package")
        package_id, version = _identity(artifact)
        if not trusted and (known := _recognised(f"{package_id}@{version}", artifact)):
            return known
        what = f"package {package_id}@{version}"
        if unknown := set(artifact) - _MEMBERS:
            close = near(min(unknown), sorted(_MEMBERS))
            raise refuse(what, f"has an unknown member {min(unknown)!r}", f"did you mean {close}?" if close else None)
        definitions = read_definitions(artifact.get("definitions", {}), package_id, version)
        renames, retired = _migrations(artifact, package_id, version, definitions)
        package = cls(
            package_id=package_id,
            version=version,
            artifact=artifact,
            **{group: MappingProxyType(members) for group, members in definitions.items()},  # type: ignore[arg-type]
            aliases=_aliases(artifact, definitions, what),
            dependencies=tuple(_dependencies(artifact, what)),
            renames=renames,
            retired=retired,
            activity_classes=_activity_classes(artifact, what),
        )
        _check_own_types(package)
        if not trusted:
            strict.check(artifact, definitions, what)
            _check_digest(artifact, what)
            _check_contracts(package, artifact, what)
        return package


def content_digest(artifact: Mapping[str, Json]) -> str:
    """The digest of a package artifact: of every member but `integrity`, as RFC 8785 writes it (§20.3)."""
    return canonical_digest({name: member for name, member in artifact.items() if name != "integrity"})


def shipped(ref: str) -> Package | None:
    """The package that ships under a ref, loaded once for the process; None where none does."""
    return _packaged(ref) if ref in artifacts.FILES else None


@functools.cache
def _packaged(ref: str) -> Package:
    """It was checked when it was written (tests/schema), so it is trusted."""
    return Package.load(artifacts.read(ref), trusted=True)


def _recognised(ref: str, artifact: Mapping[str, Json]) -> Package | None:
    """The packaged Package when `artifact` is it, word for word or as published."""
    package = shipped(ref)
    if package is None or package.artifact == artifact:
        return package
    integrity = artifact.get("integrity")
    stated = integrity.get("content_digest") if isinstance(integrity, Mapping) else None
    if stated is None or stated != artifacts.PUBLISHED_DIGESTS.get(ref):
        return None
    _check_digest(artifact, f"package {ref}")
    return package


def _identity(artifact: Mapping[str, Json]) -> tuple[str, str]:
    if artifact.get("format", "KIP-Schema-Package") != "KIP-Schema-Package":
        raise refuse("a Schema Package", f"has format {artifact['format']!r}", 'format is "KIP-Schema-Package"')
    if not str(artifact.get("format_version", "2.0-draft")).startswith("2.0"):
        raise refuse("a Schema Package", f"has format_version {artifact['format_version']!r}; this engine reads 2.0")
    manifest = json_object(artifact.get("manifest"), "the manifest of a Schema Package")
    package_id, version = manifest.get("package_id"), manifest.get("version")
    if not isinstance(package_id, str) or not refs.is_package_id(package_id):
        raise refuse("a manifest", f"has no package id but {package_id!r}", 'write "kip://lower-case/path"')
    if not isinstance(version, str) or not refs.is_version(version):
        raise refuse(f"package {package_id}", f"has no exact version but {version!r}", 'write "1.0.0"; never a range')
    if package_id == refs.CORE_PACKAGE:
        raise KipError("SchemaSymbolConflict", "kip://core is built in and can not be replaced")
    if manifest.get("package_ref", f"{package_id}@{version}") != f"{package_id}@{version}":
        raise refuse(f"package {package_id}@{version}", f"calls itself {manifest['package_ref']!r}")
    return package_id, version


def _aliases(
    artifact: Mapping[str, Json], definitions: Mapping[str, Mapping[str, Definition]], what: str
) -> Mapping[str, Mapping[str, str]]:
    source = json_object(artifact.get("aliases", {}), f"{what}: aliases")
    if unknown := set(source) - set(GROUPS):
        raise refuse(what, f"has aliases of an unknown kind {min(unknown)!r}", f"kinds are {', '.join(GROUPS)}")
    for group, aliases in source.items():
        for alias, target in json_object(aliases, f"{what}: aliases").items():
            if not refs.is_symbol_name(alias) or not isinstance(target, str):
                raise refuse(what, f"has a malformed alias {alias!r}")
            defined = definitions[group].get(alias)
            if defined is not None and target not in (defined.ref, defined.lineage, alias):
                raise KipError("SchemaSymbolConflict", f"{what} both defines {alias!r} and makes it an alias")
    return source


def _dependencies(artifact: Mapping[str, Json], what: str) -> Iterator[Dependency]:
    for value in member(artifact, "dependencies", list, [], what):
        source = json_object(value, f"{what}: a dependency")
        package_id, _, version = str(source.get("package_ref", "")).partition("@")
        package_id = source.get("package_id", package_id)
        version = source.get("version", version or None)
        if not isinstance(package_id, str) or not refs.is_package_id(package_id):
            raise refuse(what, f"depends on {package_id!r}, which is no package id")
        if version is not None and not (isinstance(version, str) and refs.is_version(version)):
            raise refuse(what, f"depends on {package_id} at {version!r}, which is no exact version")
        yield Dependency(package_id, version, member(source, "required", bool, True, what))


def _migrations(
    artifact: Mapping[str, Json],
    package_id: str,
    version: str,
    definitions: Mapping[str, Mapping[str, Definition]],
) -> tuple[tuple[Rename, ...], tuple[tuple[str, str], ...]]:
    what = f"package {package_id}@{version}"
    renames: list[Rename] = []
    retired: list[tuple[str, str]] = []
    for entry in member(artifact, "migrations", list, [], what):
        if not isinstance(entry, Mapping) or entry.get("kind") not in ("rename", "retire"):
            continue
        group = _GROUP_OF_KIND.get(str(entry.get("symbol_kind")))
        if group is None:
            raise refuse(what, f"has a migration of an unknown symbol_kind {entry.get('symbol_kind')!r}")
        if entry["kind"] == "retire":
            retired.append((group, f"{package_id}/{_symbol(entry, 'symbol', what)}"))
            continue
        old, new = _symbol(entry, "from", what), _symbol(entry, "to", what)
        if new not in definitions[group] or old in definitions[group]:
            raise refuse(what, f"renames {old!r} to {new!r}: it must define the new name and not the old one")
        renames.append(Rename(group, f"{package_id}/{old}", f"{package_id}/{new}"))
    return tuple(renames), tuple(retired)


def _symbol(entry: Mapping[str, Json], key: str, what: str) -> str:
    name = entry.get(key)
    if not isinstance(name, str) or not refs.is_symbol_name(name):
        raise refuse(what, f"has a migration without a symbol name in {key!r}")
    return name


def _activity_classes(artifact: Mapping[str, Json], what: str) -> tuple[str, ...]:
    extensions = json_object(artifact.get("definitions", {}), what).get("registry_extensions", {})
    classes = json_object(extensions, f"{what}: registry_extensions").get("activity_classes", {})
    return names(json_object(classes, f"{what}: activity_classes").get("values", ()), f"{what}: activity_classes")


def endpoints_of(definition: Definition) -> Iterator[tuple[str, Endpoint]]:
    """The endpoints of a definition with the names of their members."""
    if isinstance(definition, PredicateType):
        yield from (("subject", definition.subject), ("object", definition.object))
    elif isinstance(definition, StructuralField):
        yield from (("source", definition.source), ("target", definition.target))
    elif isinstance(definition, FacetDefinition):
        yield "applicable_to", definition.applicable_to


def _check_own_types(package: Package) -> None:
    """A type of the package's own path and version must be defined here; other types wait for the Environment."""
    for members in package.definitions.values():
        for definition in members.values():
            for side, endpoint in endpoints_of(definition):
                for name in endpoint.concept_types:
                    exact = refs.parse_exact(name)
                    if exact and exact.package_ref == package.ref and exact.name not in package.concept_types:
                        close = near(exact.name, package.concept_types)
                        raise KipError(
                            "SchemaSymbolNotFound",
                            f"{definition.ref}: {side} names {name}, which is not defined",
                            hint=f"did you mean {package.ref}/{close}?" if close else None,
                        )


def _check_digest(artifact: Mapping[str, Json], what: str) -> None:
    integrity = json_object(artifact.get("integrity", {}), f"{what}: integrity")
    stated = integrity.get("content_digest")
    if stated is None:
        return
    found = content_digest(artifact)
    if stated != found:
        raise KipError(
            "DigestMismatch",
            f"{what} states the digest {stated}, its content has {found}",
            hint="get it anew; for a package of your own, kipql package check --seal writes the digest",
            details={"found": found},
        )


def _check_contracts(package: Package, artifact: Mapping[str, Json], what: str) -> None:
    lock = _lock(artifact, what)
    check_pins(lock or {}, what)
    for members in package.definitions.values():
        for definition in members.values():
            for where, contract in contracts_of(definition):
                check_contract(contract, where, lock)


def _lock(artifact: Mapping[str, Json], what: str) -> Mapping[str, str] | None:
    """The pinned digests of `validation_schemas` by id, or None when the manifest has no lock."""
    manifest = json_object(artifact["manifest"], what)
    if "validation_schemas" not in manifest:
        return None
    lock: dict[str, str] = {}
    for value in member(manifest, "validation_schemas", list, [], what):
        pin = json_object(value, f"{what}: validation_schemas")
        identity, digest = pin.get("id"), pin.get("content_digest")
        if not isinstance(identity, str) or not isinstance(digest, str) or identity in lock:
            raise refuse(f"{what}: validation_schemas", "needs one id and one content_digest per entry")
        lock[identity] = digest
    return lock
