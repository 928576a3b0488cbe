"""The draft vocabulary `kip://local/draft@0.0.0` and what DEFINE may add to it (specification §20.16)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, NoReturn

from kipql.errors import KipError
from kipql.lang.words import near
from kipql.schema import refs
from kipql.schema.core import RESERVED_TYPE_NAMES
from kipql.schema.definitions import LITERAL_TYPES, ConceptType, Definition, PredicateType
from kipql.schema.environment import Environment
from kipql.schema.packages import Package, Rename
from kipql.schema.shapes import names
from kipql.values import Json, json_type

_PREDICATE_MEMBERS = {
    "description",
    "subject",
    "object",
    "functional",
    "functional_by",
    "open_world",
    "complete",
    "boolean_completeness",
    "temporal_conflict",
}
_FIELD_MEMBERS = {"type", "description", "required"}


class Addition(NamedTuple):
    """One symbol of the draft vocabulary as a `schema` control change keeps it: group, local name, definition."""

    group: str
    name: str
    definition: Mapping[str, Json]

    @property
    def ref(self) -> str:
        return f"{refs.DRAFT_REF}/{self.name}"


def addition(env: Environment, kind: str, name: Json, definition: Mapping[str, Json]) -> Addition:
    """What a DEFINE adds. Raises as `define`."""
    package, ref = define(env, kind, name, definition)
    group = (ConceptType if kind == ConceptType.KIND else PredicateType).GROUP
    local = ref.rpartition("/")[2]
    return Addition(group, local, getattr(package, group)[local].raw)


def grown(env: Environment, additions: Iterable[Addition], version: int) -> Environment:
    """The Environment with additions that were checked when they were made."""
    draft = env.package(refs.DRAFT_REF)
    for each in additions:
        draft = Package.load(_with(draft, each.group, each.name, dict(each.definition)), trusted=True)
    return env if draft is None else env.with_packages([draft], version)


_KINDS: tuple[type[ConceptType] | type[PredicateType], ...] = (ConceptType, PredicateType)


def promotion(env: Environment, symbol: str, into: str, kind: str | None = None) -> Rename | None:
    """The lineage mapping that promotes a draft symbol to an installed one; None when it holds already (§20.16).

    kind   "ConceptType" or "PredicateType", where a name is both

    Raises SchemaSymbolNotFound, SchemaSymbolAmbiguous when the kind is not certain, ConstraintViolation unless
    `symbol` is a draft symbol and `into` an installed one, SchemaSymbolConflict when it was promoted elsewhere.
    """
    for name in (symbol, into):
        if not isinstance(name, str):
            raise KipError("TypeMismatch", f"a symbol is a string, not {json_type(name)}")
    draft = env.package(refs.DRAFT_REF)
    local = symbol.rpartition("/")[2]
    lineage = f"{refs.DRAFT_PACKAGE}/{local}"
    kinds = [each for each in _KINDS if kind in (None, each.KIND)]
    drafted = [each for each in kinds if draft is not None and local in draft.definitions[each.GROUP]]
    if not drafted or symbol not in (local, lineage, f"{refs.DRAFT_REF}/{local}"):
        raise KipError("ConstraintViolation", f"{symbol!r} is no draft symbol of this Space", hint="DEFINE makes one")
    found = [(each, target) for each in drafted if (target := _installed(env, each, into)) is not None]
    if len(found) > 1:
        raise KipError(
            "SchemaSymbolAmbiguous", f"{symbol!r} and {into!r} are types and Predicates", hint="name the kind"
        )
    if not found:
        return _no_target(env, drafted[0], into)
    ((group, target),) = ((each.GROUP, target) for each, target in found)
    held = next((rename for rename in env.promotions if (rename.group, rename.old) == (group, lineage)), None)
    if held is None:
        return Rename(group, lineage, target.lineage)
    if env.lineage(held.new, type(target)) == target.lineage:
        return None
    raise KipError("SchemaSymbolConflict", f"{symbol!r} was promoted to {held.new}", hint="a promotion is final")


def _installed(env: Environment, kind: type[Definition], name: str) -> Definition | None:
    found = env.find_concept_type(name) if kind is ConceptType else env.find_predicate(name)
    return found if found is not None and found.package_ref != refs.DRAFT_REF else None


def _no_target(env: Environment, kind: type[Definition], name: str) -> NoReturn:
    known = env.concept_type(name) if kind is ConceptType else env.predicate(name)  # raises when there is none
    raise KipError("ConstraintViolation", f"{known.ref} is a draft symbol", hint="install a package that defines it")


def define(env: Environment, kind: str, name: Json, definition: Mapping[str, Json]) -> tuple[Package, str]:
    """The draft package with one more symbol, and the symbol's exact ref.

    kind         "PredicateType" or "ConceptType"
    definition   the DEFINE block, parameters bound

    Activate the package with `env.with_packages([package], version)`. Raises SchemaSymbolConflict for a name
    that already resolves, InvalidIdentifier for what is no name, ConstraintViolation for what a draft symbol
    may not declare, SchemaSymbolNotFound for an endpoint type that is not here.
    """
    kind_class: type[Definition] = ConceptType if kind == ConceptType.KIND else PredicateType
    if not isinstance(name, str):
        raise KipError("TypeMismatch", f"a symbol name must be a string, not {json_type(name)}")
    if not refs.is_symbol_name(name):
        raise KipError("InvalidIdentifier", f"{name!r} can not name a symbol", hint="use letters, digits, _ and -")
    if not isinstance(definition, Mapping):
        raise KipError("TypeMismatch", f"a definition must be an object, not {json_type(definition)}")
    _check_free(env, kind_class, name)
    _check_description(name, definition)
    read = _concept_type if kind_class is ConceptType else _predicate
    ref = f"{refs.DRAFT_REF}/{name}"
    written = {"ref": ref, "kind": kind_class.KIND, **read(env, name, definition)}
    return Package.load(_with(env.package(refs.DRAFT_REF), kind_class.GROUP, name, written)), ref


def _check_free(env: Environment, kind: type[Definition], name: str) -> None:
    try:
        known = (env.find_concept_type if kind is ConceptType else env.find_predicate)(name)
    except KipError as error:
        raise KipError("SchemaSymbolConflict", f"{kind.WORD} {name!r} already has a meaning", hint=error.hint) from None
    if known is not None:
        raise KipError("SchemaSymbolConflict", f"{kind.WORD} {name!r} already names {known.ref}")
    if kind is ConceptType and name in RESERVED_TYPE_NAMES:
        raise KipError("SchemaSymbolConflict", f"{name!r} is a Core kind")


def _check_description(name: str, definition: Mapping[str, Json]) -> None:
    description = definition.get("description")
    if description is not None and not isinstance(description, str):
        raise KipError("TypeMismatch", f"the description of {name!r} must be a string, not {json_type(description)}")
    if not description or not description.strip():
        raise KipError("ConstraintViolation", f"{name!r} needs a description", hint="say what it means in a sentence")


def _predicate(env: Environment, name: str, definition: Mapping[str, Json]) -> dict[str, Json]:
    _only(definition, _PREDICATE_MEMBERS, name)
    for member, refused in (("open_world", False), ("complete", True)):
        if definition.get(member) is refused:
            raise KipError(
                "ConstraintViolation",
                f"a draft Predicate can not declare {member}: {str(refused).lower()}",
                hint="only an installed package speaks with that authority over the data",
            )
    written = dict(definition)
    for side in ("subject", "object"):
        endpoint = definition.get(side)
        if isinstance(endpoint, Mapping) and "concept_types" in endpoint:
            types = names(endpoint["concept_types"], f"{name!r}: the {side}")
            written[side] = {**endpoint, "concept_types": [env.concept_type(known).ref for known in types]}
    return written


def _concept_type(env: Environment, name: str, definition: Mapping[str, Json]) -> dict[str, Json]:
    """`description` and `attributes: {open, fields}`: open, optional fields of the scalar types of §9.2."""
    _only(definition, {"description", "attributes"}, name)
    if "attributes" not in definition:
        return dict(definition)
    attributes = definition["attributes"]
    if not isinstance(attributes, Mapping):
        raise KipError("TypeMismatch", f"the attributes of {name!r} must be an object, not {json_type(attributes)}")
    _only(attributes, {"open", "fields"}, f"{name}.attributes")
    if attributes.get("open", True) is not True:
        raise KipError("ConstraintViolation", f"the attributes of the draft type {name!r} are open")
    fields = attributes.get("fields", {})
    if not isinstance(fields, Mapping):
        raise KipError("TypeMismatch", f"the fields of {name!r} must be an object, not {json_type(fields)}")
    for field, declared in fields.items():
        _check_field(f"{name}.{field}", declared)
    return {**definition, "attributes": {"open": True, "fields": dict(fields)}}


def _check_field(what: str, declared: Json) -> None:
    if not isinstance(declared, Mapping):
        raise KipError("TypeMismatch", f"{what} must be an object, not {json_type(declared)}")
    _only(declared, _FIELD_MEMBERS, what)
    if declared.get("required", False) is not False:
        raise KipError("ConstraintViolation", f"{what}: a draft type requires no attribute")
    if unknown := set(names(declared.get("type", ()), f"{what}.type")) - LITERAL_TYPES:
        raise KipError("ConstraintViolation", f"{what} has an unknown type {min(unknown)!r}")


def _only(source: Mapping[str, Json], allowed: set[str], what: str) -> None:
    if unknown := set(source) - allowed:
        close = near(min(unknown), sorted(allowed))
        raise KipError(
            "ConstraintViolation",
            f"{what!r} can not declare {min(unknown)!r}",
            hint=f"did you mean {close}?" if close else f"a draft definition has {', '.join(sorted(allowed))}",
        )


def _with(draft: Package | None, group: str, name: str, written: dict[str, Json]) -> dict[str, Json]:
    """The artifact of the draft package with one more definition."""
    definitions = dict(draft.artifact["definitions"]) if draft is not None else {}
    definitions[group] = {**definitions.get(group, {}), name: written}
    return {
        "format": "KIP-Schema-Package",
        "manifest": {
            "package_id": refs.DRAFT_PACKAGE,
            "version": refs.DRAFT_VERSION,
            "package_ref": refs.DRAFT_REF,
            "name": "Draft vocabulary of this Space",
        },
        "definitions": definitions,
    }
