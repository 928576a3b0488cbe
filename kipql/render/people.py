"""Values as people read them: an element by what names it, a time without its zeros, a belief by its verdict.

Only what is unmistakable changes its form; JSON forms (`kipql.render.formats`) show values as they are. The text is not
escaped: each sink does that (`kipql.escape`).
"""

import re
from collections.abc import Callable, Mapping, Sequence

from kipql.render.values import compact, many
from kipql.values import Json

Label = Callable[[str], str]
_ESCAPE = re.compile(r"\\(u00[01][0-9a-f]|.)")
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)(\.\d{3})Z", re.ASCII)


def people(value: Json, label: Label = str) -> str:
    """One value as one line: `Person alice (C-12) "Alice"`, `2026-04-01`, `0.9`, `accepted: Ada lives_in = Vienna`.

    label  what to call an element id inside another value
    """
    if isinstance(value, str):
        return instant(value)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        return element(value, label) or belief(value, label) or _reference(value, label) or json_line(value)
    if isinstance(value, list | tuple) and value and all(_reference(item, label) for item in value):
        return ", ".join(str(_reference(item, label)) for item in value)
    return json_line(value)


def show(value: Json) -> str:
    """As `people` where nothing is looked up, a text as it is: for a sentence or a report that programs read too.

    >>> show({"id": "C-1"}), show("2026-04-01T00:00:00.000Z"), show(None)
    ('C-1', '2026-04-01T00:00:00.000Z', 'null')
    """
    return value if isinstance(value, str) else people(value)


def cell(value: Json, label: Label = str) -> Json:
    """A value of a table: numbers and null stay what they are, so that their column is set to the right."""
    if type(value) in (int, type(None)):
        return value
    return float(number(value)) if isinstance(value, float) else people(value, label)


def json_line(value: Json) -> str:
    """Compact JSON whose controls are left to the sink, which writes every control in its one way."""
    text = compact(value)
    return _ESCAPE.sub(_control, text) if "\\" in text else text


def _control(escape: re.Match[str]) -> str:
    word = escape[1]
    if word in ("b", "f"):
        return "\b" if word == "b" else "\f"
    return chr(int(word[1:], 16)) if len(word) > 1 else escape[0]


def instant(text: str) -> str:
    """A protocol timestamp to the minute, the second or the day that it is exact to; another text as it is.

    >>> instant("2026-04-01T00:00:00.000Z"), instant("2026-04-01T10:05:00.000Z"), instant("soon")
    ('2026-04-01', '2026-04-01 10:05Z', 'soon')
    """
    found = _INSTANT.fullmatch(text)
    if found is None:
        return text
    day, minute, second, rest = found.groups()
    if rest != ".000":
        return f"{day} {minute}{second}{rest}Z"
    if second != ":00":
        return f"{day} {minute}{second}Z"
    return day if minute == "00:00" else f"{day} {minute}Z"


def concept_name(identity: str, ask: Callable[[str, dict[str, Json]], Sequence[Sequence[Json]]]) -> str | None:
    """What a Concept is called, its name or else its key; None where it has neither or is not there.

    ask  the rows of a query with parameters
    """
    rows = ask("FIND(?c.name, ?c.key) WHERE { ?c CONCEPT {id: :id} }", {"id": identity})
    return next((str(word) for row in rows for word in row if word), None)


def number(value: float) -> str:
    """A number without the noise of binary fractions.

    >>> number(0.1 + 0.2), number(1e-9), number(12345678.5)
    ('0.3', '1e-09', '12345678.5')
    """
    return format(value, ".10g")


def element(value: Mapping[str, Json], label: Label = str) -> str | None:
    """A whole element (it carries `kind` and `_system`) by type, key, id and name; None for anything else."""
    identity, kind = value.get("id"), value.get("kind")
    if not (isinstance(identity, str) and isinstance(kind, str) and "_system" in value):
        return None
    schema = value.get("schema_ref")
    words = [_local(schema) if isinstance(schema, str) else kind.capitalize()]
    if isinstance(key := value.get("key") or value.get("client_key"), str):
        words.append(key)
    words.append(f"({identity})")
    words += _facts(value, label)
    state = _state(value)
    return " ".join([*words, f"[{state}]"] if state else words)


def belief(value: Mapping[str, Json], label: Label = str) -> str | None:
    """A projection on one line; None for anything else.

    A slot: its status, subject, Predicate, what it accepts, and of how many candidates where there are others. A belief
    in a Proposition: its status, the id, and the scores of both sides.
    """
    status = value.get("status")
    if "basis" not in value or not isinstance(status, str):
        return None
    given = value.get("accepted_values")
    accepted = [people(item, label) for item in given] if isinstance(given, list | tuple) else []
    if "predicate_ref" in value and "subject" in value:
        slot = f"{_term(value['subject'], label)} {_local(value['predicate_ref'])}"
        said = f"{slot} = {', '.join(accepted)}" if accepted else slot
        return f"{status}: {said}{_of_candidates(value, len(accepted))}"
    if accepted:
        return f"{status}: {', '.join(accepted)}"
    about = [value["proposition_id"]] if isinstance(value.get("proposition_id"), str) else []
    scores = [value.get(side) for side in ("support", "opposition")]
    if all(isinstance(score, Mapping) and "score" in score for score in scores):
        support, opposition = (number(float(score["score"])) for score in scores)  # type: ignore[index]
        about += [f"support {support}", f"opposition {opposition}"]
    return f"{status}: {', '.join(map(str, about))}" if about else status


def _of_candidates(slot: Mapping[str, Json], accepted: int) -> str:
    candidates = slot.get("candidate_projections")
    total = len(candidates) if isinstance(candidates, list | tuple) else accepted
    return f" ({accepted} of {many(total, 'candidate')})" if total != accepted else ""


def _local(ref: Json) -> str:
    """The local name of a symbol."""
    return str(ref).rpartition("/")[2]


def _facts(value: Mapping[str, Json], label: Label) -> list[str]:
    if isinstance(value.get("name"), str):
        return [json_line(value["name"])]
    if "predicate_ref" in value:
        predicate = _local(value["predicate_ref"])
        return [_term(value.get("subject"), label), predicate, _term(value.get("object"), label)]
    if "stance" in value:
        said = f"{value['stance']} {_term(value.get('proposition'), label)} by {_term(value.get('asserted_by'), label)}"
        sure = value.get("confidence")
        return [said if sure is None else f"{said} at {number(float(sure))}"]
    return [str(value[name]) for name in ("evidence_class", "activity_class") if isinstance(value.get(name), str)]


def _state(value: Mapping[str, Json]) -> str:
    """What an element has become, when it is not simply there."""
    lifecycle, system = value.get("lifecycle"), value["_system"]
    status = lifecycle.get("status") if isinstance(lifecycle, Mapping) else None
    state = system.get("state") if isinstance(system, Mapping) else None
    return str(next((word for word in (state, status) if word not in (None, "active")), ""))


def _reference(value: Json, label: Label) -> str | None:
    """A reference by its label, or None."""
    if isinstance(value, Mapping) and isinstance(value.get("id"), str) and set(value) <= {"id", "role"}:
        named = label(str(value["id"]))
        role = value.get("role")
        return named if role in (None, "support") else f"{named} ({role})"
    return None


def _term(value: Json, label: Label) -> str:
    return _reference(value, label) or (json_line(value) if isinstance(value, str) else people(value, label))
