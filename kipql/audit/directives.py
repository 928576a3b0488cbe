"""`//!` directives: what a comment before a statement says about it.

    //! check: robots-without-keeper
    //! severity: error
    //! message: nobody keeps {r.key}

A directive is one line, `name: value`, between the end of the statement before and the start of its own.
An unknown name, a bad value, a repetition, and a directive that stands anywhere else are InvalidSyntax with
a position: a check that was silently not understood would look like one that passed.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kipql.audit.budget import parse_budget
from kipql.audit.coordinates import AsOf, parse_as_of
from kipql.audit.expect import EMPTY, Expectation, parse_expectation
from kipql.audit.suppress import Suppression, parse_suppression
from kipql.errors import KipError
from kipql.spans import Span
from kipql.values import Json, members_once

SEVERITIES = ("note", "warning", "error")
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\r\n]*')
_DIRECTIVE = re.compile(r"//!\s*([^\s:]*)\s*(:?)\s*(.*?)\s*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*", re.ASCII)
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_PACKAGE = re.compile(r"kip://[a-z0-9_./\-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Directive:
    """One `//! name: value`; `value_start` is where the value begins in the text."""

    name: str
    value: str
    span: Span
    value_start: int

    @property
    def value_span(self) -> Span:
        """Where the value stands in the text."""
        return Span(self.value_start, self.value_start + len(self.value))


@dataclass(frozen=True, slots=True)
class Directives:
    """What a statement says of itself. `check` is None for a plain statement; `message`, `key`, `expect_at` and
    `as_of_at` are still the directives, for what needs their place."""

    check: str | None = None
    title: str | None = None
    severity: str = "warning"
    expect: Expectation = EMPTY
    message: Directive | None = None
    key: Directive | None = None
    tags: tuple[str, ...] = ()
    owner: str | None = None
    budget: tuple[tuple[str, float], ...] = ()
    parameters: Mapping[str, Json] | None = None
    as_of: AsOf | None = None
    suppress: Suppression | None = None
    requires: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    expect_at: Directive | None = None
    as_of_at: Directive | None = None
    span: Span | None = None

    @property
    def is_check(self) -> bool:
        """A statement is a check when it has a name or an expectation."""
        return self.check is not None or self.expect_at is not None


Apply = Callable[[Directives, Directive], Directives]


def find_directives(text: str) -> tuple[Directive, ...]:
    """Every directive comment of a text, outside of strings, in order; names are not looked at yet."""
    found = []
    for match in _COMMENT.finditer(text):
        if not match.group().startswith("//!"):
            continue
        parts = _DIRECTIVE.fullmatch(match.group())
        assert parts is not None
        name, _, value = parts.groups()
        found.append(Directive(name, value, Span(match.start(), match.end()), match.start() + parts.start(3)))
    return tuple(found)


def read_directives(found: Sequence[Directive]) -> tuple[Directives, tuple[KipError, ...]]:
    """The meaning of one statement's directives, and what is wrong with them."""
    meaning, problems, seen = Directives(), [], set()
    for directive in found:
        try:
            if directive.name in seen and directive.name not in REPEATED:
                raise KipError("InvalidSyntax", f"{directive.name}: is given twice", span=directive.span)
            seen.add(directive.name)
            meaning = _apply(meaning, directive)
        except KipError as error:
            error.span = error.span or directive.value_span
            problems.append(error)
    if found and not problems and not meaning.is_check:
        problems.append(
            KipError("InvalidSyntax", "directives without a check", span=found[0].span, hint="add //! check: <name>")
        )
    return replace(meaning, span=found[0].span if found else None), tuple(problems)


def _apply(meaning: Directives, directive: Directive) -> Directives:
    apply = _MEANINGS.get(directive.name)
    if apply is None:
        raise _unknown(directive)
    if not directive.value:
        raise KipError("InvalidSyntax", f"{directive.name}: has no value", span=directive.span)
    return apply(meaning, directive)


def _unknown(directive: Directive) -> KipError:
    from kipql.lang.words import near

    close = near(directive.name, NAMES)
    hint = f"did you mean {close}?" if close else f"directives are {', '.join(f'{name}:' for name in NAMES)}"
    return KipError("InvalidSyntax", f"unknown directive {directive.name!r}", span=directive.span, hint=hint)


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise KipError(
            "InvalidSyntax", f"{value!r} is not a name", hint="use letters, digits, '-', '_' and '.', without blanks"
        )
    return value


def _severity(value: str) -> str:
    if value not in SEVERITIES:
        raise KipError("InvalidSyntax", f"unknown severity {value!r}", hint="use error, warning or note")
    return value


def _packages(value: str) -> tuple[str, ...]:
    for package in _words(value):
        if not _PACKAGE.fullmatch(package):
            hint = "write kip://kipql/agent, without a version"
            raise KipError("InvalidSyntax", f"{package!r} is not a package", hint=hint)
    return tuple(_words(value))


def _words(value: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", value) if word]


def parse_parameters(text: str) -> dict[str, Json]:
    """Parameters as one JSON object. Raises InvalidSyntax."""
    try:
        value = json.loads(text, object_pairs_hook=members_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise KipError("InvalidSyntax", f"the parameters are not JSON: {error}") from None
    if not isinstance(value, dict) or not all(_PARAMETER.fullmatch(name) for name in value):
        raise KipError("InvalidSyntax", "parameters are one JSON object by name", hint='write {"limit": 10}')
    return value


def _no_number(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")


_MEANINGS: Mapping[str, Apply] = {
    "check": lambda meaning, given: replace(meaning, check=_name(given.value)),
    "title": lambda meaning, given: replace(meaning, title=given.value),
    "severity": lambda meaning, given: replace(meaning, severity=_severity(given.value)),
    "expect": lambda meaning, given: replace(meaning, expect=parse_expectation(given.value), expect_at=given),
    "message": lambda meaning, given: replace(meaning, message=given),
    "key": lambda meaning, given: replace(meaning, key=given),
    "tags": lambda meaning, given: replace(meaning, tags=meaning.tags + tuple(map(_name, _words(given.value)))),
    "owner": lambda meaning, given: replace(meaning, owner=given.value),
    "budget": lambda meaning, given: replace(meaning, budget=parse_budget(given.value)),
    "params": lambda meaning, given: replace(meaning, parameters=parse_parameters(given.value)),
    "as_of": lambda meaning, given: replace(meaning, as_of=parse_as_of(given.value), as_of_at=given),
    "suppress": lambda meaning, given: replace(meaning, suppress=parse_suppression(given.value)),
    "requires": lambda meaning, given: replace(meaning, requires=meaning.requires + _packages(given.value)),
    "unless": lambda meaning, given: replace(meaning, unless=meaning.unless + _packages(given.value)),
}
NAMES = tuple(_MEANINGS)
REPEATED = ("tags", "requires", "unless")
