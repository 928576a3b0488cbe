"""Marks: whether a text that was shown is still in the window.

A mark is the end of the text, its last 120 letters and digits, and counts together with the article's address: quoting
and line breaks of the window do not matter. Of a text with less than 24 there is no mark, since so little could stand
anywhere.
"""

LONGEST, SHORTEST = 120, 24


def mark(text: str) -> str | None:
    """The mark of a text, None where it is too short for one."""
    bare = _bare(text)
    return bare[-LONGEST:] if len(bare) >= SHORTEST else None


def present(address: str, marked: str, projection: str) -> bool:
    """Whether the text of a mark, and the address it is about, stand in a projection."""
    bare = _bare(projection)
    return marked in bare and _bare(address) in bare


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
