"""What a person means by a subject: an id, a `Type:key`, a key or a name; or a value in JSON."""

import json
import re
from typing import TYPE_CHECKING

from kipql.model import parse_id
from kipql.repl.usage import Misuse
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.repl.shell import Shell

_TYPED = re.compile(r"([A-Za-z_]\w*):(.+)", re.ASCII)


def subject(shell: "Shell", text: str) -> dict[str, Json]:
    """The element that a word means, as `{"id": ...}`. Raises Misuse for none and for several."""
    if parse_id(text) is not None:
        return {"id": text}
    typed = _TYPED.fullmatch(text)
    found = _ids(shell, "key: :word", text)
    if not found and typed:
        found = _ids(shell, "type: :type, key: :word", typed[2], type=typed[1])
    found = found or _ids(shell, "name: :word", text)
    if not found:
        raise Misuse(f"nothing has the id, the key or the name {text}")
    if len(found) > 1:
        named = ", ".join(shell.label(identity) for identity in found[:5])
        raise Misuse(f"{text} may be {named}{' and others' if len(found) > 5 else ''}; give the id")
    return {"id": found[0]}


def _ids(shell: "Shell", match: str, word: str, **more: Json) -> list[str]:
    rows = shell.read(f"FIND(?c.id) WHERE {{ ?c CONCEPT {{{match}}} }} LIMIT 6", {"word": word, **more})
    return list(dict.fromkeys(str(row) for row in rows))


def value(shell: "Shell", text: str) -> Json:
    """The object of a claim: an element where the word means one, else JSON, else the text itself."""
    try:
        return subject(shell, text)
    except Misuse:
        try:
            literal: Json = json.loads(text)
        except ValueError:
            return text
        return literal if not isinstance(literal, dict | list) else text
