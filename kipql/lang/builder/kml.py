"""KML statements (§51-61, §20.16)."""

from __future__ import annotations

from typing import Any

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.builder.base import Marks, Values
from kipql.spans import Span


class _Clause:
    """A clause of a body that is not an action: TYPE, CLIENT KEY, NAME or MATCH."""

    __slots__ = ("span", "value", "words")

    def __init__(self, words: str, value: Any, span: Span) -> None:
        self.words = words
        self.value = value
        self.span = span


_ONCE = {
    ast.SetFields: "SET FIELDS",
    ast.SetAttributes: "SET ATTRIBUTES",
    ast.SetStructural: "SET STRUCTURAL",
    ast.UnsetAttributes: "UNSET ATTRIBUTES",
    ast.UnsetStructural: "UNSET STRUCTURAL",
}


def _body(clauses: list[Any]) -> tuple[dict[str, Any], tuple[ast.Action, ...]]:
    """The values of the plain clauses and the actions. Each clause at most once, but for SET and UNSET FACET."""
    seen: set[str] = set()
    values: dict[str, Any] = {}
    actions: list[Any] = []
    for clause in clauses:
        if type(clause) is _Clause:
            words = clause.words
            values[words] = clause.value
        else:
            words = _ONCE.get(type(clause), "")
            actions.append(clause)
        if words in seen:
            raise KipError("InvalidSyntax", f"{words} is given twice", span=clause.span, hint="keep one of them")
        if words:
            seen.add(words)
    return values, tuple(actions)


def _clause(words: str, at: int) -> Any:
    def build(v: Values, s: int, e: int, marks: Marks) -> _Clause:
        return _Clause(words, v[at], Span(s, e))

    return build


def _create_concept(v: Values, s: int, e: int, marks: Marks) -> ast.CreateConcept:
    values, actions = _body(v[4])
    if "TYPE" not in values:
        raise KipError(
            "InvalidSyntax",
            "CREATE CONCEPT needs a TYPE: there is no untyped Concept",
            span=Span(s, e),
            hint='add TYPE "..." inside the braces',
        )
    return ast.CreateConcept(
        v[2], values["TYPE"], values.get("CLIENT KEY"), values.get("NAME"), actions, span=Span(s, e)
    )


def _create_record(v: Values, s: int, e: int, marks: Marks) -> ast.CreateRecord:
    values, actions = _body(v[4])
    return ast.CreateRecord(v[1], v[2], values.get("CLIENT KEY"), actions, span=Span(s, e))


def _upsert(v: Values, s: int, e: int, marks: Marks) -> ast.UpsertConcept:
    values, actions = _body(v[4])
    if "MATCH" not in values:
        raise KipError(
            "InvalidSyntax",
            "UPSERT CONCEPT needs a MATCH",
            span=Span(s, e),
            hint='add MATCH {type: "...", key: "..."} inside the braces',
        )
    return ast.UpsertConcept(v[2], values["MATCH"], actions, tuple(v[6]), span=Span(s, e))


def _set_fields(v: Values, s: int, e: int, marks: Marks) -> ast.SetFields:
    return ast.SetFields(v[2], span=Span(s, e))


def _set_attributes(v: Values, s: int, e: int, marks: Marks) -> ast.SetAttributes:
    return ast.SetAttributes(v[2], span=Span(s, e))


def _set_facet(v: Values, s: int, e: int, marks: Marks) -> ast.SetFacet:
    return ast.SetFacet(v[2], v[3], span=Span(s, e))


def _set_structural(v: Values, s: int, e: int, marks: Marks) -> ast.SetStructural:
    return ast.SetStructural(tuple(v[3]), span=Span(s, e))


def _unset_attributes(v: Values, s: int, e: int, marks: Marks) -> ast.UnsetAttributes:
    return ast.UnsetAttributes(v[2], span=Span(s, e))


def _unset_facet(v: Values, s: int, e: int, marks: Marks) -> ast.UnsetFacet:
    return ast.UnsetFacet(v[2], v[3], span=Span(s, e))


def _unset_structural(v: Values, s: int, e: int, marks: Marks) -> ast.UnsetStructural:
    return ast.UnsetStructural(tuple(v[3]), span=Span(s, e))


def _entry(v: Values, s: int, e: int, marks: Marks) -> ast.StructuralEntry:
    return ast.StructuralEntry(v[1], v[3], v[5], span=Span(s, e))


def _entry_bare(v: Values, s: int, e: int, marks: Marks) -> ast.StructuralEntry:
    return ast.StructuralEntry(v[1], v[3], span=Span(s, e))


def _names(v: Values, s: int, e: int, marks: Marks) -> tuple[str, ...]:
    names = tuple(v[1])
    if len(set(names)) < len(names):
        raise KipError("InvalidSyntax", "a name is given twice", span=Span(s, e), hint="keep one of them")
    return names


def _names_empty(v: Values, s: int, e: int, marks: Marks) -> tuple[str, ...]:
    return ()


def _ensure(v: Values, s: int, e: int, marks: Marks) -> ast.EnsureProposition:
    return ast.EnsureProposition(None, v[2], tuple(v[3]), span=Span(s, e))


def _ensure_bound(v: Values, s: int, e: int, marks: Marks) -> ast.EnsureProposition:
    return ast.EnsureProposition(v[2], v[3], tuple(v[4]), span=Span(s, e))


def _assert(v: Values, s: int, e: int, marks: Marks) -> ast.Assert:
    return ast.Assert(None, v[1], v[2], v[3], span=Span(s, e))


def _assert_bound(v: Values, s: int, e: int, marks: Marks) -> ast.Assert:
    return ast.Assert(v[1], v[2], v[3], v[4], span=Span(s, e))


def _update(v: Values, s: int, e: int, marks: Marks) -> ast.Update:
    return ast.Update(v[1], tuple(v[2]), v[3], v[4], tuple(v[5]), span=Span(s, e))


def _transition(v: Values, s: int, e: int, marks: Marks) -> ast.Transition:
    _, actions = _body(v[5])
    return ast.Transition(v[1], v[3], v[4], actions, v[6], v[7], tuple(v[8]), span=Span(s, e))


def _set_retention(v: Values, s: int, e: int, marks: Marks) -> ast.SetRetention:
    return ast.SetRetention(v[1], v[2], v[3], v[4], tuple(v[5]), span=Span(s, e))


def _confirmed(word: str, e: int) -> None:
    if word != '"PURGE"':
        raise KipError(
            "InvalidSyntax",
            f'a purge is confirmed with the literal "PURGE", not with {word if len(word) <= 40 else "this"}',
            span=Span(e - len(word), e),
            hint='write CONFIRM "PURGE"',
        )


def _purge(v: Values, s: int, e: int, marks: Marks) -> ast.Purge:
    _confirmed(v[7], e)
    return ast.Purge(v[1], False, v[2], v[3], tuple(v[4]), v[5], span=Span(s, e))


def _purge_payload(v: Values, s: int, e: int, marks: Marks) -> ast.Purge:
    _confirmed(v[7], e)
    return ast.Purge(v[2], True, v[3], v[4], tuple(v[5]), span=Span(s, e))


def _merge(v: Values, s: int, e: int, marks: Marks) -> ast.MergeConcept:
    return ast.MergeConcept(v[2], v[4], v[5], tuple(v[6]), span=Span(s, e))


def _plane(v: Values, s: int, e: int, marks: Marks) -> tuple[str, Any]:
    return v[0].lower(), None


def _plane_facet(v: Values, s: int, e: int, marks: Marks) -> tuple[str, Any]:
    return "facet", v[1]


def _guard(v: Values, s: int, e: int, marks: Marks) -> ast.ExpectVersion:
    plane, facet = v[4]
    return ast.ExpectVersion(v[2], plane, facet, span=Span(s, e))


def _guard_bare(v: Values, s: int, e: int, marks: Marks) -> ast.ExpectVersion:
    return ast.ExpectVersion(v[2], span=Span(s, e))


def _define_predicate(v: Values, s: int, e: int, marks: Marks) -> ast.Define:
    return ast.Define("PredicateType", v[2], v[3], span=Span(s, e))


def _define_concept_type(v: Values, s: int, e: int, marks: Marks) -> ast.Define:
    return ast.Define("ConceptType", v[3], v[4], span=Span(s, e))


def _mutate(v: Values, s: int, e: int, marks: Marks) -> ast.Mutate:
    return ast.Mutate(tuple(v[2]), span=Span(s, e))


BUILDERS = {
    "create_concept": _create_concept,
    "create_record": _create_record,
    "upsert_concept": _upsert,
    "type_clause": _clause("TYPE", 1),
    "client_key_clause": _clause("CLIENT KEY", 2),
    "name_clause": _clause("NAME", 1),
    "match_clause": _clause("MATCH", 1),
    "set_fields": _set_fields,
    "set_attributes": _set_attributes,
    "set_facet": _set_facet,
    "set_structural": _set_structural,
    "unset_attributes": _unset_attributes,
    "unset_facet": _unset_facet,
    "unset_structural": _unset_structural,
    "entry": _entry,
    "entry_bare": _entry_bare,
    "names": _names,
    "names_empty": _names_empty,
    "ensure_proposition": _ensure,
    "ensure_bound": _ensure_bound,
    "assert_": _assert,
    "assert_bound": _assert_bound,
    "update": _update,
    "transition": _transition,
    "set_retention": _set_retention,
    "purge": _purge,
    "purge_payload": _purge_payload,
    "merge_concept": _merge,
    "plane": _plane,
    "plane_facet": _plane_facet,
    "guard": _guard,
    "guard_bare": _guard_bare,
    "define_predicate": _define_predicate,
    "define_concept_type": _define_concept_type,
    "mutate": _mutate,
}
