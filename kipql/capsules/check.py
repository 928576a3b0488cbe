"""VALIDATE CAPSULE: what a shape can not show (specification §40.3, §41.7, §69.2).

Ids are unique, every reference lands on a record or an ExternalRef and on a kind it may name, the declared closure
holds, every record is of the Space that the Capsule is from, and its symbols belong to a declared dependency. Packages
that are here, or embedded, are asked about the references inside attributes and Facets.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kipql.capsules import references, symbols
from kipql.capsules.artifact import Capsule
from kipql.capsules.forms import MOST, Problem
from kipql.model import KINDS
from kipql.schema import core
from kipql.schema.environment import Environment
from kipql.values import Json

_STATUSES = {"assertion": core.ASSERTION_STATUSES, "evidence": core.EVIDENCE_STATUSES}
_STATES = core.ELEMENT_STATES - {"purged"}


def problems(capsule: Capsule, environment: Environment) -> list[Problem]:
    """What is wrong with a Capsule by itself, at most MOST problems; the destination plays no part but for the
    packages it knows."""
    known = symbols.beside(environment, capsule.payload["blobs"])
    found: list[Problem] = []
    for problem in _all(capsule, known):
        found.append(problem)
        if len(found) == MOST:
            break
    return found


def _all(capsule: Capsule, environment: Environment) -> Iterator[Problem]:
    payload = capsule.payload
    yield from _unique((record["id"] for record in payload["records"]), "/payload/records", "records")
    yield from _unique((each["id"] for each in payload["external_refs"]), "/payload/external_refs", "external refs")
    packages = [each["package_ref"] for each in payload["schema_dependencies"]]
    yield from _unique(packages, "/payload/schema_dependencies", "dependencies")
    yield from _manifest(capsule)
    for at, external in enumerate(payload["external_refs"]):
        yield from _external(external, capsule, f"/payload/external_refs/{at}")
    for at, record in enumerate(payload["records"]):
        path = f"/payload/records/{at}"
        yield from _record(record, capsule, frozenset(packages), path)
        for reference in references.of(record, environment):
            yield from _reference(reference, capsule, path)
    yield from _merges(capsule)


def _unique(ids: Iterable[str], path: str, what: str) -> Iterator[Problem]:
    for name, count in Counter(ids).items():
        if count > 1:
            yield Problem(path, f"{count} {what} are called {name!r}")


def _manifest(capsule: Capsule) -> Iterator[Problem]:
    manifest = capsule.payload["manifest"]
    if manifest["kind"] == "delta":
        message = "this runtime reads snapshots; deltas are a subprofile"
        yield Problem("/payload/manifest/kind", message, "UnsupportedCapability", "capsule_delta")
        if manifest["base_seq"] > manifest["target_seq"]:
            yield Problem("/payload/manifest/base_seq", "base_seq lies after target_seq")
    for at, root in enumerate(manifest["roots"]):
        if root not in capsule.records:
            yield Problem(f"/payload/manifest/roots/{at}", f"the root {root!r} is no record of the Capsule")


def _external(external: Mapping[str, Any], capsule: Capsule, path: str) -> Iterator[Problem]:
    if external["id"] in capsule.records:
        yield Problem(path, f"{external['id']!r} is also a record")
    if external["kind"] == "source_element" and capsule.payload["manifest"]["closure"] == "closed":
        yield Problem(path, "a closed Capsule leaves no element of its source outside")
    if external["kind"] == "canonical_identity":
        named = external.get("locator", {}).get("canonical_id")
        if not isinstance(named, str) or not named:
            yield Problem(f"{path}/locator", "a canonical_identity is located by canonical_id")


def _record(record: Mapping[str, Any], capsule: Capsule, packages: frozenset[str], path: str) -> Iterator[Problem]:
    if record["space_id"] != capsule.source:
        yield Problem(f"{path}/space_id", f"the Capsule is from {capsule.source!r}, not from {record['space_id']!r}")
    state = record["_system"]["state"]
    if state not in _STATES:
        yield Problem(f"{path}/_system/state", f"{state!r} is no state of an element that can be carried")
    if record["kind"] == "concept" and (record.get("merged_into") is not None) != (state == "merged"):
        yield Problem(f"{path}/merged_into", "a Concept is merged into another exactly when its state is merged")
    if record["kind"] in _STATUSES and "lifecycle" in record:
        status = record["lifecycle"]["status"]
        if status not in _STATUSES[record["kind"]]:
            yield Problem(f"{path}/lifecycle/status", f"{status!r} is no stored lifecycle status")
    for symbol in symbols.used(record):
        package = symbols.package_of(symbol.ref)
        if package not in packages:
            yield Problem(path, f"{symbol.ref} is of no declared dependency")


def _reference(reference: references.Reference, capsule: Capsule, path: str) -> Iterator[Problem]:
    target = capsule.records.get(reference.id)
    where = f"{path}{reference.path}"
    if target is None:
        if reference.id not in capsule.external:
            yield Problem(where, f"{reference.id!r} is neither a record nor an external ref")
    elif target["kind"] not in reference.kinds:
        wanted = " or ".join(kind for kind in KINDS if kind in reference.kinds)
        yield Problem(where, f"it must name a {wanted}, {reference.id!r} is a {target['kind']}")


def _merges(capsule: Capsule) -> Iterator[Problem]:
    """Following `merged_into` ends (§11.1)."""
    ended: set[str] = set()
    for start in capsule.records:
        chain: dict[str, None] = {}
        at: Json = start
        while at in capsule.records and at not in chain and at not in ended:
            chain[at] = None
            merged = capsule.records[at].get("merged_into")
            at = merged["id"] if merged is not None else None
        if at in chain:
            yield Problem("/payload/records", f"{at!r} would be merged into itself")
        ended.update(chain)
