"""`value_schema`: a JSON Schema 2020-12 constraint that a definition carries (specification §20.5).

A contract may refer only to the record schemas packaged with kipql (`builtin/records/*.json`, keyed by
their `$id`) and to itself; nothing is fetched. What can not be resolved or understood fails activation, it is
never ignored. jsonschema is imported when a contract is first compiled, so a memory that writes none of the
contracted records never pays for it.
"""

import functools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from kipql.errors import KipError
from kipql.times import parse_instant
from kipql.values import Json

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_UNSUPPORTED = ("$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$anchor", "$vocabulary")

PUBLISHED_DIGESTS: Mapping[str, str] = {
    "urn:kip:2.0:schema:common": "sha256:74a98cb23df9d6d4ebee5b95cab53b09f15f6a55a854be408005a1113e68a7c1",
    "urn:kip:2.0:schema:projection": "sha256:e6db68772133abd5f5685b710d407a88cf11155c323db798378309f18fdfee68",
    "urn:kip:2.0:schema:cognitive-records": "sha256:3a844f410f19f7cae6c81253d46260f0e17d7c4a097d1f40ed79cb2f95b7c8c1",
}
"""Digests of the published record schemas that the packaged ones are equivalent to: a package may pin either."""


@functools.cache
def resources() -> Mapping[str, Json]:
    """The packaged record schemas by `$id`."""
    from importlib.resources import files

    found: dict[str, Json] = {}
    folder = files("kipql.schema.builtin").joinpath("records")
    if folder.is_dir():
        for entry in folder.iterdir():
            if entry.name.endswith(".json"):
                schema = json.loads(entry.read_text(encoding="utf-8"))
                found[schema["$id"]] = schema
    return found


def canonical_digest(value: Json) -> str:
    """`sha256:...` over the canonical JSON of `value` (profile kip-jcs-safe-v1, §37.7)."""
    import hashlib

    import rfc8785

    try:
        return f"sha256:{hashlib.sha256(rfc8785.dumps(value)).hexdigest()}"
    except rfc8785.CanonicalizationError as error:
        raise KipError("ConstraintViolation", f"no canonical JSON: {error}") from None


class Contract:
    """One `value_schema`, compiled when it is first used. Immutable to its users."""

    __slots__ = ("_validator", "schema")

    def __init__(self, schema: Mapping[str, Json]) -> None:
        self.schema = schema
        self._validator: Any = None

    @property
    def pointer(self) -> str | None:
        """The `$ref` of a contract that is nothing but a reference."""
        ref = self.schema.get("$ref")
        return ref if len(self.schema) == 1 and isinstance(ref, str) else None

    def check(self, value: Json, what: str) -> None:
        """Raises ConstraintViolation when `value` breaks the contract."""
        if self._validator is None:
            self._validator = _compile(self.schema)
        error = next(self._validator.iter_errors(value), None)
        if error is not None:
            at = "".join(f".{step}" if isinstance(step, str) else f"[{step}]" for step in error.absolute_path)
            message = error.message if len(error.message) <= 200 else f"{error.message[:200]}..."
            raise KipError("ConstraintViolation", f"{what}{at} breaks its value_schema: {message}")


def check_contract(contract: Contract, what: str, lock: Mapping[str, str] | None) -> None:
    """Whether a contract can be honoured: it is a valid schema and every reference resolves, inside `lock` if any.

    Raises ConstraintViolation for a schema that is malformed, unsupported, unresolvable or not locked, and
    DigestMismatch when the lock pins other bytes than the packaged resource.
    """
    try:
        needed = _needed(contract.schema, "")
    except _Unusable as problem:
        raise _refused(what, str(problem)) from None
    for identity in sorted(needed) if lock is not None else ():
        pinned = lock.get(identity) if lock else None
        if pinned is None:
            raise _refused(what, f"uses {identity}, which validation_schemas does not pin")
    check_pins({identity: lock[identity] for identity in needed} if lock is not None else {}, what)
    if contract.pointer is None:
        _check_schema(contract.schema, what)


def check_pins(lock: Mapping[str, str], what: str) -> None:
    """Whether every packaged schema that a package locks is the one that is here, used or not (§20.5).

    Raises DigestMismatch. A schema that is not here may be named: a contract that needs it is refused.
    """
    for identity, pinned in lock.items():
        if identity in resources() and pinned not in (PUBLISHED_DIGESTS.get(identity), _resource_digest(identity)):
            raise KipError("DigestMismatch", f"{what}: {identity} is pinned to {pinned}, which is not here")


class _Unusable(Exception):
    """Why a schema can not be used; never leaves this module."""


def _refused(what: str, why: str) -> KipError:
    return KipError("ConstraintViolation", f"{what}: the value_schema {why}")


@functools.cache
def _resource_digest(identity: str) -> str:
    return canonical_digest(resources()[identity])


@functools.cache
def _needed_by(identity: str) -> frozenset[str]:
    """The ids that a packaged resource reaches, itself included."""
    reached = {identity}
    pending = [identity]
    while pending:
        found = _needed(resources()[pending.pop()], identity, transitive=False) - reached
        reached |= found
        pending.extend(found)
    return frozenset(reached)


def _needed(document: Json, home: str, *, transitive: bool = True) -> set[str]:
    """The ids of the resources that `document` refers to; `home` is its own id."""
    reached: set[str] = set()
    for ref in _references(document):
        identity, _, pointer = ref.partition("#")
        root = document if identity in ("", home) else resources().get(identity)
        if root is None:
            raise _Unusable(f"refers to {identity}, which is not among the packaged schemas")
        if not _points(root, pointer):
            raise _Unusable(f"refers to {ref}, which names nothing")
        if identity not in ("", home):
            reached |= _needed_by(identity) if transitive else {identity}
    return reached


def _references(document: Json) -> Iterator[str]:
    pending = [document]
    while pending:
        part = pending.pop()
        if isinstance(part, Mapping):
            if unknown := next((word for word in _UNSUPPORTED if word in part), None):
                raise _Unusable(f"uses {unknown}, which is not supported")
            if isinstance(dialect := part.get("$schema"), str) and dialect.removesuffix("#") != _DIALECT:
                raise _Unusable(f"is written for {dialect}; {_DIALECT} is what is evaluated")
            if isinstance(ref := part.get("$ref"), str):
                yield ref
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)


def _points(root: Json, pointer: str) -> bool:
    """Whether a JSON Pointer (as a URI fragment) names something in `root`."""
    if pointer and not pointer.startswith("/"):
        return False
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(root, Mapping) and key in root:
            root = root[key]
        elif isinstance(root, list) and key.isdecimal() and int(key) < len(root):
            root = root[int(key)]
        else:
            return False
    return True


def _check_schema(schema: Mapping[str, Json], what: str) -> None:
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise _refused(what, f"is no JSON Schema: {error.message}") from None


@functools.cache
def _toolkit() -> tuple[Any, Any, Any]:
    """The validator class, the registry of packaged resources and the format checker."""
    from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators
    from referencing import Registry, Resource

    def pattern(_: Any, expression: str, instance: Json, __: Any) -> Iterator[Any]:
        # Python's $ also matches before a final newline; JSON Schema's does not.
        strict = re.sub(r"(?<!\\)\$$", r"\\Z", expression)
        if isinstance(instance, str) and re.search(strict, instance, re.ASCII) is None:
            yield ValidationError(f"{instance!r} does not match {expression!r}")

    types = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "object": lambda _, value: isinstance(value, Mapping),
            "array": lambda _, value: isinstance(value, list | tuple),
        }
    )
    validator = validators.extend(Draft202012Validator, {"pattern": pattern}, type_checker=types)
    formats = FormatChecker(formats=())
    for name in ("date-time", "timestamp"):
        formats.checks(name, raises=KipError)(_is_timestamp)
    registry: Any = Registry().with_resources(
        (identity, Resource.from_contents(schema)) for identity, schema in resources().items()
    )
    return validator, registry, formats


def _is_timestamp(value: object) -> bool:
    return not isinstance(value, str) or parse_instant(value) is not None


def _compile(schema: Mapping[str, Json]) -> Any:
    validator, registry, formats = _toolkit()
    return validator(schema, registry=registry, format_checker=formats)
