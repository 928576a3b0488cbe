"""Loading many records without a line of text, every check on (specification §52, §56).

A record is a mapping with `kind` and the members of that kind, as CREATE, ENSURE and ASSERT know them:

    {"kind": "concept", "type": "Person", "key": "ada", "name": "Ada", "canonical_id": ..., "aliases": [...],
     "attributes": {...}, "facets": {"Facet": {...}}, "structural": [["field", reference, {"index": 0}], ...]}
    {"kind": "proposition", "subject": reference, "predicate": "knows", "object": reference or literal}
    {"kind": "assertion", "subject": ..., "predicate": ..., "object": ..., "by": ..., "mode": "stated", "stance": ...,
     "confidence": ..., "at": ..., "valid": {...}, "context": [...], "evidence": reference or [...]}
    {"kind": "evidence" | "activity", "fields": {...}, "facets": {...}, "structural": [...]}

`client_key` makes a creation retry-safe. `as` names what the record made, and a later record of the load refers to it
with `{"ref": name}` wherever a reference stands. A Concept with a `key` is created, never upserted.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.words import near
from kipql.model import ACTIVITY, CONCEPT, EVIDENCE, element_id
from kipql.mutate import actions, assertion, concept, direct, fields, proposition, structural
from kipql.mutate.apply import apply
from kipql.mutate.bulk import Bulk
from kipql.mutate.context import WriteContext, unplaced
from kipql.mutate.draft import Draft, Target
from kipql.mutate.inputs import Scope, text
from kipql.mutate.plan import Plan, code_of
from kipql.values import DEEPEST, Json, check_json, check_key, json_type

if TYPE_CHECKING:
    from kipql.store import Transaction

_HERE = ast.Literal(None)
_TUPLE = ("subject", "predicate", "object")
_BODY = ("facets", "structural")
_CONCEPT_FIELDS = ("key", "name", "canonical_id", "aliases")
_CLAIM = ("by", "mode", "stance", "confidence", "at", "valid", "context", "evidence")
MEMBERS: Mapping[str, tuple[str, ...]] = {
    "concept": ("type", *_CONCEPT_FIELDS, "attributes", *_BODY, "client_key"),
    "proposition": _TUPLE,
    "assertion": (*_TUPLE, *_CLAIM, "client_key"),
    "evidence": ("fields", *_BODY, "client_key"),
    "activity": ("fields", *_BODY, "client_key"),
}
_KINDS = {"evidence": EVIDENCE, "activity": ACTIVITY}
_ALLOWED = {kind: frozenset((*members, "kind", "as")) for kind, members in MEMBERS.items()}


def load(
    records: Iterable[Mapping[str, Any]], tx: "Transaction", write: WriteContext, names: dict[str, str] | None = None
) -> int:
    """Write records into a Transaction and answer how many they were.

    names   `as` name -> id; read and extended, so that it can serve the next batch

    Raises what the statement for the record would raise, with `details.record`, the number of the record from 0, and
    leaves `tx` as before. `finish` must follow.
    """
    held = {} if names is None else names
    before = dict(held)
    mark = tx.savepoint()
    told = records if isinstance(records, list | tuple) else list(records)
    bulk = None if write.seen is not None else Bulk(tx, held, write.budget)
    number = 0
    try:
        while number < len(told):
            if bulk is not None and (after := bulk.write(told, number)) != number:
                number = after
                continue
            write.budget.spend()
            name, code = _record(told[number], tx, write, held)
            if name is not None:
                held[name] = element_id(code)
            number += 1
    except KipError as error:
        tx.restore(mark)
        held.clear()
        held.update(before)
        number = error.details.setdefault("record", number)
        error.message = f"record {number}: {error.message}"
        raise unplaced(error) from None
    write.statements += number
    return number


def _record(
    record: Mapping[str, Any], tx: "Transaction", write: WriteContext, names: Mapping[str, str]
) -> tuple[str | None, int]:
    kind, name = _form(record)
    if kind == "assertion":
        return name, _claim(record, tx, write, names)
    plan = Plan(tx, {}, write, {})
    if kind == "proposition":
        target = _proposition(plan, record, names)
    else:
        target = _creation(plan, kind, record, names)
    plan.attribute(target)
    apply(plan)
    return name, code_of(target)


def _form(record: object) -> tuple[str, str | None]:
    """The kind of a record and its name. Raises ConstraintViolation for an unknown kind or member."""
    if not isinstance(record, Mapping):
        raise KipError("TypeMismatch", f"a record must be an object, not {json_type(record)}")
    kind = record.get("kind")
    allowed = _ALLOWED.get(kind) if isinstance(kind, str) else None
    if allowed is None:
        what = f"kind {kind!r}" if isinstance(kind, str) else f"a kind that is {json_type(kind)}"
        raise KipError("ConstraintViolation", f"there are no records of {what}", hint=", ".join(MEMBERS))
    assert isinstance(kind, str)
    if not allowed.issuperset(record):
        unknown = min(check_key(name) for name in set(record) - allowed)
        close = near(unknown, allowed)
        hint = f"did you mean {close}?" if close else None
        raise KipError("ConstraintViolation", f"a {kind} has no member {unknown!r}", hint=hint)
    name = record.get("as")
    if name is not None and not isinstance(name, str):
        raise KipError("TypeMismatch", f"as must be a string, not {json_type(name)}")
    return kind, name


def _members(record: Mapping[str, Any], name: str) -> Iterable[tuple[str, Any]]:
    """The members of an object of a record; none when it is left out."""
    if name not in record:
        return ()
    return _items(record[name], name)


def _items(value: object, what: str) -> Iterable[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        raise KipError("TypeMismatch", f"{what} must be an object, not {json_type(value)}")
    return [(check_key(key), member) for key, member in value.items()]


def _structural(record: Mapping[str, Any]) -> Iterable[tuple[Any, Any, Mapping[str, Any]]]:
    """The structural entries of a record: field, reference, options."""
    entries = record.get("structural", ())
    if not isinstance(entries, list | tuple):
        raise KipError("TypeMismatch", f"structural must be an array, not {json_type(entries)}")
    for entry in entries:
        if not isinstance(entry, list | tuple) or not 2 <= len(entry) <= 3:
            raise KipError("TypeMismatch", "a structural entry is [field, reference] or [field, reference, options]")
        yield entry[0], entry[1], dict(_items(entry[2], "options")) if len(entry) == 3 else {}


def _resolved(value: Any, names: Mapping[str, str], depth: int = DEEPEST) -> Any:
    """A reference with every `{"ref": name}` replaced by the id it stands for."""
    if value.__class__ is dict and len(value) == 1 and "ref" in value:
        if not isinstance(value["ref"], str):
            raise KipError("TypeMismatch", f"ref must be a string, not {json_type(value['ref'])}")
        known = names.get(value["ref"])
        if known is None:
            close = near(value["ref"], names)
            hint = f"did you mean {close!r}?" if close else "a record refers to records before it"
            raise KipError("ReferenceError", f"nothing loaded so far is called {value['ref']!r}", hint=hint)
        return {"id": known}
    if isinstance(value, list | tuple) and depth > 0:
        return [_resolved(item, names, depth - 1) for item in value]
    return check_json(value, depth)


# --- claims -------------------------------------------------------------------------------------------


def _claim(record: Mapping[str, Any], tx: "Transaction", write: WriteContext, names: Mapping[str, str]) -> int:
    members = {name: _resolved(record[name], names) for name in _CLAIM if name in record}
    if "client_key" in record:
        members["key"] = check_json(record["client_key"])
    subject, predicate, object_ = (_resolved(record.get(name), names) for name in _TUPLE)
    claim = direct.Claim(subject, predicate, object_, members)
    code = direct.attempt(claim, tx) if write.seen is None else None
    return _planned(claim, tx, write) if code is None else code


def _planned(claim: direct.Claim, tx: "Transaction", write: WriteContext) -> int:
    """The claim as the statement for it is planned."""
    plan = Plan(tx, {}, write, {})
    members = ast.Object(tuple(ast.Member(name, ast.Literal(value)) for name, value in claim.members.items()))
    target = ast.Tuple(ast.Literal(claim.subject), ast.Literal(claim.predicate), ast.Literal(claim.object))
    statement = ast.Assert(None, target, members)
    made = assertion.make(plan, statement)
    draft = plan.contents[id(statement)]
    assertion.fill(plan, statement, draft)
    draft.created = dict(draft.assigned)
    plan.attribute(made)
    apply(plan)
    return code_of(made)


def _proposition(plan: Plan, record: Mapping[str, Any], names: Mapping[str, str]) -> Target:
    subject, predicate, object_ = (ast.Literal(_resolved(record.get(name), names)) for name in _TUPLE)
    return proposition.of_tuple(plan, ast.Tuple(subject, predicate, object_))


# --- creations ----------------------------------------------------------------------------------------


def _creation(plan: Plan, kind: str, record: Mapping[str, Any], names: Mapping[str, str]) -> Target:
    scope = Scope(plan)
    key = record.get("client_key")
    client_key = None if key is None else text(check_json(key), "client_key", _HERE)
    draft, target = plan.created(_KINDS.get(kind, CONCEPT), client_key, _HERE.span)
    if kind == "concept":
        _concept(scope, draft, record)
    for name, value in _members(record, "fields"):
        fields.assign(scope, draft, name, check_json(value), _HERE)
    fields.require(draft)
    for facet, values in _members(record, "facets"):
        ref = actions.facet_ref(scope, ast.Literal(facet))
        for name, value in _items(values, f"the facet {facet}"):
            draft.assign(("facets", ref, name), check_json(value))
    for field, target_, options in _structural(record):
        structural.assign(scope, draft, _entry(field, _resolved(target_, names), options))
    if draft is target and kind == "concept":
        concept.claim_key(plan, draft)
    draft.created = dict(draft.assigned)
    return target


def _concept(scope: Scope, draft: Draft, record: Mapping[str, Any]) -> None:
    concept.set_type(scope, draft, check_json(record.get("type")), _HERE)
    for name in _CONCEPT_FIELDS:
        if name in record:
            fields.assign(scope, draft, name, check_json(record[name]), _HERE)
    for name, value in _members(record, "attributes"):
        draft.assign(("attributes", name), check_json(value))


def _entry(field: Json, target: Json, options: Mapping[str, Any]) -> ast.StructuralEntry:
    members = [ast.Member(name, ast.Literal(check_json(value))) for name, value in options.items()]
    return ast.StructuralEntry(ast.Literal(field), ast.Literal(target), ast.Object(tuple(members)))
