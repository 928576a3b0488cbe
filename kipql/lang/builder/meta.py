"""META statements (§63-69)."""

from __future__ import annotations

from typing import Any

from kipql.lang import ast
from kipql.lang.builder.base import Marks, Values
from kipql.spans import Span


def _target(words: list[Any]) -> str:
    return " ".join(word.upper() for word in words)


def _plain(v: Values, s: int, e: int, marks: Marks) -> ast.Describe:
    return ast.Describe(_target(v[1:]), span=Span(s, e))


def _primer(v: Values, s: int, e: int, marks: Marks) -> ast.Describe:
    return ast.Describe("PRIMER", mode=v[2], span=Span(s, e))


def _one(v: Values, s: int, e: int, marks: Marks) -> ast.Describe:
    return ast.Describe(_target(v[1:2]), v[2], span=Span(s, e))


def _two(v: Values, s: int, e: int, marks: Marks) -> ast.Describe:
    return ast.Describe(_target(v[1:3]), v[3], span=Span(s, e))


def _environment(v: Values, s: int, e: int, marks: Marks) -> ast.Describe:
    return ast.Describe("SCHEMA ENVIRONMENT", as_of=v[3], span=Span(s, e))


def _compatibility(v: Values, s: int, e: int, marks: Marks) -> ast.Describe:
    return ast.Describe("COMPATIBILITY", v[3], v[5], span=Span(s, e))


def _by_key(v: Values, s: int, e: int, marks: Marks) -> ast.Describe:
    return ast.Describe("TRANSACTION", v[5], by_key=True, span=Span(s, e))


def _snapshot(v: Values, s: int, e: int, marks: Marks) -> ast.Describe:
    return ast.Describe("SNAPSHOT", as_of=v[2], span=Span(s, e))


def _snapshot_at(v: Values, s: int, e: int, marks: Marks) -> ast.Describe:
    return ast.Describe("SNAPSHOT", at_time=v[4], span=Span(s, e))


def _access(v: Values, s: int, e: int, marks: Marks) -> ast.Describe:
    return ast.Describe("ACCESS", options=v[2], span=Span(s, e))


def _list_one(v: Values, s: int, e: int, marks: Marks) -> ast.List:
    return ast.List(_target(v[1:2]), limit=v[2], cursor=v[3], span=Span(s, e))


def _list_two(v: Values, s: int, e: int, marks: Marks) -> ast.List:
    return ast.List(_target(v[1:3]), limit=v[3], cursor=v[4], span=Span(s, e))


def _list_packages(v: Values, s: int, e: int, marks: Marks) -> ast.List:
    return ast.List("SCHEMA PACKAGES", status=v[3], limit=v[4], cursor=v[5], span=Span(s, e))


def _list_dependents(v: Values, s: int, e: int, marks: Marks) -> ast.List:
    return ast.List("DEPENDENTS", v[2], depth=v[3], limit=v[4], cursor=v[5], span=Span(s, e))


def _search(v: Values, s: int, e: int, marks: Marks) -> ast.Search:
    with_type, with_predicate = v[3]
    return ast.Search(v[1], v[2], with_type, with_predicate, v[4], v[5], v[6], v[7], v[8], span=Span(s, e))


def _words(v: Values, s: int, e: int, marks: Marks) -> str:
    return _target(v)


def _verify(v: Values, s: int, e: int, marks: Marks) -> ast.Verify:
    return ast.Verify(v[1], v[2], span=Span(s, e))


def _validate(v: Values, s: int, e: int, marks: Marks) -> ast.Validate:
    return ast.Validate(v[1], v[2], v[3], span=Span(s, e))


def _preview_kml(v: Values, s: int, e: int, marks: Marks) -> ast.Preview:
    return ast.Preview("KML", v[2], span=Span(s, e))


def _preview_import(v: Values, s: int, e: int, marks: Marks) -> ast.Preview:
    return ast.Preview("IMPORT CAPSULE", v[3], v[5], span=Span(s, e))


def _history_element(v: Values, s: int, e: int, marks: Marks) -> ast.History:
    return ast.History(v[2], v[3], v[4], v[5], v[6], span=Span(s, e))


def _history_space(v: Values, s: int, e: int, marks: Marks) -> ast.History:
    return ast.History(None, v[2], v[3], v[4], v[5], span=Span(s, e))


def _changes_since(v: Values, s: int, e: int, marks: Marks) -> ast.Changes:
    return ast.Changes(v[2], None, v[3], span=Span(s, e))


def _changes_after(v: Values, s: int, e: int, marks: Marks) -> ast.Changes:
    return ast.Changes(None, v[3], v[4], span=Span(s, e))


def _export(v: Values, s: int, e: int, marks: Marks) -> ast.ExportCapsule:
    return ast.ExportCapsule(v[2], v[4], v[5], v[6], span=Span(s, e))


BUILDERS = {
    "describe_plain": _plain,
    "describe_primer": _primer,
    "describe_one": _one,
    "describe_two": _two,
    "describe_environment": _environment,
    "describe_compatibility": _compatibility,
    "describe_by_key": _by_key,
    "describe_snapshot": _snapshot,
    "describe_snapshot_at": _snapshot_at,
    "describe_access": _access,
    "list_one": _list_one,
    "list_two": _list_two,
    "list_packages": _list_packages,
    "list_dependents": _list_dependents,
    "search": _search,
    "artifact": _words,
    "validated": _words,
    "verify": _verify,
    "validate": _validate,
    "preview_kml": _preview_kml,
    "preview_import": _preview_import,
    "history_element": _history_element,
    "history_space": _history_space,
    "changes_since": _changes_since,
    "changes_after": _changes_after,
    "export_capsule": _export,
}
