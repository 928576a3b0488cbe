"""parse and parse_script: text to syntax tree, or one KipError that knows the text.

InvalidSyntax comes with a span, ResourceExhausted from the prescan, DuplicateLocalHandle from the checks.
"""

from functools import lru_cache
from typing import Any

from kipql.errors import KipError
from kipql.lang import ast, checks, tables
from kipql.lang.builder import BUILDERS
from kipql.lang.driver import Driver, Unexpected
from kipql.lang.prescan import check_tree, prescan
from kipql.limits import DEFAULT_LIMITS, Limits, exhausted
from kipql.spans import Span


@lru_cache(maxsize=1)
def driver() -> Driver:
    """The driver that builds syntax nodes."""
    loaded = tables.load()
    return Driver(loaded, lambda number: BUILDERS.get(loaded.rules[number].name))


def parse(text: str, limits: Limits = DEFAULT_LIMITS) -> ast.Statement:
    """The syntax tree of exactly one statement; a `;` may end it.

    Raises KipError: InvalidSyntax with the place and what was acceptable there, ResourceExhausted when the
    text exceeds `limits`, DuplicateLocalHandle.

    >>> parse('FIND(?x) WHERE { ?x {type: "Person"} }').items
    (Var(name='x'),)
    """
    return _parse(text, "start", limits)[0]  # type: ignore[no-any-return]


def parse_script(text: str, limits: Limits = DEFAULT_LIMITS) -> ast.Script:
    """The syntax tree of a sequence of statements, none or more; `;` between them is optional.

    >>> len(parse_script('DESCRIBE PROTOCOL; LIST TYPES LIST FACETS').statements)
    3
    """
    statements = _parse(text, "script", limits)
    return ast.Script(tuple(statements), span=Span(0, len(text)))


def _parse(text: str, start: str, limits: Limits) -> list[Any]:
    """The statements of a text, checked; nothing but KipError is raised."""
    if not isinstance(text, str):
        raise KipError("InvalidSyntax", f"a command is text, not {type(text).__name__}")
    try:
        deep = prescan(text, limits)
        value, marks = driver().run(text, start)
        statements = value if start == "script" else [value]
        if len(statements) > limits.statements:
            exhausted("statements", limits.statements, f"the script has {len(statements)} statements")
        if deep:
            for statement in statements:
                check_tree(statement, limits.depth)
        checks.check(statements, marks)
        return statements
    except Unexpected:
        from kipql.lang.unexpected import syntax_error

        raise syntax_error(driver(), text, start) from None
    except KipError as error:
        raise error.in_text(text) from None
