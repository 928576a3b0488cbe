"""The packages that ship with kipql, read from packaged JSON when they are first asked for.

core               kip://core@2.0.0, virtual, in every Environment without being listed
cognitive_memory   kip://profiles/cognitive-memory@2.0.0, active in a new Space
general_domain     kip://domains/general@1.0.0, activated by the host
agent              kip://kipql/agent@1.0.0, installed by what needs it
"""

import functools
import json
from collections.abc import Mapping

from kipql.errors import KipError
from kipql.schema import core as core_package
from kipql.schema.packages import Package
from kipql.schema.refs import CORE_PACKAGE, CORE_VERSION

PUBLISHED_DIGESTS: Mapping[str, str] = {
    "kip://profiles/cognitive-memory@2.0.0": "sha256:734aa0fd93b6258d433a6f71915d9d5118552e2ea0458a3050d368dcfcc1d1b3",
    "kip://domains/general@1.0.0": "sha256:454f59b9d54dbeded59a24e167e5c5cbf880e015622ba7b713d43ab521e55b87",
}
"""Digests of the published artifacts. What ships says the same in other words, so a host that installs the published
artifact gets the packaged one."""


@functools.cache
def core() -> Package:
    """The Core package as a Package without definitions: its symbols are kinds and registries (§20.13)."""
    return Package(
        package_id=CORE_PACKAGE,
        version=CORE_VERSION,
        artifact=core_package.description(),
        concept_types={},
        predicates={},
        facets={},
        structural_fields={},
        aliases={},
        dependencies=(),
        renames=(),
        retired=(),
        activity_classes=(),
    )


@functools.cache
def cognitive_memory() -> Package:
    return _load("cognitive-memory")


@functools.cache
def general_domain() -> Package:
    return _load("general-domain")


@functools.cache
def agent() -> Package:
    return _load("agent")


def shipped(ref: str) -> Package | None:
    """The package that ships under this ref, or None."""
    load = _SHIPPED.get(ref)
    return load() if load else None


_SHIPPED = {
    "kip://profiles/cognitive-memory@2.0.0": cognitive_memory,
    "kip://domains/general@1.0.0": general_domain,
    "kip://kipql/agent@1.0.0": agent,
}


def _load(stem: str) -> Package:
    """The package in `builtin/<stem>*.json`. It was checked when it was written (tests/schema), so it is trusted."""
    from importlib.resources import files

    folder = files(__name__)
    for entry in sorted(folder.iterdir(), key=lambda found: found.name):
        if entry.name.startswith(stem) and entry.name.endswith(".json"):
            return Package.load(json.loads(entry.read_text(encoding="utf-8")), trusted=True)
    raise KipError("SchemaPackageUnavailable", f"the package {stem} is missing from this installation")
