"""Which permissions a reading statement needs before any element is looked at (specification §29.1-§29.4, §68).

A statement whose permission is held for no element at all is refused; where it is held for some, it runs over those
(`govern.view`). HISTORY tells transitions and needs `read_history`; AS OF tells content, and CHANGES is the stream of
one's own authorized view: both need what reading needs.
"""

from kipql.govern.authority import Authority
from kipql.lang import ast, walk

_BELIEVING = (ast.BeliefPattern, ast.BeliefSlotPattern)
_STATEMENTS: dict[type, tuple[str, ...]] = {
    ast.Find: ("discover", "read"),
    ast.Search: ("discover", "read", "search"),
    ast.History: ("discover", "read", "read_history"),
    ast.Changes: ("discover", "read"),
    ast.ExportCapsule: ("discover", "read", "export"),
}


def needs(node: ast.Node) -> tuple[str, ...]:
    """Every permission that a statement needs, a mutation's WHERE included."""
    found = dict.fromkeys(_STATEMENTS.get(type(node), ()))
    if isinstance(node, ast.List) and node.target == "DEPENDENTS":
        found |= dict.fromkeys(("discover", "read"))
    for inner in walk.iterate(node):
        if isinstance(inner, _BELIEVING):
            found["project"] = None
        elif isinstance(inner, ast.SearchPattern):
            found["search"] = None
    return tuple(found)


def admit(authority: Authority, wanted: tuple[str, ...]) -> None:
    """Raise NotAuthorized, or ProjectionNotAuthorized, for a permission that is held for no element."""
    for permission in wanted:
        if authority.holds(permission):
            continue
        error = authority.refusal(permission)
        if permission == "project":
            error.code = "ProjectionNotAuthorized"
        raise error
