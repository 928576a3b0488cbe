"""Core fields that no element has: a misspelt one reads as null in every row, and an audit would find nothing.

A query may read any path (§44.1), so this is `check`'s to say and not the engine's. Only variables whose kinds
are plain from the patterns are looked at, and only the first step: what lies below is data.
"""

from collections.abc import Iterator

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.walk import iterate
from kipql.lang.words import listed, near
from kipql.model import CONCEPT, KIND_NAMES, KIND_OF_NAME, KINDS, PROPOSITION
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
_INSTEAD = {"type": "schema_ref", "state": "_system.state", "valid": "valid_time", "predicate": "predicate_ref"}


def unknown_members(statement: ast.Node) -> Iterator[KipError]:
    """A SchemaFieldNotFound for each Core field that no kind of its variable has."""
    nodes = list(iterate(statement))
    for node in nodes:
        if isinstance(node, ast.ElementPattern):
            yield from _matched(KIND_OF_NAME[node.kind], node.match)
    kinds = _kinds(nodes)
    for node in nodes:
        if isinstance(node, ast.Path) and (known := kinds.get(node.var.name)):
            names = frozenset[str]().union(*(_READ[kind] for kind in known))
            if node.steps[0] not in names:
                yield _unknown(known, node.steps[0], names, node)


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


def _unknown(kinds: set[int], name: str, names: frozenset[str], node: ast.Node) -> KipError:
    instead = _INSTEAD.get(name)
    meant = instead if instead and instead.partition(".")[0] in names else near(name, sorted(names))
    hint = f"did you mean {meant}?" if meant else None
    if hint is None and CONCEPT in kinds:
        hint = f"what a Concept Type declares is below attributes: attributes.{name}"
    kind = listed([KIND_NAMES[kind] for kind in sorted(kinds)])
    return KipError("SchemaFieldNotFound", f"{kind} has no field {name!r}: it is null", span=node.span, hint=hint)
