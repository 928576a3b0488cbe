"""`//!` directives: what a comment before a statement says about it.

    //! check: robots-without-keeper
    //! severity: error
    //! message: nobody keeps {r.key}

A directive is one line, `name: value`, between the end of the statement before and the start of its own.
An unknown name, a bad value, a repetition, and a directive that stands anywhere else are InvalidSyntax with
a position: a check that was silently not understood would look like one that passed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kipql.audit.expect import EMPTY, Expectation, parse_expectation
from kipql.errors import KipError
from kipql.spans import Span

SEVERITIES = ("note", "warning", "error")
NAMES = ("check", "title", "severity", "expect", "message", "tags")
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\r\n]*')
_DIRECTIVE = re.compile(r"//!\s*([^\s:]*)\s*(:?)\s*(.*?)\s*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*", re.ASCII)


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
    """What a statement says of itself. `check` is None for a plain statement; `message` is still text."""

    check: str | None = None
    title: str | None = None
    severity: str = "warning"
    expect: Expectation = EMPTY
    message: Directive | None = None
    tags: tuple[str, ...] = ()
    expects: bool = False
    span: Span | None = None

    @property
    def is_check(self) -> bool:
        """A statement is a check when it has a name or an expectation."""
        return self.check is not None or self.expects


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
            if directive.name in seen and directive.name != "tags":
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
    name, value = directive.name, directive.value
    if name not in NAMES:
        raise _unknown(directive)
    if not value:
        raise KipError("InvalidSyntax", f"{name}: has no value", span=directive.span)
    if name == "check":
        return replace(meaning, check=_name(value))
    if name == "severity":
        return replace(meaning, severity=_severity(value))
    if name == "expect":
        return replace(meaning, expect=parse_expectation(value), expects=True)
    if name == "message":
        return replace(meaning, message=directive)
    if name == "tags":
        return replace(meaning, tags=meaning.tags + tuple(_name(tag) for tag in re.split(r"[\s,]+", value) if tag))
    return replace(meaning, title=value)


def _unknown(directive: Directive) -> KipError:
    from kipql.lang.words import near

    close = near(directive.name, NAMES)
    hint = f"did you mean {close}: ?" if close else f"directives are {', '.join(f'{name}:' for name in NAMES)}"
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
