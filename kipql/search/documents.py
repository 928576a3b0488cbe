"""What an element is found by: the grounding fields of each kind (specification §66.4).

    concept      name, aliases and key; every string in its attributes, at any depth
    proposition  the words and the description of its Predicate; the object when it is a string
    assertion    what its Proposition is found by
    evidence     the inline payload: a text, or of a JSON value its strings (never its member names)
    activity     the words of its class

Nothing else is read: no Facets, no ids, no client keys, no evidence class. Names are compared whole and by their
first words besides (`names`): a Concept's name, aliases and key, a Predicate's and an Activity's words.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from kipql.errors import KipError
from kipql.model import Activity, AnyRecord, Assertion, Concept, Evidence, Proposition
from kipql.search.fold import spelled
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View

_DEPTH = 64


class Document(NamedTuple):
    """The texts of one element in one state; `names` are texts of it that name it."""

    texts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


NOTHING = Document()


def document(view: "View", record: AnyRecord) -> Document:
    """The document of a record as `view` shows it."""
    match record:
        case Concept():
            return _concept(record)
        case Evidence():
            return Document(tuple(_payload(record)))
        case Proposition():
            return _proposition(view, record)
        case Assertion(proposition=code):
            found = view.record(code) if view.exists(code) else None
            return _proposition(view, found) if isinstance(found, Proposition) else NOTHING
        case Activity(activity_class=name):
            words = (spelled(name),) if name else ()
            return Document(words, words)


def _concept(record: Concept) -> Document:
    names = tuple(name for name in (record.name, *record.aliases, record.key) if name)
    return Document((*names, *strings(record.attributes)), names)


def _proposition(view: "View", record: Proposition) -> Document:
    name, description = _predicate(view, record.predicate)
    texts = [name, description] if description else [name]
    if record.object < 0:
        literal = view.literal(record.object)
        if isinstance(literal, str):
            texts.append(literal)
    return Document(tuple(texts), (name,))


def _predicate(view: "View", ref: str) -> tuple[str, str | None]:
    try:
        definition = view.environment.find_predicate(ref)
    except KipError:
        definition = None
    return spelled(ref), definition.description if definition is not None else None


def _payload(record: Evidence) -> Iterator[str]:
    payload = record.payload
    inline = payload.get("inline") if isinstance(payload, Mapping) else None
    if isinstance(inline, str) and _is_json(record.media_type):
        with suppress(ValueError, RecursionError):
            inline = json.loads(inline)
    return strings(inline)


def _is_json(media_type: str | None) -> bool:
    essence = (media_type or "").partition(";")[0].strip().lower()
    return essence == "application/json" or essence.endswith("+json")


def strings(value: Json, depth: int = _DEPTH) -> Iterator[str]:
    """Every string in a JSON value, in order; never a member name."""
    if isinstance(value, str):
        if value:
            yield value
    elif depth and isinstance(value, Mapping):
        for member in value.values():
            yield from strings(member, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for member in value:
            yield from strings(member, depth - 1)
