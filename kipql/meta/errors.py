"""The error registry as something to read: DESCRIBE ERROR and docs/errors.md (§86, §87).

`kipql.errors.CODES` decides category and retry class; `errors.json` adds one sentence of what happened and
one of what to do. A test holds the two tables to the same names.
"""

import json
from functools import cache
from importlib import resources
from typing import NamedTuple

from kipql.errors import CODES, KipError
from kipql.lang.words import near


class Entry(NamedTuple):
    """One code: what happened and what to do about it."""

    description: str
    hint: str


@cache
def registry() -> dict[str, Entry]:
    """Every code with its two sentences, in the order of §87."""
    text = resources.files("kipql.meta").joinpath("errors.json").read_text(encoding="utf-8")
    return {code: Entry(*sentences) for code, sentences in json.loads(text).items()}


def describe(code: str) -> dict[str, object]:
    """The result of DESCRIBE ERROR. Raises NotFoundOrNotVisible for a name that is no code."""
    entry = registry().get(code)
    if entry is None:
        close = near(code, CODES)
        hint = f"did you mean {close}?" if close else "docs/errors.md lists the codes"
        raise KipError("NotFoundOrNotVisible", f"there is no error code {code!r}", hint=hint)
    known = CODES[code]
    return {
        "code": code,
        "category": known.category,
        "description": entry.description,
        "hint": entry.hint,
        "retry": {"class": known.retry},
    }


def document() -> str:
    """The text of docs/errors.md."""
    lines = [
        "# Error codes",
        "",
        "Made from the error table by `python -m kipql.meta.errors > docs/errors.md`. Every error that leaves kipql",
        'is a `KipError` with one of these codes; `DESCRIBE ERROR "<code>"` answers the same.',
    ]
    category = None
    for code, entry in sorted(registry().items(), key=lambda item: (CODES[item[0]].category, item[0])):
        if CODES[code].category != category:
            category = CODES[code].category
            lines += ["", f"## {category}"]
        lines += ["", f"### {code}", "", entry.description, "", f"*What to do:* {entry.hint}", ""]
        lines += [f"*Retry:* `{CODES[code].retry}`"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(document(), end="")
