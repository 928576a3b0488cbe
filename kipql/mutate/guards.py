"""EXPECT VERSION: what the caller saw must still be what is there (§35.1, §35.2).

A bare guard compares the element's version, and 0 says that it must not exist. A guard `OF` a plane compares that
plane's own counter, and 0 says that the plane was never written.
"""

from collections.abc import Iterable

from kipql.errors import KipError
from kipql.lang import ast
from kipql.model import NO_PLANES, AnyRecord, Planes
from kipql.mutate.actions import facet_ref
from kipql.mutate.inputs import Scope, count
from kipql.mutate.plan import Plan


def check(
    plan: Plan, guards: Iterable[ast.ExpectVersion], base: AnyRecord | None, what: str, code: int | None = None
) -> None:
    """Raise VersionConflict unless every guard holds for the state at the start, None for an element not there.

    code   the element, so that final validation can ask which of its planes were guarded
    """
    scope, base = Scope(plan), plan.shown(base)
    for guard in guards:
        if code is not None:
            plan.write.guarded.setdefault(code, set()).add(_plane(scope, guard))
        expected = count(scope.evaluate(guard.version), "EXPECT VERSION", guard.version)
        found, facet = _counter(scope, guard, base)
        if expected != found:
            raise _conflict(guard, expected, found, facet, what)


def _counter(scope: Scope, guard: ast.ExpectVersion, base: AnyRecord | None) -> tuple[int, str | None]:
    if guard.plane is None:
        return (0 if base is None else base.version), None
    planes = NO_PLANES if base is None else base.planes
    if guard.plane == "facet":
        assert guard.facet is not None
        ref = facet_ref(scope, guard.facet)
        return _facet_counter(scope.plan, planes, ref), ref
    return int(getattr(planes, guard.plane)), None


def _plane(scope: Scope, guard: ast.ExpectVersion) -> str:
    """The plane that a guard is about: "" for the whole element, the lineage for a Facet."""
    if guard.plane != "facet":
        return guard.plane or ""
    assert guard.facet is not None
    return scope.plan.lineage(facet_ref(scope, guard.facet))


def _facet_counter(plan: Plan, planes: Planes, ref: str) -> int:
    # A Facet may have been written under another version of its package: lineages decide (§20.14).
    lineage = plan.lineage(ref)
    return max((count for written, count in planes.facets.items() if plan.lineage(written) == lineage), default=0)


def _conflict(guard: ast.ExpectVersion, expected: int, found: int, facet: str | None, what: str) -> KipError:
    details: dict[str, object] = {"expected": expected, "found": found}
    plane = ""
    if guard.plane is not None:
        details["plane"] = "facets" if guard.plane == "facet" else guard.plane
        plane = f" of its {guard.plane}" if facet is None else f" of its Facet {facet.rpartition('/')[2]}"
    if facet is not None:
        details["facet"] = facet
    if expected == 0 and guard.plane is None:
        message = f"{what} is there already, at version {found}"
    elif found == 0 and guard.plane is None:
        message = f"{what} is not there, so it has no version {expected}"
    else:
        message = f"{what} is at version {found}{plane}, not {expected}"
    hint = "read it again and decide on what it says now"
    return KipError("VersionConflict", message, span=guard.span, hint=hint, details=details)
