"""What a word of a text means: functions, symbols of the schema, error codes, variables, directives."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kipql.audit.directives import find_directives
from kipql.editing import members
from kipql.editing.vocabulary import Symbols
from kipql.errors import CODES, KipError
from kipql.lang.expected import Lexeme, lexemes
from kipql.model import KIND_NAMES
from kipql.spans import Span
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.nexus import Nexus

FUNCTIONS: Mapping[str, tuple[str, str]] = {
    "COUNT": ("COUNT(?x)", "How many solutions bind it; COUNT(DISTINCT ?x) counts each value once."),
    "SUM": ("SUM(number)", "The sum of the numbers of a group."),
    "AVG": ("AVG(number)", "The mean of the numbers of a group."),
    "MIN": ("MIN(value)", "The least value of a group."),
    "MAX": ("MAX(value)", "The greatest value of a group."),
    "IN": ("IN(value, list)", "Whether the value is one of the list."),
    "CONTAINS": ("CONTAINS(text, part)", "Whether the text holds the part; case counts."),
    "STARTS_WITH": ("STARTS_WITH(text, part)", "Whether the text begins with the part."),
    "ENDS_WITH": ("ENDS_WITH(text, part)", "Whether the text ends with the part."),
    "REGEX": ("REGEX(text, pattern)", "Whether the pattern is found in the text."),
    "IS_NULL": ("IS_NULL(value)", "Whether there is no value; always answers."),
    "IS_NOT_NULL": ("IS_NOT_NULL(value)", "Whether there is a value; always answers."),
    "IS_LITERAL": ("IS_LITERAL(value)", "Whether it is a Literal and no element."),
    "IS_ELEMENT": ("IS_ELEMENT(value)", "Whether it is an element of the memory."),
    "IS_KIND": ("IS_KIND(element, kind)", "Whether the element is of a kind, such as CONCEPT."),
    "LITERAL_TYPE": ("LITERAL_TYPE(value)", "The type of a Literal as text: string, number, boolean or null."),
}
DIRECTIVES: Mapping[str, str] = {
    "check": "The name of the check: letters, digits, `-`, `_`, `.`; once in a script.",
    "title": "A sentence for people.",
    "severity": "`error`, `warning` or `note`.",
    "expect": "What its rows must be: `empty`, `nonempty`, `rows OP n`, `value OP literal`, `equals FILE`.",
    "message": "A sentence with `{column}` names, for each finding.",
    "key": "The columns that make a finding the same one in another run.",
    "tags": "Names to select it by.",
    "owner": "Who answers for it.",
    "params": "Values for its placeholders: one JSON object.",
    "as_of": "The state of the memory that is asked: a sequence, a day or an instant.",
    "budget": "Limits by name: `seconds 2, ticks 1000000`.",
    "suppress": "`REASON until DATE`: reported and not counted, until then.",
    "requires": "Packages without a version; where one is not active, the check is skipped.",
    "unless": "Packages; where one is active, the check is skipped.",
}
_SECTIONS = {"types": "TYPE", "predicates": "PREDICATE", "facets": "FACET", "fields": "STRUCTURAL FIELD"}
_TITLE = {"TYPE": "Type", "PREDICATE": "Predicate", "FACET": "Facet", "STRUCTURAL FIELD": "structural field"}
_FIELDS = 20  # of a Type or a Facet that are listed


@dataclass(frozen=True, slots=True)
class Meaning:
    """What stands at a place, as Markdown, and where it stands."""

    text: str
    span: Span


def meaning(text: str, position: int, nexus: "Nexus", symbols: Symbols) -> Meaning | None:
    """What the word at a position means; None where there is nothing to say."""
    for directive in find_directives(text):
        if directive.span.start <= position <= directive.span.end:
            said = DIRECTIVES.get(directive.name)
            return None if said is None else Meaning(f"`{directive.name}:` {said}", directive.span)
    held = list(lexemes(text))
    at = next((number for number, each in enumerate(held) if each.start <= position < each.end), None)
    if at is None:
        at = next((number for number, each in enumerate(held) if each.end == position), None)
    if at is None:
        return None
    shown = "\n\n".join(_of(text, held, at, nexus, symbols))
    return Meaning(shown, Span(held[at].start, held[at].end)) if shown else None


def _of(text: str, held: list[Lexeme], at: int, nexus: "Nexus", symbols: Symbols) -> Iterator[str]:
    word = text[held[at].start : held[at].end]
    match held[at].terminal:
        case "IDENT" if at + 1 < len(held) and held[at + 1].terminal == "LPAR" and word.upper() in FUNCTIONS:
            form, said = FUNCTIONS[word.upper()]
            yield f"`{form}`\n\n{said}"
        case "VAR":
            tokens = [(each.terminal, text[each.start : each.end]) for each in held]
            known = members.known(tokens, word)
            kinds = ", ".join("belief" if kind < 0 else KIND_NAMES[kind] for kind in sorted(known))
            yield f"`{word}`: {kinds}" if known else f"`{word}`: a variable"
        case "STRING":
            yield from _string(word, at and held[at - 1].terminal, nexus, symbols)


def _string(word: str, before: object, nexus: "Nexus", symbols: Symbols) -> Iterator[str]:
    try:
        name = json.loads(word)
    except ValueError:
        return
    if before == "ERROR" or name in CODES:
        yield from _asked(nexus, "ERROR", name)
    for section, what in _SECTIONS.items():
        if name in getattr(symbols, section):
            yield from _asked(nexus, what, name)


def _asked(nexus: "Nexus", what: str, name: str) -> Iterator[str]:
    try:
        found = nexus.query(f"DESCRIBE {what} :name", {"name": name}).one()
    except KipError as error:
        if error.code == "SchemaSymbolAmbiguous":
            yield _plain(f"{_TITLE.get(what, what)} {name}: {error.message}")
        return
    yield _code(found) if what == "ERROR" else _symbol(_TITLE[what], found)


def _code(found: Json) -> str:
    return _plain(f"{found['code']} ({found['category']}, {found['retry']['class']})") + (
        f"\n\n{_plain(found['description'])}\n\n{_plain(found['hint'])}"
    )


def _symbol(title: str, found: Json) -> str:
    """A symbol of the schema: its package, its description, what it takes."""
    definition = found.get("definition") or {}
    lines = [f"**{title} {_plain(found['local_name'])}** ({_plain(found['package_ref'])})"]
    if found.get("description"):
        lines.append(_plain(found["description"]))
    facts = [*_ends(definition)]
    if definition.get("functional"):
        facts.append("functional: one value at a time")
    if definition.get("cardinality"):
        facts.append(f"cardinality: {_plain(json.dumps(definition['cardinality']))}")
    fields = (definition.get("attributes") or {}).get("fields") or definition.get("fields") or {}
    facts += [_field(name, field) for name, field in list(fields.items())[:_FIELDS]]
    if len(fields) > _FIELDS:
        facts.append(f"and {len(fields) - _FIELDS} more")
    return "\n\n".join([*lines, "\n".join(f"- {fact}" for fact in facts)] if facts else lines)


def _ends(definition: Json) -> Iterator[str]:
    for end in ("subject", "object"):
        said = definition.get(end) or {}
        names = [str(ref).rpartition("/")[2] for ref in said.get("concept_types") or ()]
        names += [str(each) for each in said.get("literal_types") or said.get("literals") or ()]
        if names:
            yield f"{end}: {_plain(', '.join(names))}"


def _field(name: str, field: Json) -> str:
    type_ = field.get("type")
    types = " or ".join(map(str, type_)) if isinstance(type_, list) else str(type_)
    return f"{_plain(name)}: {_plain(types)}{', required' if field.get('required') else ''}"


def _plain(text: object) -> str:
    """A text of a package as text: its markup and its controls are shown and not obeyed."""
    from kipql.escape import markdown

    return markdown(re.sub(r"\s+", " ", str(text)))
