"""Core fields that no element has: a misspelt one reads as null in every row, and the answer looks like one (§44.1).

A query may read any path, so this is a warning and no error. Only variables whose kinds are plain from the patterns
are looked at, and of what lies below a member only what Core itself puts there: the rest is data.
"""

from collections.abc import Iterator

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.walk import iterate
from kipql.lang.words import listed, near
from kipql.model import ASSERTION, CONCEPT, EVIDENCE, KIND_NAMES, KIND_OF_NAME, KINDS, PROPOSITION
from kipql.plan.lower_elements import REFERENCES
from kipql.store.elements import MEMBERS

_COMMON = ("id", "kind", "space_id", "client_key", "structural", "governance", "retention", "facets", "_system")
_CANONICAL = ("canonical_subject", "canonical_object")
_READ = tuple(
    frozenset((*MEMBERS[kind], *_COMMON, *(_CANONICAL if kind == PROPOSITION else ()))) for kind in range(len(KINDS))
)
_MATCHED = tuple(
    names | {"state", "type"} if kind == CONCEPT else names | {"state"} for kind, names in enumerate(_READ)
)
_INSTEAD = {
    "actor": "asserted_by",
    "at": "asserted_at",
    "by": "asserted_by",
    "class": "evidence_class",
    "content": "payload",
    "created_at": "_system.created_at",
    "predicate": "predicate_ref",
    "state": "_system.state",
    "status": "lifecycle.status",
    "superseded_by": "lifecycle.superseded_by",
    "text": "payload",
    "type": "schema_ref",
    "updated_at": "_system.updated_at",
    "valid": "valid_time",
    "valid_from": "valid_time.from",
    "valid_until": "valid_time.until",
    "version": "_system.version",
}
_LIFECYCLE = {
    ASSERTION: frozenset(("status", "supersedes", "superseded_by", "retracted_at")),
    EVIDENCE: frozenset(("status", "corrects", "corrected_by")),
}
_INSIDE = {
    "valid_time": frozenset(("from", "until")),
    "retention": frozenset(("retention_class", "expires_at", "legal_hold")),
}


def unknown_members(statement: ast.Node) -> Iterator[KipError]:
    """A SchemaFieldNotFound for each Core field that no kind of its variable has."""
    nodes = list(iterate(statement))
    for node in nodes:
        if isinstance(node, ast.ElementPattern):
            yield from _matched(KIND_OF_NAME[node.kind], node.match)
    kinds = _kinds(nodes)
    for node in nodes:
        if isinstance(node, ast.Path) and (known := kinds.get(node.var.name)):
            yield from _read(known, node)


def _read(kinds: set[int], path: ast.Path) -> Iterator[KipError]:
    first, rest = path.steps[0], path.steps[1:]
    names = frozenset[str]().union(*(_READ[kind] for kind in kinds))
    if first not in names:
        yield _unknown(kinds, str(first), names, path)
    elif rest and (inside := _inside(kinds, first)) and rest[0] not in inside:
        yield _unknown_inside(str(first), str(rest[0]), inside, path)


def _inside(kinds: set[int], name: object) -> frozenset[str]:
    """The members of a Core member that has fixed ones."""
    if name == "lifecycle":
        return frozenset[str]().union(*(_LIFECYCLE.get(kind, ()) for kind in kinds))
    return _INSIDE.get(str(name), frozenset())


def _kinds(nodes: list[ast.Node]) -> dict[str, set[int]]:
    """The kinds of the variables that stand for elements and for nothing else."""
    kinds: dict[str, set[int]] = {}
    others = set()
    for node in nodes:
        match node:
            case ast.ElementPattern(var=var, kind=kind):
                kinds.setdefault(var.name, set()).add(KIND_OF_NAME[kind])
            case ast.PropositionPattern(var=ast.Var() as var):
                kinds.setdefault(var.name, set()).add(PROPOSITION)
            case (
                ast.StructuralPattern(var=ast.Var() as var)
                | ast.BeliefPattern(var=var)
                | ast.BeliefSlotPattern(var=var)
                | ast.SearchPattern(var=var)
            ):
                others.add(var.name)
    return {name: known for name, known in kinds.items() if name not in others}


def _matched(kind: int, pattern: ast.Object) -> Iterator[KipError]:
    for member in pattern.members:
        if member.name not in _MATCHED[kind]:
            yield _unknown({kind}, member.name, _MATCHED[kind], member)
        elif isinstance(member.value, ast.Object) and member.name in REFERENCES.get(kind, ()):
            yield from _matched(REFERENCES[kind][member.name], member.value)
        elif isinstance(member.value, ast.Object) and (inside := _inside({kind}, member.name)):
            for inner in member.value.members:
                if inner.name not in inside:
                    yield _unknown_inside(member.name, inner.name, inside, inner)


def _unknown(kinds: set[int], name: str, names: frozenset[str], node: ast.Node) -> KipError:
    instead = _INSTEAD.get(name)
    meant = instead if instead and instead.partition(".")[0] in names else near(name, sorted(names))
    hint = f"did you mean {meant}?" if meant else None
    if hint is None and CONCEPT in kinds:
        hint = f"what a Concept Type declares is below attributes: attributes.{name}"
    kind = listed([KIND_NAMES[kind] for kind in sorted(kinds)])
    return KipError("SchemaFieldNotFound", f"{kind} has no field {name!r}: it is null", span=node.span, hint=hint)


def _unknown_inside(member: str, name: str, names: frozenset[str], node: ast.Node) -> KipError:
    meant = near(name, sorted(names))
    hint = f"did you mean {member}.{meant}?" if meant else f"{member} has {listed(sorted(names))}"
    return KipError("SchemaFieldNotFound", f"{member} has no member {name!r}: it is null", span=node.span, hint=hint)
