"""What each syntax node looks like: one function a class, given its children's documents.

Keywords are upper case, names bare where they can be, strings JSON, numbers canonical. WHERE and bodies
have a line for each clause; objects, tuples and calls stay on one line when they fit.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from kipql.lang import ast
from kipql.lang.layout.printer import HARD, IN, LINE, OUT, SOFT, Group, Part, Text
from kipql.values import canonical_number

Documents: TypeAlias = Callable[[ast.Node], Group]

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def quoted(text: str) -> str:
    """A JSON string, with characters as they are."""
    return json.dumps(text, ensure_ascii=False)


def name(text: str) -> str:
    """A member name: bare where it can be."""
    return text if IDENTIFIER.fullmatch(text) else quoted(text)


def literal(value: Any) -> str:
    """The canonical spelling of a Literal."""
    if isinstance(value, str):
        return quoted(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return repr(canonical_number(value))


def start(node: ast.Node) -> int:
    """Where a node begins in the source: the anchor of its first text."""
    return node.span.start


def word(text: str, node: ast.Node) -> Text:
    """Keywords that stand before `node`, anchored with it: a comment before the node goes before them."""
    return Text(text, node.span.start)


def listed(open_: Part, items: Sequence[Group], close: Part) -> Group:
    """`open a, b close`, or a line for each item."""
    if not items:
        return Group([open_, close])
    parts: list[Part] = [open_, IN, SOFT]
    for index, item in enumerate(items):
        parts.extend([item, ",", LINE] if index < len(items) - 1 else [item])
    return Group([*parts, OUT, SOFT, close])


def brackets(node: ast.Node, pair: str, items: Sequence[Group]) -> Group:
    """As `listed`, between the two brackets of `pair`, which are the first and last character of the node."""
    return listed(Text(pair[0], node.span.start), items, Text(pair[1], node.span.end - 1))


def body(open_: Sequence[Part], items: Sequence[Group], close: Part) -> Group:
    """`open {`, a line for each item, `}`."""
    if not items:
        return Group([*open_, "{", close])
    parts: list[Part] = [*open_, "{", IN]
    for item in items:
        parts.extend([HARD, item])
    return Group([*parts, OUT, HARD, close])


def bound(variable: ast.Node | None, doc: Documents) -> list[Part]:
    """A variable or handle that may stand first, with its blank."""
    return [] if variable is None else [doc(variable), " "]


# --- values and expressions -----------------------------------------------------------------------------


def _var(node: ast.Var, doc: Documents) -> Group:
    return Group([Text(f"?{node.name}", start(node))])


def _param(node: ast.Param, doc: Documents) -> Group:
    return Group([Text(f":{node.name}", start(node))])


def _literal(node: ast.Literal, doc: Documents) -> Group:
    return Group([Text(literal(node.value), start(node))])


def _array(node: ast.Array, doc: Documents) -> Group:
    return brackets(node, "[]", [doc(item) for item in node.items])


def _member(node: ast.Member, doc: Documents) -> Group:
    return Group([Text(f"{name(node.name)}: ", start(node)), doc(node.value)])


def _object(node: ast.Object, doc: Documents) -> Group:
    return brackets(node, "{}", [doc(member) for member in node.members])


def _path(node: ast.Path, doc: Documents) -> Group:
    """A Facet is named in brackets, as the specification writes it; other names follow a dot."""
    steps = [
        f".{step}" if IDENTIFIER.fullmatch(step) and before != "facets" else f"[{quoted(step)}]"
        for before, step in zip(("", *node.steps), node.steps, strict=False)
    ]
    return Group([Text(f"?{node.var.name}{''.join(steps)}", start(node))])


def _call(node: ast.Call, doc: Documents) -> Group:
    distinct = "DISTINCT " if node.distinct else ""
    return listed(Text(f"{node.name}({distinct}", start(node)), [doc(item) for item in node.args], ")")


_UNARY = (ast.Negate, ast.Minus, ast.Compare, ast.And, ast.Or)
_EQUAL = ("==", "!=")


def _wrapped(node: ast.Node, doc: Documents, kinds: tuple[type, ...]) -> Group:
    """In parentheses when it is of one of `kinds`."""
    if isinstance(node, kinds):
        return Group([Text("(", start(node)), IN, SOFT, doc(node), OUT, SOFT, ")"])
    return doc(node)


def _negate(node: ast.Negate, doc: Documents) -> Group:
    return Group([Text("!", start(node)), _wrapped(node.operand, doc, _UNARY)])


def _minus(node: ast.Minus, doc: Documents) -> Group:
    return Group([Text("-", start(node)), _wrapped(node.operand, doc, (*_UNARY, ast.Literal))])


def _compare(node: ast.Compare, doc: Documents) -> Group:
    loose: tuple[type, ...] = (ast.And, ast.Or)
    left = right = (*loose, ast.Compare)
    if node.op in _EQUAL:
        left = loose
        if isinstance(node.right, ast.Compare) and node.right.op not in _EQUAL:
            right = loose
    return Group([_wrapped(node.left, doc, left), f" {node.op}", LINE, _wrapped(node.right, doc, right)])


def _chain(operator: str, items: Sequence[Group]) -> Group:
    parts: list[Part] = [items[0]]
    for item in items[1:]:
        parts.extend([LINE, f"{operator} ", item])
    return Group(parts)


def _and(node: ast.And, doc: Documents) -> Group:
    return _chain("&&", [_wrapped(item, doc, (ast.And, ast.Or)) for item in node.items])


def _or(node: ast.Or, doc: Documents) -> Group:
    return _chain("||", [_wrapped(item, doc, (ast.Or,)) for item in node.items])


# --- patterns -------------------------------------------------------------------------------------------


def _quantifier(node: ast.Quantifier, doc: Documents) -> Group:
    high = "" if node.high == node.low else "," if node.high is None else f",{node.high}"
    return Group([f"{{{node.low}{high}}}"])


def _path_step(node: ast.PathStep, doc: Documents) -> Group:
    return Group([doc(node.predicate), *([doc(node.quantifier)] if node.quantifier else [])])


def _predicate_path(node: ast.PredicatePath, doc: Documents) -> Group:
    return _chain("|", [doc(step) for step in node.alternatives])


def _tuple(node: ast.Tuple, doc: Documents) -> Group:
    return brackets(node, "()", [doc(node.subject), doc(node.predicate), doc(node.object)])


def _proposition_id(node: ast.PropositionId, doc: Documents) -> Group:
    return Group([Text("(id: ", start(node)), doc(node.id), ")"])


def _element(node: ast.ElementPattern, doc: Documents) -> Group:
    kind = "" if node.kind == "Concept" and not node.keyword else f"{node.kind.upper()} "
    return Group([doc(node.var), f" {kind}", doc(node.match)])


def _proposition(node: ast.PropositionPattern, doc: Documents) -> Group:
    return Group([*bound(node.var, doc), *([word("PROPOSITION ", node)] if node.keyword else []), doc(node.target)])


def _structural(node: ast.StructuralPattern, doc: Documents) -> Group:
    parts = [doc(node.source), doc(node.field_), doc(node.target)]
    return Group([*bound(node.var, doc), listed(word("STRUCTURAL (", node), parts, ")")])


def _belief(node: ast.BeliefPattern, doc: Documents) -> Group:
    target = node.target
    if isinstance(target, ast.Tuple):
        terms = [doc(target.subject), doc(target.predicate), doc(target.object)]
    elif isinstance(target, ast.PropositionId):
        terms = [Group([word("id: ", target), doc(target.id)])]
    else:
        terms = [doc(target)]
    return Group([doc(node.var), listed(" BELIEF (", terms, ")")])


def _belief_slot(node: ast.BeliefSlotPattern, doc: Documents) -> Group:
    return Group([doc(node.var), listed(" BELIEF SLOT (", [doc(node.subject), doc(node.predicate)], ")")])


def clauses(*pairs: tuple[str, ast.Node | None], doc: Documents) -> list[Part]:
    """` WORD value` for each value that is there, each able to start a line."""
    parts: list[Part] = []
    for words, value in pairs:
        if value is not None:
            parts.extend([LINE, word(f"{words} ", value), doc(value)])
    return parts


def _search_pattern(node: ast.SearchPattern, doc: Documents) -> Group:
    modifiers = clauses(
        ("WITH TYPE", node.with_type),
        ("WITH PREDICATE", node.with_predicate),
        ("MODE", node.mode),
        ("THRESHOLD", node.threshold),
        ("LIMIT", node.limit),
        doc=doc,
    )
    return Group([doc(node.var), f" SEARCH {node.kind.upper()} ", doc(node.term), IN, *modifiers, OUT])


def _filter(node: ast.Filter, doc: Documents) -> Group:
    return listed(Text("FILTER(", start(node)), [doc(node.condition)], ")")


def _not(node: ast.Not, doc: Documents) -> Group:
    return Group([Text("NOT ", start(node)), doc(node.block)])


def _optional(node: ast.Optional, doc: Documents) -> Group:
    return Group([Text("OPTIONAL ", start(node)), doc(node.block)])


def _union(node: ast.Union, doc: Documents) -> Group:
    return Group([Text("UNION ", start(node)), doc(node.block)])


def _block(node: ast.Block, doc: Documents) -> Group:
    return body([Text("", start(node))], [doc(clause) for clause in node.clauses], Text("}", node.span.end - 1))


DOCUMENTS: dict[type, Callable[[Any, Documents], Group]] = {
    ast.Var: _var,
    ast.Param: _param,
    ast.Literal: _literal,
    ast.Array: _array,
    ast.Member: _member,
    ast.Object: _object,
    ast.Path: _path,
    ast.Call: _call,
    ast.Negate: _negate,
    ast.Minus: _minus,
    ast.Compare: _compare,
    ast.And: _and,
    ast.Or: _or,
    ast.Quantifier: _quantifier,
    ast.PathStep: _path_step,
    ast.PredicatePath: _predicate_path,
    ast.Tuple: _tuple,
    ast.PropositionId: _proposition_id,
    ast.ElementPattern: _element,
    ast.PropositionPattern: _proposition,
    ast.StructuralPattern: _structural,
    ast.BeliefPattern: _belief,
    ast.BeliefSlotPattern: _belief_slot,
    ast.SearchPattern: _search_pattern,
    ast.Filter: _filter,
    ast.Not: _not,
    ast.Optional: _optional,
    ast.Union: _union,
    ast.Block: _block,
}
