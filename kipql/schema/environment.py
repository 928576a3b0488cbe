"""The Schema Environment: the exact set of active packages of one Space, and what names mean in it (§20.8, §20.14).

Immutable and shared: a View holds the Environment of its snapshot. Each symbol kind resolves by itself, so a
Predicate and a Concept Type may share a name. The Core package is always inside and never listed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from kipql.errors import KipError
from kipql.model import CONCEPT
from kipql.schema import core, refs
from kipql.schema.definitions import (
    ConceptType,
    Definition,
    Endpoint,
    FacetDefinition,
    PredicateType,
    StructuralField,
)
from kipql.schema.packages import Package, Rename
from kipql.schema.resolution import Table, build
from kipql.values import Json

D = TypeVar("D", bound=Definition)


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """Packages resolved together. `version` is `schema_environment_version`; make one with `Environment.of`."""

    version: int
    packages: tuple[Package, ...]  # ordered by ref, Core left out
    promotions: tuple[Rename, ...]
    types: Table[ConceptType]
    relations: Table[PredicateType]
    facet_table: Table[FacetDefinition]
    field_table: Table[StructuralField]
    lineages: Mapping[str, str]
    demands: Mapping[str, tuple[StructuralField, ...]]  # exact type ref -> fields with a minimum
    record_demands: Mapping[int, tuple[StructuralField, ...]]  # the same by kind, for records

    @classmethod
    def of(cls, packages: Iterable[Package], version: int, promotions: Iterable[Rename] = ()) -> "Environment":
        """The Environment of these packages.

        promotions   lineage mappings from draft symbols to symbols of installed packages (§20.16)

        Raises SchemaSymbolConflict for two packages under one ref, SchemaPackageUnavailable for a missing
        dependency, SchemaSymbolNotFound or SchemaSymbolAmbiguous for a reference to a type that is not here.
        """
        held = _distinct(packages)
        _check_dependencies(held)
        promoted = tuple(promotions)
        renames = _renames(held, promoted)
        types = build(ConceptType, held, renames[ConceptType.GROUP], lambda definition, _: definition)
        ends = _TypeNames(types)
        relations = build(PredicateType, held, renames[PredicateType.GROUP], ends.predicate)
        facets = build(FacetDefinition, held, renames[FacetDefinition.GROUP], ends.facet)
        fields = build(StructuralField, held, renames[StructuralField.GROUP], ends.structural_field)
        demanding = [field for field in fields.current if field.min and not field.computed]
        return cls(
            version=version,
            packages=held,
            promotions=promoted,
            types=types,
            relations=relations,
            facet_table=facets,
            field_table=fields,
            lineages={**fields.lineages, **facets.lineages, **relations.lineages, **types.lineages},
            demands={
                ref: wanted
                for ref in types.exact
                if (wanted := tuple(field for field in demanding if field.source.admits(CONCEPT, ref)))
            },
            record_demands={
                kind: wanted
                for kind in core.ANY_KIND - {CONCEPT}
                if (wanted := tuple(field for field in demanding if field.source.admits(kind, None)))
            },
        )

    def with_packages(self, packages: Iterable[Package], version: int) -> "Environment":
        """This Environment with more packages active; the draft package replaces its earlier state."""
        added = tuple(packages)
        grown = {package.ref for package in added if package.ref == refs.DRAFT_REF}
        kept = [package for package in self.packages if package.ref not in grown]
        return Environment.of([*kept, *added], version, self.promotions)

    def with_promotions(self, promotions: Iterable[Rename], version: int) -> "Environment":
        """This Environment with more draft symbols promoted to installed ones (§20.16)."""
        return Environment.of(self.packages, version, [*self.promotions, *promotions])

    # by name: a local name, an alias, a lineage ref or an exact ref

    def concept_type(self, name: str) -> ConceptType:
        """Raises SchemaSymbolNotFound or SchemaSymbolAmbiguous, as its siblings do."""
        return self.types.get(name)

    def predicate(self, name: str) -> PredicateType:
        return self.relations.get(name)

    def facet(self, name: str) -> FacetDefinition:
        return self.facet_table.get(name)

    def structural_field(self, name: str) -> StructuralField:
        return self.field_table.get(name)

    def find_concept_type(self, name: str) -> ConceptType | None:
        """None when nothing has that name; an ambiguous name still raises, here and in its siblings."""
        return self.types.find(name)

    def find_predicate(self, name: str) -> PredicateType | None:
        return self.relations.find(name)

    def find_facet(self, name: str) -> FacetDefinition | None:
        return self.facet_table.find(name)

    def find_structural_field(self, name: str) -> StructuralField | None:
        return self.field_table.find(name)

    def structural_field_of(self, kind: int, name: str) -> core.CoreField | StructuralField:
        """The field that `name` means on an element of this kind: a Core field of the kind comes first (§20.13)."""
        return core.CORE_FIELDS.get((kind, name)) or self.structural_field(name)

    def write_version(self, definition: D) -> D:
        """The definition that a new element or tuple is bound to (§20.14); SchemaSymbolNotFound when retired."""
        table: Table[D] = self._table(type(definition))
        return table.writable(definition)

    def lineage(self, ref: str, kind: type[Definition] | None = None) -> str:
        """The lineage of an exact or lineage ref, after declared renames; `kind` when two kinds share the ref.

        A ref of a package that is not active has the lineage it spells. Raises SchemaSymbolNotFound for what
        is no ref at all.
        """
        lineage = self.known_lineage(ref, kind)
        if lineage is None:
            raise KipError("SchemaSymbolNotFound", f"{ref!r} is not a symbol ref", hint='write "kip://path@1.0.0/Name"')
        return lineage

    def known_lineage(self, ref: str, kind: type[Definition] | None = None) -> str | None:
        """As `lineage`; None for what is no ref."""
        known = self.lineages if kind is None else self._table(kind).lineages
        return known.get(ref) or refs.written_lineage(ref)

    @property
    def concept_types(self) -> tuple[ConceptType, ...]:
        """Current write versions, ordered by ref."""
        return self.types.current

    @property
    def predicates(self) -> tuple[PredicateType, ...]:
        return self.relations.current

    @property
    def facets(self) -> tuple[FacetDefinition, ...]:
        return self.facet_table.current

    @property
    def structural_fields(self) -> tuple[StructuralField, ...]:
        return self.field_table.current

    def package(self, ref: str) -> Package | None:
        """An active package by its ref, or by its id in the newest active version."""
        matching = [package for package in self.packages if ref in (package.ref, package.package_id)]
        return max(matching, key=lambda package: refs.version_key(package.version), default=None)

    # what META says (§65)

    def package_rows(self) -> list[dict[str, str]]:
        """LIST SCHEMA PACKAGES; a package with a newer version beside it is `superseded`: readable, not written."""
        newest = {package.package_id: self.package(package.package_id) for package in self.packages}
        return [
            {
                "package_ref": package.ref,
                "package_id": package.package_id,
                "version": package.version,
                "status": "active" if newest[package.package_id] is package else "superseded",
            }
            for package in self.packages
        ]

    def to_dict(self) -> dict[str, Any]:
        """DESCRIBE SCHEMA ENVIRONMENT."""
        return {
            "version": self.version,
            "core": refs.CORE_REF,
            "packages": self.package_rows(),
            "symbols": {
                "concept_types": len(self.concept_types),
                "predicates": len(self.predicates),
                "facets": len(self.facets),
                "structural_fields": len(self.structural_fields),
            },
            "promotions": [{"from": rename.old, "to": rename.new} for rename in self.promotions],
        }

    def _table(self, kind: type[Definition]) -> Table[Any]:
        tables: dict[type[Definition], Table[Any]] = {
            ConceptType: self.types,
            PredicateType: self.relations,
            FacetDefinition: self.facet_table,
            StructuralField: self.field_table,
        }
        return tables[kind]


def symbol_row(definition: Definition) -> dict[str, str]:
    """One row of LIST TYPES, PREDICATES, FACETS or STRUCTURAL FIELDS: these four members, no others."""
    return {
        "ref": definition.ref,
        "local_name": definition.local_name,
        "package_ref": definition.package_ref,
        "status": definition.status,
    }


def describe(definition: Definition) -> dict[str, Json]:
    """DESCRIBE TYPE, PREDICATE, FACET or STRUCTURAL FIELD: the row, its identity and the definition as written."""
    return {
        **symbol_row(definition),
        "kind": definition.KIND,
        "lineage": definition.lineage,
        "version": definition.version,
        "definition": dict(definition.raw),
    }


@dataclass(frozen=True, slots=True)
class _TypeNames:
    """Resolves the type names that endpoints use to lineages and exact refs."""

    types: Table[ConceptType]

    def predicate(self, definition: PredicateType, package: Package) -> PredicateType:
        subject = self._endpoint(definition.subject, definition, package)
        return replace(definition, subject=subject, object=self._endpoint(definition.object, definition, package))

    def facet(self, definition: FacetDefinition, package: Package) -> FacetDefinition:
        return replace(definition, applicable_to=self._endpoint(definition.applicable_to, definition, package))

    def structural_field(self, definition: StructuralField, package: Package) -> StructuralField:
        source = self._endpoint(definition.source, definition, package)
        return replace(definition, source=source, target=self._endpoint(definition.target, definition, package))

    def _endpoint(self, endpoint: Endpoint, definition: Definition, package: Package) -> Endpoint:
        if not endpoint.concept_types:
            return endpoint
        found = {self._lineage(name, definition, package) for name in endpoint.concept_types}
        exact = frozenset(ref for ref in self.types.exact if self.types.lineages[ref] in found)
        return replace(endpoint, concept_types=tuple(sorted(found)), type_refs=exact)

    def _lineage(self, name: str, definition: Definition, package: Package) -> str:
        """A package's own type comes before others of the name; an unknown version has the lineage it spells."""
        if name in package.concept_types:
            return self.types.lineages[package.concept_types[name].ref]
        spelled = refs.written_lineage(name)
        if spelled is not None and spelled in self.types.lineages:
            return self.types.lineages[spelled]
        try:
            return self.types.get(name).lineage
        except KipError as error:
            raise KipError(error.code, f"{definition.ref}: {error.message}", hint=error.hint) from None


def _distinct(packages: Iterable[Package]) -> tuple[Package, ...]:
    """Packages ordered by ref, each once. Raises SchemaSymbolConflict when one ref has two contents."""
    held: dict[str, Package] = {}
    for package in packages:
        known = held.setdefault(package.ref, package)
        if known is not package and known.artifact != package.artifact:
            raise KipError(
                "SchemaSymbolConflict",
                f"two packages call themselves {package.ref}",
                hint="a package is immutable: publish the change under another version",
            )
    return tuple(held[ref] for ref in sorted(held))


def _check_dependencies(packages: Iterable[Package]) -> None:
    present = {(package.package_id, package.version) for package in packages} | {(refs.CORE_PACKAGE, refs.CORE_VERSION)}
    ids = {package_id for package_id, _ in present}
    for package in packages:
        for dependency in package.dependencies:
            there = (
                dependency.package_id in ids
                if dependency.version is None
                else (dependency.package_id, dependency.version) in present
            )
            if dependency.required and not there:
                wanted = f"{dependency.package_id}@{dependency.version or '*'}"
                raise KipError(
                    "SchemaPackageUnavailable",
                    f"{package.ref} depends on {wanted}, which is not active",
                    hint=f"install {wanted} in the same step",
                )


def _renames(packages: Iterable[Package], promotions: Iterable[Rename]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {
        kind.GROUP: {} for kind in (ConceptType, PredicateType, FacetDefinition, StructuralField)
    }
    ordered = sorted(packages, key=lambda package: refs.version_key(package.version))
    for rename in [*(rename for package in ordered for rename in package.renames), *promotions]:
        found[rename.group][rename.old] = rename.new
    return found
