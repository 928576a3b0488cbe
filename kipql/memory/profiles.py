"""Budget profiles of a turn: how much room the answer keeps, and how far assembly looks around."""

from collections.abc import Mapping
from dataclasses import dataclass

import kipql


@dataclass(frozen=True, slots=True)
class Profile:
    """What a kind of turn may spend.

    reserve      output tokens kept free
    concepts     concepts looked up for the topics
    beliefs      beliefs read about each of them
    experiences  experiences of each outcome
    skills       skills
    hits         messages found by search
    """

    reserve: int
    concepts: int
    beliefs: int
    experiences: int
    skills: int
    hits: int


PROFILES: Mapping[str, Profile] = {
    "reflex": Profile(reserve=1024, concepts=3, beliefs=5, experiences=2, skills=2, hits=3),
    "deliberate": Profile(reserve=16384, concepts=10, beliefs=20, experiences=5, skills=5, hits=10),
}


def profile_of(name: str) -> Profile:
    """The profile of a name. Raises TypeMismatch for another name."""
    if name not in PROFILES:
        raise kipql.KipError("TypeMismatch", f"there is no profile {name!r}", hint=f"one of {', '.join(PROFILES)}")
    return PROFILES[name]
