"""Invariants of the Cognitive Memory Profile that a whole transaction must keep (Profile §5.8, §6.4, §14).

They hold for elements of the Profile's own types and Facets, whatever version of its package is active. What the
package itself declares (types, required members, immutability, attachment) was checked by the schema's rules before.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kipql.model import Activity, AnyRecord, Concept
from kipql.mutate import process, skill
from kipql.mutate.context import WriteContext
from kipql.store.computed import PROFILE

if TYPE_CHECKING:
    from kipql.store import Transaction

_TYPES: Mapping[str, Callable[["Transaction", WriteContext, int, Any, Any], None]] = {
    f"{PROFILE}/Skill": skill.check_skill,
    f"{PROFILE}/SkillRevision": skill.check_revision,
}


def check(tx: "Transaction", write: WriteContext, code: int, new: AnyRecord, old: AnyRecord | None) -> None:
    """The Profile's rules for one element as the transaction leaves it. Raises KipError."""
    if isinstance(new, Concept):
        rule = _TYPES.get(tx.view.environment.lineage(new.schema))
        if rule is not None and new.state != "purged":
            rule(tx, write, code, new, old)
    elif isinstance(new, Activity) and new.facets and new.state != "purged":
        process.check(tx, code, new)
