"""The Schema symbols of a Capsule: the packages it rests on, and what they are in a destination (§20.12, §41.3, §41.7).

A record keeps exact refs. A destination must have the same packages, recognised by digest; an embedded one is looked
at and never activated. A source's draft vocabulary belongs to its Space: each draft symbol that is used needs a
destination symbol of the same kind, named by the host; none is mapped by name.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kipql.capsules.artifact import blob_digest
from kipql.capsules.forms import Problem
from kipql.errors import KipError
from kipql.schema.artifacts import PUBLISHED_DIGESTS
from kipql.schema.definitions import ConceptType, Definition, FacetDefinition, PredicateType, StructuralField
from kipql.schema.environment import Environment
from kipql.schema.packages import Package, content_digest, shipped
from kipql.schema.refs import CORE_REF, DRAFT_REF, parse_exact
from kipql.values import Json, members_once


class Used(NamedTuple):
    """A symbol that a record uses: its kind and its exact ref."""

    kind: type[Definition]
    ref: str


_FIND = {
    ConceptType: Environment.find_concept_type,
    PredicateType: Environment.find_predicate,
    FacetDefinition: Environment.find_facet,
    StructuralField: Environment.find_structural_field,
}


def used(record: Mapping[str, Any]) -> Iterator[Used]:
    """The symbols of one record."""
    if record["kind"] == "concept":
        yield Used(ConceptType, record["schema_ref"])
    elif record["kind"] == "proposition":
        yield Used(PredicateType, record["predicate_ref"])
    yield from (Used(FacetDefinition, ref) for ref in record.get("facets", ()))
    yield from (Used(StructuralField, ref) for ref in record.get("structural", ()))


def find(environment: Environment, symbol: Used) -> Definition | None:
    """The definition of exactly this symbol, None when its package is not active."""
    try:
        found: Definition | None = _FIND[symbol.kind](environment, symbol.ref)
    except KipError:
        return None
    return found if found is not None and found.ref == symbol.ref else None


def package_of(ref: str) -> str:
    """The package ref of an exact symbol ref; the text itself where it is none."""
    exact = parse_exact(ref)
    return ref if exact is None else exact.package_ref


def digest_of(package: Package) -> str:
    """The digest that a Capsule names a package by: the published one where kipql ships its equal."""
    published = PUBLISHED_DIGESTS.get(package.ref)
    return published if published is not None and package is shipped(package.ref) else content_digest(package.artifact)


def dependencies(environment: Environment, records: Iterable[Mapping[str, Any]]) -> list[dict[str, Json]]:
    """The packages that records rest on, with Core."""
    refs = {package_of(symbol.ref) for record in records for symbol in used(record)}
    rows: list[dict[str, Json]] = [{"package_ref": CORE_REF}]
    for ref in sorted(refs):
        package = environment.package(ref)
        if package is not None:
            rows.append({"package_ref": ref, "content_digest": digest_of(package)})
    return rows


def embedded(environment: Environment, rows: Iterable[Mapping[str, Json]]) -> dict[str, str]:
    """The artifacts of dependencies as blobs, by the digest of their bytes; a draft vocabulary stays at home."""
    import rfc8785

    blobs = {}
    for row in rows:
        package = environment.package(str(row["package_ref"]))
        if package is not None and package.ref not in (DRAFT_REF, CORE_REF):
            text = rfc8785.dumps(dict(package.artifact)).decode()
            blobs[blob_digest(text)] = text
    return blobs


def status(environment: Environment, row: Mapping[str, Json]) -> str:
    """What a dependency is here: "installed", "mismatch" (other content under its ref), "draft" or "missing"."""
    ref = str(row["package_ref"])
    if ref == CORE_REF:
        return "installed"
    if ref == DRAFT_REF:
        return "draft"
    package = environment.package(ref)
    if package is None:
        return "missing"
    known = (digest_of(package), content_digest(package.artifact))
    return "installed" if row.get("content_digest") in known else "mismatch"


def packages_in(blobs: Mapping[str, str]) -> Iterator[Package]:
    """The Schema Packages among the blobs of a Capsule, loaded to look at (§20.12)."""
    for text in blobs.values():
        try:
            artifact = json.loads(text, object_pairs_hook=members_once)
            if isinstance(artifact, dict) and artifact.get("format") == "KIP-Schema-Package":
                yield Package.load(artifact)
        except (ValueError, RecursionError, KipError):
            continue  # not a package that this engine can read: its ref stays missing


def beside(environment: Environment, blobs: Mapping[str, str]) -> Environment:
    """The Environment with the embedded packages that it lacks, for validation only; itself where they do not fit."""
    fresh = [each for each in packages_in(blobs) if environment.package(each.ref) is None]
    if not fresh:
        return environment
    try:
        return environment.with_packages(fresh, environment.version + 1)
    except KipError:
        return environment


def dependency_problems(environment: Environment, rows: Iterable[Mapping[str, Json]]) -> Iterator[Problem]:
    """What keeps a destination from taking records that rest on these packages."""
    for at, row in enumerate(rows):
        ref, found = row["package_ref"], status(environment, row)
        path = f"/payload/schema_dependencies/{at}"
        if found == "missing":
            yield Problem(
                path,
                f"{ref} is not installed here; install it first (install_packages, --package)",
                "SchemaPackageUnavailable",
            )
        elif found == "mismatch":
            yield Problem(path, f"{ref} is installed here with other content", "DigestMismatch")


class Symbols:
    """The symbols of a Capsule as a destination writes them.

    drafts  source draft symbol -> destination symbol, as the host's plan maps them
    """

    __slots__ = ("_drafts", "_known", "environment")

    def __init__(self, environment: Environment, drafts: Mapping[str, str]) -> None:
        self.environment = environment
        self._drafts = drafts
        self._known: dict[Used, str | None] = {}

    def ref(self, symbol: Used) -> str | None:
        """The exact ref that a destination writes, in the current write version of its lineage; None for a symbol
        that it lacks. Raises what the Environment raises for a mapping's target."""
        if symbol not in self._known:
            self._known[symbol] = self._resolved(symbol)
        return self._known[symbol]

    def _resolved(self, symbol: Used) -> str | None:
        definition = find(self.environment, symbol)
        if package_of(symbol.ref) == DRAFT_REF:
            target = self._drafts.get(symbol.ref)
            if target is None:
                return None
            definition = _FIND[symbol.kind](self.environment, target)
        return None if definition is None else self.environment.write_version(definition).ref

    def missing(self, records: Iterable[Mapping[str, Any]]) -> list[str]:
        """The symbols of records that the destination has nothing for, ordered."""
        return sorted({symbol.ref for record in records for symbol in used(record) if self.ref(symbol) is None})
