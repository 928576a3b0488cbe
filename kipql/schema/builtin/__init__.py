"""The packages that ship with kipql, loaded when they are first asked for.

core               kip://core@2.0.0, virtual, in every Environment without being listed
cognitive_memory   kip://profiles/cognitive-memory@2.0.0, active in a new Space
general_domain     kip://domains/general@1.0.0, activated by the host
agent              kip://kipql/agent@1.0.0, installed by what needs it
"""

import functools

from kipql.schema import artifacts
from kipql.schema import core as core_package
from kipql.schema.packages import Package, shipped
from kipql.schema.refs import CORE_PACKAGE, CORE_VERSION


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


def cognitive_memory() -> Package:
    """The cognitive-memory Profile: Person, Event, Insight, Commitment, Skill, Watch, `prefers`, ..."""
    return _loaded(artifacts.COGNITIVE_MEMORY)


def general_domain() -> Package:
    """Organization, Place, Topic, and what people have to do with them: `lives_in`, `works_for`, `knows`, ..."""
    return _loaded(artifacts.GENERAL_DOMAIN)


def agent() -> Package:
    """kipql's own: what `kipql.memory` keeps of turns, pins and articles."""
    return _loaded(artifacts.AGENT)


def _loaded(ref: str) -> Package:
    package = shipped(ref)
    assert package is not None
    return package
