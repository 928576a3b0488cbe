"""Everything that can be said of a script before it runs: `static`, and with a memory `schema`, each place once."""

from typing import TYPE_CHECKING

from kipql.audit.script import ScriptFile
from kipql.audit.static import check_read
from kipql.runtime.texts import Problem

if TYPE_CHECKING:
    from kipql import Nexus


def check_all(script: ScriptFile, nexus: "Nexus | None" = None, *, own: bool = False) -> list[Problem]:
    """Everything wrong with a script, in order of place.

    nexus  a memory whose schema the symbols must be in
    own    whether it is one of the check's own, in which a DEFINE of the script may be executed
    """
    found = list(check_read(script))
    if nexus is not None:
        from kipql.audit.schema import check_schema

        known = {(problem.line, problem.error.code) for problem in found}
        found += [
            problem
            for problem in check_schema(nexus, script, own=own)
            if (problem.line, problem.error.code) not in known
        ]
    return sorted(found, key=lambda problem: (problem.line, problem.column))
