"""Which elements a grant is about: a few plain conditions, all of which must hold (specification §29, §30.1).

Conditions look at protected facts only: what kind of element it is, its Type or Predicate by lineage, how the
host classified it, its id. What an author wrote in it decides nothing.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from kipql.errors import KipError
from kipql.model import CONCEPT, KIND_NAMES, KINDS, element_id
from kipql.values import Json, json_type


class Facts(NamedTuple):
    """What a condition looks at: the kind, the lineage of a Concept's Type or of a claim's Predicate, the label."""

    kind: int
    lineage: str | None
    classification: str | None


class Labels(NamedTuple):
    """The classification labels of a Space, least restricted first, and what an element without one counts as."""

    order: tuple[str, ...] = ()
    unclassified: str | None = None

    def rank(self, label: str) -> int:
        """The place of a label; one that is not declared is above all others."""
        return self.order.index(label) if label in self.order else len(self.order)

    def within(self, label: str | None, ceiling: str) -> bool:
        """Whether a label is no higher than a ceiling; without a label, and without a rule for that, it is."""
        counted = label if label is not None else self.unclassified
        return counted is None or (ceiling in self.order and self.rank(counted) <= self.rank(ceiling))


NO_LABELS = Labels()


@dataclass(frozen=True, slots=True)
class Scope:
    """The conditions of one grant; a condition that is None is not asked.

    kinds           "Concept", "Proposition", "Assertion", "Evidence", "Activity"
    types           lineages of Concept Types; nothing but Concepts matches
    predicates      lineages of Predicates; nothing but Propositions and Assertions matches
    classification  labels, "" for an element that has none
    up_to           the highest label that matches
    ids             element ids
    facets          Facets, by lineage, that `maintain` and `update` reach; other permissions do not look at it
    """

    kinds: frozenset[str] | None = None
    types: frozenset[str] | None = None
    predicates: frozenset[str] | None = None
    classification: frozenset[str] | None = None
    up_to: str | None = None
    ids: frozenset[str] | None = None
    facets: frozenset[str] | None = None

    @property
    def everything(self) -> bool:
        """Whether every element matches, whatever its facts."""
        return all(getattr(self, field.name) is None for field in fields(self) if field.name != "facets")

    def matches(self, facts: Facts, code: int, labels: Labels) -> bool:
        """Whether an element is one of those that the grant is about."""
        kind, lineage, label = facts
        if self.kinds is not None and KIND_NAMES[kind] not in self.kinds:
            return False
        if self.types is not None and (kind != CONCEPT or lineage not in self.types):
            return False
        if self.predicates is not None and (kind == CONCEPT or lineage not in self.predicates):
            return False
        if self.classification is not None and (label or "") not in self.classification:
            return False
        if self.up_to is not None and not labels.within(label, self.up_to):
            return False
        return self.ids is None or element_id(code) in self.ids

    def renamed(self, lineage: Callable[[str], str]) -> "Scope":
        """The scope with its symbols as a Schema Environment calls them now: a rename takes rules along (§20.14)."""
        symbols = {name: getattr(self, name) for name in ("types", "predicates", "facets")}
        held: dict[str, Any] = {
            name: frozenset(map(lineage, refs)) for name, refs in symbols.items() if refs is not None
        }
        return replace(self, **held) if held else self

    def to_dict(self) -> dict[str, Json]:
        """The conditions that are asked, as JSON."""
        found: dict[str, Json] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                found[field.name] = value if isinstance(value, str) else sorted(value)
        return found

    @classmethod
    def of_dict(cls, data: Mapping[str, Json]) -> "Scope":
        """The scope that `to_dict` wrote."""
        found: dict[str, Any] = {
            name: value if isinstance(value, str) else frozenset(value) for name, value in data.items()
        }
        return cls(**found)


EVERYTHING = Scope()
_OF_NAME = {name.lower(): name for name in KIND_NAMES}


def names_of(value: Sequence[str] | Collection[str] | str | None, what: str) -> frozenset[str] | None:
    """A condition as given: one name or several. Raises TypeMismatch, ConstraintViolation for none at all."""
    if value is None:
        return None
    if not isinstance(value, str | Iterable) or isinstance(value, Mapping):
        raise KipError("TypeMismatch", f"{what} are a name or a list of names, not {json_type(value)}")
    names = (value,) if isinstance(value, str) else tuple(value)
    if not all(isinstance(name, str) for name in names):
        raise KipError("TypeMismatch", f"{what} are strings")
    if not names:
        raise KipError("ConstraintViolation", f"{what} names nothing", hint="leave the condition out to match all")
    return frozenset(names)


def kinds_of(value: Collection[str] | str | None) -> frozenset[str] | None:
    """Element kinds, however they are capitalised. Raises ConstraintViolation for a name that is no kind."""
    names = names_of(value, "kinds")
    if names is None:
        return None
    if unknown := sorted(name for name in names if name.lower() not in _OF_NAME):
        raise KipError("ConstraintViolation", f"{unknown[0]!r} is no kind of element", hint=", ".join(KINDS))
    return frozenset(_OF_NAME[name.lower()] for name in names)
