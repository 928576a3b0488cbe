"""Running a META statement: from its class and target to the function that answers it (§63.3).

What is not in these tables answers UnsupportedCapability; nothing is guessed and nothing is left out in
silence.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from kipql.lang import ast
from kipql.meta import about, checks, coordinates, dependents, epistemic, history, search, symbols
from kipql.meta.session import MetaResult, MetaSession

_Answer: TypeAlias = Callable[[Any, MetaSession], MetaResult]

_DESCRIBE: dict[str, _Answer] = {
    "PRIMER": about.describe_primer,
    "PROTOCOL": about.describe_protocol,
    "CAPABILITIES": about.describe_capabilities,
    "ACCESS": about.describe_access,
    "ERROR": about.describe_error,
    "SPACE": coordinates.describe_space,
    "SNAPSHOT": coordinates.describe_snapshot,
    "TRANSACTION": coordinates.describe_transaction,
    "SCHEMA ENVIRONMENT": symbols.describe_environment,
    "PACKAGE": symbols.describe_package,
    "TYPE": symbols.describe_symbol,
    "PREDICATE": symbols.describe_symbol,
    "FACET": symbols.describe_symbol,
    "STRUCTURAL FIELD": symbols.describe_symbol,
    "EPISTEMIC POLICY": epistemic.describe_policy,
    "TRUST": epistemic.describe_trust,
}
_LIST: dict[str, _Answer] = {
    "SPACES": coordinates.list_spaces,
    "SCHEMA PACKAGES": symbols.list_packages,
    "TYPES": symbols.list_symbols,
    "PREDICATES": symbols.list_symbols,
    "FACETS": symbols.list_symbols,
    "STRUCTURAL FIELDS": symbols.list_symbols,
    "EPISTEMIC POLICIES": epistemic.list_policies,
    "DEPENDENTS": dependents.list_dependents,
}
_FAMILY: dict[type[ast.Node], _Answer] = {
    ast.Search: search.search,
    ast.History: history.history,
    ast.Changes: history.changes,
    ast.Validate: checks.validate,
    ast.Preview: checks.preview,
    ast.Verify: checks.verify,
}


def run(statement: ast.Meta, session: MetaSession) -> MetaResult:
    """Answer one META statement. Raises KipError; never writes."""
    answer = _answer(statement)
    if answer is None:
        raise checks.unavailable(_spelled(statement), statement)
    return answer(statement, session)


def _answer(statement: ast.Meta) -> _Answer | None:
    match statement:
        case ast.Describe():
            return _DESCRIBE.get(statement.target)
        case ast.List():
            return _LIST.get(statement.target)
        case _:
            return _FAMILY.get(type(statement))


def _spelled(statement: ast.Meta) -> str:
    match statement:
        case ast.Describe(target=target):
            return f"DESCRIBE {target}"
        case ast.List(target=target):
            return f"LIST {target}"
        case ast.ExportCapsule():
            return "EXPORT CAPSULE"
    return type(statement).__name__.upper()
