"""What a word means as the place of a memory, wherever a person types one (docs/shell.md).

A bare name that is not there makes no memory: it is more often misspelt than meant.
"""

import os
from pathlib import Path

from kipql.lang.words import near


def is_place(word: str) -> bool:
    """Whether a word is meant as a memory: it is there, or it is written as a path."""
    return os.path.exists(word) or any(sign in word for sign in (os.sep, "/", "."))  # noqa: PTH110


def meant(word: str) -> str | None:
    """The folder beside that a misspelt name may mean."""
    there = [folder.name for folder in Path().iterdir() if folder.is_dir()]
    stems = {name.removesuffix(".kip"): name for name in there}
    found = near(word, [*there, *stems])
    return found if found is None else stems.get(found, found)
