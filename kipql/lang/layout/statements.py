"""What statements look like (see `documents` for what they are made of)."""

from collections.abc import Callable, Sequence
from typing import Any

from kipql.lang import ast
from kipql.lang.layout.documents import Documents, body, bound, clauses, listed, name, start, word
from kipql.lang.layout.printer import HARD, IN, LINE, OUT, Group, Part, Text


def _find(node: ast.Find, doc: Documents) -> Group:
    parts: list[Part] = [listed(Text("FIND(", start(node)), [doc(item) for item in node.items], ")")]
    parts.extend([HARD, word("WHERE ", node.where), doc(node.where)])
    parts.extend(clauses(("AS OF SEQ", node.as_of), ("FOR TIME", node.for_time), doc=doc))
    parts.extend(clauses(("WITH EPISTEMIC", node.epistemic), doc=doc))
    if node.order_by:
        keys = [doc(item) for item in node.order_by]
        parts.extend([LINE, word("ORDER BY ", node.order_by[0]), _comma(keys)])
    parts.extend(clauses(("LIMIT", node.limit), ("CURSOR", node.cursor), doc=doc))
    return Group(parts)


def _comma(items: Sequence[Group]) -> Group:
    parts: list[Part] = [items[0], IN]
    for item in items[1:]:
        parts.extend([",", LINE, item])
    return Group([*parts, OUT])


def _order_item(node: ast.OrderItem, doc: Documents) -> Group:
    return Group([doc(node.key), *([" DESC"] if node.descending else [])])


# --- KML ------------------------------------------------------------------------------------------------


def _set(words: str) -> Callable[[Any, Documents], Group]:
    def document(node: ast.SetFields | ast.SetAttributes, doc: Documents) -> Group:
        return Group([Text(f"{words} ", start(node)), doc(node.values)])

    return document


def _set_facet(node: ast.SetFacet, doc: Documents) -> Group:
    return Group([Text("SET FACET ", start(node)), doc(node.facet), " ", doc(node.values)])


def _structural(words: str) -> Callable[[Any, Documents], Group]:
    def document(node: ast.SetStructural | ast.UnsetStructural, doc: Documents) -> Group:
        close = Text("}", node.span.end - 1)
        if not node.entries:
            return Group([Text(f"{words} {{", start(node)), close])
        parts: list[Part] = [Text(f"{words} {{", start(node)), IN]
        for entry in node.entries:
            parts.extend([LINE, doc(entry)])
        return Group([*parts, OUT, LINE, close])

    return document


def _entry(node: ast.StructuralEntry, doc: Documents) -> Group:
    pair = listed(Text("(", start(node)), [doc(node.field_), doc(node.target)], ")")
    return Group([pair, " ", doc(node.options)]) if node.options else pair


def _names(open_: Sequence[Part], names: tuple[str, ...], node: ast.Node) -> Group:
    return Group([*open_, listed("{", [Group([name(item)]) for item in names], Text("}", node.span.end - 1))])


def _unset_attributes(node: ast.UnsetAttributes, doc: Documents) -> Group:
    return _names([Text("UNSET ATTRIBUTES ", start(node))], node.names, node)


def _unset_facet(node: ast.UnsetFacet, doc: Documents) -> Group:
    return _names([Text("UNSET FACET ", start(node)), doc(node.facet), " "], node.names, node)


def _expect(node: ast.ExpectVersion, doc: Documents) -> Group:
    plane: list[Part] = [] if node.plane is None else [f" OF {node.plane.upper()}"]
    if node.facet is not None:
        plane.extend([" ", doc(node.facet)])
    return Group([Text("EXPECT VERSION ", start(node)), doc(node.version), *plane])


def _guards(guards: Sequence[ast.ExpectVersion], doc: Documents, before: Part = LINE) -> list[Part]:
    return [part for guard in guards for part in (before, doc(guard))]


def _tail(node: Any, doc: Documents) -> list[Part]:
    """What closes a mutation (§52.8): WHERE, LIMIT, guards."""
    return [
        *clauses(("WHERE", node.where), ("LIMIT", getattr(node, "limit", None)), doc=doc),
        *_guards(node.guards, doc),
    ]


def _lines(actions: Sequence[ast.Action], doc: Documents) -> list[Group]:
    return [doc(action) for action in actions]


def _create_concept(node: ast.CreateConcept, doc: Documents) -> Group:
    items = [
        Group([word(f"{words} ", value), doc(value)])
        for words, value in (("TYPE", node.type), ("CLIENT KEY", node.client_key), ("NAME", node.name))
        if value is not None
    ]
    head: list[Part] = [Text("CREATE CONCEPT ", start(node)), *bound(node.handle, doc)]
    return body(head, [*items, *_lines(node.actions, doc)], Text("}", node.span.end - 1))


def _create_record(node: ast.CreateRecord, doc: Documents) -> Group:
    key = node.client_key
    items = [Group([word("CLIENT KEY ", key), doc(key)])] if key is not None else []
    head: list[Part] = [Text(f"CREATE {node.kind.upper()} ", start(node)), *bound(node.handle, doc)]
    return body(head, [*items, *_lines(node.actions, doc)], Text("}", node.span.end - 1))


def _upsert(node: ast.UpsertConcept, doc: Documents) -> Group:
    match = Group([word("MATCH ", node.match), doc(node.match)])
    head: list[Part] = [Text("UPSERT CONCEPT ", start(node)), *bound(node.handle, doc)]
    return Group([body(head, [match, *_lines(node.actions, doc)], "}"), *_guards(node.guards, doc, " ")])


def _ensure(node: ast.EnsureProposition, doc: Documents) -> Group:
    head = Text("ENSURE PROPOSITION ", start(node))
    return Group([head, *bound(node.handle, doc), doc(node.target), *_guards(node.guards, doc, " ")])


def _assert(node: ast.Assert, doc: Documents) -> Group:
    parts: list[Part] = [Text("ASSERT ", start(node)), *bound(node.handle, doc), doc(node.target)]
    parts.extend([" ", doc(node.members)])
    if node.superseding is not None:
        parts.extend([word(" SUPERSEDING ", node.superseding), doc(node.superseding)])
    return Group(parts)


def _update(node: ast.Update, doc: Documents) -> Group:
    actions = [part for action in node.actions for part in (LINE, doc(action))]
    return Group([Text("UPDATE ", start(node)), doc(node.target), *actions, *_tail(node, doc)])


def _transition(node: ast.Transition, doc: Documents) -> Group:
    parts: list[Part] = [Text("TRANSITION ", start(node)), doc(node.target), word(" TO ", node.state), doc(node.state)]
    if node.by is not None:
        parts.extend([word(" BY ", node.by), doc(node.by)])
    parts.extend(part for action in node.actions for part in (LINE, doc(action)))
    return Group([*parts, *_tail(node, doc)])


def _set_retention(node: ast.SetRetention, doc: Documents) -> Group:
    head = Text("SET RETENTION ", start(node))
    return Group([head, doc(node.target), " ", doc(node.values), *_tail(node, doc)])


def _purge(node: ast.Purge, doc: Documents) -> Group:
    words = "PURGE PAYLOAD " if node.payload else "PURGE "
    policy = clauses(("REFERENCE POLICY", node.reference_policy), doc=doc)
    return Group([Text(words, start(node)), doc(node.target), *_tail(node, doc), *policy, LINE, 'CONFIRM "PURGE"'])


def _merge(node: ast.MergeConcept, doc: Documents) -> Group:
    head: list[Part] = [Text("MERGE CONCEPT ", start(node)), doc(node.source), word(" INTO ", node.into)]
    return Group([*head, doc(node.into), *_tail(node, doc)])


def _define(node: ast.Define, doc: Documents) -> Group:
    what = "PREDICATE" if node.kind == "PredicateType" else "CONCEPT TYPE"
    return Group([Text(f"DEFINE {what} ", start(node)), doc(node.name), " ", doc(node.definition)])


def _mutate(node: ast.Mutate, doc: Documents) -> Group:
    statements = [doc(statement) for statement in node.statements]
    return body([Text("MUTATE ", start(node))], statements, Text("}", node.span.end - 1))


# --- META -----------------------------------------------------------------------------------------------


def _subject(node: ast.Node, words: str, subject: ast.Node | None, doc: Documents) -> list[Part]:
    head: list[Part] = [Text(words, start(node))]
    return head if subject is None else [*head, " ", doc(subject)]


def _describe(node: ast.Describe, doc: Documents) -> Group:
    words = f"DESCRIBE {node.target}"
    if node.target == "COMPATIBILITY":
        words += " FROM"
    elif node.by_key:
        words += " BY IDEMPOTENCY KEY"
    tail = clauses(("TO", node.to), ("MODE", node.mode), ("AS OF SEQ", node.as_of), ("AT TIME", node.at_time), doc=doc)
    return Group([*_subject(node, words, node.subject, doc), *tail, *clauses(("WITH", node.options), doc=doc)])


def _list(node: ast.List, doc: Documents) -> Group:
    tail = clauses(("STATUS", node.status), ("DEPTH", node.depth), ("LIMIT", node.limit), doc=doc)
    head = _subject(node, f"LIST {node.target}", node.subject, doc)
    return Group([*head, *tail, *clauses(("CURSOR", node.cursor), doc=doc)])


def _search(node: ast.Search, doc: Documents) -> Group:
    modifiers = clauses(
        ("WITH TYPE", node.with_type),
        ("WITH PREDICATE", node.with_predicate),
        ("MODE", node.mode),
        ("THRESHOLD", node.threshold),
        ("AS OF SEQ", node.as_of),
        ("LIMIT", node.limit),
        ("CURSOR", node.cursor),
        doc=doc,
    )
    return Group([*_subject(node, f"SEARCH {node.kind.upper()}", node.term, doc), *modifiers])


def _verify(node: ast.Verify, doc: Documents) -> Group:
    return Group(_subject(node, f"VERIFY {node.target}", node.subject, doc))


def _validate(node: ast.Validate, doc: Documents) -> Group:
    head = _subject(node, f"VALIDATE {node.target}", node.subject, doc)
    return Group([*head, *clauses(("WITH", node.options), doc=doc)])


def _preview(node: ast.Preview, doc: Documents) -> Group:
    head = _subject(node, f"PREVIEW {node.target}", node.subject, doc)
    return Group([*head, *clauses(("INTO", node.into), doc=doc)])


def _history(node: ast.History, doc: Documents) -> Group:
    head = _subject(node, "HISTORY SPACE" if node.element is None else "HISTORY ELEMENT", node.element, doc)
    tail = clauses(("FROM SEQ", node.from_seq), ("TO SEQ", node.to_seq), ("LIMIT", node.limit), doc=doc)
    return Group([*head, *tail, *clauses(("CURSOR", node.cursor), doc=doc)])


def _changes(node: ast.Changes, doc: Documents) -> Group:
    words = "CHANGES AFTER SEQ" if node.since is None else "CHANGES SINCE"
    subject = node.after_seq if node.since is None else node.since
    return Group([*_subject(node, words, subject, doc), *clauses(("LIMIT", node.limit), doc=doc)])


def _export(node: ast.ExportCapsule, doc: Documents) -> Group:
    tail = clauses(("WHERE", node.where), ("WITH", node.options), ("AS OF SEQ", node.as_of), doc=doc)
    return Group([*_subject(node, "EXPORT CAPSULE", node.target, doc), *tail])


STATEMENTS: dict[type, Callable[[Any, Documents], Group]] = {
    ast.Find: _find,
    ast.OrderItem: _order_item,
    ast.SetFields: _set("SET FIELDS"),
    ast.SetAttributes: _set("SET ATTRIBUTES"),
    ast.SetFacet: _set_facet,
    ast.SetStructural: _structural("SET STRUCTURAL"),
    ast.UnsetStructural: _structural("UNSET STRUCTURAL"),
    ast.StructuralEntry: _entry,
    ast.UnsetAttributes: _unset_attributes,
    ast.UnsetFacet: _unset_facet,
    ast.ExpectVersion: _expect,
    ast.CreateConcept: _create_concept,
    ast.CreateRecord: _create_record,
    ast.UpsertConcept: _upsert,
    ast.EnsureProposition: _ensure,
    ast.Assert: _assert,
    ast.Update: _update,
    ast.Transition: _transition,
    ast.SetRetention: _set_retention,
    ast.Purge: _purge,
    ast.MergeConcept: _merge,
    ast.Define: _define,
    ast.Mutate: _mutate,
    ast.Describe: _describe,
    ast.List: _list,
    ast.Search: _search,
    ast.Verify: _verify,
    ast.Validate: _validate,
    ast.Preview: _preview,
    ast.History: _history,
    ast.Changes: _changes,
    ast.ExportCapsule: _export,
}
