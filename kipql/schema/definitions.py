"""What a Schema Package defines: Concept Types, Predicates, Facets and Structural Fields (specification §20.5, §20.15).

Definitions are frozen and shared. A Package holds them as written; an Environment holds copies in which every
type name is resolved to a lineage and to the exact refs of that lineage, so that a check is one set lookup.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kipql.model import CONCEPT
from kipql.schema.contracts import Contract
from kipql.values import Json


class Format(str):
    """The name of a string's shape; `pattern` is what its package says it must match, None for `timestamp`, `uri` and
    names that nothing defines (§20.15)."""

    pattern: "re.Pattern[str] | None"

    def __new__(cls, name: str, pattern: "re.Pattern[str] | None" = None) -> "Format":
        made = super().__new__(cls, name)
        made.pattern = pattern
        return made


TYPE_NAMES = frozenset({"string", "number", "integer", "boolean", "null", "array", "object", "timestamp"})
LITERAL_TYPES = frozenset({"string", "number", "boolean", "null"})
OVERLAPPING = "overlapping_valid_time"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FieldDefinition:
    """One declared attribute or Facet field; `types` is empty where any JSON value is allowed."""

    name: str
    types: tuple[str, ...] = ()
    required: bool = False
    mutable: bool = True
    computed: bool = False
    enum: tuple[Json, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None
    format: Format | None = None
    value_schema: Contract | None = None
    description: str | None = None

    @property
    def timestamp(self) -> bool:
        """Whether a string here must be a protocol timestamp (§6.5)."""
        return self.format == "timestamp" or ("timestamp" in self.types and "string" not in self.types)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shape:
    """An object made of declared fields: the attributes of a Concept Type, or a Facet.

    `open` admits fields that are not declared. `references` are the declared `reference_paths`, as steps
    with `*` for every item.
    """

    fields: Mapping[str, FieldDefinition]
    open: bool = False
    required: tuple[str, ...] = ()
    fixed: frozenset[str] = frozenset()  # mutable: false
    value_schema: Contract | None = None
    references: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Endpoint:
    """What may stand at one end of a Predicate or a Structural Field, or carry a Facet (§20.15).

    An endpoint that declares nothing admits every element and every non-null Literal. With `concept_types` a
    Concept must be of one of them; other kinds must be in `kinds`. `type_refs` holds the exact refs of every
    readable version of the types, filled in by the Environment.
    """

    kinds: frozenset[int] = frozenset()
    concept_types: tuple[str, ...] = ()
    type_refs: frozenset[str] = frozenset()
    literal_types: frozenset[str] = frozenset()
    nullable: bool = False
    format: Format | None = None

    @property
    def admits_elements(self) -> bool:
        return bool(self.kinds or self.concept_types) or not self.literal_types

    @property
    def admits_literals(self) -> bool:
        return bool(self.literal_types) or not (self.kinds or self.concept_types)

    def admits(self, kind: int, concept_type: str | None) -> bool:
        """Whether an element of this kind, and of this exact type if it is a Concept, may stand here."""
        if kind == CONCEPT and self.concept_types:
            return concept_type in self.type_refs
        return kind in self.kinds or not (self.kinds or self.concept_types or self.literal_types)


ANYTHING = Endpoint()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Definition:
    """What every symbol has. `raw` is the definition as the package wrote it."""

    KIND: ClassVar[str] = ""
    GROUP: ClassVar[str] = ""
    WORD: ClassVar[str] = ""

    ref: str
    lineage: str
    local_name: str
    package_ref: str
    raw: Mapping[str, Json]
    status: str = "active"  # active | superseded (an older version) | retired
    description: str | None = None

    @property
    def version(self) -> str:
        return self.package_ref.rpartition("@")[2]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Fielded(Definition):
    """A definition that is made of declared fields."""

    shape: Shape

    @property
    def open(self) -> bool:
        """Whether fields that are not declared are admitted."""
        return self.shape.open

    @property
    def fields(self) -> Mapping[str, FieldDefinition]:
        return self.shape.fields


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ConceptType(Fielded):
    """A Concept Type and the shape of its attributes."""

    KIND: ClassVar[str] = "ConceptType"
    GROUP: ClassVar[str] = "concept_types"
    WORD: ClassVar[str] = "Concept Type"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PredicateType(Definition):
    """A Predicate with the declarations of §20.15 and their defaults."""

    KIND: ClassVar[str] = "PredicateType"
    GROUP: ClassVar[str] = "predicates"
    WORD: ClassVar[str] = "Predicate"

    subject: Endpoint = ANYTHING
    object: Endpoint = ANYTHING
    functional: bool = False
    functional_by: str | None = None
    open_world: bool = True
    complete: bool = False
    boolean_completeness: bool = False
    temporal_conflict: str = OVERLAPPING
    value_schema: Contract | None = None  # of a Literal object


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FacetDefinition(Fielded):
    """A Facet: its shape, what may carry it, and which Activities (§18, §20.5)."""

    KIND: ClassVar[str] = "FacetDefinition"
    GROUP: ClassVar[str] = "facets"
    WORD: ClassVar[str] = "Facet"

    applicable_to: Endpoint = ANYTHING
    activity_classes: frozenset[str] = field(default_factory=frozenset)
    terminal_only: bool = False
    computed: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StructuralField(Definition):
    """A Structural Field of a package (§17); `max` is None where there is no upper bound."""

    KIND: ClassVar[str] = "StructuralFieldDefinition"
    GROUP: ClassVar[str] = "structural_fields"
    WORD: ClassVar[str] = "Structural Field"

    source: Endpoint = ANYTHING
    target: Endpoint = ANYTHING
    min: int = 0
    max: int | None = None
    ordered: bool = False
    unique: bool = False
    computed: bool = False

    @property
    def single(self) -> bool:
        """At most one reference: SET replaces it (§17.5)."""
        return self.max == 1
