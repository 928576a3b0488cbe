"""Running a META statement: from its class and target to the function that answers it (§63.3).

What is not in these tables answers UnsupportedCapability; nothing is guessed and nothing is left out in
silence.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from kipql.errors import KipError
from kipql.lang import ast
from kipql.meta import about, capsules, checks, coordinates, dependents, epistemic, history, packages, search, symbols
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
    "COMPATIBILITY": packages.describe_compatibility,
    "TYPE": symbols.describe_symbol,
    "PREDICATE": symbols.describe_symbol,
    "FACET": symbols.describe_symbol,
    "STRUCTURAL FIELD": symbols.describe_symbol,
    "CAPSULE": capsules.describe,
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
_VERIFY: dict[str, _Answer] = {
    "RECEIPT": checks.verify_receipt,
    "SCHEMA PACKAGE": packages.verify_package,
    "CAPSULE": capsules.verify,
}
_VALIDATE: dict[str, _Answer] = {
    "KQL": checks.validate_text,
    "KML": checks.validate_text,
    "SCHEMA PACKAGE": packages.validate_package,
    "CAPSULE": capsules.validate_capsule,
    "IMPORT PLAN": capsules.validate_plan,
}
_PREVIEW: dict[str, _Answer] = {
    "KML": checks.preview_text,
    "IMPORT CAPSULE": capsules.preview,
}
_TARGETS: dict[type[ast.Node], dict[str, _Answer]] = {
    ast.Describe: _DESCRIBE,
    ast.List: _LIST,
    ast.Verify: _VERIFY,
    ast.Validate: _VALIDATE,
    ast.Preview: _PREVIEW,
}
_FAMILY: dict[type[ast.Node], _Answer] = {
    ast.Search: search.search,
    ast.History: history.history,
    ast.Changes: history.changes,
    ast.ExportCapsule: capsules.export,
}


def run(statement: ast.Meta, session: MetaSession) -> MetaResult:
    """Answer one META statement. Raises KipError; never writes."""
    target = getattr(statement, "target", "")
    table = _TARGETS.get(type(statement))
    answer = _FAMILY.get(type(statement)) if table is None else table.get(target)
    if answer is None:
        spelled = f"{type(statement).__name__.upper()} {target}".rstrip()
        raise KipError("UnsupportedCapability", f"{spelled} is not available", span=statement.span)
    return answer(statement, session)
