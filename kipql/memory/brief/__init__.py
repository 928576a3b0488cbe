"""Recall for a Brain: what to know before acting, and answers with what stands for them.

    from kipql.memory.brief import Brain

    brain = Brain(nexus)
    brain.brief("Deploy version 2", action_context={"goal": "deploy version 2"}).constraints
    brain.recall("Where does Ada live?", mode="belief", predicate="lives_in").structured

`brief(nexus, query, ...)` does it in one call. It is written on the public surface of kipql alone and writes nothing.
"""

from typing import TYPE_CHECKING, Any

from kipql.memory.brief.answers import Briefing, Recalled
from kipql.memory.brief.brain import Brain
from kipql.memory.brief.exposure import Exposure
from kipql.memory.brief.modes import QUERIES
from kipql.memory.brief.question import MODES

if TYPE_CHECKING:
    from kipql import Nexus

__all__ = ["MODES", "QUERIES", "Brain", "Briefing", "Exposure", "Recalled", "brief"]


def brief(nexus: "Nexus", query: str, **how: Any) -> Briefing:
    """The action briefing of a memory for a question: `Brain(nexus).brief(query, ...)`."""
    return Brain(nexus).brief(query, **how)
